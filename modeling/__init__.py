"""The files that travel with a checkpoint: configuration, layers, recurrence, generation and model."""

import importlib
from typing import TYPE_CHECKING

if __name__ != "rnnsearch.modeling":
    raise ImportError(f"imported as {__name__!r}: import `rnnsearch.modeling` instead (run `pip install -e .` first)")

if TYPE_CHECKING:
    from .configuration_rnnsearch import RNNsearchConfig
    from .generation_rnnsearch import RNNsearchCache
    from .modeling_rnnsearch import RNNsearchForConditionalGeneration, RNNsearchModel, RNNsearchPreTrainedModel

__all__ = [
    "RNNsearchCache",
    "RNNsearchConfig",
    "RNNsearchForConditionalGeneration",
    "RNNsearchModel",
    "RNNsearchPreTrainedModel",
]


def __getattr__(name: str):
    # The configuration is read without PyTorch, by the Auto classes among others.
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    file = "configuration_rnnsearch" if name == "RNNsearchConfig" else "modeling_rnnsearch"
    return getattr(importlib.import_module(f".{file}", __name__), name)
