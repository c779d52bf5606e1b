"""Bins of BLEU by length against scores of the same sentences taken directly."""

import random

import numpy as np
import pytest
import sacrebleu

from rnnsearch.errors import InputError
from rnnsearch.evaluation.by_length import bleu_by_length
from rnnsearch.evaluation.scores import paper_bleu


@pytest.fixture(scope="module")
def corpus() -> tuple[list[str], list[str], list[int]]:
    """120 sentences of 1 to 23 words, a fifth of the words wrong, and their lengths."""
    generator = random.Random(4)
    words = [f"w{number}" for number in range(30)]
    references = [" ".join(generator.choices(words, k=generator.randint(1, 23))) for _ in range(120)]
    hypotheses = [
        " ".join(word if generator.random() < 0.8 else generator.choice(words) for word in line.split())
        for line in references
    ]
    return hypotheses, references, [len(line.split()) for line in references]


def test_bins_equal_sacrebleu_on_their_sentences(corpus):
    hypotheses, references, lengths = corpus
    bins = bleu_by_length(hypotheses, references, lengths, "en", bin_width=7, resamples=20)
    assert [(bin.low, bin.high) for bin in bins] == [(1, 7), (8, 14), (15, 21), (22, 28)]
    assert sum(bin.sentences for bin in bins) == 120
    for bin in bins:
        inside = [i for i, length in enumerate(lengths) if bin.low <= length <= bin.high]
        direct = sacrebleu.corpus_bleu(
            [hypotheses[i] for i in inside],
            [[references[i] for i in inside]],
            tokenize="none",
            smooth_method="none",
            force=True,
        )
        assert bin.sentences == len(inside)
        assert bin.bleu == pytest.approx(direct.score, abs=1e-9)
        assert bin.confidence_low <= bin.bleu <= bin.confidence_high
    assert bins[1].confidence_low < bins[1].confidence_high


def test_a_window_slides_over_the_lengths(corpus):
    hypotheses, references, lengths = corpus
    bins = bleu_by_length(hypotheses, references, lengths, "en", bin_width=5, step=2, resamples=3)
    assert [(bin.low, bin.high) for bin in bins] == [(low, low + 4) for low in range(1, 20, 2)]
    assert max(lengths) == 23 == bins[-1].high
    for bin in bins:
        inside = [i for i, length in enumerate(lengths) if bin.low <= length <= bin.high]
        direct = paper_bleu([hypotheses[i] for i in inside], [references[i] for i in inside], "en")
        assert (bin.sentences, bin.bleu) == (len(inside), pytest.approx(direct.value, abs=1e-9))
    apart = bleu_by_length(["a"] * 2, ["a"] * 2, [1, 9], "en", bin_width=2, step=1, resamples=1)
    assert [(bin.low, bin.high) for bin in apart] == [(1, 2), (8, 9)]


def test_one_bin_is_the_corpus_score(corpus):
    hypotheses, references, lengths = corpus
    (everything,) = bleu_by_length(hypotheses, references, lengths, "en", bin_width=100, resamples=2)
    assert everything.bleu == pytest.approx(paper_bleu(hypotheses, references, "en").value, abs=1e-9)


def test_interval_is_the_percentiles_of_resampled_corpora(corpus):
    hypotheses, references, lengths = corpus
    (everything,) = bleu_by_length(hypotheses, references, lengths, "en", bin_width=100, resamples=30, seed=8)
    draws = np.random.default_rng(8).integers(120, size=(30, 120))
    values = [
        paper_bleu([hypotheses[i] for i in draw], [references[i] for i in draw], "en").value for draw in draws.tolist()
    ]
    assert (everything.confidence_low, everything.confidence_high) == pytest.approx(
        tuple(np.percentile(values, [2.5, 97.5])), abs=1e-9
    )


def test_same_seed_same_interval(corpus):
    hypotheses, references, lengths = corpus
    first, again, other = (
        bleu_by_length(hypotheses, references, lengths, "en", resamples=50, seed=seed) for seed in (1, 1, 2)
    )
    assert first == again
    assert first != other


def test_empty_sources_and_translations_are_counted():
    bins = bleu_by_length(["", "a b c d", ""], ["x", "a b c d", "a b c d e"], [0, 10, 11], "en", resamples=5)
    assert [(bin.low, bin.sentences) for bin in bins] == [(1, 2), (11, 1)]
    assert bins[1].bleu == 0


def test_bad_input_is_named():
    with pytest.raises(InputError, match="1 hypotheses but 2 references"):
        bleu_by_length(["a"], ["a", "b"], [1, 1], "en")
    with pytest.raises(InputError, match="3 source lengths but 2 references"):
        bleu_by_length(["a", "b"], ["a", "b"], [1, 1, 1], "en")
    with pytest.raises(ValueError, match="step 0"):
        bleu_by_length(["a"], ["a"], [1], "en", step=0)
    with pytest.raises(ValueError, match="bin_width is 0"):
        bleu_by_length(["a"], ["a"], [1], "en", bin_width=0)
