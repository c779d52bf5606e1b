"""What the number formats of `rnnsearch evaluate --dtype` cost in BLEU, and what they save in time.

    python benchmarks/precisions.py --model FOLDER --src test.en --ref test.de --json precisions.json

Each format translates the whole file with a beam of 5 in a process of its own.
"""

import argparse
import tempfile
from pathlib import Path
from typing import Any

from measuring import command
from record import add_record_options, comma_list, origin, run, table, write
from rnnsearch.evaluation.report import read_report

DTYPES = ["float32", "bfloat16", "int8"]


def evaluate(dtype: str, options: argparse.Namespace, folder: Path) -> dict[str, Any]:
    """Scores of all sentences in one format, and the CPU seconds of the command."""
    scores = folder / f"{dtype}.json"
    files = ["--src", str(options.src), "--ref", str(options.ref), "--dtype", dtype, "--json", str(scores)]
    cpu = command(["evaluate", "--model", options.model, *files], options.threads)["cpu_seconds"]
    [row] = read_report(scores).systems.values()
    found = row.scores["all"]
    return {"dtype": dtype, "cpu_seconds": cpu, "sentences": found[0].sentences} | {
        score.name: {"value": score.value, "signature": score.signature} for score in found
    }


def tables(record: dict[str, Any]) -> str:
    """What was measured, in Markdown."""
    measures = [name for name in record["rows"][0] if name not in ("dtype", "cpu_seconds", "sentences")]
    rows = [
        [row["dtype"], *(f"{row[name]['value']:.2f}" for name in measures), row["cpu_seconds"]]
        for row in record["rows"]
    ]
    return "\n\n".join(["", record["what"], table(["format", *measures, "CPU seconds"], rows)])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", required=True, help="folder of a trained model")
    parser.add_argument("--src", type=Path, required=True, help="text to translate")
    parser.add_argument("--ref", type=Path, required=True, help="its translation")
    parser.add_argument("--what", default="", help="what this is, for the table")
    parser.add_argument("--dtypes", type=comma_list(DTYPES), default=DTYPES, help="default all")
    parser.add_argument("--threads", type=int, default=1, help="default 1")
    add_record_options(parser)
    options = parser.parse_args()
    record = origin(seed=0, tested=not options.untested) | {"what": options.what, "threads": options.threads}
    with tempfile.TemporaryDirectory() as folder:
        record["rows"] = [evaluate(dtype, options, Path(folder)) for dtype in options.dtypes]
    write(options.json, record)
    print(tables(record))


if __name__ == "__main__":
    run(main)
