"""The metric that `evaluate` loads, against sacreBLEU on the sentences that belong together."""

import socket

import evaluate
import pytest
import sacrebleu

from rnnsearch.errors import InputError
from rnnsearch.metrics import BLEU_BY_LENGTH

# Words and points are apart already, so that the Moses tokeniser finds nothing to cut. The third source and the
# fourth reference have a word that `tiny_tokenizer` does not know.
SOURCES = [
    "The dog is old .",
    "The red house is small . The old bridge .",
    "A zebra sees .",
    "We do not sleep in the old house . We sing .",
]
REFERENCES = [
    "La maison est le chien .",
    "La maison rouge est petite .",
    "Un chien voit .",
    "Un zèbre dort dans le jardin .",
]
PREDICTIONS = [
    "La maison est le pont .",
    "La maison rouge est petite petite .",
    "Un chat voit .",
    "Un chien dort dans le jardin .",
]


def truth(*positions: int) -> float:
    chosen = [PREDICTIONS[i] for i in positions], [[REFERENCES[i] for i in positions]]
    return sacrebleu.corpus_bleu(*chosen, tokenize="none", smooth_method="none", force=True).score


@pytest.fixture
def metric(monkeypatch):
    def refuse(*arguments):
        raise AssertionError("the network was asked for")

    monkeypatch.setattr(socket.socket, "connect", refuse)
    monkeypatch.setattr(socket, "getaddrinfo", refuse)
    return evaluate.load(BLEU_BY_LENGTH, "fr")


def test_all_sentences(metric):
    found = metric.compute(predictions=PREDICTIONS, references=REFERENCES)
    assert found.keys() == {"bleu", "signature", "sentences"}
    assert (found["bleu"], found["sentences"]) == (pytest.approx(truth(0, 1, 2, 3)), 4)
    assert "tok:moses-fr" in found["signature"]


def test_batches_are_scored_together(metric):
    for start in (0, 2):
        metric.add_batch(predictions=PREDICTIONS[start : start + 2], references=REFERENCES[start : start + 2])
    assert metric.compute()["bleu"] == pytest.approx(truth(0, 1, 2, 3))


def test_bins_of_source_length(metric):
    found = metric.compute(predictions=PREDICTIONS, references=REFERENCES, sources=SOURCES, bin_width=5)
    bins = [(one["low"], one["high"], one["sentences"]) for one in found["by_length"]]
    assert bins == [(1, 5, 2), (6, 10, 1), (11, 15, 1)]
    assert [one["bleu"] for one in found["by_length"]] == [
        pytest.approx(truth(0, 2)),
        pytest.approx(truth(1)),
        pytest.approx(truth(3)),
    ]
    assert len({round(one["bleu"], 2) for one in found["by_length"]}) == 3
    assert all(one["confidence_low"] <= one["bleu"] <= one["confidence_high"] for one in found["by_length"])
    assert "bleu_no_unk" not in found


def test_sentences_without_an_unknown_word(metric, tiny_model_dir):
    found = metric.compute(
        predictions=PREDICTIONS, references=REFERENCES, sources=SOURCES, tokenizer=str(tiny_model_dir)
    )
    assert (found["bleu_no_unk"], found["sentences_no_unk"]) == (pytest.approx(truth(0, 1)), 2)
    assert [one["bleu"] for one in found["by_length_no_unk"]] == [pytest.approx(truth(0, 1))]
    assert found["bleu"] == pytest.approx(truth(0, 1, 2, 3)) != found["bleu_no_unk"]


def test_no_sentence_without_an_unknown_word(metric, tiny_model_dir):
    columns = {"predictions": ["Zèbre ."], "references": ["Zèbre ."], "sources": ["Zebra ."]}
    found = metric.compute(**columns, tokenizer=str(tiny_model_dir))
    assert (found["bleu_no_unk"], found["sentences_no_unk"], found["by_length_no_unk"]) == (None, 0, [])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"tokenizer": "my-model"}, "tokenizer is given without sources"),
        ({"sources": SOURCES[:2]}, "2 sources but 4 references"),
        ({"sources": SOURCES, "tokenizer": "no/such/folder"}, "no tokenizer can be loaded"),
    ],
)
def test_what_does_not_fit_is_named(metric, options, message):
    with pytest.raises(InputError, match=message):
        metric.compute(predictions=PREDICTIONS, references=REFERENCES, **options)


def test_the_language_must_be_given():
    with pytest.raises(InputError, match="which language"):
        evaluate.load(BLEU_BY_LENGTH)
