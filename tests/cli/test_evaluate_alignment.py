"""`rnnsearch evaluate-alignment`: a corpus counted by hand."""

import json

import pytest
from typer.testing import CliRunner

from rnnsearch.cli import app

# |A| = 5, |S| = 4; in S: 0-0, 1-1 and 0-1; in P: those and 2-2.
LINKS = "0-0 1-1 2-2\n0-1 3-0\n"
GOLD = "0-0 1-1 2-2-P 2-1-P\n0-1 1-1\n"
TABLE = "precision 0.8000\nrecall    0.7500\nAER       0.2222\n5 links in 2 sentences\n"


@pytest.fixture
def evaluate(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "links").write_text(LINKS, encoding="utf-8")

    def run(gold: str, *options: str):
        (tmp_path / "gold").write_text(gold, encoding="utf-8")
        return CliRunner().invoke(app, ["evaluate-alignment", "--links", "links", "--gold", "gold", *options])

    return run


def test_table(evaluate):
    result = evaluate(GOLD)
    assert (result.exit_code, result.stdout) == (0, TABLE)
    assert 1 - (3 + 4) / (5 + 4) == pytest.approx(0.2222, abs=5e-5)


def test_from_one_and_the_target_first(evaluate):
    turned = "1-1 2-2 3-3-P 2-3-P\n2-1 2-2\n"
    assert evaluate(turned, "--gold-first-index", "1", "--gold-target-first").stdout == TABLE


def test_json_gold_is_all_sure(evaluate):
    gold = '{"alignment": [[0, 0], [1, 1], [2, 2], [2, 1]]}\n{"alignment": [[0, 1], [1, 1]]}\n'
    assert evaluate(gold).stdout.startswith("precision 0.8000\nrecall    0.6667\n")


def test_json(evaluate, tmp_path):
    printed = json.loads(evaluate(GOLD, "--json", "-").stdout)
    assert printed == {
        "precision": 0.8, "recall": 0.75, "error_rate": pytest.approx(2 / 9), "links": 5, "sentences": 2
    }  # fmt: skip
    assert evaluate(GOLD, "--json", "aer.json").stdout == TABLE
    assert json.loads((tmp_path / "aer.json").read_text(encoding="utf-8")) == printed


@pytest.mark.parametrize(
    ("gold", "options", "message"),
    [
        ("0-0\n", [], "links has 2 lines but gold has 1; they must correspond"),
        ("0-0\n0:0\n", [], "gold, line 2: '0:0' is no link"),
        (GOLD, ["--gold-first-index", "1"], "gold, line 1: link 0-0 is below the first index 1"),
    ],
)
def test_bad_input_is_one_line_and_exit_code_2(evaluate, gold, options, message):
    result = evaluate(gold, *options)
    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr.startswith("rnnsearch: error: ")
    assert message in result.stderr
    assert result.stderr.count("\n") == 1
