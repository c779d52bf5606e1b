"""The metric that `evaluate` loads, on links counted by hand."""

import evaluate
import pytest

from rnnsearch.errors import InputError
from rnnsearch.metrics import ALIGNMENT_ERROR_RATE

# The first pair has 3 links, 1 of them sure and 1 more possible; of its 2 sure links one is missed. The second has
# none, and misses 1 sure link.
PREDICTIONS, SURE, POSSIBLE = ["0-0 2-1 10-12", ""], ["0-0 1-1", "0-3"], ["2-1", ""]


@pytest.fixture(scope="module")
def metric():
    return evaluate.load(ALIGNMENT_ERROR_RATE)


def test_links_counted_by_hand(metric):
    found = metric.compute(predictions=PREDICTIONS, references=SURE, possible=POSSIBLE)
    assert found["error_rate"] == pytest.approx(1 - (1 + 2) / (3 + 3))
    assert (found["precision"], found["recall"]) == (pytest.approx(2 / 3), pytest.approx(1 / 3))
    assert (found["links"], found["sentences"]) == (3, 2)


def test_without_possible_links_only_sure_ones_are_allowed(metric):
    found = metric.compute(predictions=PREDICTIONS, references=SURE)
    assert found["error_rate"] == pytest.approx(1 - (1 + 1) / (3 + 3))


@pytest.mark.parametrize("wrong", ["0", "0-", "0-x", "0:1", "-1-2"])
def test_what_is_no_link_is_named(metric, wrong):
    with pytest.raises(InputError, match=f"sentence 2: '{wrong}' is no link"):
        metric.compute(predictions=["0-0", f"1-1 {wrong}"], references=["0-0", "0-0"])
