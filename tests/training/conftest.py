"""A small corpus of a made-up language, and the training of a tiny model on it through the command's own parser."""

import json
import random
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import pytest
import torch
from safetensors.torch import load_file

from rnnsearch.training.parser import OptionParser
from rnnsearch.training.train import train

WORDS = {
    "the": "la", "small": "petite", "red": "rouge", "house": "maison", "cat": "chatte", "sees": "voit",
    "apple": "pomme", "eats": "mange", "river": "rivière", "near": "près", "sings": "chante", "tall": "haute",
}  # fmt: skip
TINY = ["--embedding_size", "12", "--hidden_size", "14", "--alignment_size", "10", "--maxout_size", "12"]


def make_pairs(count: int, seed: int) -> list[tuple[str, str]]:
    """Different sentences of 2 to 9 words with their words translated in reverse order."""
    rng = random.Random(seed)
    sentences: dict[str, str] = {}
    while len(sentences) < count:
        words = [rng.choice(list(WORDS)) for _ in range(rng.randint(2, 9))]
        sentences[" ".join(words)] = " ".join(WORDS[word] for word in reversed(words))
    return list(sentences.items())


def write_pairs(pairs: list[tuple[str, str]], source: Path, target: Path) -> None:
    for path, side in ((source, 0), (target, 1)):
        path.write_text("".join(f"{pair[side]}\n" for pair in pairs), encoding="utf-8")


@pytest.fixture(scope="session")
def text(tmp_path_factory) -> Path:
    """Folder with train.en and train.fr (48 pairs), valid.en and valid.fr (9 pairs)."""
    folder = tmp_path_factory.mktemp("text")
    write_pairs(make_pairs(48, 0), folder / "train.en", folder / "train.fr")
    write_pairs(make_pairs(9, 1), folder / "valid.en", folder / "valid.fr")
    return folder


class Trained(NamedTuple):
    """What a training left behind."""

    folder: Path
    metrics: dict[str, float]

    @property
    def weights(self) -> dict[str, torch.Tensor]:
        return load_file(self.folder / "model.safetensors")

    @property
    def state(self) -> dict[str, Any]:
        return json.loads((self.folder / "trainer_state.json").read_text())


@pytest.fixture
def run(text, tmp_path) -> Callable[..., Trained]:
    """Train on `text`, with options as words, into a folder of `tmp_path`; `validate=False` leaves validation out."""

    def go(*words: object, folder: str = "model", validate: bool = True, source: Sequence[object] = ()) -> Trained:
        options = ["--train", *map(str, source or (text / "train.en", text / "train.fr"))]
        options += ["--validation", str(text / "valid.en"), str(text / "valid.fr")] if validate else []
        options += [
            *TINY,
            "--tokenizer_kind",
            "word",
            "--initializer_range",
            "0.1",
            "--use_cpu",
            "--disable_tqdm",
            "1",
        ]
        options += ["--per_device_train_batch_size", "8", "--num_train_epochs", "2"]
        options += ["--output_dir", str(tmp_path / folder), *map(str, words)]
        return Trained(tmp_path / folder, train(*OptionParser().read(options)))

    return go


@pytest.fixture
def same() -> Callable[[dict[str, torch.Tensor], dict[str, torch.Tensor]], bool]:
    """Whether two sets of weights are equal bit for bit."""

    def compare(left: dict[str, torch.Tensor], right: dict[str, torch.Tensor]) -> bool:
        return left.keys() == right.keys() and all(torch.equal(left[name], right[name]) for name in left)

    return compare
