"""Readers of parallel text: from files, folders and the Hub to one stream of checked sentence pairs.

Whatever is read is UTF-8, on every machine, and nothing is repaired or dropped in silence: a fault stops with an
`InputError` that names the file and the line, and `filter_pairs` counts what it leaves out.
"""

import csv
import json
import os
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import zip_longest
from pathlib import Path
from typing import Any, NamedTuple

from ..errors import InputError
from .lines import OPENERS, iter_lines

HUB_NAME = re.compile(r"[\w.-]+(/[\w.-]+)?(:[^/]+)?")
EXAMPLES = 3  # line numbers that a report quotes of each kind of dropped pair


class Pair(NamedTuple):
    """One sentence and its translation."""

    source: str
    target: str


def load_pairs(
    files: Sequence[str],
    source_lang: str | None = None,
    target_lang: str | None = None,
    *,
    split: str = "train",
    streaming: bool = False,
) -> list[Pair] | Iterator[Pair]:
    """Read parallel text; what was given decides how.

    | given | read as |
    | --- | --- |
    | two files | plain text; line n of the first is translated by line n of the second |
    | `x.tsv` | source, tab, target on each line; quotes are ordinary characters; no header |
    | `x.csv` | source, comma, target; fields may be quoted with `"`; no header |
    | `x.jsonl`, `x.json` | one object a line, `{"translation": {"en": ..., "fr": ...}}` or `{"en": ..., "fr": ...}` |
    | a folder | a `Dataset` or `DatasetDict` from `save_to_disk`, or data files for `datasets.load_dataset` |
    | another name | a data set on the Hub, `owner/name` or `owner/name:config` |

    Files may be compressed (`x.tsv.gz`, `x.fr.xz`). Rows of the last three kinds hold their texts as those objects
    do: by language under `translation`, or in columns called as the languages. Other columns are ignored. A text
    that is null is read as an empty one, which `filter_pairs` drops and counts.

    Args:
        files: two paths, or one path or name.
        source_lang: the source's key or column, such as "en"; only needed where texts are found by name.
        target_lang: the target's, such as "fr".
        split: the part of a data set to read; of no effect on files and on a `Dataset` saved alone.
        streaming: return an iterator that reads (and from the Hub, downloads) pairs as they are asked for.

    Returns:
        A list of pairs in the order of the data; with `streaming`, an iterator, which raises its errors on the way.

    Raises:
        InputError: nothing can be read there, a line or row is not a pair, or two files differ in line count.
    """
    pairs = _open_pairs([os.fspath(file) for file in files], source_lang, target_lang, split, streaming)
    return pairs if streaming else list(pairs)


def _open_pairs(
    files: list[str], source_lang: str | None, target_lang: str | None, split: str, streaming: bool
) -> Iterator[Pair]:
    readers = {".tsv": _tsv_pairs, ".csv": _csv_pairs, ".jsonl": _json_pairs, ".json": _json_pairs}
    if len(files) == 2:
        for file in files:
            if _suffix(file) in readers:
                raise InputError(f"{file}: a {_suffix(file)} file holds both sides; give it alone")
        return _text_pairs(*files)
    if len(files) != 1:
        raise InputError(f"give two text files, or one file, folder or data set; there are {len(files)}")
    [name] = files
    if os.path.isdir(name):
        return _dataset_pairs(name, source_lang, target_lang, split, streaming)
    if _suffix(name) in readers:
        return readers[_suffix(name)](name, source_lang, target_lang)
    if os.path.exists(name):
        raise InputError(
            f"{name}: one text file holds one side; give two, or one of {', '.join(readers)}, a folder or a Hub name"
        )
    if HUB_NAME.fullmatch(name):
        return _dataset_pairs(name, source_lang, target_lang, split, streaming)
    raise InputError(f"{name}: no such file or folder")


def _suffix(file: str) -> str:
    """The suffix that tells the format: that of `pairs.tsv.gz` is `.tsv`."""
    path = Path(file)
    return Path(path.stem).suffix if path.suffix in OPENERS else path.suffix


