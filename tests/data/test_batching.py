"""Batches hold every pair once in an epoch, like lengths together, in an order that seed and epoch decide."""

import itertools
import random

import pytest

from rnnsearch.data.batching import POOL, LengthGroupedBatchSampler


def some_lengths(count: int, seed: int = 0) -> list[int]:
    return [random.Random(f"{seed} {i}").randint(2, 51) for i in range(count)]


def padding(batches: list[list[int]], lengths: list[int]) -> int:
    return sum(max(lengths[i] for i in batch) - lengths[j] for batch in batches for j in batch)


@pytest.mark.parametrize("tokens", [0, 97])
@pytest.mark.parametrize("count, size", [(1, 4), (7, 7), (103, 5), (500, 3)])
def test_an_epoch_is_the_whole_data_once(count, size, tokens):
    sampler = LengthGroupedBatchSampler(some_lengths(count), size, batch_tokens=tokens, seed=3)
    for epoch in range(3):
        sampler.set_epoch(epoch)
        batches = list(sampler)
        assert sorted(index for batch in batches for index in batch) == list(range(count))
        assert len(batches) == len(sampler)


def test_ascending_batches_are_those_of_the_first_epoch_in_order_of_length():
    lengths, size = some_lengths(3 * POOL * 4 + 10), 4
    sampler = LengthGroupedBatchSampler(lengths, size, ascending=True, seed=3)
    first = list(sampler)
    for start in range(0, len(first), POOL):
        pool = [lengths[index] for batch in first[start : start + POOL] for index in batch]
        assert pool == sorted(pool)
    # As many pairs to a pool as the random order takes, and the same ones.
    random_order = list(LengthGroupedBatchSampler(lengths, size, seed=3))
    assert {index for batch in first[:POOL] for index in batch} == {
        index for batch in random_order[:POOL] for index in batch
    }
    sampler.set_epoch(1)
    assert list(sampler) == first
    assert list(LengthGroupedBatchSampler(lengths, size, ascending=True, seed=4)) != first


@pytest.mark.parametrize("tokens", [0, 300])
def test_seed_and_epoch_alone_decide(tokens):
    lengths = some_lengths(200)

    def batches(seed: int, epoch: int) -> list[list[int]]:
        sampler = LengthGroupedBatchSampler(lengths, 8, batch_tokens=tokens, seed=seed)
        sampler.set_epoch(epoch)
        random.seed(epoch)  # the state of the process has no say
        return list(sampler)

    assert batches(1, 0) == batches(1, 0)
    assert batches(1, 0) != batches(1, 1)
    assert batches(1, 0) != batches(2, 0)
    # The pairs of the second epoch meet others, and not the same batches in another order.
    assert {tuple(sorted(batch)) for batch in batches(1, 0)} != {tuple(sorted(batch)) for batch in batches(1, 1)}


def test_batches_of_a_pool_do_not_overlap_in_length():
    lengths, size = some_lengths(3 * POOL * 4 + 10), 4
    batches = list(LengthGroupedBatchSampler(lengths, size))
    for start in range(0, len(batches), POOL):
        spans = sorted((min(lengths[i] for i in b), max(lengths[i] for i in b)) for b in batches[start : start + POOL])
        assert all(left[1] <= right[0] for left, right in itertools.pairwise(spans))
    shortest = [min(lengths[i] for i in batch) for batch in batches[:POOL]]
    assert shortest != sorted(shortest)


@pytest.mark.parametrize("tokens", [0, 256])
def test_like_lengths_save_padding(tokens):
    lengths = some_lengths(1000)
    order = random.Random(0).sample(range(1000), 1000)
    at_random = [order[i : i + 10] for i in range(0, 1000, 10)]
    grouped = list(LengthGroupedBatchSampler(lengths, 10, batch_tokens=tokens))
    assert padding(grouped, lengths) < 0.2 * padding(at_random, lengths)


def test_a_batch_of_tokens_is_as_full_as_it_can_be():
    lengths = [*some_lengths(300), 400, 401]
    batches = list(LengthGroupedBatchSampler(lengths, 1, batch_tokens=120))
    for batch in batches:
        assert len(batch) == 1 or len(batch) * max(lengths[i] for i in batch) <= 120
    assert [300] in batches and [301] in batches
    # Of two neighbours in length the shorter could not have taken one more pair.
    ordered = sorted((sorted(lengths[i] for i in batch) for batch in batches), key=lambda b: (b[0], b[-1], -len(b)))
    for batch, following in itertools.pairwise(ordered):
        assert (len(batch) + 1) * following[0] > 120


def test_drop_last_leaves_out_the_incomplete_batch():
    lengths = some_lengths(23)
    batches = list(LengthGroupedBatchSampler(lengths, 5, drop_last=True))
    assert [len(batch) for batch in batches] == [5] * 4
    assert len(LengthGroupedBatchSampler(lengths, 5, drop_last=True)) == 4


@pytest.mark.parametrize("tokens", [0, 97])
@pytest.mark.parametrize("drop_last", [False, True])
@pytest.mark.parametrize("count", [3, 20, 101])
def test_processes_share_the_batches(count, drop_last, tokens):
    lengths = some_lengths(count)
    options = {"batch_size": 4, "batch_tokens": tokens, "seed": 5, "drop_last": drop_last}
    alone = LengthGroupedBatchSampler(lengths, **options)
    alone.set_epoch(2)
    shares = []
    for process in range(3):
        sampler = LengthGroupedBatchSampler(lengths, **options, processes=3, process=process)
        sampler.set_epoch(2)
        shares.append(list(sampler))
        assert len(sampler) == len(shares[-1]) == len(shares[0])
    shared = [batch for step in zip(*shares, strict=True) for batch in step]
    whole = list(alone)
    if drop_last:
        assert shared == whole[: len(whole) // 3 * 3]
    else:
        assert shared[: len(whole)] == whole
        assert len(shared) - len(whole) < 3
        assert all(batch in whole for batch in shared)
