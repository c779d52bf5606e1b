"""Batches of sentences of like length, to decode."""

from collections.abc import Iterator, Sequence
from itertools import groupby

BUCKET_WIDTH = 8


def length_batches(lengths: Sequence[int], batch_size: int) -> Iterator[tuple[list[int], int]]:
    """Batches to decode. What happens to a sentence does not depend on its neighbours.

    Sentences share a batch only with those whose lengths round up to the same multiple of 8. Hence neither the padding
    of one nor a limit that is drawn from that number is the choice of its neighbours.

    Args:
        lengths: length of each sentence in tokens.
        batch_size: most sentences in a batch.

    Yields:
        positions of the sentences of a batch, and their lengths rounded up.
    """

    def bucket(position: int) -> int:
        return -(-lengths[position] // BUCKET_WIDTH) * BUCKET_WIDTH

    for width, members in groupby(sorted(range(len(lengths)), key=lengths.__getitem__), key=bucket):
        alike = list(members)
        for start in range(0, len(alike), batch_size):
            yield alike[start : start + batch_size], width
