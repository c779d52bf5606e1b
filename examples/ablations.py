"""What each choice is worth: Multi30k English to German, one thing changed at a time, two seeds, the same updates.

    OMP_NUM_THREADS=1 python examples/ablations.py --data FOLDER              (twelve trainings)
    OMP_NUM_THREADS=1 python examples/ablations.py --data FOLDER --seeds 1234 (one seed)

After an interruption the same command goes on with the training that was not done.

FOLDER holds train.en.gz, val.en, test_2016_flickr.en, ... and the same in German. All start from multi30k_en_de.json,
whose learning rate falls to zero over the updates that are made here. Scored is the last model, with a beam of 5.
Writes results/ablations.json, whose table is in docs/results.md.
"""

import argparse
import json
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path
from typing import Any

from rnnsearch.evaluation.report import read_report

HERE = Path(__file__).resolve().parent
RNNSEARCH = Path(sys.executable).with_name("rnnsearch")
TEST = "test_2016_flickr"
# What differs from the configuration. The vocabularies of words hold what occurs in the text twice or more, about.
PAPER = {
    "tokenizer_kind": "word", "src_vocab_size": 6000, "vocab_size": 8000, "tie_word_embeddings": False,
    "embedding_dropout": 0, "annotation_dropout": 0, "readout_dropout": 0, "initializer_range": 0.01,
    "maxout_size": 128, "per_device_train_batch_size": 80, "batch_order": "ascending", "loss_reduction": "sum",
    "max_grad_norm": 1, "optimizer": "adadelta", "learning_rate": 1, "lr_scheduler_type": "constant",
    "warmup_steps": 0, "label_smoothing_factor": 0, "bf16": False,
}  # fmt: skip
VARIANTS: dict[str, dict[str, Any]] = {
    "additive score, the paper's step order": {},
    "step order of the authors' code": {"step_order": "groundhog"},
    "dot score": {"score": "dot"},
    "scaled dot score": {"score": "scaled_dot"},
    "no attention (RNNencdec)": {"context": "fixed"},
    "the paper's recipe: words, no dropout, Adadelta": PAPER,
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True, help="folder of Multi30k")
    parser.add_argument("--output", type=Path, default=Path("runs/ablations"), help="folder for the models")
    parser.add_argument("--results", type=Path, default=HERE.parent / "results", help="folder for the JSON file")
    parser.add_argument("--updates", type=int, default=1500, help="of every training (default 1500)")
    parser.add_argument("--seeds", type=int, nargs="+", default=[1234, 1235], help="default 1234 1235")
    options = parser.parse_args()
    rows: dict[str, Any] = {}
    for seed in options.seeds:
        for number, (name, changes) in enumerate(VARIANTS.items()):
            folder = options.output / f"{number}-{seed}"
            row = rows.setdefault(name, {"changes": changes, "seeds": {}})
            row["seeds"][str(seed)] = trained_and_scored(changes, seed, options.updates, options.data, folder)
    record = {
        "updates": options.updates,
        "versions": {package: version(package) for package in ("rnnsearch", "torch", "transformers", "sacrebleu")},
        "rows": rows,
    }
    options.results.mkdir(parents=True, exist_ok=True)
    path = options.results / "ablations.json"
    path.write_text(json.dumps(record, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
    print(f"written: {path}")


def trained_and_scored(changes: dict[str, Any], seed: int, updates: int, data: Path, folder: Path) -> dict[str, Any]:
    """Minutes, losses and scores of one training; what is there already is not done again."""

    def both(stem: str, suffix: str = "") -> list[str]:
        return [str(data / f"{stem}.{language}{suffix}") for language in ("en", "de")]

    if not (folder / "all_results.json").exists():
        words = ["train", str(HERE / "multi30k_en_de.json"), "--train", *both("train", ".gz")]
        words += ["--validation", *both("val"), "--output_dir", str(folder), "--seed", str(seed)]
        words += ["--max_steps", str(updates), "--predict_with_generate", "false", "--metric_for_best_model", "loss"]
        words += ["--eval_strategy", "steps", "--eval_steps", "500", "--save_strategy", "no"]
        words += ["--load_best_model_at_end", "false"]
        words += [part for name, value in changes.items() for part in (f"--{name}", str(value))]
        run(words)
    scores = folder / f"{TEST}.json"
    if not scores.exists():
        source, reference = both(TEST)
        run(["evaluate", "--model", str(folder), "--src", source, "--ref", reference, "--json", str(scores)])
    [row] = read_report(scores).systems.values()
    metrics = json.loads((folder / "all_results.json").read_text(encoding="utf-8"))
    state = json.loads((folder / "trainer_state.json").read_text(encoding="utf-8"))
    return {
        "minutes": metrics["train_runtime"] / 60,
        "validation loss": {
            entry["step"]: entry["eval_loss"] for entry in state["log_history"] if "eval_loss" in entry
        },
        "scores": {score.name: {"value": score.value, "signature": score.signature} for score in row.scores["all"]},
    }


def run(words: list[str]) -> None:
    print("rnnsearch", *words, flush=True)
    subprocess.run([RNNSEARCH, *words], check=True)


if __name__ == "__main__":
    main()
