"""Writes the table of docs/scaling.md: how long the rows of the paper's table 1 take at the speed measured.

    python benchmarks/scaling.py

The time of an update of RNNsearch is that of results/speed_paper.json. RNNencdec's is that in proportion to the
operations of its matrix products. The updates are those of the configurations in examples/paper/.
"""

import json
import re
from pathlib import Path
from typing import Any

from record import table
from sizes import SIZES, Size, forward_flop

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs" / "scaling.md"
# Files of examples/paper/ and the hours that the paper's table 2 has for them, on one GPU of its time
HOURS = {"rnnencdec_30": 109, "rnnsearch_30": 113, "rnnencdec_50": 108, "rnnsearch_50": 111, "rnnsearch_50_star": 252}


def fixed_context_flop(size: Size) -> float:
    """Operations of a forward pass of RNNencdec: as `sizes.forward_flop`, with one direction and no alignment model.

    Decoder and read-out multiply m + 2n units instead of m + 3n.
    """
    parts = forward_flop(size)
    less = (size.embedding + 2 * size.hidden) / (size.embedding + 3 * size.hidden)
    kept = {"encoder": 0.5, "initial state": 1.0, "decoder": less, "read-out": less, "vocabulary": 1.0}
    return sum(share * parts[name] for name, share in kept.items())


def update_seconds(record: dict[str, Any], context: str) -> float:
    """Of an update of the paper's size in float32 on one core."""
    size = SIZES["paper"]
    [row] = [
        row
        for row in record["rows"]
        if (row["system"], row["precision"], row["task"], row["threads"]) == ("rnnsearch", "float32", "training", 1)
        and (row["size"], row["maxout"]) == (size.name, size.maxout)
    ]
    share = 1.0 if context == "search" else fixed_context_flop(size) / sum(forward_flop(size).values())
    return share * row["tokens"] / row["tokens_per_second"]


def rows(record: dict[str, Any]) -> str:
    """The table, in Markdown."""
    cells = []
    for name, hours in HOURS.items():
        recipe = json.loads((ROOT / "examples" / "paper" / f"{name}.json").read_text(encoding="utf-8"))
        seconds = update_seconds(record, recipe["context"])
        days = seconds * recipe["max_steps"] / 86400
        cells.append([f"`{name}`", f"{recipe['max_steps']:,}", f"{seconds:.1f}", f"{days:.0f}", hours])
    header = ["configuration", "updates", "seconds an update", "days on one core", "hours in the paper"]
    return table(header, cells)


def filled(page: str) -> str:
    """The page with its table as the files have it."""
    record = json.loads((ROOT / "results" / "speed_paper.json").read_text(encoding="utf-8"))
    block = f"<!-- table: begin -->\n\n{rows(record)}\n\n<!-- table: end -->"
    return re.sub(r"<!-- table: begin -->.*<!-- table: end -->", lambda _: block, page, flags=re.DOTALL)


if __name__ == "__main__":
    PAGE.write_text(filled(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
