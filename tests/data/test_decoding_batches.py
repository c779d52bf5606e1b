"""What happens to a sentence that is decoded does not depend on its neighbours."""

import random

from rnnsearch.data.decoding_batches import length_batches


def test_batches_to_decode():
    lengths = [3, 17, 8, 9, 1, 16, 8, 40]
    assert list(length_batches(lengths, 2)) == [([4, 0], 8), ([2, 6], 8), ([3, 5], 16), ([1], 24), ([7], 40)]
    assert list(length_batches([], 2)) == []
    draw = random.Random(0)
    lengths = [draw.randint(2, 51) for _ in range(150)]
    for size in (1, 7, 64):
        batches = list(length_batches(lengths, size))
        assert sorted(position for batch, _ in batches for position in batch) == list(range(150))
        assert all(1 <= len(batch) <= size for batch, _ in batches)
