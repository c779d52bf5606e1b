"""Bilingual lexicons, for the words that a model does not know."""

import os

from ..data.lines import iter_lines
from ..errors import InputError


def read_lexicon(path: str | os.PathLike[str]) -> dict[str, str]:
    """A lexicon from a text file: on each line a source word, a tab, and its translation of one word or more.

    Blank lines are skipped; of several translations of a word the first counts. Rules of reading are those of
    `data.lines.iter_lines`.

    Raises:
        InputError: the file cannot be read, or a line is something else.
    """
    lexicon: dict[str, str] = {}
    for number, line in enumerate(iter_lines(path), 1):
        if not line.strip():
            continue
        columns = [column.strip() for column in line.split("\t")]
        if len(columns) != 2 or not all(columns):
            raise InputError(f"{path}, line {number}: {line[:60]!r} is not a source word, a tab and its translation")
        lexicon.setdefault(*columns)
    return lexicon
