"""`rnnsearch score`: a log-probability for each line, or for each of an n-best list."""

import pytest
from typer.testing import CliRunner

from rnnsearch.alignment.forced import score as score_pairs
from rnnsearch.cli import app

SOURCES = ["The red house is small.", "", "A dog"]
TARGETS = ["La maison rouge est petite.", "Un chien", ""]
N_BEST = [(2, "Un chien"), (2, "Un"), (0, "La maison"), (2, "Le chien")]


@pytest.fixture
def files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name, lines in (("src", SOURCES), ("tgt", TARGETS)):
        (tmp_path / name).write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    rows = [f"{number} ||| {text} ||| LM0= -7.5 ||| -0.4\n" for number, text in N_BEST]
    (tmp_path / "list").write_text("".join(rows), encoding="utf-8")


def score(model, *options):
    return CliRunner().invoke(app, ["score", "--model", str(model), "--src", "src", *options])


def test_line_by_line(tiny_model, tiny_tokenizer, tiny_model_dir, files):
    result = score(tiny_model_dir, "--tgt", "tgt")
    assert result.exit_code == 0, result.stderr
    expected = score_pairs(tiny_model, tiny_tokenizer, SOURCES, TARGETS)
    assert [float(line) for line in result.stdout.splitlines()] == pytest.approx(expected, abs=1e-5)


def test_n_best_list(tiny_model, tiny_tokenizer, tiny_model_dir, files, tmp_path):
    result = score(tiny_model_dir, "--tgt", "list", "--n-best", "--output", "out")
    assert (result.exit_code, result.stdout) == (0, "")
    sources, targets = [SOURCES[number] for number, _ in N_BEST], [text for _, text in N_BEST]
    expected = score_pairs(tiny_model, tiny_tokenizer, sources, targets)
    written = (tmp_path / "out").read_text(encoding="utf-8").splitlines()
    assert [float(line) for line in written] == pytest.approx(expected, abs=1e-5)


@pytest.mark.parametrize(
    ("line", "options", "message"),
    [
        ("", [], "src has 3 lines but short has 1; they must correspond"),
        ("Un chien", ["--n-best"], "short, line 1: does not begin with a number, ||| and a translation"),
        ("3 ||| Un chien", ["--n-best"], "short, line 1: is of source 3, but src has 3, counted from 0"),
        ("-1 ||| Un chien", ["--n-best"], "short, line 1: does not begin with a number"),
    ],
)
def test_bad_input_is_one_line_and_exit_code_2(tiny_model_dir, files, tmp_path, line, options, message):
    (tmp_path / "short").write_text(f"{line}\n", encoding="utf-8")
    result = score(tiny_model_dir, "--tgt", "short", *options, "--output", "out")
    assert (result.exit_code, result.stdout) == (2, "")
    assert message in result.stderr
    assert result.stderr.count("\n") == 1
    assert not (tmp_path / "out").exists()
