"""A model written as ONNX graphs that are held to what PyTorch computes."""

import logging
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import torch
from torch import Tensor, nn
from transformers import PreTrainedConfig

from ..errors import InputError
from ..modeling.modeling_rnnsearch import RNNsearchForConditionalGeneration
from ..tokenizer.tokenization_rnnsearch import RNNsearchTokenizer
from .difference import greatest_difference
from .folder import ENCODER, STEP, require
from .graphs import EncoderGraph, StepGraph

TOLERANCE = 1e-4
FIRST_TORCH = "2.8"  # the first whose exporter knows `scan`
# The leading axes of an input, which may have any size.
_AXES = dict.fromkeys(["input_ids", "attention_mask", "keys", "values"], ("batch", "source")) | dict.fromkeys(
    ["tokens", "state", "context"], ("batch", "hypotheses")
)


def export_onnx(
    model: RNNsearchForConditionalGeneration, tokenizer: RNNsearchTokenizer, folder: Path, int8: bool = False
) -> float:
    """Write the graphs of a model, its configurations and its tokenizer.

    The graphs take batches, sources and numbers of hypotheses of any size; `graphs.py` says what they read and give.

    Args:
        model: in float32 on the CPU; it is switched to evaluation mode.
        tokenizer: the tokenizer it was trained with.
        folder: where the files are written; it must be there.
        int8: round embeddings and the weights of products to eight bits, the latter with a scale for each output unit.
            What the encoder's recurrence reads keeps float32.

    Returns:
        greatest difference between the graphs and PyTorch in log-probabilities and alignments, on ragged batches of
        random ids. With `int8` it is that of the rounded graphs, after the others have passed.

    Raises:
        InputError: PyTorch is too old, a package is missing, or the graphs in float32 differ by more than 0.0001.
    """
    require("onnx", "onnxruntime", "onnxscript")
    if torch.__version__ < FIRST_TORCH:
        raise InputError(f"the ONNX export needs PyTorch {FIRST_TORCH} or later, this is {torch.__version__}")
    model.eval()
    attends = model.config.context == "search"
    of_source = ["keys", "values"] if attends else []
    _write(EncoderGraph(model), _encoder_inputs(), ["state", "context", *of_source], folder / ENCODER)
    results = ["log_probs", "new_state", "new_context", *(["alignment"] if attends else [])]
    _write(StepGraph(model), _step_inputs(model.config), results, folder / STEP)
    difference = greatest_difference(model, folder)
    if not difference <= TOLERANCE:
        raise InputError(
            f"the graphs differ from PyTorch by {difference:.2g}, more than {TOLERANCE:.2g}; "
            "try another version of PyTorch or ONNX Runtime"
        )
    if int8:
        for name in (ENCODER, STEP):
            _round(folder / name)
        difference = greatest_difference(model, folder)
    model.config.save_pretrained(folder)
    model.generation_config.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return difference


def _encoder_inputs() -> dict[str, Tensor]:
    return {name: torch.ones(2, 3, dtype=torch.long) for name in ("input_ids", "attention_mask")}


def _step_inputs(config: PreTrainedConfig) -> dict[str, Tensor]:
    terms = 3 * config.hidden_size + 2 * config.maxout_size
    inputs = {
        "tokens": torch.ones(2, 5, dtype=torch.long),
        "state": torch.zeros(2, 5, config.hidden_size),
        "context": torch.zeros(2, 5, terms),
    }
    if config.context == "search":
        inputs["keys"] = torch.zeros(2, 3, config.alignment_size)
        inputs["values"] = torch.zeros(2, 3, terms)
        inputs["attention_mask"] = torch.ones(2, 3, dtype=torch.long)
    if config.step_order == "groundhog":
        inputs["seen_tokens"] = torch.tensor(0)
    return inputs


def _write(graph: nn.Module, inputs: dict[str, Tensor], outputs: Sequence[str], path: Path) -> None:
    with _quiet(), torch.no_grad():
        program = torch.onnx.export(
            graph.eval(),
            kwargs=inputs,
            input_names=list(inputs),
            output_names=outputs,
            dynamic_shapes={name: dict(enumerate(_AXES.get(name, ()))) for name in inputs},
            dynamo=True,
            verbose=False,
        )
        assert program is not None
        program.save(path)


@contextmanager
def _quiet() -> Iterator[None]:
    """Without what the exporter and the quantiser say of themselves."""
    before = logging.root.manager.disable
    logging.disable(logging.WARNING)
    try:
        with warnings.catch_warnings():
            # PyTorch copies an object of its own whose class it has deprecated.
            warnings.filterwarnings("ignore", ".*LeafSpec", FutureWarning)
            warnings.filterwarnings("ignore", ".*axis name", UserWarning)  # the same axis of several inputs
            yield
    finally:
        logging.disable(before)


def _round(path: Path) -> None:
    from onnxruntime.quantization import QuantType, quantize_dynamic

    with _quiet():
        kinds = ["MatMul", "Gather"]  # products, embeddings
        quantize_dynamic(path, path, kinds, per_channel=True, weight_type=QuantType.QInt8)