def _text_pairs(source_path: str, target_path: str) -> Iterator[Pair]:
    both = zip_longest(iter_lines(source_path), iter_lines(target_path))
    for number, (source, target) in enumerate(both):
        if source is None or target is None:
            longer = number + 1 + sum(1 for _ in both)
            sources, targets = (number, longer) if source is None else (longer, number)
            raise InputError(
                f"{source_path} has {sources:,} lines but {target_path} has {targets:,}; "
                "line n of one must translate line n of the other"
            )
        yield Pair(source, target)


def _tsv_pairs(path: str, source_lang: str | None, target_lang: str | None) -> Iterator[Pair]:
    for number, line in enumerate(iter_lines(path), 1):
        yield _row_pair(line.split("\t"), {source_lang, target_lang}, f"{path}, line {number}")


def _csv_pairs(path: str, source_lang: str | None, target_lang: str | None) -> Iterator[Pair]:
    # strict: a quotation mark that is never closed is an error and does not swallow the rest of the file
    reader = csv.reader((line + "\n" for line in iter_lines(path)), strict=True)
    try:
        for row in reader:
            yield _row_pair(row, {source_lang, target_lang}, f"{path}, line {reader.line_num}")
    except csv.Error as error:
        raise InputError(f"{path}, line {reader.line_num}: not CSV: {error}") from error


def _row_pair(row: list[str], languages: set[str | None], where: str) -> Pair:
    if len(row) != 2:
        raise InputError(f"{where}: has {len(row)} columns; a line is one source and one target")
    # Read as a pair, a header would go unnoticed, and so would columns that stand in the other order.
    if set(row) == languages:
        raise InputError(f"{where}: is a header; remove it, the first column is read as source, the second as target")
    return Pair(*row)


def _json_pairs(path: str, source_lang: str | None, target_lang: str | None) -> Iterator[Pair]:
    for number, line in enumerate(iter_lines(path), 1):
        where = f"{path}, line {number}"
        try:
            row = json.loads(line)
        except ValueError as error:
            raise InputError(f"{where}: not JSON: {error}") from error
        if not isinstance(row, dict):
            raise InputError(f"{where}: not a JSON object; each line holds one, such as {{'en': '...', 'fr': '...'}}")
        yield _named_pair(row, source_lang, target_lang, where)


def _dataset_pairs(
    name: str, source_lang: str | None, target_lang: str | None, split: str, streaming: bool
) -> Iterator[Pair]:
    with _dataset_errors(name):
        rows = _open_dataset(name, split, streaming)
        number = 0
        for number, row in enumerate(rows, 1):
            yield _named_pair(row, source_lang, target_lang, f"{name}, row {number}")
    if not number:
        raise InputError(f"{name}: split {split!r} is empty")


def _open_dataset(name: str, split: str, streaming: bool) -> Iterable[dict[str, Any]]:
    # Imported here: it takes seconds and brings pandas, and readers of plain files need neither.
    import datasets

    saved = any(os.path.exists(os.path.join(name, mark)) for mark in ("dataset_dict.json", "state.json"))
    if not saved:
        path, _, config = (name, "", "") if os.path.isdir(name) else name.partition(":")
        return datasets.load_dataset(path, config or None, split=split, streaming=streaming)
    data = datasets.load_from_disk(name)
    if isinstance(data, datasets.Dataset):
        return data
    if split not in data:
        raise InputError(f"{name}: no split {split!r}; there are: {', '.join(data)}")
    return data[split]


@contextmanager
def _dataset_errors(name: str) -> Iterator[None]:
    """Turn what `datasets` raises about missing, damaged or unreachable data into one line."""
    from datasets.exceptions import DatasetGenerationError, DatasetsError

    try:
        yield
    except InputError:
        raise
    except (DatasetsError, OSError, ValueError, RuntimeError, LookupError) as error:  # the last for sets without rows
        # This one only says that an error happened; which one, its cause says.
        told = error.__cause__ if isinstance(error, DatasetGenerationError) and error.__cause__ else error
        reason = " ".join(str(told).split()) or type(told).__name__
        here = "" if os.path.exists(name) else "no such file or folder, and "
        raise InputError(f"{name}: {here}cannot be read as a data set: {reason}") from error


