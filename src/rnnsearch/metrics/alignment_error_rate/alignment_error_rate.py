"""How far the links found between words are from those that people drew (Och and Ney, 2003).

Counted by `rnnsearch.evaluation.alignment_error` over all sentences together.
"""

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

import datasets
import evaluate

from rnnsearch.errors import InputError
from rnnsearch.evaluation.alignment_error import Link, alignment_error_rate

_INPUTS = """
Args:
    predictions: the links found in each sentence pair, in the Pharaoh format: `0-0 1-2` links the first word of the
        source with the first of the target, and the second with the third. An empty string has no link.
    references: the sure links of each pair, in the same format.
    possible: the possible links of each pair, in the same format; the sure ones are possible, too, given here or not.
        Without them only the sure ones are.

Returns:
    `error_rate`, the less the better, `precision` and `recall`, all from 0 to 1; `links`, the number found, and
    `sentences`.

Raises:
    InputError: the numbers of sentences differ or are zero, or a link is not two numbers with a dash between them.
"""


class AlignmentErrorRate(evaluate.Metric):
    """Alignment error rate, precision and recall of links between words.

    >>> import evaluate
    >>> from rnnsearch.metrics import ALIGNMENT_ERROR_RATE
    >>> metric = evaluate.load(ALIGNMENT_ERROR_RATE)
    >>> found = metric.compute(predictions=["0-0 1-1"], references=["0-0"], possible=["1-2"])
    >>> round(found["error_rate"], 4), found["precision"], found["recall"]
    (0.3333, 0.5, 1.0)
    """

    def _info(self) -> evaluate.MetricInfo:
        return evaluate.MetricInfo(
            description=__doc__,
            citation="",
            inputs_description=_INPUTS,
            features=datasets.Features(
                {"predictions": datasets.Value("string"), "references": datasets.Value("string")}
            ),
            reference_urls=["https://aclanthology.org/J03-1002"],
        )

    def _compute(
        self, predictions: Sequence[str], references: Sequence[str], possible: Sequence[str] | None = None
    ) -> dict[str, Any]:
        found, sure = _read(predictions), _read(references)
        return asdict(alignment_error_rate(found, sure, [set()] * len(sure) if possible is None else _read(possible)))


def _read(lines: Sequence[str]) -> list[set[Link]]:
    return [{_link(word, number) for word in line.split()} for number, line in enumerate(lines, 1)]


def _link(word: str, sentence: int) -> Link:
    source, _, target = word.partition("-")
    if not (source.isdecimal() and target.isdecimal()):
        raise InputError(f"sentence {sentence}: {word!r} is no link; write it as source-target, such as 0-2")
    return int(source), int(target)
