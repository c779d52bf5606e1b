"""Alignment error rate: how far the links found between words are from those that people drew."""

from collections.abc import Sequence, Set
from dataclasses import dataclass

from ..errors import InputError

Link = tuple[int, int]  # (position in the source, position in the target)


@dataclass(frozen=True)
class AlignmentError:
    """Agreement of found links with a gold standard, counted over a corpus (Och and Ney, 2003, section 6).

    With A the links found, S the sure and P the possible ones (S among them), all sentences together:

    Args:
        precision: |A ∩ P| / |A|, from 0 to 1; 1 if no link was found.
        recall: |A ∩ S| / |S|, from 0 to 1; 1 if no link is sure.
        error_rate: 1 - (|A ∩ S| + |A ∩ P|) / (|A| + |S|), from 0 to 1, the less the better; 0 if both are empty.
        links: |A|.
        sentences: number of sentence pairs.
    """

    precision: float
    recall: float
    error_rate: float
    links: int
    sentences: int


def alignment_error_rate(
    predicted: Sequence[Set[Link]], sure: Sequence[Set[Link]], possible: Sequence[Set[Link]]
) -> AlignmentError:
    """Precision, recall and alignment error rate of the links of a corpus.

    Args:
        predicted: the links found in each sentence pair.
        sure: the links that annotators were sure of.
        possible: the links that they would allow; the sure ones count among them, given here or not.

    Raises:
        InputError: the three counts differ or are zero.

    >>> error = alignment_error_rate([{(0, 0), (1, 1)}], [{(0, 0)}], [{(1, 2)}])
    >>> error.precision, error.recall, round(error.error_rate, 4)
    (0.5, 1.0, 0.3333)
    """
    if not len(predicted) == len(sure) == len(possible):
        raise InputError(
            f"{len(predicted)} sentences have predicted links, {len(sure)} sure and {len(possible)} possible ones: "
            "give one set of each for each sentence"
        )
    if not predicted:
        raise InputError("no sentence to score: there are no links at all")
    found = surely_there = in_sure = in_possible = 0
    for links, certain, allowed in zip(predicted, sure, possible, strict=True):
        found += len(links)
        surely_there += len(certain)
        in_sure += len(links & certain)
        in_possible += len(links & (certain | allowed))
    return AlignmentError(
        precision=in_possible / found if found else 1.0,
        recall=in_sure / surely_there if surely_there else 1.0,
        error_rate=1 - (in_sure + in_possible) / (found + surely_there) if found + surely_there else 0.0,
        links=found,
        sentences=len(predicted),
    )