def _named_pair(row: dict[str, Any], source_lang: str | None, target_lang: str | None, where: str) -> Pair:
    translation = row.get("translation")
    texts = translation if isinstance(translation, dict) else row
    there = f"there are: {', '.join(map(str, texts))}"
    if source_lang is None or target_lang is None:
        raise InputError(f"{where}: name the languages of source and target; {there}")
    missing = [repr(language) for language in (source_lang, target_lang) if language not in texts]
    if missing:
        raise InputError(f"{where}: no {' and no '.join(missing)}; {there}")
    return Pair(_text(texts[source_lang], source_lang, where), _text(texts[target_lang], target_lang, where))


def _text(value: Any, language: str, where: str) -> str:
    if value is None:
        return ""
    if not isinstance(value, str):
        raise InputError(f"{where}: {language!r} is not text but {value!r:.40}")
    # JSON escapes can spell both, and either would fail much later, when the text is written.
    if re.search("[\0\ud800-\udfff]", value):
        raise InputError(f"{where}: {language!r} holds a NUL character or half a surrogate pair")
    return value


@dataclass(frozen=True)
class FilterReport:
    """What `filter_pairs` kept and dropped; `str()` of it is one line for people.

    Attributes:
        kept: number of pairs kept.
        blank: number of pairs dropped because a side has no visible character.
        too_long: number of pairs dropped because they are longer than `max_length`.
        blank_lines: numbers of the first few blank pairs, counted from 1 in the order given.
        too_long_lines: the same of the pairs that are too long.
        max_length: the longest length kept, in `unit`; None for no limit.
        unit: what lengths count, "words" or "tokens".
    """

    kept: int
    blank: int
    too_long: int
    blank_lines: tuple[int, ...]
    too_long_lines: tuple[int, ...]
    max_length: int | None
    unit: str

    def __str__(self) -> str:
        kept = f"{self.kept:,} pair{'' if self.kept == 1 else 's'} kept"
        reasons = []
        for count, reason, lines in (
            (self.blank, "blank", self.blank_lines),
            (self.too_long, f"over {self.max_length} {self.unit}", self.too_long_lines),
        ):
            if count:
                numbers = f"line{'' if len(lines) == 1 else 's'} {', '.join(map(str, lines))}"
                reasons.append(f"{count:,} {reason} ({'first ' if count > len(lines) else ''}at {numbers})")
        return f"{kept}; {self.blank + self.too_long:,} dropped" + (": " if reasons else "") + ", ".join(reasons)


def words_in_longer_side(source: str, target: str) -> int:
    """Length of a pair in blank-separated words: that of its longer side."""
    return max(len(source.split()), len(target.split()))


def filter_pairs(
    pairs: Iterable[Pair],
    max_length: int | None = None,
    length: Callable[[str, str], int] = words_in_longer_side,
    unit: str = "words",
) -> tuple[list[Pair], FilterReport]:
    """Drop pairs with a blank side and pairs that are too long, always both sides together.

    Args:
        pairs: sentence pairs in the order of their file.
        max_length: the longest length to keep, in `unit` (the paper trains on at most 30 or 50 words, section 4.2);
            None keeps every length.
        length: maps a pair's source and target to the pair's length.
        unit: what `length` counts, for the report.

    Returns:
        The pairs kept, in order, and the report.

    Raises:
        InputError: `max_length` is below 1, or no pair is left.

    >>> pairs, report = filter_pairs([Pair("a b", "A B"), Pair("", "B"), Pair("c d e", "C")], max_length=2)
    >>> print(report)
    1 pair kept; 2 dropped: 1 blank (at line 2), 1 over 2 words (at line 3)
    """
    if max_length is not None and max_length < 1:
        raise InputError(f"the longest pair to keep must have at least 1 of its {unit}, not {max_length}")
    kept: list[Pair] = []
    blank: list[int] = []
    too_long: list[int] = []
    for number, pair in enumerate(pairs, 1):
        if not pair.source.strip() or not pair.target.strip():
            blank.append(number)
        elif max_length is not None and length(*pair) > max_length:
            too_long.append(number)
        else:
            kept.append(pair)
    report = FilterReport(
        kept=len(kept),
        blank=len(blank),
        too_long=len(too_long),
        blank_lines=tuple(blank[:EXAMPLES]),
        too_long_lines=tuple(too_long[:EXAMPLES]),
        max_length=max_length,
        unit=unit,
    )
    if not kept:
        raise InputError(f"no pair is left to use: {report}")
    return kept, report
