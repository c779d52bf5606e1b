"""Start workers, ask them in rounds, and make the answers one figure."""

import os
import resource
import statistics
import subprocess
import sys
import time
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
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


def command(words: Sequence[str], threads: int) -> Answer:
    """Run `rnnsearch` with these words, as a user would; the seconds from its start to its end on both clocks."""
    program = str(Path(sys.executable).with_name("rnnsearch"))
    environment = os.environ | {"OMP_NUM_THREADS": str(threads), "HF_HUB_OFFLINE": "1"}
    before, wall = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    subprocess.run([program, *words], check=True, env=environment, capture_output=True)
    after, wall = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter() - wall
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return {"cpu_seconds": cpu, "wall_seconds": wall}


def seconds(answers: list[Answer], threads: int) -> Answer:
    """The seconds of all rounds on both clocks, and the median on the one that counts.

    At one thread the CPU seconds of the process count, which other programs disturb least; with more, the wall clock.
    """
    clock = "cpu_seconds" if threads == 1 else "wall_seconds"
    record: Answer = {name: [answer[name] for answer in answers] for name in ("cpu_seconds", "wall_seconds")}
    return record | {"clock": clock, "seconds": statistics.median(record[clock])}
