"""Alignments of ragged batches against the reference, one pair at a time, and the folding of pieces into words."""

import copy
import logging

import numpy as np
import pytest
import torch
from transformers.utils.logging import warning_once

from rnnsearch import TranslationPipeline, Translator, reference
from rnnsearch.alignment.aligner import align
from rnnsearch.errors import InputError
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
def test_ragged_batches_agree_with_the_reference(make_model, request, kind, options, padding_side):
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
        for words, expected in ((alignment.source_words, source_words), (alignment.target_words, target_words)):
            assert len(words) == len(expected)
            assert all(word == known or known == "[UNK]" for word, known in zip(words, expected, strict=True))
            assert "[UNK]" not in words
        np.testing.assert_allclose(alignment.weights, weights, atol=1e-10)
        np.testing.assert_allclose(alignment.weights.sum(axis=1), 1)
    assert np.ptp(alignments[0].weights) > 0.1  # else a wrong order of rows or columns could hide


def test_words(make_model, piece_tokenizer):
    """Pieces are put together again, without the space before a word; accents survive being cut into bytes."""
    alignment = align(make_model(piece_tokenizer), piece_tokenizer, SOURCES[1:2], TARGETS[1:2])[0]
    assert alignment.source_words == ("No", ".", "</s>")
    assert alignment.target_words == (
        *("Non", ",", "jamais", ",", "a", "-", "t", "-", "elle"),
        *("répété", "à", "l'", "homme", "très", "étonné", ".", "</s>"),
    )
    assert alignment.weights.shape == (17, 3)
    assert len(piece_tokenizer(text_target=TARGETS[1]).input_ids) > 25  # there was something to put together


def test_empty_sentences(make_model, word_tokenizer):
    alignment = align(make_model(word_tokenizer), word_tokenizer, [""], [""])[0]
    assert (alignment.source_words, alignment.target_words) == (("</s>",), ("</s>",))
    np.testing.assert_allclose(alignment.weights, [[1]])


def test_dropout_is_off(make_model, word_tokenizer):
    model = make_model(word_tokenizer, embedding_dropout=0.5, annotation_dropout=0.5, readout_dropout=0.5).train()
    first, second = (align(model, word_tokenizer, SOURCES[:1], TARGETS[:1])[0].weights for _ in range(2))
    np.testing.assert_array_equal(first, second)


def test_half_precision(make_model, word_tokenizer):
    """Of so few digits the model's own weights do not sum to 1."""
    pair = word_tokenizer, SOURCES[:1], TARGETS[:1]
    model = make_model(word_tokenizer)
    full, half = align(model, *pair)[0].weights, align(model.bfloat16(), *pair)[0].weights
    np.testing.assert_allclose(half.sum(axis=1), 1, atol=1e-12)
    np.testing.assert_allclose(half, full, atol=0.05)


def test_log_probabilities_are_those_of_the_pieces(make_model, piece_tokenizer):
    model = make_model(piece_tokenizer)
    for alignment, source, target in zip(
        align(model, piece_tokenizer, SOURCES, TARGETS), SOURCES, TARGETS, strict=True
    ):
        x, y = piece_tokenizer(source).input_ids, piece_tokenizer(text_target=target).input_ids
        parameters = reference.from_state_dict(model.state_dict())
        logits, _ = reference.decode(parameters, reference.encode(parameters, x), y)
        expected = []
        for starts, row, piece in zip(piece_tokenizer.target_word_starts(y), logits, y, strict=True):
            expected += [0.0] if starts else []
            expected[-1] += reference.log_softmax(row)[piece]
        np.testing.assert_allclose(alignment.log_probs, expected, atol=1e-10)


def test_folding_agrees_with_the_tokenizer(make_model, piece_tokenizer):
    """Which folds for the pipeline, where this package may not be installed."""
    model = make_model(piece_tokenizer)
    translate = TranslationPipeline(model=model, tokenizer=piece_tokenizer, device="cpu")
    [record] = translate(SOURCES[0], num_beams=3, max_new_tokens=50, min_new_tokens=1, return_alignment=True)
    [alignment] = align(model, piece_tokenizer, SOURCES[:1], num_beams=3)
    length = len(record["target_words"]) - 1
    assert alignment.source_words == tuple(record["source_words"])
    assert alignment.target_words[:length] == tuple(record["target_words"][:length])
    np.testing.assert_allclose(alignment.weights[:length], record["alignment"][:length], atol=1e-12)


