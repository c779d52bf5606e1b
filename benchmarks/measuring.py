"""Start workers, ask them in rounds, and make the answers one figure."""

import statistics
import sys
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from typing import Any

from protocol import Worker
from sizes import Size

Answer = dict[str, Any]


@dataclass(frozen=True)
class Candidate:
    """A system at one size and precision, and how its worker is started; by default RNNsearch."""

    size: Size
    precision: str
    system: str = "rnnsearch"
    module: str = "ours"
    python: str = sys.executable

    def start(self, purpose: str, threads: int, seed: int) -> Worker:
        setup = {"size": asdict(self.size), "purpose": purpose, "precision": self.precision}
        return Worker(self.python, self.module, setup | {"threads": threads, "seed": seed})


def play(requests: Iterable[tuple[Worker, Answer]], rounds: int) -> list[list[Answer]]:
    """Ask every request once a round, one after the other; for each request, the answers of the rounds."""
    todo = list(requests)
    played = [[worker.ask(**request) for worker, request in todo] for _ in range(rounds)]
    return [list(answers) for answers in zip(*played, strict=True)]


def seconds(answers: list[Answer], threads: int) -> Answer:
    """The seconds of all rounds on both clocks, and the median on the one that counts.

    At one thread the CPU seconds of the process count, which other programs disturb least; with more, the wall clock.
    """
    clock = "cpu_seconds" if threads == 1 else "wall_seconds"
    record: Answer = {name: [answer[name] for answer in answers] for name in ("cpu_seconds", "wall_seconds")}
    return record | {"clock": clock, "seconds": statistics.median(record[clock])}
