"""The table of docs/scaling.md is that of the files, and its arithmetic that of the paper's sizes."""

import pytest


def test_the_page_is_fresh(module):
    scaling = module("scaling")
    page = scaling.PAGE.read_text(encoding="utf-8")
    assert scaling.filled(page) == page, "run: python benchmarks/scaling.py"
    assert scaling.filled(page.replace("| 288,000 |", "| 9 |")) == page


def test_days_worked_by_hand(module):
    """2,000 tokens at 400 a second are 5 seconds; 288,000 updates of them 1,440,000 seconds, or 16.7 days."""
    row = {"size": "paper", "threads": 1, "purpose": "training", "system": "rnnsearch", "precision": "float32"}
    row |= {"task": "training", "maxout": 500, "tokens": 2000, "tokens_per_second": 400.0}
    others = [row | change | {"tokens_per_second": 1.0} for change in ({"maxout": 1000}, {"system": "joeynmt"})]
    table = module("scaling").rows({"rows": [*others, row]})
    assert "| `rnnsearch_50` | 288,000 | 5.0 | 17 | 111 |" in table


def test_operations_of_a_fixed_context(module, tiny):
    """With m = 5, n = 6, l = 6, K = 23, three sentences of 4 words and translations of 8, by hand:

    encoder 12 · 2 · 18 · 11, initial state 3 · 2 · 36, decoder 24 · 2 · 18 · 17, read-out 24 · 2 · 12 · 17, vocabulary
    24 · 2 · 6 · 23.
    """
    assert module("scaling").fixed_context_flop(tiny) == pytest.approx(4752 + 216 + 14688 + 9792 + 6624)
