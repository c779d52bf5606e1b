"""`rnnsearch align`: three formats of the same alignments."""

import io
import json

import numpy as np
import pytest
from typer.testing import CliRunner

from rnnsearch import align as align_pairs
from rnnsearch.alignment.links import format_links
from rnnsearch.cli import app

SOURCES = ["The red house is small.", "", "A Zorro sees the dog"]
TARGETS = ["La maison rouge est petite.", "Un chien", "Zorro voit le chien ."]


@pytest.fixture(scope="module")
def text(tmp_path_factory):
    folder = tmp_path_factory.mktemp("text")
    for name, lines in (("src", SOURCES), ("tgt", TARGETS)):
        (folder / name).write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return folder


def align(model, text, *options):
    words = ["align", "--model", model, "--src", text / "src", *options]
    return CliRunner().invoke(app, [str(word) for word in words])


@pytest.fixture(scope="module")
def expected(tiny_model, tiny_tokenizer):
    return align_pairs(tiny_model, tiny_tokenizer, SOURCES, TARGETS)


def test_pharaoh(tiny_model_dir, text, expected):
    result = align(tiny_model_dir, text, "--tgt", text / "tgt")
    assert result.exit_code == 0, result.stderr
    assert result.stdout == "".join(format_links(one.links) + "\n" for one in expected)
    assert result.stdout.split("\n")[1] == ""


def test_json_lines(tiny_model_dir, text, expected, tmp_path):
    output = tmp_path / "out.jsonl"
    result = align(tiny_model_dir, text, "--tgt", text / "tgt", "--format", "jsonl", "--output", output)
    assert (result.exit_code, result.stdout) == (0, "")
    records = [json.loads(line) for line in output.read_text(encoding="utf-8").splitlines()]
    assert records[2]["source_words"] == ["A", "Zorro", "sees", "the", "dog", "</s>"]
    for record, one in zip(records, expected, strict=True):
        assert record["target_words"] == list(one.target_words)
        assert {tuple(link) for link in record["links"]} == one.links
        np.testing.assert_allclose(record["weights"], one.weights, atol=1e-6)
        np.testing.assert_allclose(record["log_probs"], one.log_probs, atol=1e-6)


def test_npz(tiny_model_dir, text, expected):
    result = align(tiny_model_dir, text, "--tgt", text / "tgt", "--format", "npz")
    with np.load(io.BytesIO(result.stdout_bytes), allow_pickle=False) as arrays:
        assert len(arrays) == 15
        for number, one in enumerate(expected):
            np.testing.assert_allclose(arrays[f"weights/{number}"], one.weights, atol=1e-6)
            np.testing.assert_allclose(arrays[f"log_probs/{number}"], one.log_probs, atol=1e-5)
            assert tuple(arrays[f"source_words/{number}"]) == one.source_words
            assert tuple(arrays[f"target_words/{number}"]) == one.target_words
            assert {tuple(link) for link in arrays[f"links/{number}"].tolist()} == one.links


def test_own_translations(tiny_model, tiny_tokenizer, tiny_model_dir, text):
    result = align(tiny_model_dir, text, "--format", "jsonl", "--beam", 3)
    records = [json.loads(line) for line in result.stdout.splitlines()]
    expected = align_pairs(tiny_model, tiny_tokenizer, SOURCES, num_beams=3)
    assert [record["target_words"] for record in records] == [list(one.target_words) for one in expected]
    assert records[1]["target_words"] == ["</s>"]


def test_words_between_blanks(tiny_model_dir, text):
    found = align(tiny_model_dir, text, "--tgt", text / "tgt", "--tokenized", "--format", "jsonl")
    records = [json.loads(line) for line in found.stdout.splitlines()]
    assert [record["source_words"] for record in records] == [[*line.split(), "</s>"] for line in SOURCES]
    assert records[0]["target_words"] == ["La", "maison", "rouge", "est", "petite.", "</s>"]
    assert records[2]["target_words"][-2:] == [".", "</s>"]


def test_threshold_and_reverse(tiny_model_dir, text, tmp_path):
    pairs = ["--tgt", text / "tgt"]

    def links(*options) -> list[set[str]]:
        result = align(tiny_model_dir, text, *pairs, *options)
        assert result.exit_code == 0, result.stderr
        return [set(line.split()) for line in result.stdout.splitlines()]

    everything = links("--threshold", 0.01)
    assert [len(found) for found in everything] == [6 * 6, 0, 5 * 5]
    assert links("--threshold", 0.99) == [set()] * 3
    # Itself as the other direction, for want of one that was trained on it.
    assert links("--threshold", 0.01, "--reverse-model", tiny_model_dir) == everything
    both = links("--reverse-model", tiny_model_dir)
    assert all(found <= one for found, one in zip(both, links(), strict=True))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--tgt", "short"], "src has 3 lines but short has 1; they must correspond"),
        (["--tgt", "none"], "none: cannot be read"),
        (["--threshold", "2"], "threshold is 2.0: give a number above 0 and up to 1"),
        (["--output", "nowhere/out"], "nowhere/out: cannot be written"),
        (["--reverse-model", "nowhere"], "nowhere: no model can be loaded"),
    ],
)
def test_bad_input_is_one_line_and_exit_code_2(tiny_model_dir, text, tmp_path, monkeypatch, options, message):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "short").write_text("Un\n", encoding="utf-8")
    result = align(tiny_model_dir, text, *options)
    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr.startswith("rnnsearch: error: ")
    assert message in result.stderr
    assert result.stderr.count("\n") == 1
    assert [path.name for path in tmp_path.iterdir()] == ["short"]
