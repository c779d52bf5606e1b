"""Models and tokenizers from a folder or the Hub, with one line for people where there is none."""

from collections.abc import Iterator
from contextlib import contextmanager
from os import PathLike

import torch
from transformers.utils import cached_file

from .errors import InputError
from .modeling.configuration_rnnsearch import RNNsearchConfig
from .modeling.modeling_rnnsearch import RNNsearchForConditionalGeneration
from .tokenizer.tokenization_rnnsearch import RNNsearchTokenizer


def load_model(
    name: str | PathLike[str], device: str | None = None, dtype: torch.dtype | None = None
) -> RNNsearchForConditionalGeneration:
    """A saved model.

    Args:
        name: folder of a saved model, or name of one on the Hugging Face Hub.
        device: such as `cpu` or `cuda:1`; the first GPU, if there is one, when not given.
        dtype: of the weights; as saved when not given.

    Raises:
        InputError: there is no RNNsearch model of that name, or no such device.
    """
    device = device or ("cuda" if torch.cuda.is_available() else "cpu")
    try:
        place = torch.empty(0, device=device).device
    except (RuntimeError, AssertionError) as error:
        raise InputError(f"device {device!r} is not available here; try cpu") from error
    with _loading(name, "model"):
        settings, _ = RNNsearchConfig.get_config_dict(name)
        if not settings:
            raise InputError(f"{name}: no model can be loaded: config.json is missing")
        if settings.get("model_type") != RNNsearchConfig.model_type:
            raise InputError(f"{name}: holds a model of type {settings.get('model_type')!r}, not an RNNsearch model")
        model = RNNsearchForConditionalGeneration.from_pretrained(name, dtype=dtype or "auto")
    return model.to(place)  # type: ignore[arg-type]


def load_tokenizer(name: str | PathLike[str]) -> RNNsearchTokenizer:
    """The tokenizer saved with a model.

    Raises:
        InputError: there is none.
    """
    with _loading(name, "tokenizer"):
        # Without a file a tokenizer that has learnt nothing would come back.
        cached_file(name, "tokenizer.json")
        return RNNsearchTokenizer.from_pretrained(name)


@contextmanager
def _loading(name: str | PathLike[str], what: str) -> Iterator[None]:
    """Turn the paragraph in which Transformers explains that nothing can be loaded into one line."""
    try:
        yield
    except InputError:
        raise
    except (OSError, ValueError) as error:
        reason = (str(error).splitlines() or [type(error).__name__])[0]
        raise InputError(f"{name}: no {what} can be loaded: {reason}") from error
