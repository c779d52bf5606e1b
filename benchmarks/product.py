"""The worker that measures what the machine makes of one matrix product, the limit of a recurrence."""

import time
from typing import Any

import torch

from protocol import Tasks, serve, stopwatch

# Long enough that the clock's own grain does not show.
_SECONDS = 0.3


def open_worker(rows: int, inner: int, columns: int, precision: str, threads: int) -> tuple[dict[str, Any], Tasks]:
    """`left` (rows, inner) times a weight (columns, inner), the form of `torch.nn.Linear`."""
    torch.set_num_threads(threads)
    dtype = getattr(torch, precision)
    generator = torch.Generator().manual_seed(0)
    left = torch.randn(rows, inner, generator=generator).to(dtype)
    weight = torch.randn(columns, inner, generator=generator).to(dtype)

    def repeat(times: int) -> None:
        for _ in range(times):
            torch.nn.functional.linear(left, weight)

    repeat(10)
    started = time.perf_counter()
    repeat(10)
    times = max(10, int(10 * _SECONDS / (time.perf_counter() - started)))

    def product() -> dict[str, Any]:
        answer: dict[str, Any] = {"flop": times * 2 * rows * inner * columns}
        with stopwatch(answer):
            repeat(times)
        return answer

    return {"versions": {"torch": torch.__version__}}, {"product": product}


if __name__ == "__main__":
    serve(lambda setup: open_worker(**setup))
