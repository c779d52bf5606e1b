"""Writes the tables of docs/performance.md anew from the files in results/.

    python benchmarks/page.py

In the page a table stands between the lines `<!-- table: FILE WORDS -->` and `<!-- end -->`; for speed.json the words
are a size and a number of threads.
"""

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import comparison
import exported
import growth
import precisions
import profile_decoding
import profile_training
import training_precisions
import translate_file

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs" / "performance.md"


def speed(record: dict[str, Any], size: str, threads: str) -> str:
    rows = [row for row in record["rows"] if (row["size"], row["threads"]) == (size, int(threads))]
    return comparison.tables(rows, record["rounds"])


TABLES: dict[str, Callable[..., str]] = {
    "speed": speed,
    "growth": growth.tables,
    "onnx": exported.tables,
    "precisions": precisions.tables,
    "profile_decoding": profile_decoding.tables,
    "profile_training": profile_training.tables,
    "training_precisions": training_precisions.tables,
    "translate_file": translate_file.tables,
}


def filled(page: str) -> str:
    """The page with its tables as the files in results/ have them."""

    def block(match: re.Match[str]) -> str:
        name, *words = match[1].split()
        record = json.loads((ROOT / "results" / f"{name}.json").read_text(encoding="utf-8"))
        # speed_s50.json is made by speed.py, as speed.json is
        kind = max((kind for kind in TABLES if name.startswith(kind)), key=len)
        return f"<!-- table: {match[1]} -->\n\n{TABLES[kind](record, *words).strip()}\n\n<!-- end -->"

    return re.sub(r"<!-- table: (.+?) -->.*?<!-- end -->", block, page, flags=re.DOTALL)


if __name__ == "__main__":
    PAGE.write_text(filled(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
