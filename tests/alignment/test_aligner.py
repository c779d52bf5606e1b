"""Alignments of ragged batches against the reference, one pair at a time, and the folding of pieces into words."""

import numpy as np
import pytest
import torch

from rnnsearch import reference
from rnnsearch.alignment.aligner import align
from rnnsearch.errors import InputError
from rnnsearch.modeling import RNNsearchConfig, RNNsearchForConditionalGeneration
from rnnsearch.tokenizer import RNNsearchTokenizer

SOURCES = [
    "The miller's daughter sold nineteen loaves, and went home.",
    "No.",
    "",
    "She never returned to the village where the old mill stands",
    "It rains: the mill stands still.",
]
TARGETS = [
    "La fille du meunier vendit dix-neuf pains et rentra.",
    "Non, jamais, a-t-elle répété à l'homme très étonné.",
    "Rien.",
    "",
    "Il pleut : le moulin s'arrête.",
]


@pytest.fixture(scope="module")
def word_tokenizer():
    return RNNsearchTokenizer.train(SOURCES, TARGETS, kind="word", vocab_size=40, src_vocab_size=30)


@pytest.fixture(scope="module")
def piece_tokenizer():
    """So small that most words are cut into pieces."""
    return RNNsearchTokenizer.train(SOURCES * 2, TARGETS * 2, kind="bpe", vocab_size=300, src_vocab_size=290)


def make_model(tokenizer, **options):
    """Random weights, large enough for alignments that are far from even."""
    torch.manual_seed(0)
    config = RNNsearchConfig(
        src_vocab_size=tokenizer.src_vocab_size,
        vocab_size=tokenizer.target_vocab_size,
        embedding_size=5,
        hidden_size=6,
        alignment_size=7,
        maxout_size=3,
        **options,
    )
    model = RNNsearchForConditionalGeneration(config)
    for parameter in model.parameters():
        torch.nn.init.normal_(parameter, std=0.7)
    return model.double()


def expected_alignment(model, tokenizer, source, target):
    """From the reference's weights of this pair alone, word after word."""
    x, y = tokenizer(source).input_ids, tokenizer(text_target=target).input_ids
    parameters = reference.from_state_dict(model.state_dict())
    config = model.config
    _, alpha = reference.decode(parameters, reference.encode(parameters, x), y, config.step_order, score=config.score)

    source_pieces, target_pieces = tokenizer.source_tokens(x), tokenizer.target_tokens(y)
    columns, source_words = [], []
    for j, starts in enumerate(tokenizer.source_word_starts(x)):
        if starts:
            columns.append(alpha[:, j].copy())
            source_words.append(source_pieces[j])
        else:
            columns[-1] += alpha[:, j]
            source_words[-1] += source_pieces[j]
    folded = np.stack(columns, axis=1)
    rows, target_words = [], []
    for i, starts in enumerate(tokenizer.target_word_starts(y)):
        if starts:
            rows.append([])
            target_words.append("")
        rows[-1].append(folded[i])
        target_words[-1] += target_pieces[i]
    return source_words, target_words, np.stack([np.mean(row, axis=0) for row in rows])


@pytest.mark.parametrize("padding_side", ["right", "left"])
@pytest.mark.parametrize("options", [{}, {"step_order": "groundhog"}, {"score": "dot"}])
@pytest.mark.parametrize("kind", ["word", "piece"])
def test_ragged_batches_agree_with_the_reference(request, kind, options, padding_side):
    tokenizer = request.getfixturevalue(f"{kind}_tokenizer")
    model = make_model(tokenizer, **options)
    side_before = tokenizer.padding_side
    tokenizer.padding_side = padding_side
    try:
        alignments = align(model, tokenizer, SOURCES, TARGETS, batch_size=3)
    finally:
        tokenizer.padding_side = side_before
    for alignment, source, target in zip(alignments, SOURCES, TARGETS, strict=True):
        source_words, target_words, weights = expected_alignment(model, tokenizer, source, target)
        assert alignment.source_words == tuple(source_words)
        assert alignment.target_words == tuple(target_words)
        np.testing.assert_allclose(alignment.weights, weights, atol=1e-10)
        np.testing.assert_allclose(alignment.weights.sum(axis=1), 1)
    assert np.ptp(alignments[0].weights) > 0.1  # else a wrong order of rows or columns could hide


def test_words(piece_tokenizer):
    """Pieces are put together again, without the space before a word; accents survive being cut into bytes."""
    alignment = align(make_model(piece_tokenizer), piece_tokenizer, SOURCES[1:2], TARGETS[1:2])[0]
    assert alignment.source_words == ("No", ".", "</s>")
    assert alignment.target_words == (
        *("Non", ",", "jamais", ",", "a", "-", "t", "-", "elle"),
        *("répété", "à", "l'", "homme", "très", "étonné", ".", "</s>"),
    )
    assert alignment.weights.shape == (17, 3)
    assert len(piece_tokenizer(text_target=TARGETS[1]).input_ids) > 25  # there was something to put together


def test_empty_sentences(word_tokenizer):
    alignment = align(make_model(word_tokenizer), word_tokenizer, [""], [""])[0]
    assert (alignment.source_words, alignment.target_words) == (("</s>",), ("</s>",))
    np.testing.assert_allclose(alignment.weights, [[1]])


def test_dropout_is_off(word_tokenizer):
    model = make_model(word_tokenizer, embedding_dropout=0.5, annotation_dropout=0.5, readout_dropout=0.5).train()
    first, second = (align(model, word_tokenizer, SOURCES[:1], TARGETS[:1])[0].weights for _ in range(2))
    np.testing.assert_array_equal(first, second)


def test_half_precision(word_tokenizer):
    """Of so few digits the model's own weights do not sum to 1."""
    pair = word_tokenizer, SOURCES[:1], TARGETS[:1]
    model = make_model(word_tokenizer)
    full, half = align(model, *pair)[0].weights, align(model.bfloat16(), *pair)[0].weights
    np.testing.assert_allclose(half.sum(axis=1), 1, atol=1e-12)
    np.testing.assert_allclose(half, full, atol=0.05)


def test_no_pairs(word_tokenizer):
    assert align(make_model(word_tokenizer), word_tokenizer, [], []) == []


def test_wrong_use(word_tokenizer):
    model = make_model(word_tokenizer)
    with pytest.raises(InputError, match="2 sources but 1 targets"):
        align(model, word_tokenizer, ["a", "b"], ["c"])
    with pytest.raises(InputError, match="batch size is 0"):
        align(model, word_tokenizer, ["a"], ["c"], batch_size=0)
    with pytest.raises(InputError, match="no alignments"):
        align(make_model(word_tokenizer, context="fixed"), word_tokenizer, ["a"], ["c"])
