"""Hard links of hand-made weights, and the files that hold links."""

import gzip

import numpy as np
import pytest

from rnnsearch.alignment.links import format_links, hard_links, read_links
from rnnsearch.errors import InputError

WEIGHTS = np.array(
    [
        [0.1, 0.6, 0.2, 0.1],
        [0.4, 0.4, 0.1, 0.1],
        [0.3, 0.1, 0.2, 0.4],  # mostly from the end
        [0.9, 0.0, 0.0, 0.1],  # the target's own end
    ]
)
ENDS = np.array([True, True, True, False])


def test_the_largest_weight_of_each_row():
    assert hard_links(WEIGHTS, ENDS, ENDS) == {(1, 0), (0, 1)}


@pytest.mark.parametrize(
    ("threshold", "links"),
    [(0.3, {(1, 0), (0, 1), (1, 1), (0, 2)}), (0.4, {(1, 0), (0, 1), (1, 1)}), (0.7, set()), (0.6, {(1, 0)})],
)
def test_all_weights_of_at_least(threshold, links):
    assert hard_links(WEIGHTS, ENDS, ENDS, threshold) == links


def test_words_are_counted_without_a_start():
    """A tokenizer may be told to put a start before each sentence."""
    inner = np.array([False, True, True, False])
    assert hard_links(WEIGHTS, inner, inner, 0.4) == {(0, 0)}
    assert hard_links(WEIGHTS[[3, 0, 3, 3]], inner, inner) == {(0, 0)}


def test_ends_alone_have_no_links():
    end = np.array([False])
    assert hard_links(np.ones((1, 1)), end, end) == hard_links(np.ones((1, 1)), end, end, 0.5) == set()


def test_what_is_written_is_read(tmp_path):
    links = [{(0, 0), (12, 3), (2, 10)}, set(), {(1, 1)}]
    path = tmp_path / "links.gz"
    with gzip.open(path, "wt", encoding="utf-8") as file:
        file.writelines(format_links(one) + "\n" for one in links)
    assert read_links(path) == (links, [set()] * 3)
    assert format_links(links[0]) == "0-0 2-10 12-3"


def test_gold_with_possible_links_from_one_and_target_first(tmp_path):
    path = tmp_path / "gold"
    path.write_text("1-1 3-2-P 2-2-S\n\n4-1-P", encoding="utf-8")
    sure, possible = read_links(path, first_index=1, target_first=True)
    assert sure == [{(0, 0), (1, 1)}, set(), set()]
    assert possible == [{(1, 2)}, set(), {(0, 3)}]
    assert read_links(path)[1] == [{(3, 2)}, set(), {(4, 1)}]


def test_json_lines(tmp_path):
    path = tmp_path / "gold.jsonl"
    path.write_text('{"alignment": [[0, 1], [2, 0]], "src_words": ["a"]}\n{"links": []}\n', encoding="utf-8")
    assert read_links(path) == ([{(0, 1), (2, 0)}, set()], [set(), set()])


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("1-1 2", "'2' is no link; give pairs of indices such as 3-4"),
        ("1-1-Q", "'1-1-Q' is no link"),
        ("1--1", "'1--1' is no link"),
        ("2-0", "link 2-0 is below the first index 1"),
        ('{"alignment": [[1, 1]', "is not JSON"),
        ('{"pairs": []}', "has neither a list `alignment` nor a list `links`"),
        ('{"alignment": [[1, 1, 1]]}', r"\[1, 1, 1\] is no link"),
        ('{"alignment": [[1, -1]]}', r"\[1, -1\] is no link"),
        ('{"alignment": [[1, true]]}', r"\[1, True\] is no link"),
    ],
)
def test_what_is_no_link_is_named(tmp_path, line, message):
    path = tmp_path / "gold"
    path.write_text(f"1-1\n{line}\n", encoding="utf-8")
    with pytest.raises(InputError, match=rf"gold, line 2: {message}"):
        read_links(path, first_index=1)
