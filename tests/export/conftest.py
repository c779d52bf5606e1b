"""Small models with the folders that they are exported to."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest
import torch

from rnnsearch import RNNsearchForConditionalGeneration
from rnnsearch.export.exporter import FIRST_TORCH, export_onnx


@dataclass(frozen=True)
class Exported:
    model: RNNsearchForConditionalGeneration
    folder: Path
    difference: float  # that the exporter has found


@pytest.fixture(scope="session")
def make_model(tiny_tokenizer, make_config, with_large_weights) -> Callable[..., RNNsearchForConditionalGeneration]:
    """A model for `tiny_tokenizer` of whose translations some end soon and others are cut."""

    def make(**options) -> RNNsearchForConditionalGeneration:
        config = make_config(tiny_tokenizer, **options)
        model = with_large_weights(RNNsearchForConditionalGeneration(config).eval())
        with torch.no_grad():
            model.lm_head.bias[config.eos_token_id] += 2
        return model

    return make


@pytest.fixture(scope="session")
def exported(make_model, tiny_tokenizer, tmp_path_factory) -> Callable[..., Exported]:
    """The model with these options and its export, made once."""
    made: dict[str, Exported] = {}

    def make(**options) -> Exported:
        if torch.__version__ < FIRST_TORCH:
            pytest.skip(f"the ONNX export needs PyTorch {FIRST_TORCH}, this is {torch.__version__}")
        name = repr(sorted(options.items()))
        if name not in made:
            folder = tmp_path_factory.mktemp("exported")
            model = make_model(**options)
            made[name] = Exported(model, folder, export_onnx(model, tiny_tokenizer, folder))
        return made[name]

    return make
