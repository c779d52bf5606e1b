"""Batches of sentences of like length to train on, in an order that depends on the seed and the epoch alone."""

import random
from collections.abc import Iterator, Sequence

from torch.utils.data import Sampler

POOL = 20  # minibatches sorted together (appendix B.2)


class LengthGroupedBatchSampler(Sampler[list[int]]):
    """Batches of pairs of like length, which need little padding, in random order.

    With a fixed number of pairs to a batch, as in appendix B.2: shuffle the pairs, take pools of 20 batches, sort each
    pool by length and cut it. With a fixed number of tokens, the whole data set is one pool; chance then decides
    between pairs of the same length, and every epoch has equally many batches.

    With `ascending`, as the authors' code has it: the pairs are shuffled once, so that every epoch is like the first,
    and the batches of a pool keep their order, from the shortest pairs to the longest.

    Every pair is in just one batch of an epoch; only several processes, which must take equally many batches each,
    may repeat a few batches to get there.

    Args:
        lengths: length of each pair, in tokens of its longer side.
        batch_size: pairs in a batch.
        batch_tokens: if above 0, cut instead where a batch, padded to its longest pair, would hold more tokens than
            this on its longer side; a pair that is longer still is a batch of its own.
        ascending: shuffle once, and keep the batches of a pool in order of length.
        seed: with the epoch, determines the order.
        drop_last: leave out an incomplete batch of pairs, and batches that do not go round among the processes.
        processes: number of processes that train together, each on its own batches.
        process: which of them this one is, from 0.
    """

    def __init__(
        self,
        lengths: Sequence[int],
        batch_size: int,
        *,
        batch_tokens: int = 0,
        ascending: bool = False,
        seed: int = 0,
        drop_last: bool = False,
        processes: int = 1,
        process: int = 0,
    ):
        self.lengths, self.batch_size, self.batch_tokens = list(lengths), batch_size, batch_tokens
        self.ascending = ascending
        self.seed, self.drop_last, self.epoch = seed, drop_last, 0
        self.processes, self.process = processes, process

    def set_epoch(self, epoch: int) -> None:
        self.epoch = epoch

    def __iter__(self) -> Iterator[list[int]]:
        batches = self._batches()
        surplus = len(batches) % self.processes
        if surplus and self.drop_last:
            batches = batches[:-surplus]
        while len(batches) % self.processes:
            batches += batches[: self.processes - len(batches) % self.processes]
        return iter(batches[self.process :: self.processes])

    def __len__(self) -> int:
        if self.batch_tokens:
            count = len(self._cut(sorted(range(len(self.lengths)), key=self.lengths.__getitem__)))
        else:
            full, rest = divmod(len(self.lengths), self.batch_size)
            count = full + (rest > 0 and not self.drop_last)
        return count // self.processes if self.drop_last else -(-count // self.processes)

    def _batches(self) -> list[list[int]]:
        rng = random.Random(f"{self.seed} {0 if self.ascending else self.epoch}")
        order = list(range(len(self.lengths)))
        rng.shuffle(order)
        pool_size = len(order) if self.batch_tokens else POOL * self.batch_size
        batches = []
        for start in range(0, len(order), pool_size):
            pool = self._cut(sorted(order[start : start + pool_size], key=self.lengths.__getitem__))
            if not self.ascending:
                rng.shuffle(pool)
            batches += pool
        if self.drop_last and not self.batch_tokens:
            batches = [batch for batch in batches if len(batch) == self.batch_size]
        return batches

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
