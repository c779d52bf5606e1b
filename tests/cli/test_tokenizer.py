"""`rnnsearch tokenizer`: two files in, one folder out, one line printed."""

import gzip

import pytest
from typer.testing import CliRunner

from rnnsearch import RNNsearchTokenizer
from rnnsearch.cli import app

SOURCE = ["the red cat", "a cat sleeps", "the house"]
TARGET = ["le chat rouge", "un chat dort", "l'ami"]


@pytest.fixture
def run(tmp_path):
    (tmp_path / "train.en").write_text("\n".join(SOURCE) + "\n", "utf-8")
    with gzip.open(tmp_path / "train.fr.gz", "wt", encoding="utf-8") as file:
        file.write("\n".join(TARGET) + "\n")

    def run(*options, source="train.en", output="out"):
        files = [str(tmp_path / source), str(tmp_path / "train.fr.gz")]
        return CliRunner().invoke(
            app, ["tokenizer", "--train", *files, "--output", str(tmp_path / output), *map(str, options)]
        )

    return run


def test_words(run, tmp_path):
    result = run("--kind", "word", "--vocab-size", 6, "--src-vocab-size", 7, "--target-lang", "it")
    assert result.exit_code == 0, result.stderr
    made = RNNsearchTokenizer.from_pretrained(tmp_path / "out")
    assert (made.kind, made.source_lang, made.target_lang) == ("word", "en", "it")
    assert (made.src_vocab_size, made.target_vocab_size) == (7, 6)
    # by hand: of 8 source words "cat" 2, "the" 2 and "a" 1 are known, of 8 target words "chat" 2 and "ami" 1
    assert result.stdout.count("\n") == 1
    assert "7 source and 6 target entries" in result.stdout
    assert "62.50% source, 37.50% target" in result.stdout


def test_pieces_in_one_vocabulary(run, tmp_path):
    result = run("--shared")
    assert result.exit_code == 0, result.stderr
    made = RNNsearchTokenizer.from_pretrained(tmp_path / "out")
    assert made.shared and made.kind == "bpe"
    same = RNNsearchTokenizer.train(SOURCE, TARGET, shared=True)
    assert made.get_vocab() == same.get_vocab()


@pytest.mark.parametrize(
    ("options", "files", "message"),
    [
        (["--vocab-size", "100"], {}, "at least 260 entries"),
        ([], {"source": "missing.en"}, "missing.en"),
        ([], {"output": "train.en"}, "is a file"),
        (["--shared", "--src-vocab-size", "300"], {}, "one size"),
    ],
)
def test_errors_are_one_line(run, tmp_path, options, files, message):
    result = run(*options, **files)
    assert result.exit_code == 2
    assert message in result.stderr and result.stderr.count("\n") == 1
    assert not (tmp_path / "out").exists()