# Translations of the model's own


@pytest.fixture(scope="module")
def own_model(make_model, word_tokenizer):
    """Of sharp and varied alignments; some translations end early."""
    model = make_model(word_tokenizer)
    with torch.no_grad():
        model.lm_head.bias[:3] += torch.tensor([-9.0, -9.0, 1.5])
    return model


@pytest.mark.parametrize("batch_size", [1, 16])
@pytest.mark.parametrize("num_beams", [1, 5, 12])
def test_the_winning_beam_is_that_of_a_forced_decode(own_model, word_tokenizer, num_beams, batch_size):
    sources = [*SOURCES, "No mill", "The old mill stands in the village"] * 2
    translator = Translator(own_model, word_tokenizer)
    texts = [best.text for (best,) in translator.translate(sources, num_beams=num_beams)]
    found = align(own_model, word_tokenizer, sources, None, batch_size, num_beams=num_beams)
    lengths = set()
    for source, one, text in zip(sources, found, texts, strict=True):
        ids = [word_tokenizer.get_target_vocab()[word] for word in one.target_words]
        if source:
            assert word_tokenizer.decode(ids, skip_special_tokens=True) == text
        else:
            assert one.target_words == ("</s>",), "nothing is invented for a blank line"
        lengths.add(len(ids))
        read = word_tokenizer([source], return_tensors="pt")
        with torch.no_grad():
            output = own_model(**read, labels=torch.tensor([ids]), output_attentions=True)
        np.testing.assert_allclose(one.weights, output.cross_attentions[0][0, 0].numpy(), atol=1e-9)
        expected = output.logits[0].log_softmax(-1)[range(len(ids)), ids]
        np.testing.assert_allclose(one.log_probs, expected.numpy(), atol=1e-9)
        assert one.source_words == (*word_tokenizer.source_words(source), "</s>")
    assert len(lengths) > 2


def test_settings_saved_with_the_model_have_no_say(own_model, word_tokenizer, caplog):
    model = copy.deepcopy(own_model)
    plain = align(model, word_tokenizer, SOURCES)
    model.generation_config.suppress_tokens = [word_tokenizer.get_target_vocab()[plain[0].target_words[0]]]
    model.generation_config.max_length = 4
    warning_once.cache_clear()  # what was said before would not be said again
    library = logging.getLogger("transformers")
    library.addHandler(caplog.handler)
    try:
        again = align(model, word_tokenizer, SOURCES)
    finally:
        library.removeHandler(caplog.handler)
    assert [one.target_words for one in again] == [one.target_words for one in plain]
    assert max(len(one.target_words) for one in again) > 4
    assert model.generation_config.max_length == 4
    assert caplog.records == []


# Links


def test_links(make_model, word_tokenizer):
    model = make_model(word_tokenizer)
    for one in align(model, word_tokenizer, SOURCES, TARGETS):
        best = {(int(row.argmax()), i) for i, row in enumerate(one.weights[:-1])}
        assert one.links == {(s, t) for s, t in best if s < len(one.source_words) - 1}
    for one in align(model, word_tokenizer, SOURCES, TARGETS, threshold=0.25):
        assert one.links == {(s, t) for t, s in np.argwhere(one.weights[:-1, :-1] >= 0.25).tolist()}


