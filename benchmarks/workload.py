"""The same work for every system: training steps and forced translations of random ids.

Every sentence of a batch has the same length, there is no padding and no dropout. A training step is the forward and
backward pass, the clipping of the gradients' norm to 1, and Adam with PyTorch's defaults. Translations are forced to
their length, so that all systems write the same number of words.
"""

import platform
import runpy
from abc import ABC, abstractmethod
from importlib.metadata import version
from typing import Any

import torch
from torch import Tensor, nn

from protocol import HERE, Tasks, memory_mb, serve, stopwatch
from sizes import Size


class System(ABC):
    """A translation model with random weights.

    Attributes:
        model: its weights; built by `__init__`.
        packages: distributions whose versions matter.
        eos: id that ends a sentence.
        first_word: lowest id that is a word; all from here to the end of the vocabulary are.
    """

    model: nn.Module
    packages: tuple[str, ...]
    eos: int
    first_word: int

    @abstractmethod
    def __init__(self, size: Size): ...

    @abstractmethod
    def loss(self, sources: Tensor, targets: Tensor) -> Tensor:
        """Cross-entropy in nats per word of the targets (B, T), given the sources (B, S); all end in `eos`."""

    @abstractmethod
    def translate(self, sources: Tensor, words: int, beams: int) -> Tensor:
        """The best translation of each source (B, S), with exactly so many words: (B, words)."""


def serve_system(kind: type[System]) -> None:
    """Be the worker of a system; the setup holds the arguments of `open_system`."""
    serve(lambda setup: open_system(kind, **setup))


def open_system(
    kind: type[System], size: dict[str, Any], purpose: str, precision: str, threads: int, seed: int
) -> tuple[dict[str, Any], Tasks]:
    """Build a system and make it ready for work.

    Args:
        kind: the class of the system.
        size: the fields of `Size`.
        purpose: "training" or "decoding".
        precision: "float32" or "bfloat16": training then runs under autocast, decoding with converted weights.
        threads: of PyTorch.
        seed: of the weights and the ids.

    Returns:
        what there is to say about it, and its one task, which has the name of the purpose.
    """
    torch.set_num_threads(threads)
    torch.manual_seed(seed)
    keeps = purpose == "training" and _keep_freed_memory()
    measured = Size(**size)
    base = memory_mb("VmRSS")
    system = kind(measured)
    low = precision == "bfloat16"
    ready = {
        "versions": {"python": platform.python_version(), **{name: version(name) for name in kind.packages}},
        "parameters": sum(weight.numel() for weight in system.model.parameters()),
        "base_mb": base,
        "keeps_freed_memory": keeps,
    }
    if purpose == "training":
        return ready, {"training": _Training(system, measured, low, seed)}
    system.model.eval()
    if low:
        system.model.to(torch.bfloat16)
    return ready, {"decoding": _Decoding(system, measured, seed)}


def _keep_freed_memory() -> bool:
    """What the project's own training does to its process is done to every system, whose environment may lack it."""
    return runpy.run_path(str(HERE.parent / "src/rnnsearch/training/memory.py"))["keep_freed_memory"]()


def random_ids(system: System, size: Size, number: int, length: int, seed: int) -> Tensor:
    """Sentences of random words, each with its end: (number, length)."""
    generator = torch.Generator().manual_seed(seed)
    ids = torch.randint(system.first_word, size.vocabulary, (number, length), generator=generator)
    ids[:, -1] = system.eos
    return ids


class _Training:
    """Training steps, each on another batch."""

    def __init__(self, system: System, size: Size, low: bool, seed: int):
        self.system, self.size, self.low, self.seed = system, size, low, seed
        self.optimizer = torch.optim.Adam(system.model.parameters())
        system.model.train()

    def __call__(self, steps: int) -> dict[str, Any]:
        system, size = self.system, self.size
        seeds = range(self.seed, self.seed + 2 * steps, 2)
        sources = [random_ids(system, size, size.batch, size.source_length, seed) for seed in seeds]
        targets = [random_ids(system, size, size.batch, size.target_length, seed + 1) for seed in seeds]
        answer: dict[str, Any] = {"tokens": steps * size.batch * size.target_length}
        with stopwatch(answer):
            for source, target in zip(sources, targets, strict=True):
                loss = self._step(source, target)
        return answer | {"loss": loss, "peak_mb": memory_mb("VmHWM")}

    def _step(self, sources: Tensor, targets: Tensor) -> float:
        with torch.autocast("cpu", torch.bfloat16, enabled=self.low):
            loss = self.system.loss(sources, targets)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(self.system.model.parameters(), 1.0)
        self.optimizer.step()
        self.optimizer.zero_grad()
        return loss.item()


class _Decoding:
    """Translations of the same sentences in batches."""

    def __init__(self, system: System, size: Size, seed: int):
        self.system, self.size, self.seed = system, size, seed

    def __call__(self, beams: int, batch: int, sentences: int, words: int) -> dict[str, Any]:
        sources = random_ids(self.system, self.size, sentences, self.size.source_length, self.seed)
        answer: dict[str, Any] = {"tokens": sentences * words}
        with stopwatch(answer):
            written = [self.system.translate(part, words, beams) for part in sources.split(batch)]
        shapes = {tuple(part.shape) for part in written}
        if shapes != {(batch, words)}:
            raise ValueError(f"wrote {shapes}, not ({batch}, {words})")
        return answer | {"peak_mb": memory_mb("VmHWM")}
