"""Multi30k, English to German or French: train, score the three test sets, write results/multi30k_en_XX.json.

    python examples/multi30k.py de --data FOLDER
    python examples/multi30k.py fr --data FOLDER --resume      (goes on after an interruption)

FOLDER holds train.en.gz, val.en, test_2016_flickr.en, ... and the same in the target language. The configurations
are examples/multi30k_en_de.json and multi30k_en_fr.json. Minutes, hardware and scores are in docs/results.md.
"""

import argparse
import json
import os
import platform
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path

from rnnsearch.evaluation.report import read_report

TESTS = ("test_2016_flickr", "test_2017_flickr", "test_2017_mscoco")
HERE = Path(__file__).resolve().parent
RNNSEARCH = Path(sys.executable).with_name("rnnsearch")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("target", choices=["de", "fr"])
    parser.add_argument("--data", type=Path, required=True, help="folder of Multi30k")
    parser.add_argument("--output", type=Path, help="folder for the model (default runs/multi30k_en_XX)")
    parser.add_argument("--results", type=Path, default=HERE.parent / "results", help="folder for the JSON file")
    parser.add_argument("--resume", action="store_true", help="go on from the last checkpoint")
    options = parser.parse_args()
    name = f"multi30k_en_{options.target}"
    output = options.output or Path("runs") / name

    def both(stem: str, suffix: str = "") -> list[str]:
        return [str(options.data / f"{stem}.{language}{suffix}") for language in ("en", options.target)]

    train = ["train", str(HERE / f"{name}.json"), "--train", *both("train", ".gz"), "--validation", *both("val")]
    run([*train, "--output_dir", str(output), *(["--resume"] if options.resume else [])])
    results = {"training": training_record(output), "tests": {}}
    for test in TESTS:
        source, reference = both(test)
        scores = output / f"{test}.json"
        run(["evaluate", "--model", str(output), "--src", source, "--ref", reference, "--json", str(scores)])
        [row] = read_report(scores).systems.values()
        results["tests"][test] = {
            score.name: {key: getattr(score, key) for key in ("value", "signature", "sentences")}
            for score in row.scores["all"]
        }
    options.results.mkdir(parents=True, exist_ok=True)
    path = options.results / f"{name}.json"
    path.write_text(json.dumps(results, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
    print(f"written: {path}")


def run(arguments: list[str]) -> None:
    subprocess.run([RNNSEARCH, *arguments], check=True)


def training_record(output: Path) -> dict:
    """What the training took and how it went, from the record that the trainer writes beside the model."""
    state = json.loads((output / "trainer_state.json").read_text(encoding="utf-8"))
    metrics = json.loads((output / "all_results.json").read_text(encoding="utf-8"))
    curve = [
        {key.removeprefix("eval_"): entry[key] for key in ("epoch", "eval_loss", "eval_bleu", "eval_chrf")}
        for entry in state["log_history"]
        if "eval_bleu" in entry
    ]
    return {
        "minutes": round(metrics["train_runtime"] / 60, 1),
        "updates": state["global_step"],
        "validation": curve,
        "best_validation_bleu": state["best_metric"],
        "threads": int(os.environ.get("OMP_NUM_THREADS", os.cpu_count() or 1)),
        "machine": platform.machine(),
        "versions": {package: version(package) for package in ("rnnsearch", "torch", "transformers", "sacrebleu")},
    }


if __name__ == "__main__":
    main()
