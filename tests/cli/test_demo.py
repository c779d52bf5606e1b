"""`rnnsearch demo` from one end to the other, on a handful of sentences."""

import importlib
import json

import pytest
from transformers import AutoModelForSeq2SeqLM, AutoTokenizer
from typer.testing import CliRunner

from rnnsearch import Translator, align, cli
from rnnsearch.data.grammar import corpus
from rnnsearch.data.syntax import SentencePair

demo = importlib.import_module("rnnsearch.cli.demo")  # `cli.demo` is the command


@pytest.fixture(scope="module")
def compared(tmp_path_factory):
    """The folder and the words of a small `demo --compare`."""
    folder = tmp_path_factory.mktemp("demo") / "out"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(demo, "TRAINING_PAIRS", 70)
        patch.setattr(demo, "TEST_PAIRS", 6)
        result = CliRunner().invoke(cli.app, ["demo", "--compare", "--output", str(folder), "--seed", "3"])
    assert result.exit_code == 0, result.output
    assert "\r" not in result.stderr  # nobody watches, so no bars
    return folder, result.stdout


def test_what_it_writes(compared):
    folder, said = compared
    written = {str(path.relative_to(folder)) for path in folder.rglob("*")}
    assert {"alignment.png", "length.png", "demo.json", "text/train.en", "text/longer.fr"} <= written
    for name, context in (("model", "search"), ("model-without-attention", "fixed")):
        assert AutoModelForSeq2SeqLM.from_pretrained(folder / name).config.context == context
        AutoTokenizer.from_pretrained(folder / name)
    for path in ("text", "alignment.png", "length.png", "demo.json"):
        assert str(folder / path) in said


def test_test_sentences_are_unseen_and_longer_ones_longer(compared):
    folder, _ = compared
    text = {
        name: (folder / "text" / f"{name}.en").read_text(encoding="utf-8").splitlines() for name in ("train", "test")
    }
    assert [len(lines) for lines in text.values()] == [70, 6]
    assert not set(text["train"]) & set(text["test"])
    longer = corpus(6, demo.LONGER, 3 + 2)
    assert min(len(pair.source.split()) for pair in longer) > max(len(line.split()) for line in text["train"])


def test_both_models_are_reported(compared):
    folder, said = compared
    report = json.loads((folder / "demo.json").read_text(encoding="utf-8"))
    assert report.keys() == {"RNNsearch", "RNNencdec", "minutes"}
    for name in ("RNNsearch", "RNNencdec"):
        assert f"{name}: BLEU {report[name]['bleu held out']:.1f} on 6 unseen sentences of 3 to 15 words" in said
        assert f"{name}: BLEU {report[name]['bleu longer']:.1f} on 6 unseen sentences of 16 to 30 words" in said
        assert report[name]["signature"].startswith("nrefs:1|case:mixed|eff:no|tok:13a|smooth:exp|version:")


def test_links_are_held_against_the_gold_ones(compared):
    folder, said = compared
    report = json.loads((folder / "demo.json").read_text(encoding="utf-8"))["RNNsearch"]
    translator = Translator.from_pretrained(folder / "model")
    pairs = corpus(6, demo.SEEN, 3 + 1)
    found = align(
        translator.model, translator.tokenizer, [pair.source for pair in pairs], [pair.target for pair in pairs]
    )
    agreed = sum(len(one.links & pair.alignment) for one, pair in zip(found, pairs, strict=True))
    sizes = sum(len(one.links) for one in found), sum(len(pair.alignment) for pair in pairs)
    assert report["alignment error rate"] == pytest.approx(1 - 2 * agreed / sum(sizes))
    assert (report["precision"], report["recall"]) == (agreed / sizes[0], agreed / sizes[1])
    assert f"RNNsearch: AER {report['alignment error rate']:.3f} on the gold alignments" in said


def test_the_second_time_nothing_is_overwritten(compared):
    folder, _ = compared
    before = {path: path.stat().st_mtime_ns for path in folder.rglob("*")}
    result = CliRunner().invoke(cli.app, ["demo", "--output", str(folder)])
    assert result.exit_code == 2
    assert (
        result.stderr
        == f"rnnsearch: error: {folder} is not empty: choose another folder with --output, or remove it\n"
    )
    assert {path: path.stat().st_mtime_ns for path in folder.rglob("*")} == before


def test_crossings():
    pair = SentencePair("", "", ("a", "b", "c"), ("C", "B", "A"), frozenset({(0, 2), (1, 1), (2, 0)}))
    assert demo._crossings(pair) == 3
    straight = SentencePair("", "", ("a", "b"), ("A", "B"), frozenset({(0, 0), (1, 1), (0, 1)}))
    assert demo._crossings(straight) == 0
