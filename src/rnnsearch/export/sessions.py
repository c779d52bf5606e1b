"""The exported graphs in ONNX Runtime, and the decoding of a batch with them, word by word."""

from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import InputError
from .folder import ENCODER, STEP, require


class Sessions:
    """The graphs of an exported folder, on the CPU.

    Args:
        folder: what `rnnsearch export` has written.
        threads: of each product; 0: as many as the machine has cores.

    Raises:
        InputError: ONNX Runtime is not installed, or the folder holds no such graphs.
    """

    def __init__(self, folder: str | PathLike[str], threads: int = 0):
        require("onnxruntime")
        import onnxruntime

        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = threads

        def open_graph(name: str) -> onnxruntime.InferenceSession:
            path = Path(folder) / name
            if not path.is_file():
                raise InputError(f"{path}: is missing; give a folder that `rnnsearch export` has written")
            return onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])

        self.encoder, self.step = open_graph(ENCODER), open_graph(STEP)


class Decoding:
    """What is known of a batch while k hypotheses of each of its sentences are written.

    Args:
        sessions: the graphs.
        input_ids: source ids, (B, S).
        attention_mask: 1 at real positions, 0 at padding, (B, S).
        hypotheses: k.
    """

    def __init__(
        self, sessions: Sessions, input_ids: NDArray[np.int64], attention_mask: NDArray[np.int64], hypotheses: int
    ):
        self.session = sessions.step
        source = {"input_ids": input_ids, "attention_mask": attention_mask}
        known = source | _run(sessions.encoder, source)
        # Of each hypothesis its own; keys, values and mask are those of the sentence.
        known |= {name: np.repeat(known[name][:, None], hypotheses, axis=1) for name in ("state", "context")}
        needed = {node.name for node in self.session.get_inputs()}
        self.known = {name: value for name, value in known.items() if name in needed}
        self.counts = "seen_tokens" in needed
        self.seen_tokens = 0

    def read(self, tokens: NDArray[np.int64]) -> dict[str, NDArray[Any]]:
        """Read the word before, (B, k); give `log_probs` (B, k, K) of the next, and its `alignment` (B, k, S)."""
        inputs = self.known | {"tokens": tokens}
        if self.counts:
            inputs["seen_tokens"] = np.array(self.seen_tokens)
        found = _run(self.session, inputs)
        self.known |= {"state": found.pop("new_state"), "context": found.pop("new_context")}
        self.seen_tokens += 1
        return found

    def reorder(self, origins: NDArray[np.int64]) -> None:
        """Go on with these hypotheses of each sentence, (B, k)."""
        for name in ("state", "context"):
            self.known[name] = np.take_along_axis(self.known[name], origins[:, :, None], axis=1)


def _run(session: Any, inputs: dict[str, NDArray[Any]]) -> dict[str, NDArray[Any]]:
    names = [node.name for node in session.get_outputs()]
    return dict(zip(names, session.run(names, inputs), strict=True))
