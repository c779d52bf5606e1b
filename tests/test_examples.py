"""The examples run, small."""

import gzip
import json
import runpy
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from rnnsearch import cli
from rnnsearch.data.grammar import corpus
from rnnsearch.training.parser import OptionParser

EXAMPLES = Path(__file__).parents[1] / "examples"
SMALL = ["--embedding_size=8", "--hidden_size=8", "--alignment_size=8", "--maxout_size=8", "--num_train_epochs=2"]


@pytest.mark.parametrize("path", sorted(EXAMPLES.glob("*.json")), ids=lambda path: path.name)
def test_configurations_are_complete(path):
    """Each names its text, and nothing in it is unknown to `rnnsearch train`."""
    data, model, arguments = OptionParser().read([str(path)])
    assert len(data.train) == len(data.validation) == 2
    assert model.embedding_size == model.maxout_size == 256
    assert arguments.bf16 and arguments.label_smoothing_factor == 0.1


def test_load_with_transformers(tiny_model_dir, capsys):
    example = runpy.run_path(str(EXAMPLES / "load_with_transformers.py"))
    example["main"](str(tiny_model_dir), "The red house is small.")
    translation, *rows = capsys.readouterr().out.splitlines()
    assert translation
    words = {"The", "red", "house", "is", "small", ".", "</s>"}
    assert rows and all(row.split()[-1] in words and 0 < float(row.split()[-2]) <= 1 for row in rows)


def test_multi30k(tmp_path, monkeypatch):
    for number, stem in enumerate(("train", "val", "test_2016_flickr", "test_2017_flickr", "test_2017_mscoco")):
        pairs = corpus(40 if stem == "train" else 5, (3, 8), number)
        for language, texts in (("en", [pair.source for pair in pairs]), ("fr", [pair.target for pair in pairs])):
            text = "".join(f"{line}\n" for line in texts).encode()
            name = tmp_path / f"{stem}.{language}{'.gz' if stem == 'train' else ''}"
            name.write_bytes(gzip.compress(text) if stem == "train" else text)
    example = runpy.run_path(str(EXAMPLES / "multi30k.py"))

    def run(words):
        result = CliRunner().invoke(cli.app, words + (SMALL if words[0] == "train" else []))
        assert result.exit_code == 0, result.output

    monkeypatch.setitem(example["main"].__globals__, "run", run)
    options = ["fr", "--data", str(tmp_path), "--output", str(tmp_path / "model"), "--results", str(tmp_path)]
    monkeypatch.setattr(sys, "argv", ["multi30k.py", *options])
    example["main"]()
    results = json.loads((tmp_path / "multi30k_en_fr.json").read_text(encoding="utf-8"))
    assert results["training"]["updates"] == 2
    assert len(results["training"]["validation"]) == 3  # after each epoch, and the best at the end
    assert results["tests"].keys() == {"test_2016_flickr", "test_2017_flickr", "test_2017_mscoco"}
    assert all(scores["BLEU"]["sentences"] == 5 for scores in results["tests"].values())


def test_the_model_card_is_fresh(tmp_path):
    example = runpy.run_path(str(EXAMPLES / "model_card.py"))
    example["main"](tmp_path / "card.md")
    written = (EXAMPLES.parent / "model_card.md").read_text(encoding="utf-8")
    assert (tmp_path / "card.md").read_text(encoding="utf-8") == written, "run: python examples/model_card.py"
