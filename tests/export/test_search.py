"""Searches in a language of few words, where every translation can be looked at."""

import itertools

import numpy as np
import pytest

from rnnsearch.export.search import beam_search, greedy_search

START, END = 0, 1


class Language:
    """The next word depends on the last two; each hypothesis has a number, which `reorder` must carry along."""

    def __init__(self, words: int, seed: int, sentences: int, hypotheses: int):
        probabilities = np.random.default_rng(seed).dirichlet(np.full(words, 0.5), (sentences, words, words))
        self.log_probs = np.log(probabilities).astype(np.float32)  # (B, word before last, last, next)
        self.before = np.full((sentences, hypotheses), START)
        self.last = self.before

    def read(self, tokens):
        self.before, self.last = self.last, tokens
        rows = np.arange(len(tokens))[:, None]
        return {"log_probs": self.log_probs[rows, self.before, self.last]}

    def reorder(self, origins):
        self.last = np.take_along_axis(self.last, origins, axis=1)

    def score(self, sentence, words) -> float:
        read = [START, START, *words]
        return sum(self.log_probs[sentence, a, b, c] for a, b, c in zip(read, read[1:], read[2:], strict=False))


def translations(words: int, limit: int):
    """All translations of 1 to `limit` words: those that end, and those that are cut."""
    inner = [word for word in range(words) if word != END]
    for length in range(1, limit):
        yield from ((*begin, END) for begin in itertools.product(inner, repeat=length))
    yield from itertools.product(inner, repeat=limit)


@pytest.mark.parametrize("length_penalty", [0.0, 1.0, 2.0])
@pytest.mark.parametrize("seed", range(12))
def test_a_beam_of_all_finds_the_best(seed, length_penalty):
    """So wide a beam leaves nothing out, and goes on until all translations are known."""
    words, limit, sentences = 4, 4, 2
    all_of_them = list(translations(words, limit))
    language = Language(words, seed, sentences, 100)
    found = beam_search(language, sentences, 100, START, [END], limit, length_penalty)
    for sentence in range(sentences):
        best = max(all_of_them, key=lambda each: language.score(sentence, each) / len(each) ** length_penalty)
        assert tuple(found[sentence][: len(best)]) == best
        assert (found[sentence][len(best) :] == END).all()


def test_greedy_takes_the_most_likely_word():
    sentences, limit = 5, 7
    language = Language(6, 3, sentences, 1)
    table = language.log_probs.copy()
    found = greedy_search(language, sentences, START, [END], limit)
    for sentence in range(sentences):
        before, last, expected = START, START, []
        while len(expected) < limit and last != END:
            scores = table[sentence, before, last].copy()
            if not expected:
                scores[END] = -np.inf
            before, last = last, int(scores.argmax())
            expected.append(last)
        assert found[sentence].tolist() == expected + [END] * (limit - len(expected))


class Fixed:
    """One sentence whose words have the same probabilities at each position, whatever stands before them."""

    def __init__(self, *probabilities):
        self.steps = [np.log(np.array(each, dtype=np.float32)) for each in probabilities]
        self.position = 0

    def read(self, tokens):
        self.position += 1
        return {"log_probs": np.tile(self.steps[self.position - 1], (*tokens.shape, 1))}

    def reorder(self, origins): ...


def test_the_search_stops_when_nothing_can_be_better():
    """Two translations end at position 2; with log 0.7 + log 0.9 over 2 nothing of 0.1 can be better."""
    often = [0.01, 0.01, 0.7, 0.28], [0.01, 0.9, 0.05, 0.04], [0.01, 0.9, 0.05, 0.04]
    fixed = Fixed(*often)
    found = beam_search(fixed, 1, 2, START, [END], 3, 0.0)
    assert (found[0].tolist(), fixed.position) == ([2, END, END], 2)


def spread(probabilities: dict[int, float]) -> list[float]:
    """Those of 40 words, where the ones not named share evenly what is left."""
    left = (1 - sum(probabilities.values())) / (40 - len(probabilities))
    return [probabilities.get(word, left) for word in range(40)]


def test_scores_are_divided_by_the_number_of_words():
    """Log-probabilities of -2.0 for two words and of -2.85 for three: -1.0 and -0.95 a word, the end counted."""
    first, second, third = {2: 0.98}, {2: 0.8, END: 0.138}, {END: 0.0738}
    fixed = Fixed(*map(spread, (first, second, third)))
    assert beam_search(fixed, 1, 2, START, [END], 3, 1.0)[0].tolist() == [2, 2, END]


def test_the_search_goes_on_while_something_may_be_better():
    """After three words two translations have ended, with -0.60 and -0.66 a word; the rest stands at -0.95, -0.32."""
    steps = {2: 0.999}, {2: 0.55, END: 0.3}, {2: 0.7, END: 0.25}, {END: 0.98}, {}
    fixed = Fixed(*map(spread, steps))
    assert beam_search(fixed, 1, 2, START, [END], 5, 1.0)[0].tolist() == [2, 2, 2, END, END]
    assert fixed.position == 4


def test_what_is_kept_in_reserve_does_not_end():
    """Second best with a beam of 1, the end at position 2 is no translation, though 0.35 is more than 0.4 * 0.5."""
    fixed = Fixed([0.05, 0.05, 0.9], [0.25, 0.35, 0.4], [0.1, 0.5, 0.4])
    assert beam_search(fixed, 1, 1, START, [END], 3, 0.0)[0].tolist() == [2, 2, END]


def test_no_translation_is_empty_and_none_is_too_long():
    ending = [0.01, 0.97, 0.02]
    assert greedy_search(Fixed(ending, ending, ending), 1, START, [END], 3)[0].tolist() == [2, END, END]
    assert beam_search(Fixed(ending, ending, ending), 1, 2, START, [END], 3, 1.0)[0].tolist() == [2, END, END]
    going_on = [0.01, 0.02, 0.97]
    assert greedy_search(Fixed(going_on, going_on), 1, START, [END], 2)[0].tolist() == [2, 2]
    assert beam_search(Fixed(going_on, going_on), 1, 2, START, [END], 2, 1.0)[0].tolist() == [2, 2]
