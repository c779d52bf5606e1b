"""What `rnnsearch export` costs in BLEU, and what it saves in time and size: PyTorch beside ONNX Runtime.

    python benchmarks/exported.py --model FOLDER --src test.en --ref test.de --json onnx.json

Each translates the whole file in a process of its own; start-up does not count.
"""

import argparse
import sys
import tempfile
from contextlib import closing
from pathlib import Path
from typing import Any

from measuring import command
from protocol import Worker
from record import add_record_options, comma_list, origin, run, table, write
from rnnsearch.evaluation.scores import bleu

EXPORTS: dict[str, list[str]] = {"float32": [], "int8": ["--int8"]}  # the options of each


def translate(folder: Path, options: argparse.Namespace, output: Path) -> dict[str, Any]:
    """Both clocks of translating the file with what a folder holds, its size, BLEU, and the translations."""
    with closing(Worker(sys.executable, "onnx_worker", {"folder": str(folder), "threads": options.threads})) as worker:
        answer = worker.ask("translate", source=str(options.src), output=str(output), beams=options.beam)
        megabytes = worker.ready["megabytes"]
    translations, references = (path.read_text(encoding="utf-8").splitlines() for path in (output, options.ref))
    score = bleu(translations, references)
    return answer | {
        "megabytes": megabytes,
        "BLEU": {"value": score.value, "signature": score.signature},
        "translations": translations,
    }


def measure(options: argparse.Namespace, folder: Path) -> list[dict[str, Any]]:
    """The model in PyTorch, then its exports, each with the number of lines that it translates in another way."""
    rows = [{"system": "PyTorch", "format": "float32", **translate(options.model, options, folder / "pytorch.txt")}]
    for name in options.exports:
        exported = folder / name
        words = ["export", "--format", "onnx", *EXPORTS[name], str(options.model), str(exported)]
        command(words, options.threads)
        output = folder / f"{name}.txt"
        rows.append({"system": "ONNX Runtime", "format": name, **translate(exported, options, output)})
    expected = rows[0]["translations"]
    for row in rows:
        row["other_lines"] = sum(a != b for a, b in zip(row.pop("translations"), expected, strict=True))
    return rows


def tables(record: dict[str, Any]) -> str:
    """What was measured, in Markdown."""
    rows = [
        [
            row["system"],
            row["format"],
            f"{row['BLEU']['value']:.2f}",
            row["other_lines"],
            row["cpu_seconds"],
            row["megabytes"],
        ]
        for row in record["rows"]
    ]
    header = ["system", "format", "BLEU", "lines unlike PyTorch's", "CPU seconds", "weights, MB"]
    title = f"{record['what']}, beam {record['beam']}, threads: {record['threads']}"
    return "\n\n".join(["", title, table(header, rows)])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", type=Path, required=True, help="folder of a trained model")
    parser.add_argument("--src", type=Path, required=True, help="text to translate")
    parser.add_argument("--ref", type=Path, required=True, help="its translation")
    parser.add_argument("--what", default="", help="what this is, for the table")
    parser.add_argument("--exports", type=comma_list(EXPORTS), default=[*EXPORTS], help="default all")
    parser.add_argument("--beam", type=int, default=5, help="default 5")
    parser.add_argument("--threads", type=int, default=1, help="default 1")
    add_record_options(parser)
    options = parser.parse_args()
    record = origin(seed=0, tested=not options.untested)
    record |= {"what": options.what, "beam": options.beam, "threads": options.threads}
    with tempfile.TemporaryDirectory() as folder:
        record["rows"] = measure(options, Path(folder))
    write(options.json, record)
    print(tables(record))


if __name__ == "__main__":
    run(main)
