"""Does training in bfloat16 reach the loss of float32? On the embedded grammar, with `rnnsearch train`.

    python benchmarks/training_precisions.py --json training_precisions.json

The same model, text and seed, once in float32 and once with `--bf16`, for each of some seeds. The loss of the text
held out is what `rnnsearch score` gives both models in float32, in nats per token.
"""

import argparse
import json
import statistics
import tempfile
from pathlib import Path
from typing import Any

from measuring import command
from record import add_record_options, comma_list, origin, run, table, write
from rnnsearch.data.grammar import corpus
from rnnsearch.data.lines import read_lines
from rnnsearch.loading import load_tokenizer

SIZES = ["--embedding_size", "128", "--hidden_size", "160", "--alignment_size", "128", "--maxout_size", "128"]
PRECISIONS = ("float32", "bfloat16")
RECIPE = ["--initializer_range", "0.05", "--per_device_train_batch_size", "64", "--learning_rate", "3e-3"]


def write_text(folder: Path, pairs: int, seed: int) -> None:
    """Pairs of 3 to 15 words to train on, and 500 others."""
    held_out = corpus(500, (3, 15), seed + 1)
    training = corpus(pairs, (3, 15), seed, exclude={pair.source for pair in held_out})
    for name, chosen in (("train", training), ("test", held_out)):
        (folder / f"{name}.en").write_text("".join(f"{pair.source}\n" for pair in chosen), encoding="utf-8")
        (folder / f"{name}.fr").write_text("".join(f"{pair.target}\n" for pair in chosen), encoding="utf-8")


def train(folder: Path, precision: str, seed: int, options: argparse.Namespace) -> dict[str, Any]:
    """One training, its loss and that of the text held out."""
    output = folder / precision
    source, target = folder / "test.en", folder / "test.fr"
    words = ["--train", str(folder / "train.en"), str(folder / "train.fr"), "--output_dir", str(output)]
    words += ["--tokenizer_kind", "word", *SIZES, *RECIPE, "--seed", str(seed), "--disable_tqdm", "True"]
    words += ["--num_train_epochs", str(options.epochs), "--save_strategy", "no"]
    spent = command(["train", *words, *(["--bf16"] if precision == "bfloat16" else [])], options.threads)
    scores = folder / f"{precision}.txt"
    words = ["--model", str(output), "--src", str(source), "--tgt", str(target), "--output", str(scores)]
    command(["score", *words], options.threads)
    trained = json.loads((output / "all_results.json").read_text(encoding="utf-8"))
    ids = load_tokenizer(output)(text_target=read_lines(target)).input_ids
    return {
        "seed": seed,
        "precision": precision,
        "train_loss": trained["train_loss"],
        "held_out_loss": -sum(map(float, read_lines(scores))) / sum(map(len, ids)),
        "cpu_minutes": spent["cpu_seconds"] / 60,
    }


def tables(record: dict[str, Any]) -> str:
    """What was measured, in Markdown."""

    def mean(precision: str, name: str) -> float:
        return statistics.mean(row[name] for row in record["rows"] if row["precision"] == precision)

    losses = ("train_loss", "held_out_loss")
    rows = [
        [row["seed"], row["precision"], *(f"{row[name]:.4f}" for name in losses), row["cpu_minutes"]]
        for row in record["rows"]
    ]
    for precision in PRECISIONS:
        rows.append(["mean", precision, *(f"{mean(precision, name):.4f}" for name in (*losses, "cpu_minutes"))])
    ratios = [f"{mean('bfloat16', name) / mean('float32', name):.3f}" for name in (*losses, "cpu_minutes")]
    rows.append(["", "bfloat16 to float32", *ratios])
    title = f"Embedded grammar, {record['pairs']:,} pairs, {record['epochs']:g} epochs, threads: {record['threads']}"
    header = ["seed", "precision", "training loss", "loss held out", "CPU minutes"]
    return "\n\n".join(["", title, table(header, rows)])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pairs", type=int, default=20_000, help="default 20000")
    parser.add_argument("--epochs", type=float, default=4, help="default 4")
    parser.add_argument("--threads", type=int, default=1, help="default 1")
    parser.add_argument("--seeds", type=comma_list(), default=["1234", "1235", "1236", "1237"], help="default four")
    add_record_options(parser)
    options = parser.parse_args()
    seeds = [int(seed) for seed in options.seeds]
    record = origin(seeds[0], tested=not options.untested) | {"pairs": options.pairs, "epochs": options.epochs}
    record |= {"threads": options.threads, "rows": []}
    for seed in seeds:
        with tempfile.TemporaryDirectory() as name:
            write_text(Path(name), options.pairs, seed)
            record["rows"] += [train(Path(name), precision, seed, options) for precision in PRECISIONS]
        write(options.json, record)
    print(tables(record))


if __name__ == "__main__":
    run(main)
