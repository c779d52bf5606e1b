"""Which tokens spell which word: the tokenizer's words, and words that were given."""

import numpy as np
import pytest

from rnnsearch.alignment.folding import Sentence, TokenAlignment, Words, sentence, words_of
from rnnsearch.errors import InputError
from rnnsearch.tokenizer import RNNsearchTokenizer

TEXTS = ["L'homme n'est pas là, dit-il : « non ».", "Il cannot dormir."]


@pytest.fixture(scope="module")
def piece_tokenizer():
    """Nearly every character is a piece of its own."""
    return RNNsearchTokenizer.train(TEXTS, TEXTS, kind="bpe", vocab_size=262, source_lang="fr")


@pytest.fixture(scope="module")
def word_tokenizer():
    return RNNsearchTokenizer.train(TEXTS, TEXTS, kind="word", vocab_size=8, source_lang="fr")


def test_words_of_a_text(word_tokenizer):
    """In full, whether or not the vocabulary holds them."""
    ids = word_tokenizer(TEXTS[0]).input_ids
    assert word_tokenizer.source_tokens(ids).count("[UNK]") > 4
    found = words_of(word_tokenizer, ids, Sentence(TEXTS[0]), target=False)
    expected = ("L'", "homme", "n'", "est", "pas", "là", ",", "dit-il", ":", "«", "non", "»", ".", "</s>")
    assert found.words == expected
    assert found.without_end() == expected[:-1]
    assert found.is_word.tolist() == [True] * 13 + [False]
    np.testing.assert_array_equal(found.share, np.eye(14))


def test_words_that_the_model_wrote_are_those_of_its_ids(word_tokenizer):
    ids = word_tokenizer(text_target=TEXTS[0]).input_ids
    found = words_of(word_tokenizer, ids, None, target=True)
    assert list(found.words) == word_tokenizer.target_tokens(ids)
    cut = words_of(word_tokenizer, ids[:-1], None, target=True)
    assert cut.is_word.all() and len(cut.words) == 13


@pytest.mark.parametrize("target", [False, True])
def test_given_words_of_pieces(piece_tokenizer, target):
    """Finer and coarser than those of the tokenizer, and across its borders."""
    given = Sentence(TEXTS[0], ("L'", "homme", "n'est", "pas", "là,", "dit", "-il", ":", "« non", "»", "."))
    sides = piece_tokenizer(given.text, text_target=given.text)
    ids = sides["labels"] if target else sides["input_ids"]
    found = words_of(piece_tokenizer, ids, given, target=target)
    assert found.words == (*given.words, "</s>")
    np.testing.assert_allclose(found.share.sum(axis=1), 1)
    pieces = piece_tokenizer.target_tokens(ids)
    assert "" in pieces, "the first half of a character, which has none of its own"
    for word, share in zip(found.words[:-1], found.share.T, strict=False):
        assert "".join(pieces[i] for i in np.flatnonzero(share)) == word.replace(" ", "")
    assert found.share[-1].tolist() == [0] * 11 + [1]


def test_a_word_of_the_tokenizer_in_two_given_ones(word_tokenizer):
    """It belongs to each by the characters they share, and its row counts for both."""
    given = Sentence("Il cannot dormir.", ("Il", "can", "n", "ot", "dormir", "."))
    ids = word_tokenizer(given.text).input_ids
    found = words_of(word_tokenizer, ids, given, target=False)
    np.testing.assert_allclose(found.share[1], [0, 3 / 6, 1 / 6, 2 / 6, 0, 0, 0])
    rows = np.arange(10.0).reshape(5, 2)
    np.testing.assert_allclose(found.mean(rows), rows[[0, 1, 1, 1, 2, 3, 4]])


def test_two_words_of_the_tokenizer_in_one_given(word_tokenizer):
    given = Sentence("L'homme dort", ("L'homme", "dort"))
    found = words_of(word_tokenizer, word_tokenizer(given.text).input_ids, given, target=False)
    np.testing.assert_allclose(found.share, [[1, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]])
    np.testing.assert_allclose(found.mean(np.eye(4)), [[0.5, 0.5, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1]])


def test_nothing_was_given(word_tokenizer):
    for given in (Sentence(""), sentence([], "fr")):
        found = words_of(word_tokenizer, word_tokenizer("").input_ids, given, target=False)
        assert (found.words, found.without_end()) == (("</s>",), ())
        np.testing.assert_array_equal(found.share, [[1]])


def test_joined_by_the_rules_of_the_language_where_no_character_is_lost():
    assert sentence(["L'", "homme", "dort", "."], "fr") == Sentence("L'homme dort.", ("L'", "homme", "dort", "."))
    assert sentence(["well", "@-@", "known"], "en").text == "well @-@ known"
    assert sentence("as it is", "en") == Sentence("as it is")


def test_other_characters_are_named(word_tokenizer):
    """A soft hyphen is not shown to the model."""
    given = Sentence("so\u00adft", ("so", "\u00ad", "ft"))
    with pytest.raises(InputError, match="has 5 characters but the model reads 4"):
        words_of(word_tokenizer, word_tokenizer(given.text).input_ids, given, target=False)


class TestScoreScale:
    """Five source tokens spell three words, the fourth token two of them; four target tokens spell two words."""

    share = np.array([[1, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0.5, 0.5], [0, 0, 1]])
    source = Words(("a", "b", "</s>"), np.array([True, True, False]), share)
    target = Words(("x", "y"), np.array([True, True]), np.array([[1, 0], [1, 0], [1, 0], [0, 1]]))

    def tokens(self, weights) -> TokenAlignment:
        return TokenAlignment.from_weights(np.array(weights), self.source, self.target)

    @pytest.mark.parametrize("scale", [0, 0.3, 1, 2.5])
    def test_energies_are_multiplied_before_the_softmax(self, scale):
        """And words folded after it."""
        energies = np.random.default_rng(0).normal(scale=2, size=(4, 5))
        alpha = np.exp(scale * energies) / np.exp(scale * energies).sum(axis=1, keepdims=True)
        expected = np.empty((2, 3))
        for word, rows in enumerate([alpha[:3], alpha[3:]]):
            mean = rows.mean(axis=0)
            expected[word] = mean[0] + mean[1], mean[2] + mean[3] / 2, mean[3] / 2 + mean[4]
        at_one = np.exp(energies) / np.exp(energies).sum(axis=1, keepdims=True)
        np.testing.assert_allclose(self.tokens(at_one).between_words(scale), expected, atol=1e-12)

    def test_extremes(self):
        tokens = self.tokens(
            [[0, 0, 1, 0, 0], [0.1, 0, 0, 0, 0.9], [0.2, 0.2, 0.2, 0.2, 0.2], [0.3, 0.1, 0.2, 0.2, 0.2]]
        )
        np.testing.assert_allclose(tokens.between_words(0), [[0.4, 0.3, 0.3]] * 2)
        np.testing.assert_allclose(
            tokens.between_words(1000), [[0.4 / 3, (1 + 0.3) / 3, (1 + 0.3) / 3], [1, 0, 0]], atol=1e-12
        )
        np.testing.assert_allclose(tokens.between_words(1)[0], [0.5 / 3, 1.3 / 3, 1.2 / 3], atol=1e-12)