@pytest.mark.parametrize("own", [False, True])
def test_links_of_both_directions(make_model, word_tokenizer, piece_tokenizer, own_model, own):
    """The other model may cut words in its own way; the words are those of the first."""
    back = RNNsearchTokenizer.train(
        TARGETS * 2, SOURCES * 2, kind="bpe", vocab_size=290, source_lang="fr", target_lang="en"
    )
    reverse = make_model(back)
    targets = None if own else TARGETS
    alone = align(own_model, word_tokenizer, SOURCES, targets)
    both = align(own_model, word_tokenizer, SOURCES, targets, reverse=(reverse, back))
    kept = 0
    for source, one, other in zip(SOURCES, alone, both, strict=True):
        target = word_tokenizer.decode(
            [word_tokenizer.get_target_vocab()[word] for word in one.target_words[:-1]]
        ) if own else TARGETS[SOURCES.index(source)]  # fmt: skip
        np.testing.assert_array_equal(one.weights, other.weights)
        [turned] = align(reverse, back, [target], [source])
        found = one.links & {(s, t) for t, s in turned.links}
        if turned.source_words[:-1] == one.target_words[:-1] and turned.target_words == one.source_words:
            assert other.links == found
            kept += len(found)
        assert other.links <= one.links
    assert 0 < kept < sum(len(one.links) for one in alone)


def test_given_words(make_model, piece_tokenizer):
    """The text is read as ever; only what the weights are between changes."""
    model = make_model(piece_tokenizer)
    source, target = "The old mill stands.", "Il pleut : rien."
    [plain] = align(model, piece_tokenizer, [source], [target])
    [given] = align(model, piece_tokenizer, [["The old", "mill", "stands."]], [["Il", "pleut :", "rien", "."]])
    assert given.source_words == ("The old", "mill", "stands.", "</s>")
    assert given.target_words == ("Il", "pleut :", "rien", ".", "</s>")
    pieces = np.diff(
        np.flatnonzero([*piece_tokenizer.target_word_starts(piece_tokenizer(text_target=target).input_ids), 1])
    )
    rows = np.add.reduceat(plain.weights, [0, 2, 3, 5], axis=1)
    rows[1] = (pieces[1] * rows[1] + pieces[2] * rows[2]) / (pieces[1] + pieces[2])
    np.testing.assert_allclose(given.weights, rows[[0, 1, 3, 4, 5]])
    np.testing.assert_allclose(given.log_probs, np.add.reduceat(plain.log_probs, [0, 1, 3, 4, 5]))


def test_tokens_are_kept_for_other_score_scales(make_model, word_tokenizer):
    """v_a times k makes energies times k. The first row shows it: later ones are read in other states."""
    model = make_model(word_tokenizer)
    assert align(model, word_tokenizer, SOURCES[:1], TARGETS[:1])[0].tokens is None
    [kept] = align(model, word_tokenizer, SOURCES[:1], TARGETS[:1], keep_tokens=True)
    np.testing.assert_allclose(kept.tokens.between_words(), kept.weights)

    scaled = copy.deepcopy(model)
    with torch.no_grad():
        scaled.get_decoder().attention.energy_proj.weight *= 2.5
    [hard] = align(scaled, word_tokenizer, SOURCES[:1], TARGETS[:1])
    assert np.abs(hard.weights[0] - kept.weights[0]).max() > 0.1
    np.testing.assert_allclose(kept.tokens.between_words(2.5)[0], hard.weights[0], atol=1e-10)


def test_no_pairs(make_model, word_tokenizer):
    assert align(make_model(word_tokenizer), word_tokenizer, [], []) == []


def test_wrong_use(make_model, word_tokenizer):
    model = make_model(word_tokenizer)
    with pytest.raises(InputError, match="2 sources but 1 targets"):
        align(model, word_tokenizer, ["a", "b"], ["c"])
    with pytest.raises(InputError, match="batch size is 0"):
        align(model, word_tokenizer, ["a"], ["c"], batch_size=0)
    with pytest.raises(InputError, match="no alignments"):
        align(make_model(word_tokenizer, context="fixed"), word_tokenizer, ["a"], ["c"])
    with pytest.raises(InputError, match="no alignments"):
        fixed = make_model(word_tokenizer, context="fixed")
        align(model, word_tokenizer, ["a"], ["c"], reverse=(fixed, word_tokenizer))
    with pytest.raises(InputError, match="beam is 0"):
        align(model, word_tokenizer, ["a"], num_beams=0)
    for threshold in (0.0, 1.1, float("nan")):
        with pytest.raises(InputError, match="threshold is"):
            align(model, word_tokenizer, ["a"], ["c"], threshold=threshold)
