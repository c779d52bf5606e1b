"""Where the time of a step of `generate` goes: the model or GenerationMixin around it, operations or Python.

    python benchmarks/profile_decoding.py --json profile_decoding.json

Each round translates the same sentences twice. The first time tells how long the model's calls take and how long
everything around them. The second time, PyTorch's profiler tells which share of either is spent in operations; what
is left is called Python: the interpreter, and what PyTorch does between operations. The profiler makes small
operations look somewhat larger. The encoder, which runs once, is left out; what GenerationMixin does once is spread
over the steps. At one thread the clock of the first time is the CPU seconds of the process.
"""

import argparse
import statistics
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import torch
from torch import Tensor, nn
from torch.profiler import ProfilerActivity, profile, record_function

from ours import RNNsearch
from record import add_record_options, find_size, origin, run, table, write
from workload import random_ids

WORDS = 30
PARTS = ["model, operations", "model, Python", "GenerationMixin, operations", "GenerationMixin, Python"]


@contextmanager
def watched(modules: dict[str, nn.Module], clock: Callable[[], float], spent: dict[str, float]) -> Iterator[None]:
    """Add up in `spent` the seconds of the calls of modules and of all; the profiler sees each call by its name."""
    running: dict[str, tuple[record_function, float]] = {}

    def enter(name: str) -> None:
        mark = record_function(name)
        mark.__enter__()
        running[name] = mark, clock()

    def leave(name: str) -> None:
        mark, started = running.pop(name)
        spent[name] = spent.get(name, 0.0) + clock() - started
        mark.__exit__(None, None, None)

    handles = []
    for name, module in modules.items():
        handles.append(module.register_forward_pre_hook(lambda *_, name=name: enter(name)))
        handles.append(module.register_forward_hook(lambda *_, name=name: leave(name)))
    started = clock()
    try:
        yield
    finally:
        spent["all"] = clock() - started
        for handle in handles:
            handle.remove()


def profile_once(system: RNNsearch, sources: list[Tensor], beams: int) -> dict[str, float]:
    """Milliseconds of a step by part."""
    modules = {"model": system.model, "encoder": system.model.get_encoder()}
    clock = time.process_time if torch.get_num_threads() == 1 else time.perf_counter
    spent: dict[str, float] = {}
    with watched(modules, clock, spent):
        for source in sources:
            system.translate(source, WORDS, beams)
    profiled: dict[str, float] = {}
    with profile(activities=[ProfilerActivity.CPU]) as profiler, watched(modules, time.perf_counter, profiled):
        for source in sources:
            system.translate(source, WORDS, beams)
    inside = outside = 0.0
    for event in profiler.events():
        parent = event.cpu_parent
        if parent is None and event.name not in modules:
            outside += event.cpu_time_total / 1e6
        elif parent is not None and parent.name == "model":
            inside += event.cpu_time_total / 1e6
    parts = []
    for operations, seconds, slowed in (
        (inside, spent["model"], profiled["model"]),
        (outside, *(each["all"] - each["model"] - each["encoder"] for each in (spent, profiled))),
    ):
        share = operations / slowed
        parts += [share * seconds, (1 - share) * seconds]
    return {part: 1000 * value / (WORDS * len(sources)) for part, value in zip(PARTS, parts, strict=True)}


def tables(record: dict[str, Any]) -> str:
    """What was measured, in Markdown."""
    rows = [[row["task"], *row["milliseconds"].values()] for row in record["rows"]]
    title = f"{record['size']}, {record['precision']}, threads: {record['threads']}; milliseconds of a step"
    return "\n\n".join(["", title, table(["", *PARTS, "together"], [[*row, sum(row[1:])] for row in rows])])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--size", type=find_size, default="s25", help="or a JSON file; default s25")
    parser.add_argument("--precision", choices=["float32", "bfloat16"], default="float32", help="default float32")
    parser.add_argument("--threads", type=int, default=1, help="default 1")
    parser.add_argument("--rounds", type=int, default=3, help="default 3")
    parser.add_argument("--seed", type=int, default=1234, help="default 1234")
    add_record_options(parser)
    options = parser.parse_args()
    record = origin(options.seed, tested=not options.untested)
    record |= {"size": options.size.name, "precision": options.precision, "threads": options.threads}
    torch.set_num_threads(options.threads)
    torch.manual_seed(options.seed)
    system = RNNsearch(options.size)
    system.model.eval().to(getattr(torch, options.precision))
    rows: list[dict[str, Any]] = []
    for batch, translations in ((1, 8), (64, 1)):
        ids = random_ids(system, options.size, batch * translations, options.size.source_length, options.seed)
        for name, beams in (("greedy", 1), ("beam 5", 5)):
            system.translate(ids[:batch], 2, beams)
            rounds = [profile_once(system, list(ids.split(batch)), beams) for _ in range(options.rounds)]
            parts = {part: statistics.median(each[part] for each in rounds) for part in PARTS}
            rows.append({"task": f"{name}, batch {batch}", "milliseconds": parts})
    record |= {"rounds": options.rounds, "rows": rows}
    write(options.json, record)
    print(tables(record))


if __name__ == "__main__":
    run(main)
