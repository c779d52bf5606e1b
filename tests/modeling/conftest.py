"""Models of every kind with large random weights, and a ragged batch with odd sizes, for the tests of the model."""

from dataclasses import dataclass, field

import pytest
import torch
from torch import Tensor

from rnnsearch import RNNsearchConfig, RNNsearchForConditionalGeneration

ORDERS = ["paper", "groundhog"]
SCORES = ["additive", "dot", "scaled_dot"]
# No two sizes agree, so that no transposed weight and no exchanged axis can pass.
SIZES = {
    "src_vocab_size": 13,
    "vocab_size": 11,
    "embedding_size": 5,
    "hidden_size": 6,
    "alignment_size": 3,
    "maxout_size": 4,
}
KINDS = [
    *({"step_order": o, "context": "search", "score": s} for s in SCORES for o in ORDERS),
    *({"step_order": o, "context": "fixed", "score": "additive"} for o in ORDERS),
]


def _name(kind: dict[str, str]) -> str:
    return "-".join(kind.values()) if kind["context"] == "search" else f"{kind['step_order']}-fixed"


@pytest.fixture(params=KINDS, ids=_name)
def kind(request) -> dict[str, str]:
    """The three choices of the configuration; with a fixed context there is nothing to score."""
    return request.param


@pytest.fixture(params=[kind for kind in KINDS if kind["score"] == "additive"], ids=_name)
def additive_kind(request) -> dict[str, str]:
    """The same with the paper's score only."""
    return request.param


@pytest.fixture(scope="session")
def make_model():
    """Builds a model in evaluation mode whose weights are far from their small start: N(0, 0.6²), biases too."""

    def make(dtype: torch.dtype = torch.float64, seed: int = 0, **choices) -> RNNsearchForConditionalGeneration:
        model = RNNsearchForConditionalGeneration(RNNsearchConfig(**{**SIZES, **choices})).to(dtype).eval()
        generator = torch.Generator().manual_seed(seed)
        with torch.no_grad():
            for weight in model.parameters():
                weight.copy_(0.6 * torch.randn(weight.shape, generator=generator, dtype=torch.float64))
        return model

    return make


@dataclass
class Batch:
    """Sentences of unequal lengths, alone and padded together; sources on `side`, labels on the right with -100."""

    sources: list[list[int]]
    targets: list[list[int]]
    side: str
    input_ids: Tensor = field(init=False)
    attention_mask: Tensor = field(init=False)
    labels: Tensor = field(init=False)

    def __post_init__(self):
        widest = max(map(len, self.sources))
        fill = [[0] * (widest - len(source)) for source in self.sources]
        rows = [s + f if self.side == "right" else f + s for s, f in zip(self.sources, fill, strict=True)]
        self.input_ids = torch.tensor(rows)
        self.attention_mask = (self.input_ids != 0).long()
        longest = max(map(len, self.targets))
        self.labels = torch.tensor([target + [-100] * (longest - len(target)) for target in self.targets])

    @property
    def encoded(self) -> dict[str, Tensor]:
        return {"input_ids": self.input_ids, "attention_mask": self.attention_mask}

    def real(self, row: int) -> Tensor:
        """Indices of the source positions of a row that are not padding."""
        return self.attention_mask[row].nonzero().squeeze(1)


@pytest.fixture(scope="session")
def make_batch():
    """Three sentence pairs of unequal lengths with their sources padded on the given side."""

    def make(side: str) -> Batch:
        return Batch(
            sources=[[4, 12, 7, 9, 2], [8, 2], [5, 3, 10, 6, 11, 4, 2]],
            targets=[[6, 9, 2], [10, 4, 3, 8, 5, 2], [7, 2]],
            side=side,
        )

    return make


@pytest.fixture(params=["right", "left"])
def batch(request, make_batch) -> Batch:
    return make_batch(request.param)
