"""`rnnsearch plot`: sentences from where a user has them, into a picture, a page, or both."""

import json
import re

import numpy as np
import pytest
from typer.testing import CliRunner

from rnnsearch import align
from rnnsearch.cli import app
from rnnsearch.evaluation.by_length import LengthBin
from rnnsearch.evaluation.report import Report, SystemScores

SOURCES = ["The red house is small.", "A dog sees the old bridge.", "We do not sleep"]
TARGETS = ["La maison rouge est petite.", "Un chien", "Nous ne dormons pas"]


@pytest.fixture
def folder(tmp_path, monkeypatch):
    for name, lines in (("src", SOURCES), ("tgt", TARGETS), ("short", TARGETS[:1])):
        (tmp_path / name).write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def run(*options, typed=None):
    return CliRunner().invoke(app, ["plot", *options], input=typed)


def plot(model, *options, typed=None):
    return run("--model", str(model), *options, typed=typed)


def drawn(path):
    """The texts of an SVG file."""
    return re.findall(r"<!-- (.*?) -->", path.read_text(encoding="utf-8"))


def shown(folder):
    """What the page in a folder holds."""
    page = (folder / "page.html").read_text(encoding="utf-8")
    return json.loads(re.search(r'<script id="data" type="application/json">(.*?)</script>', page)[1])["pairs"]


def words(pairs):
    return [(pair["source"]["words"], pair["target"]["words"]) for pair in pairs]


def test_given_pairs(tiny_model, tiny_tokenizer, tiny_model_dir, folder):
    result = plot(tiny_model_dir, "--src", "src", "--tgt", "tgt", "--output", "a.png", "--html", "page.html")
    assert (result.exit_code, result.output) == (0, "")
    assert (folder / "a.png").read_bytes().startswith(b"\x89PNG")
    expected = align(tiny_model, tiny_tokenizer, SOURCES, TARGETS)
    assert words(shown(folder)) == [(list(one.source_words), list(one.target_words)) for one in expected]
    for pair, one in zip(shown(folder), expected, strict=True):  # a word is a token here
        weights = np.exp(pair["energies"])
        np.testing.assert_allclose(weights / weights.sum(axis=1, keepdims=True), one.weights, atol=1e-4)


def test_own_translations_from_wherever(tiny_model_dir, folder):
    found = []
    for options, typed in (
        (SOURCES, None),
        (["--src", "src"], None),
        ([], "".join(f"{line}\n" for line in SOURCES)),
    ):
        result = plot(tiny_model_dir, *options, "--html", "page.html", typed=typed)
        assert result.exit_code == 0, result.output
        found.append(shown(folder))
    assert found[0] == found[1] == found[2]
    assert [pair["source"]["words"][0] for pair in found[0]] == ["The", "A", "We"]
    assert not (folder / "a.png").exists()


def test_chosen_lines(tiny_model_dir, folder):
    chosen = ["--line", "3", "--line", "1"]
    result = plot(tiny_model_dir, "--src", "src", "--tgt", "tgt", *chosen, "--output", "a.svg", "--html", "page.html")
    assert result.exit_code == 0, result.output
    assert [pair["target"]["words"][0] for pair in shown(folder)] == ["Nous", "La"]
    assert [text for text in drawn(folder / "a.svg") if text.startswith("(")] == ["(3)", "(1)"]


def test_a_single_picture_has_no_number(tiny_model_dir, folder):
    assert plot(tiny_model_dir, "We do not sleep", "--output", "a.svg").exit_code == 0
    texts = drawn(folder / "a.svg")
    assert {"We", "sleep", "&lt;/s&gt;"} <= set(texts)
    assert not any(text.startswith("(") for text in texts)


def scores(folder, **systems):
    report = Report.of(TARGETS)
    for name, bleu in systems.items():
        bins = [LengthBin(10 * i + 1, 10 * i + 10, 3, one, one - 2, one + 2) for i, one in enumerate(bleu)]
        report = report.with_system(name, SystemScores({}, {"all": bins} if bins else {}, {}, {}))
    (folder / "scores.json").write_text(report.to_json(), encoding="utf-8")


def test_curves(folder):
    """One line for each system of the file; where the points are is a matter of `plot_length_curves`."""
    scores(folder, search=[20.0, 25.0], fixed=[18.0, 9.0])
    result = run("--curves", "scores.json", "--output", "length.svg")
    assert (result.exit_code, result.output) == (0, "")
    assert {"search", "fixed", "BLEU score"} <= set(drawn(folder / "length.svg"))


@pytest.mark.parametrize(
    ("systems", "options", "message"),
    [
        ({"a": [1.0]}, ["--model", "m", "--output", "a.png"], "give --output beside it, and no more"),
        ({"a": [1.0]}, ["--html", "a.html"], "give --output beside it, and no more"),
        ({"a": [1.0], "b": []}, ["--output", "a.png"], "scores.json: has no lengths for b; score with"),
        ({}, ["--output", "a.png"], "scores.json: has no system"),
    ],
)
def test_no_curves(folder, systems, options, message):
    scores(folder, **systems)
    result = run("--curves", "scores.json", *options)
    assert (result.exit_code, result.stdout) == (2, "")
    assert message in result.stderr
    assert result.stderr.count("\n") == 1


def test_nothing_to_draw(folder):
    result = run("We sing.", "--output", "a.png")
    assert result.exit_code == 2
    assert "give --model with sentences, or scores with --curves" in result.stderr


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["We sing."], "nowhere to draw: give --output FILE for a picture, --html FILE for a page, or both"),
        (["We sing.", "--output", "a.jpg"], "a.jpg: cannot tell the format of the figure"),
        (["We sing.", "--output", "none/a.png"], "none/a.png: cannot be written"),
        (["We sing.", "--html", "none/page.html"], "none/page.html: cannot be written"),
        (["We sing.", "--src", "src", "--output", "a.png"], "leave one out"),
        (["We sing.", "--tgt", "tgt", "--output", "a.png"], "--tgt goes with --src"),
        (["--line", "2", "--output", "a.png"], "--line goes with --src"),
        (["--src", "src", "--tgt", "short", "--output", "a.png"], "src has 3 lines but short has 1"),
        (["--src", "src", "--line", "4", "--output", "a.png"], "src has 3 lines, but line 4 is to be drawn"),
        (["--output", "a.png"], "standard input: is empty; give sentences there, after the command, or in --src"),
        (["\U000f0000", "--output", "a.png", "--html", "page.html"], "no installed font has \U000f0000 (U+F0000)"),
    ],
)
def test_bad_input_is_one_line_and_exit_code_2(tiny_model_dir, folder, options, message):
    result = plot(tiny_model_dir, *options)
    assert (result.exit_code, result.stdout) == (2, ""), result.output
    assert result.stderr.startswith("rnnsearch: error: ")
    assert message in result.stderr
    assert result.stderr.count("\n") == 1
    assert {path.name for path in folder.iterdir()} == {"src", "tgt", "short"}
