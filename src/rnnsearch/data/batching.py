"""Batches of sentences of like length, in an order that depends on the seed and the epoch alone."""

import random
from collections.abc import Iterator, Sequence

from torch.utils.data import Sampler

POOL = 20  # minibatches sorted together (appendix B.2)


class LengthGroupedBatchSampler(Sampler[list[int]]):
    """Shuffle the pairs, take pools of 20 batches, sort each pool by length and cut it (appendix B.2).

    A batch then holds sentences of like length and little padding. Batches of a pool come in random order. Every
    pair is in just one batch of an epoch.

    Args:
        lengths: length of each pair, in tokens of its longer side.
        batch_size: pairs in a batch.
        batch_tokens: if above 0, cut instead where a batch, padded to its longest pair, would hold more tokens than
            this on its longer side; a pair that is longer still is a batch of its own.
        seed: with the epoch, determines the order.
        drop_last: leave out an incomplete last batch of pairs.
    """

    def __init__(
        self, lengths: Sequence[int], batch_size: int, *, batch_tokens: int = 0, seed: int = 0, drop_last: bool = False
    ):
        self.lengths, self.batch_size, self.batch_tokens = lengths, batch_size, batch_tokens
        self.seed, self.drop_last, self.epoch = seed, drop_last, 0

    def set_epoch(self, epoch: int) -> None:
        self.epoch = epoch

    def __iter__(self) -> Iterator[list[int]]:
        return iter(self._batches())

    def __len__(self) -> int:
        if self.batch_tokens:
            return len(self._batches())
        full, rest = divmod(len(self.lengths), self.batch_size)
        return full + (rest > 0 and not self.drop_last)

    def _batches(self) -> list[list[int]]:
        rng = random.Random(f"{self.seed} {self.epoch}")
        order = list(range(len(self.lengths)))
        rng.shuffle(order)
        pool_size = POOL * self._pairs_in_a_batch()
        batches = []
        for start in range(0, len(order), pool_size):
            pool = self._cut(sorted(order[start : start + pool_size], key=lambda index: self.lengths[index]))
            rng.shuffle(pool)
            batches += pool
        if self.drop_last and not self.batch_tokens:
            batches = [batch for batch in batches if len(batch) == self.batch_size]
        return batches

    def _pairs_in_a_batch(self) -> int:
        if not self.batch_tokens:
            return self.batch_size
        mean = sum(self.lengths) / max(len(self.lengths), 1)
        return max(1, round(self.batch_tokens / max(mean, 1)))

    def _cut(self, pool: list[int]) -> list[list[int]]:
        """Cut indices in ascending order of length into batches."""
        if not self.batch_tokens:
            return [pool[i : i + self.batch_size] for i in range(0, len(pool), self.batch_size)]
        batches: list[list[int]] = [[]]
        for index in pool:
            if batches[-1] and self.lengths[index] * (len(batches[-1]) + 1) > self.batch_tokens:
                batches.append([])
            batches[-1].append(index)
        return batches


__all__ = ["LengthGroupedBatchSampler"]
