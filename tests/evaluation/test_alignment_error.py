"""Alignment error rate against counts made by hand."""

import pytest

from rnnsearch.errors import InputError
from rnnsearch.evaluation.alignment_error import AlignmentError, alignment_error_rate

# First pair: 4 links found, 2 of them sure and 1 more possible; of 3 sure links one is missed.
# Second pair: 1 link found, possible but not sure; its 2 sure links are missed.
PREDICTED = [{(0, 0), (1, 2), (2, 1), (3, 3)}, {(1, 0)}]
SURE = [{(0, 0), (1, 2), (4, 4)}, {(0, 0), (1, 1)}]
POSSIBLE = [{(2, 1), (2, 2)}, {(1, 0)}]


def test_a_corpus_counted_by_hand():
    # |A| = 5, |S| = 5, |A ∩ S| = 2, |A ∩ P| = 3 + 1; not the mean of the two sentences
    found = alignment_error_rate(PREDICTED, SURE, POSSIBLE)
    assert (found.precision, found.recall, found.links, found.sentences) == (4 / 5, 2 / 5, 5, 2)
    assert found.error_rate == pytest.approx(1 - 6 / 10)


def test_sure_links_are_possible_ones_given_or_not():
    both = [certain | allowed for certain, allowed in zip(SURE, POSSIBLE, strict=True)]
    assert alignment_error_rate(PREDICTED, SURE, both) == alignment_error_rate(PREDICTED, SURE, POSSIBLE)


def test_the_side_of_a_link_matters():
    assert alignment_error_rate([{(0, 1)}], [{(1, 0)}], [set()]).error_rate == 1


def test_with_sure_links_only_it_is_one_minus_the_f_measure():
    found = alignment_error_rate(PREDICTED, SURE, [set(), set()])
    f_measure = 2 * found.precision * found.recall / (found.precision + found.recall)
    assert found.error_rate == pytest.approx(1 - f_measure) == pytest.approx(1 - 2 * (2 / 5) * (2 / 5) / (4 / 5))


@pytest.mark.parametrize(
    ("predicted", "sure", "expected"),
    [
        (set(), set(), AlignmentError(1.0, 1.0, 0.0, 0, 1)),
        (set(), {(0, 0)}, AlignmentError(1.0, 0.0, 1.0, 0, 1)),
        ({(0, 0)}, set(), AlignmentError(0.0, 1.0, 1.0, 1, 1)),
    ],
)
def test_where_there_is_nothing_to_divide_by(predicted, sure, expected):
    assert alignment_error_rate([predicted], [sure], [set()]) == expected


@pytest.mark.parametrize(
    ("counts", "message"),
    [((2, 1, 1), "2 sentences have predicted links, 1 sure and 1 possible"), ((0, 0, 0), "no sentence to score")],
)
def test_counts_must_fit(counts, message):
    with pytest.raises(InputError, match=message):
        alignment_error_rate(*([set()] * count for count in counts))
