"""What the documents publish is what the files in results/ hold, rounded."""

import ast
import json
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
DIRECTIONS = {"de": "English–German", "fr": "English–French"}
TESTS = {"test_2016_flickr": "2016 Flickr", "test_2017_flickr": "2017 Flickr", "test_2017_mscoco": "2017 MSCOCO"}
MEASURES = ("lower-cased tokenised BLEU", "BLEU", "chrF2")


def read(name: str) -> dict:
    return json.loads((ROOT / "results" / name).read_text(encoding="utf-8"))


def table(page: str, *header: str) -> set[str]:
    """The rows of the one table of a page that has this header."""
    lines = (ROOT / page).read_text(encoding="utf-8").splitlines()
    [start] = [number for number, line in enumerate(lines) if line == f"| {' | '.join(header)} |"]
    rows = []
    for line in lines[start + 2 :]:
        if not line.startswith("|"):
            break
        rows.append(line)
    assert len(set(rows)) == len(rows)
    return set(rows)


def row(*cells) -> str:
    return f"| {' | '.join(f'{cell:.1f}' if isinstance(cell, float) else f'{cell}' for cell in cells)} |"


def test_multi30k_training():
    expected = set()
    for target, direction in DIRECTIONS.items():
        training = read(f"multi30k_en_{target}.json")["training"]
        expected.add(
            row(direction, training["minutes"], f"{training['updates']:,}", float(training["best_validation_bleu"]))
        )
    assert table("docs/results.md", "direction", "minutes", "updates", "best validation BLEU (greedy)") == expected


def test_multi30k_scores():
    expected = {
        row(direction, TESTS[test], *(scores[measure]["value"] for measure in MEASURES))
        for target, direction in DIRECTIONS.items()
        for test, scores in read(f"multi30k_en_{target}.json")["tests"].items()
    }
    header = ("direction", "test set", "lower-cased Moses tokens", "BLEU", "chrF2")
    assert table("docs/results.md", *header) == expected


def test_readme_scores():
    expected = set()
    for target, direction in DIRECTIONS.items():
        result = read(f"multi30k_en_{target}.json")
        scores = result["tests"]["test_2016_flickr"]
        expected.add(
            row(direction, result["training"]["minutes"], *(scores[measure]["value"] for measure in MEASURES[:2]))
        )
    assert table("README.md", "Multi30k, test 2016", "minutes", "lower-cased Moses tokens", "BLEU") == expected


def test_demo():
    demo = read("demo.json")
    expected = {
        row(name, scores["training_minutes"], scores["bleu held out"], scores["bleu longer"])
        for name, scores in demo.items()
        if name != "minutes"
    }
    assert table("docs/results.md", "model", "training minutes", "3 to 15 words", "16 to 30 words") == expected


def test_erasure():
    """A mean and the ends of its interval, each to two places."""
    measures = {
        "weight": "weight of the replaced word",
        "percent changed": "likeliest token changes, per cent",
        "total variation": "total variation of the probabilities",
        "log-probability lost": "log-probability lost, nats",
    }
    found = read("erasure.json")
    assert found.pop("measured")["lines"] == 200
    expected = {
        row(measures[name], *("{:.2f} ({:.2f}–{:.2f})".format(*means[which]) for which in means))
        for name, means in found.items()
    }
    header = ("of the chosen word", "most read word replaced", "another word replaced", "difference")
    assert table("docs/erasure.md", *header) == expected
    (most, *_), (other, *_) = (found["percent changed"][which] for which in ("most read", "another"))
    pictures = " ".join((ROOT / "docs" / "alignments.md").read_text(encoding="utf-8").split())
    assert f"in {most:.1f} per cent of 200 lines, and in {other:.1f} when another word is replaced" in pictures


@pytest.mark.parametrize("target", DIRECTIONS)
def test_signatures_are_kept(target):
    for scores in read(f"multi30k_en_{target}.json")["tests"].values():
        for score in scores.values():
            assert "version:" in score["signature"]
            assert 0 <= score["value"] <= 100


def example_head(path: Path) -> str:
    """What an example says about itself, in one line."""
    if path.suffix == ".ipynb":
        text = "".join(json.loads(path.read_text(encoding="utf-8"))["cells"][0]["source"])
    else:
        text = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8")))
    return " ".join(text.split())


EXAMPLES = {name: figures for name, figures in read("examples.json").items() if name != "measured"}


@pytest.mark.parametrize("name", EXAMPLES)
def test_examples(name):
    minutes, *figures = EXAMPLES[name].items()
    expected = f"{minutes[1]:.1f} {minutes[0]}: {', '.join(f'{figure} {value:.1f}' for figure, value in figures)}"
    assert expected in example_head(ROOT / "examples" / name)


def test_every_example_has_figures():
    """But those that show a translation, and those whose results stand in a table or a card."""
    names = {path.name for path in (ROOT / "examples").iterdir() if path.suffix in (".py", ".ipynb")}
    assert names - {*EXAMPLES} == {
        "ablations.py",
        "erasure.py",
        "load_with_transformers.py",
        "model_card.py",
        "multi30k.py",
        "push_and_load.py",
    }
