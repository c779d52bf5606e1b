"""What the documents publish is what the files in results/ hold, rounded."""

import ast
import json
import runpy
from pathlib import Path
from statistics import mean

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


def paper_measure(scores: list[dict]) -> dict:
    """Of several measures the one of the paper."""
    [found] = [score for score in scores if score["name"] == "tokenised BLEU"]
    return found


def test_readme_scores_of_the_paper():
    found = read("paper_small.json")["tests"]["Europarl"]
    bleu = {name: paper_measure(one["scores"]["all"])["value"] for name, one in found.items()}
    expected = {
        row(f"up to {words} words", bleu[f"RNNencdec-{words}"], bleu[f"RNNsearch-{words}"]) for words in (30, 50)
    }
    header = ("Europarl, English–French, trained on sentences of", "RNNencdec", "RNNsearch")
    assert table("README.md", *header) == expected


def test_demo():
    demo = read("demo.json")
    expected = {
        row(
            name,
            scores["training_minutes"],
            scores["bleu held out"],
            scores["bleu longer"],
            f"{scores['alignment error rate']:.3f}" if name == "RNNsearch" else "–",
        )
        for name, scores in demo.items()
        if name != "minutes"
    }
    assert table("docs/results.md", "model", "training minutes", "3 to 15 words", "16 to 30 words", "AER") == expected


def test_paper_training():
    expected = set()
    for name, training in read("paper_small.json")["training"].items():
        last = training["curve"][-1]
        expected.add(
            row(
                name,
                f"{training['updates']:,}",
                f"{training['epochs']:.2f}",
                training["cpu_hours"],
                last["training NLL"],
                f"{last['development loss']:.2f}",
            )
        )
    header = ("model", "updates", "epochs", "CPU hours", "training NLL", "development loss")
    assert table("docs/results.md", *header) == expected


def test_paper_scores():
    """The paper's measure in the columns of its table 1, each with its number of sentences."""
    tests = read("paper_small.json")["tests"]
    expected, sentences = {}, {}
    for test in ("Europarl", "newstest2014"):
        for name, found in tests[test].items():
            for column, scores in found["scores"].items():
                score = paper_measure(scores)
                expected.setdefault(name, {})[test, column] = score["value"]
                assert sentences.setdefault((test, column), score["sentences"]) == score["sentences"]
    places = [(test, column) for test in ("Europarl", "newstest2014") for column in ("all", "no_unk")]
    rows = {row(name, *(found.get(place, "–") for place in places)) for name, found in expected.items()}
    titles = {"all": "all", "no_unk": "no UNK"}
    header = (f"{test}, {titles[column]} ({sentences[test, column]:,})" for test, column in places)
    assert table("docs/results.md", "system", *header) == rows


def ranges(means: dict[str, float]) -> tuple:
    """Cells of short and of long sentences, and what the long ones have of the short ones' BLEU."""
    short, long = means["11-30"], means["41-60"]
    return short, long, f"{long / short:.2f}"


def test_paper_scores_by_length():
    result = read("paper_small.json")
    expected = {row(name, *ranges(means)) for name, means in result["by length"].items()}
    assert table("docs/results.md", "model", "11–30 words", "41–60 words", "ratio") == expected
    expected = {
        row(name, f"{point['updates']:,}", *ranges(point))
        for name, curve in result["by updates"].items()
        for point in curve
    }
    assert table("docs/results.md", "model", "updates", "11–30 words", "41–60 words", "ratio") == expected


def test_ablations():
    expected = set()
    for name, variant in read("ablations.json")["rows"].items():
        runs = variant["seeds"].values()
        bleu = [run["scores"]["BLEU"]["value"] for run in runs]
        expected.add(row(name, *bleu, mean(bleu), mean(run["minutes"] for run in runs)))
    assert table("docs/results.md", "variant", "seed 1234", "seed 1235", "mean", "minutes") == expected


def test_alignments():
    """The rows are those that the study prints."""
    study = runpy.run_path(str(ROOT / "examples" / "paper" / "alignments.py"))
    found = read("alignments.json")
    header = ("system", "direction", "updates", "epochs", "minutes", "loss")
    assert table("docs/results.md", *header) == {*map(study["training_row"], found["trainings"])}
    header = ("set", "system", "direction", "links", "precision", "recall", "AER")
    assert table("docs/results.md", *header) == {*map(study["table_row"], found["rows"])}


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


def test_unknown_words():
    found = read("unknown_words.json")
    measured = found["measured"]
    said = " ".join((ROOT / "docs" / "alignments.md").read_text(encoding="utf-8").split())
    assert f"{measured['unknown words written']:,} [UNK] in {measured['lines with one']:,} of the 3,003 lines" in said
    expected = {
        row(title, *(found[name][how]["BLEU"]["value"] for how in ("[UNK] stays", "copied")))
        for title, name in (("lines with an [UNK]", "lines with one"), ("all lines", "all lines"))
    }
    assert table("docs/alignments.md", "text", "[UNK] stays", "source word copied") == expected


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
