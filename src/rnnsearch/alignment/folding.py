"""From tokens to words: those that the tokenizer tells apart, or those in which a sentence was given."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..errors import InputError
from ..tokenizer import RNNsearchTokenizer
from ..tokenizer.moses_rnnsearch import join_words

__all__ = ["Sentence", "TokenAlignment", "Words", "sentence", "words_of"]


@dataclass(frozen=True)
class Sentence:
    """A sentence as the model reads it, and as it was given.

    Args:
        text: plain text.
        words: the words to align, if the sentence was given in words.
    """

    text: str
    words: tuple[str, ...] | None = None


@dataclass(frozen=True, eq=False)
class Words:
    """The words of a sentence and the tokens that spell them.

    Args:
        words: W words, the end of the sentence included.
        is_word: False for the end, (W,).
        share: how much of each of P tokens belongs to each word, (P, W); a row sums to 1.
    """

    words: tuple[str, ...]
    is_word: NDArray[np.bool_]
    share: NDArray[np.float64]

    def mean(self, rows: NDArray[np.float64]) -> NDArray[np.float64]:
        """One row for each word, the mean of its tokens' (P, N): (W, N)."""
        belongs = (self.share > 0).T
        return belongs @ rows / belongs.sum(axis=1, keepdims=True).clip(min=1)

    def without_end(self) -> tuple[str, ...]:
        return tuple(word for word, is_word in zip(self.words, self.is_word, strict=True) if is_word)


@dataclass(frozen=True, eq=False)
class TokenAlignment:
    """What the model read between the tokens of a sentence pair, P of the source and Q of the target.

    Args:
        energies: e_ij, (Q, P), up to a constant of each row, which a softmax does not see: log α. A weight that the
            model's number format rounds to 0 counts as the smallest that float32 holds.
        source: words of the source and their tokens.
        target: words of the target and their tokens.
    """

    energies: NDArray[np.float64]
    source: Words
    target: Words

    @classmethod
    def from_weights(cls, weights: NDArray[np.float64], source: Words, target: Words) -> "TokenAlignment":
        return cls(np.log(weights.clip(min=np.finfo(np.float32).tiny)), source, target)

    def between_words(self, score_scale: float = 1.0) -> NDArray[np.float64]:
        """Weights between words, (T, S): those of the source's tokens added up, those of the target's averaged.

        Args:
            score_scale: what energies are multiplied by before the softmax (equation 6): 0 makes all weights of a row
                the same, a large factor leaves the largest alone. Only this step is done again: a model that computed
                like that would have been in other states.
        """
        scaled = score_scale * (self.energies - self.energies.max(axis=1, keepdims=True))
        weights = np.exp(scaled)
        return self.target.mean(weights / weights.sum(axis=1, keepdims=True)) @ self.source.share


def sentence(given: str | Sequence[str], language: str) -> Sentence:
    """Text from what was given: text, or words, which are joined by the rules of their language."""
    if isinstance(given, str):
        return Sentence(given)
    words = tuple(given)
    text = join_words(list(words), language)
    if _visible(text) != _visible("".join(words)):
        text = " ".join(words)
    return Sentence(text, words)


def words_of(tokenizer: RNNsearchTokenizer, ids: Sequence[int], given: Sentence | None, *, target: bool) -> Words:
    """Words of a sentence.

    Args:
        tokenizer: the tokenizer that made the ids.
        ids: P ids of the sentence.
        given: the sentence; None for one that the model wrote, whose words are those of its ids. If it was given in
            words, a token belongs to those with which it shares characters.
        target: whether it is a target sentence.

    Raises:
        InputError: the given words do not have the characters of the text that the model reads.
    """
    ids = list(ids)
    texts = tokenizer.target_tokens(ids) if target else tokenizer.source_tokens(ids)
    real = ~np.isin(ids, (tokenizer.bos_token_id, tokenizer.eos_token_id))
    if given is not None and tokenizer.kind == "word":
        # In full, those that have no id of their own too.
        spelled = tokenizer.target_words(given.text) if target else tokenizer.source_words(given.text)
        for place, word in zip(np.flatnonzero(real), spelled, strict=True):
            texts[place] = word

    if given is None or given.words is None:
        starts = np.array(tokenizer.target_word_starts(ids) if target else tokenizer.source_word_starts(ids))
        share = np.eye(starts.sum())[np.cumsum(starts) - 1]
        words = tuple("".join(texts[place] for place in np.flatnonzero(column)) for column in share.T)
        return Words(words, real[starts], share)

    first = int(real.argmax())
    end = first + int(real.sum())
    new_end = first + len(given.words)
    share = np.zeros((len(ids), new_end + len(ids) - end))
    share[:first, :first] = np.eye(first)
    share[first:end, first:new_end] = _shared_characters(texts[first:end], given.words)
    share[end:, new_end:] = np.eye(len(ids) - end)
    is_word = np.zeros(share.shape[1], dtype=bool)
    is_word[first:new_end] = True
    return Words((*texts[:first], *given.words, *texts[end:]), is_word, share)


def _shared_characters(parts: Sequence[str], words: Sequence[str]) -> NDArray[np.float64]:
    """How much of each part belongs to each word of the same text, (parts, words); spaces do not count.

    A part without characters belongs to the word of the next one: characters can be cut into several pieces.
    """
    lengths, word_lengths = ([len(_visible(one)) for one in side] for side in (parts, words))
    word_of = np.repeat(np.arange(len(words)), word_lengths)
    if sum(lengths) != len(word_of):
        raise InputError(
            f"{' '.join(words)[:60]!r} has {len(word_of)} characters but the model reads {sum(lengths)}: "
            "its tokenizer writes some of them in another way"
        )
    share = np.zeros((len(parts), len(words)))
    start = 0
    for part, length in zip(share, lengths, strict=True):
        belongs = word_of[start : start + max(length, 1)]
        np.add.at(part, belongs, 1 / max(len(belongs), 1))
        start += length
    return share


def _visible(text: str) -> str:
    return "".join(text.split())
