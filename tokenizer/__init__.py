"""The file that travels with a tokenizer: two vocabularies behind one `PreTrainedTokenizerFast`."""

if __name__ != "rnnsearch.tokenizer":
    raise ImportError(f"imported as {__name__!r}: import `rnnsearch.tokenizer` instead (run `pip install -e .` first)")

from .tokenization_rnnsearch import RNNsearchTokenizer

__all__ = ["RNNsearchTokenizer"]
