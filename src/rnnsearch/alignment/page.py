"""A page to explore alignments on: one HTML file that needs no network and can scale the energies anew."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import jinja2

from .aligner import SoftAlignment
from .folding import Words

__all__ = ["make_page"]

_TEMPLATE = Path(__file__).with_name("page.html.jinja")
_DIGITS = 4  # of energies after the point: at a score scale of 16, weights are off by less than a thousandth of theirs


def make_page(alignments: Sequence[SoftAlignment], source_lang: str = "", target_lang: str = "") -> str:
    """The HTML of a page that shows alignments, one at a time, and what other score scales would make of them.

    Args:
        alignments: what `align` returns with `keep_tokens=True`.
        source_lang: code of the source language, by which screen readers choose a voice; empty if it is not known.
        target_lang: code of the target language, likewise.

    Raises:
        ValueError: there are no alignments, or they were made without `keep_tokens`.
    """
    pairs = [_pair(one) for one in alignments]
    if not pairs:
        raise ValueError("no alignments: give at least one")
    environment = jinja2.Environment(autoescape=True, keep_trailing_newline=True)
    environment.policies["json.dumps_kwargs"] = {"ensure_ascii": False, "separators": (",", ":")}
    template = environment.from_string(_TEMPLATE.read_text(encoding="utf-8"))
    return template.render(data={"languages": [source_lang, target_lang], "pairs": pairs})


def _pair(alignment: SoftAlignment) -> dict[str, Any]:
    tokens = alignment.tokens
    if tokens is None:
        raise ValueError("an alignment without its tokens: call align with keep_tokens=True")
    # Below the largest of its row, which is as good as above 0: the digits are spent where the weights are.
    energies = tokens.energies - tokens.energies.max(axis=1, keepdims=True)
    return {
        "source": {"words": tokens.source.words, "tokens": _tokens(tokens.source)},
        "target": {"words": tokens.target.words, "tokens": _tokens(tokens.target)},
        "energies": (energies.round(_DIGITS) + 0.0).tolist(),  # (Q, P); 0.0 makes 0 of -0
    }


def _tokens(words: Words) -> list[list[tuple[int, float]]]:
    """Of each word, the tokens that spell it and how much of each is the word's."""
    return [[(int(token), float(column[token])) for token in column.nonzero()[0]] for column in words.share.T]
