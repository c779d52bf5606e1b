"""Where the time of a training step of RNNsearch goes: matrix products, other operations, Python.

    python benchmarks/profile_training.py --json profile_training.json

PyTorch's profiler adds up the operations of one step; what the step takes beyond them is called Python: the
interpreter, and what PyTorch does between operations. The profiler makes small operations look somewhat larger.
"""

import argparse
import statistics
from dataclasses import asdict
from typing import Any

from torch.autograd import DeviceType
from torch.profiler import ProfilerActivity, profile

from ours import RNNsearch
from record import add_record_options, find_size, origin, run, table, write
from sizes import Size
from workload import open_system

PARTS = {
    "matrix products": {"mm", "addmm", "addmm_", "bmm", "baddbmm", "mv", "addmv", "addmv_"},
    "softmax and loss": {"_softmax", "_log_softmax", "nll_loss_forward", "scatter_add_"},
    "copies": {"copy_", "cat", "stack", "fill_", "flip"},
    "optimiser": {"_foreach_norm", "_foreach_mul_", "_foreach_lerp_", "addcdiv_", "sqrt", "linalg_vector_norm"},
}
PYTHON, OTHER = "Python", "sums, gates and other operations"


def profile_once(size: Size, precision: str, threads: int, seed: int) -> dict[str, float]:
    """Milliseconds of one step by part."""
    step = open_system(RNNsearch, asdict(size), "training", precision, threads, seed)[1]["training"]
    step(steps=2)
    with profile(activities=[ProfilerActivity.CPU]) as profiler:
        whole = step(steps=1)["wall_seconds"]
    parts = dict.fromkeys([*PARTS, OTHER], 0.0)
    for event in profiler.key_averages():
        if event.device_type == DeviceType.CPU and event.key.startswith("aten::"):
            name = event.key.removeprefix("aten::")
            part = next((part for part, names in PARTS.items() if name in names), OTHER)
            parts[part] += event.self_cpu_time_total / 1000
    return parts | {PYTHON: 1000 * whole - sum(parts.values())}


def tables(record: dict[str, Any]) -> str:
    """What was measured, in Markdown."""
    rows = [[row["precision"], *row["milliseconds"].values()] for row in record["rows"]]
    title = f"{record['size']}, threads: {record['threads']}; milliseconds of a training step"
    header = ["precision", *PARTS, OTHER, PYTHON, "together"]
    return "\n\n".join(["", title, table(header, [[*row, sum(row[1:])] for row in rows])])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--size", type=find_size, default="s25", help="or a JSON file; default s25")
    parser.add_argument("--threads", type=int, default=1, help="default 1")
    parser.add_argument("--rounds", type=int, default=3, help="default 3")
    parser.add_argument("--seed", type=int, default=1234, help="default 1234")
    add_record_options(parser)
    options = parser.parse_args()
    record = origin(options.seed, tested=not options.untested)
    record |= {"size": options.size.name, "threads": options.threads, "rounds": options.rounds, "rows": []}
    for precision in ("float32", "bfloat16"):
        found = [profile_once(options.size, precision, options.threads, options.seed) for _ in range(options.rounds)]
        medians = {part: statistics.median(each[part] for each in found) for part in found[0]}
        record["rows"].append({"precision": precision, "milliseconds": medians})
    write(options.json, record)
    print(tables(record))


if __name__ == "__main__":
    run(main)
