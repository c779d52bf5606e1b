"""Greedy and beam search in NumPy, by the rules of `GenerationMixin`.

Shapes: B batch, k hypotheses of a sentence, K vocabulary.
"""

import numpy as np
from numpy.typing import NDArray

from .sessions import Decoding

_NEVER = -1e9  # score of what may not be chosen, as `GenerationMixin` has it


def greedy_search(decoding: Decoding, sentences: int, start: int, ends: list[int], limit: int) -> NDArray[np.int64]:
    """The most likely word after the most likely word.

    Args:
        decoding: of one hypothesis a sentence, before its first word.
        sentences: B.
        start: what stands before the first word.
        ends: what ends a translation; none does so at once.
        limit: most words of a translation.

    Returns:
        words (B, limit); after an end there are ends.
    """
    words = np.full((sentences, limit), ends[0])
    last, ended = np.full((sentences, 1), start), np.zeros(sentences, dtype=bool)
    for position in range(limit):
        log_probs = decoding.read(last)["log_probs"][:, 0]  # (B, K)
        if position == 0:
            log_probs[:, ends] = -np.inf
        last = log_probs.argmax(axis=-1)[:, None]
        words[~ended, position] = last[~ended, 0]
        ended |= np.isin(last[:, 0], ends)
        if ended.all():
            break
    return words


def beam_search(
    decoding: Decoding,
    sentences: int,
    hypotheses: int,
    start: int,
    ends: list[int],
    limit: int,
    length_penalty: float,
) -> NDArray[np.int64]:
    """The best of k translations, by log-probability divided by a power of the length.

    A sentence is done when k of its translations have ended and the best of its hypotheses, if it ended now, would be
    no better than the worst of these (`early_stopping=False`).

    Args:
        hypotheses: k.
        length_penalty: power of the length by which log-probabilities are divided.

    The other arguments and the result are those of `greedy_search`.
    """
    k, kept = hypotheses, max(2, 1 + len(ends)) * hypotheses  # so many that k go on, even if every end is among them
    running = np.full((sentences, k, limit), ends[0])
    finished = running.copy()
    # All begin as one: only the first may be continued.
    running_scores = np.where(np.arange(k) == 0, 0, _NEVER).repeat(sentences).reshape(k, sentences).T
    finished_scores, has_finished = np.full((sentences, k), _NEVER), np.zeros((sentences, k), dtype=bool)
    improvable = np.ones((sentences, 1), dtype=bool)
    last = np.full((sentences, k), start)
    for length in range(1, limit + 1):
        log_probs = decoding.read(last)["log_probs"]  # (B, k, K)
        if length == 1:
            log_probs[:, :, ends] = -np.inf
        scores = (log_probs + running_scores[:, :, None]).reshape(sentences, -1)
        best = _greatest(scores, kept)
        scores = np.take_along_axis(scores, best, axis=1)
        origins, words = np.divmod(best, log_probs.shape[-1])
        candidates = _chosen(running, origins)
        candidates[:, :, length - 1] = words
        stopped = np.isin(words, ends) | (length == limit)

        may_finish = stopped & (np.arange(kept) < k) & improvable
        finished_scores = np.hstack([finished_scores, np.where(may_finish, scores / length**length_penalty, _NEVER)])
        finished, has_finished = np.hstack([finished, candidates]), np.hstack([has_finished, may_finish])
        best = _greatest(finished_scores, k)
        finished, finished_scores, has_finished = (_chosen(a, best) for a in (finished, finished_scores, has_finished))

        scores = np.where(stopped, _NEVER, scores)
        best = _greatest(scores, k)
        running, running_scores, last, origins = (_chosen(a, best) for a in (candidates, scores, words, origins))
        worst = np.where(has_finished, finished_scores.min(axis=1, keepdims=True), _NEVER)
        improvable &= (running_scores[:, :1] / length**length_penalty > worst).any(axis=1, keepdims=True)
        if not improvable.any():
            break
        decoding.reorder(origins)
    return finished[:, 0]


def _greatest(scores: NDArray[np.floating], number: int) -> NDArray[np.int64]:
    """Where the greatest scores of each row stand, greatest first: (B, number)."""
    found = np.argpartition(-scores, number - 1, axis=1)[:, :number]
    order = np.argsort(-np.take_along_axis(scores, found, axis=1), axis=1, kind="stable")
    return np.take_along_axis(found, order, axis=1)


def _chosen(array: NDArray, positions: NDArray[np.int64]) -> NDArray:
    """The entries of each row at these positions, (B, number, ...)."""
    return np.take_along_axis(array, positions.reshape(*positions.shape, *[1] * (array.ndim - 2)), axis=1)
