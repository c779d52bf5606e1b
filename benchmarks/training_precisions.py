"""Does training in bfloat16 reach the loss of float32? On the embedded grammar, with `rnnsearch train`.

    python benchmarks/training_precisions.py --json training_precisions.json

The same model, text and seed, once in float32 and once with `--bf16`; the validation loss is that of pairs held out,
in nats per token, after the last update.
"""

import argparse
import json
import tempfile
from pathlib import Path
from typing import Any

from measuring import command
from record import add_record_options, origin, run, table, write
from rnnsearch.data.grammar import corpus

SIZES = ["--embedding_size", "128", "--hidden_size", "160", "--alignment_size", "128", "--maxout_size", "128"]
RECIPE = ["--initializer_range", "0.05", "--per_device_train_batch_size", "64", "--learning_rate", "3e-3"]


def write_text(folder: Path, pairs: int, seed: int) -> None:
    """Pairs of 3 to 15 words to train on, and 500 others."""
    held_out = corpus(500, (3, 15), seed + 1)
    training = corpus(pairs, (3, 15), seed, exclude={pair.source for pair in held_out})
    for name, chosen in (("train", training), ("test", held_out)):
        (folder / f"{name}.en").write_text("".join(f"{pair.source}\n" for pair in chosen), encoding="utf-8")
        (folder / f"{name}.fr").write_text("".join(f"{pair.target}\n" for pair in chosen), encoding="utf-8")


def train(folder: Path, precision: str, options: argparse.Namespace) -> dict[str, Any]:
    """One training, its loss and that of the text held out."""
    text = {name: [str(folder / f"{name}.en"), str(folder / f"{name}.fr")] for name in ("train", "test")}
    output = folder / precision
    words = ["--train", *text["train"], "--validation", *text["test"], "--output_dir", str(output)]
    words += ["--tokenizer_kind", "word", *SIZES, *RECIPE, "--seed", str(options.seed), "--disable_tqdm", "True"]
    words += ["--num_train_epochs", str(options.epochs), "--eval_strategy", "epoch"]
    words += ["--save_strategy", "no", "--load_best_model_at_end", "False"]
    command(["train", *words, *(["--bf16"] if precision == "bfloat16" else [])], options.threads)
    trained = json.loads((output / "all_results.json").read_text(encoding="utf-8"))
    return {"precision": precision, "train_loss": trained["train_loss"], "validation_loss": trained["eval_loss"]} | {
        "minutes": trained["train_runtime"] / 60
    }


def tables(record: dict[str, Any]) -> str:
    """What was measured, in Markdown."""
    first = record["rows"][0]["validation_loss"]
    rows = [
        [
            row["precision"],
            f"{row['train_loss']:.4f}",
            f"{row['validation_loss']:.4f}",
            f"{row['validation_loss'] / first:.3f}",
            row["minutes"],
        ]
        for row in record["rows"]
    ]
    title = f"Embedded grammar, {record['pairs']:,} pairs, {record['epochs']:g} epochs, threads: {record['threads']}"
    header = ["precision", "training loss", "validation loss", "ratio to float32", "minutes"]
    return "\n\n".join(["", title, table(header, rows)])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pairs", type=int, default=20_000, help="default 20000")
    parser.add_argument("--epochs", type=float, default=4, help="default 4")
    parser.add_argument("--threads", type=int, default=1, help="default 1")
    parser.add_argument("--seed", type=int, default=1234, help="default 1234")
    add_record_options(parser)
    options = parser.parse_args()
    record = origin(options.seed, tested=not options.untested)
    record |= {"pairs": options.pairs, "epochs": options.epochs, "threads": options.threads}
    with tempfile.TemporaryDirectory() as name:
        write_text(Path(name), options.pairs, options.seed)
        record["rows"] = [train(Path(name), precision, options) for precision in ("float32", "bfloat16")]
    write(options.json, record)
    print(tables(record))


if __name__ == "__main__":
    run(main)
