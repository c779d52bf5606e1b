"""Speed and memory of training and decoding, beside the machine's own limit and, when asked, other systems.

    python benchmarks/speed.py
    python benchmarks/speed.py --sizes s25 --threads 1 --peers joeynmt,marian --joeynmt-python PATH --json speed.json

Every system runs in a process of its own and does the work that workload.py describes. A round measures each system
once, one after the other; a figure is the median of the rounds. At one thread the clock is the CPU seconds of the
process, which other programs disturb least; with more threads it is the wall clock.
"""

import argparse
import sys
from contextlib import ExitStack, closing
from dataclasses import asdict, dataclass, replace
from typing import Any

from comparison import Row, add_ratios, tables
from measuring import Candidate, play, seconds
from protocol import Worker, WorkerError
from record import add_record_options, comma_list, find_size, origin, run, write
from sizes import SIZES, Size, training_flop

PEERS = {"joeynmt": "peers.joeynmt_worker", "marian": "peers.marian_worker"}
PRECISIONS = ["float32", "bfloat16"]
PURPOSES = ["training", "decoding"]


@dataclass(frozen=True)
class Task:
    """One thing to measure: the name of its column, what a round asks for, and what is asked before the rounds."""

    name: str
    request: dict[str, Any]
    warm_up: dict[str, Any]


def tasks(purpose: str, steps: int) -> list[Task]:
    """One training task of so many steps; or greedy and beam search, 8 sentences one by one and 64 in one batch."""
    if purpose == "training":
        return [Task("training", {"task": "training", "steps": steps}, {"task": "training", "steps": 1})]
    found = []
    for batch, sentences in ((1, 8), (64, 64)):
        for name, beams in (("greedy", 1), ("beam 5", 5)):
            request = {"task": "decoding", "beams": beams, "batch": batch, "sentences": sentences, "words": 30}
            found.append(Task(f"{name}, batch {batch}", request, request | {"sentences": batch, "words": 2}))
    return found


def candidates(size: Size, options: argparse.Namespace) -> list[Candidate]:
    """RNNsearch with the maxout layer of the size and with one as wide as the state, then the peers."""
    pythons = {"joeynmt": options.joeynmt_python, "marian": options.marian_python}
    found = []
    for width in dict.fromkeys([size.maxout, size.hidden]):
        found += [Candidate(replace(size, maxout=width), precision) for precision in options.precisions]
    for peer in options.peers:
        found += [Candidate(size, low, peer, PEERS[peer], pythons[peer]) for low in options.precisions]
    return found


def start(
    stack: ExitStack, size: Size, threads: int, purpose: str, options: argparse.Namespace
) -> tuple[dict[Candidate, Worker], list[Row]]:
    """The workers, warmed up, and the peers that are left out with the reason.

    Raises:
        WorkerError: RNNsearch itself has failed.
    """
    workers, skipped = {}, []
    for candidate in candidates(size, options):
        try:
            worker = stack.enter_context(closing(candidate.start(purpose, threads, options.seed)))
            for task in tasks(purpose, options.steps):
                worker.ask(**task.warm_up)
        except WorkerError as error:
            if candidate.system == "rnnsearch":
                raise
            who = {"system": candidate.system, "precision": candidate.precision}
            skipped.append({"size": size.name, "threads": threads, "purpose": purpose} | who | {"reason": str(error)})
        else:
            workers[candidate] = worker
    return workers, skipped


def measure(size: Size, threads: int, purpose: str, options: argparse.Namespace) -> tuple[list[Row], list[Row]]:
    """Rows of all systems and, with training, of the matrix product of its recurrences; and the peers left out.

    Raises:
        WorkerError: RNNsearch itself has failed, or a peer has after it had warmed up.
    """
    place = {"size": size.name, "threads": threads, "purpose": purpose}
    shape = {"rows": size.batch, "inner": size.hidden, "columns": 3 * size.hidden}
    with ExitStack() as stack:
        workers, skipped = start(stack, size, threads, purpose, options)
        asked = [(candidate, task) for task in tasks(purpose, options.steps) for candidate in workers]
        products = {}
        for precision in options.precisions if purpose == "training" else []:
            setup = shape | {"precision": precision, "threads": threads}
            products[precision] = stack.enter_context(closing(Worker(sys.executable, "product", setup)))
        requests = [(workers[candidate], task.request) for candidate, task in asked]
        requests += [(worker, {"task": "product"}) for worker in products.values()]
        answers = play(requests, options.rounds)
    rows = []
    for (candidate, task), given in zip(asked, answers, strict=False):
        row: Row = place | {"system": candidate.system, "precision": candidate.precision, "task": task.name}
        if candidate.system == "rnnsearch":
            row["maxout"] = candidate.size.maxout
        row |= {"tokens": given[0]["tokens"]} | seconds(given, threads)
        row |= {"tokens_per_second": row["tokens"] / row["seconds"], "peak_mb": max(each["peak_mb"] for each in given)}
        if purpose == "training":
            row["loss"] = given[0]["loss"]
            if candidate.system == "rnnsearch":
                row["flop"] = options.steps * training_flop(candidate.size)
        rows.append(row | workers[candidate].ready)
    for precision, given in zip(products, answers[len(asked) :], strict=True):
        who = {"system": "matrix product", "precision": precision, "task": "x".join(map(str, shape.values()))}
        row = place | who | {"flop": given[0]["flop"]} | seconds(given, threads)
        rows.append(row | products[precision].ready)
    return rows, skipped


def parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sizes", type=comma_list(), default=list(SIZES), help="or JSON files; default s25,s50,paper")
    parser.add_argument("--threads", type=comma_list(["1", "2"]), default=["1", "2"], help="default 1,2")
    parser.add_argument("--precisions", type=comma_list(PRECISIONS), default=PRECISIONS, help="default both")
    parser.add_argument("--purposes", type=comma_list(PURPOSES), default=PURPOSES, help="default both")
    parser.add_argument("--peers", type=comma_list(PEERS), default=[], help="of joeynmt,marian; default none")
    parser.add_argument("--joeynmt-python", default=sys.executable, help="interpreter that has JoeyNMT")
    parser.add_argument("--marian-python", default=sys.executable, help="interpreter that has Transformers")
    parser.add_argument("--rounds", type=int, default=5, help="default 5")
    parser.add_argument("--steps", type=int, default=3, help="training steps of a round; default 3")
    parser.add_argument("--seed", type=int, default=1234, help="default 1234")
    add_record_options(parser)
    return parser


def main() -> None:
    options = parser().parse_args()
    sizes = [find_size(name) for name in options.sizes]
    record: dict[str, Any] = origin(options.seed, tested=not options.untested) | {
        "rounds": options.rounds,
        "sizes": [asdict(size) | {"training_flop": training_flop(size)} for size in sizes],
        "skipped": [],
        "rows": [],
    }
    for size in sizes:
        for threads in map(int, options.threads):
            here: list[Row] = []
            for purpose in options.purposes:
                rows, skipped = measure(size, threads, purpose, options)
                here += rows
                record["skipped"] += skipped
                for each in skipped:
                    print(f"skipped: {each['system']}, {each['precision']}, {purpose}: {each['reason']}")
            add_ratios(here)
            record["rows"] += here
            write(options.json, record)
            print(tables(here, options.rounds), flush=True)


if __name__ == "__main__":
    run(main)
