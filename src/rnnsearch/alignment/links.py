"""Hard links between words: from soft alignments, and in the text files that aligners and annotators write."""

import json
import os
import re
from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from ..data.lines import iter_lines
from ..errors import InputError
from ..evaluation.alignment_error import Link

__all__ = ["format_links", "hard_links", "read_links"]

_PHARAOH = re.compile(r"(\d+)-(\d+)(-[SP])?")


def hard_links(
    weights: NDArray[np.float64],
    source_is_word: NDArray[np.bool_],
    target_is_word: NDArray[np.bool_],
    threshold: float | None = None,
) -> frozenset[Link]:
    """Links that a soft alignment implies: each target word with the source word of its largest weight.

    A target word that was mostly written from the source's end has no link.

    Args:
        weights: α between words, (T, S).
        source_is_word: False for the end of the source, (S,).
        target_is_word: False for the end of the target, (T,).
        threshold: link all words instead whose weight is at least this, from 0 to 1.

    Returns:
        pairs (source index, target index), counted from 0 among the words.
    """
    chosen = weights == weights.max(axis=1, keepdims=True) if threshold is None else weights >= threshold
    if threshold is None:  # the first of several that are equal
        chosen &= chosen.cumsum(axis=1) == 1
    chosen = chosen[target_is_word][:, source_is_word]
    return frozenset((int(source), int(target)) for target, source in np.argwhere(chosen))


def format_links(links: Iterable[Link]) -> str:
    """Links in Pharaoh format, in the order of the source.

    >>> format_links({(1, 0), (0, 2)})
    '0-2 1-0'
    """
    return " ".join(f"{source}-{target}" for source, target in sorted(links))


def read_links(
    path: str | os.PathLike[str], first_index: int = 0, target_first: bool = False
) -> tuple[list[frozenset[Link]], list[frozenset[Link]]]:
    """Links of a corpus, one sentence pair on each line.

    A line is in Pharaoh format, `0-0 2-1-P`, where a link that ends in `-P` is possible and all others are sure; or a
    JSON object whose `alignment` or `links` is a list of pairs, `[[0, 0], [2, 1]]`, all of them sure. A blank line is
    a pair without links.

    Args:
        path: the file, plain or compressed.
        first_index: the index of a sentence's first word, 0 or 1.
        target_first: whether the target's index stands first in each pair.

    Returns:
        The sure links of each pair and the possible ones, as (source index, target index) counted from 0.

    Raises:
        InputError: the file cannot be read, a line has another form, or an index is below `first_index`.
    """
    sure: list[frozenset[Link]] = []
    possible: list[frozenset[Link]] = []
    for number, line in enumerate(iter_lines(path), 1):
        where = f"{path}, line {number}"
        read = _json_links(line, where) if line.lstrip().startswith("{") else _pharaoh_links(line, where)
        kinds: tuple[set[Link], set[Link]] = (set(), set())
        for first, second, is_possible in read:
            source, target = (second, first) if target_first else (first, second)
            if min(source, target) < first_index:
                raise InputError(f"{where}: link {first}-{second} is below the first index {first_index}")
            kinds[is_possible].add((source - first_index, target - first_index))
        sure.append(frozenset(kinds[False]))
        possible.append(frozenset(kinds[True]))
    return sure, possible


def _pharaoh_links(line: str, where: str) -> Iterable[tuple[int, int, bool]]:
    for link in line.split():
        match = _PHARAOH.fullmatch(link)
        if not match:
            raise InputError(f"{where}: {link!r} is no link; give pairs of indices such as 3-4, or 3-4-P")
        yield int(match[1]), int(match[2]), match[3] == "-P"


def _json_links(line: str, where: str) -> Iterable[tuple[int, int, bool]]:
    try:
        record = json.loads(line)
    except json.JSONDecodeError as error:
        raise InputError(f"{where}: is not JSON: {error}") from error
    links = record.get("alignment", record.get("links"))
    if not isinstance(links, list):
        raise InputError(f"{where}: has neither a list `alignment` nor a list `links`")
    for link in links:
        if not (
            isinstance(link, list) and len(link) == 2 and all(type(index) is int and index >= 0 for index in link)
        ):
            raise InputError(f"{where}: {link!r} is no link; give pairs of indices such as [3, 4]")
        yield link[0], link[1], False
