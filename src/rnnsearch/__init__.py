"""RNNsearch (Bahdanau, Cho and Bengio, 2014) for Hugging Face Transformers.

Importing this package makes the Auto classes of Transformers know the model and its tokenizer, and `pipeline` know
translation. It costs nothing until they are used: names are loaded at first use, and registration waits for what it
registers with to be imported.
"""

import importlib

from ._registration import register_when_imported
from .version import __version__

_EXPORTS = {
    "OnnxTranslator": "export.onnx_translator",
    "RNNsearchCache": "modeling.generation_rnnsearch",
    "RNNsearchConfig": "modeling.configuration_rnnsearch",
    "RNNsearchForConditionalGeneration": "modeling.modeling_rnnsearch",
    "RNNsearchModel": "modeling.modeling_rnnsearch",
    "RNNsearchTokenizer": "tokenizer.tokenization_rnnsearch",
    "TranslationPipeline": "modeling.pipeline_rnnsearch",
    "Translator": "decoding.translator",
    "align": "alignment.aligner",
}

__all__ = ["__version__", *_EXPORTS]


def __getattr__(name: str):
    if name not in _EXPORTS:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(importlib.import_module(f".{_EXPORTS[name]}", __name__), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *_EXPORTS})


register_when_imported()
