"""Table 1 and figures 2 and 3 of the paper at the size of two cores: four models, one budget of updates.

    python examples/paper/reproduce.py --data FOLDER                    (trains, scores and draws)
    python examples/paper/reproduce.py --data FOLDER --updates 7000     (trains the same models further)

After an interruption the same command goes on from the last checkpoints. A fifth training, of RNNsearch-50 with the
paper's Adadelta and in float32, is shown by its losses only.

FOLDER holds europarl/ (train-300k.en.gz, test.en, test-bylength.en, ...) and newstest/ (newstest2012.en to
newstest2014.en, ...) with the French sides beside them, and, if there, newstest/systems2014/ with what other systems
wrote for newstest2014. What is trained and how is in small/*.json; the same recipe at full size is beside this file.
"""

import argparse
import json
import os
import random
import resource
import statistics
import subprocess
import sys
from importlib.metadata import version
from itertools import cycle
from pathlib import Path
from typing import Any

from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from transformers import AutoTokenizer

from rnnsearch.alignment.figure import LINE_STYLES, save_figure
from rnnsearch.data.lines import read_lines
from rnnsearch.evaluation.report import Report, SystemScores, read_report
from rnnsearch.evaluation.scores import known_sentences

HERE = Path(__file__).resolve().parent
RNNSEARCH = Path(sys.executable).with_name("rnnsearch")
MODELS = {
    "RNNencdec-30": "rnnencdec_30",
    "RNNsearch-30": "rnnsearch_30",
    "RNNencdec-50": "rnnencdec_50",
    "RNNsearch-50": "rnnsearch_50",
}
ADADELTA = "RNNsearch-50, Adadelta"
CONFIGS = MODELS | {ADADELTA: "rnnsearch_50_adadelta"}
TESTS = {
    "Europarl": "europarl/test",
    "Europarl by length": "europarl/test-bylength",
    "newstest2014": "newstest/newstest2014",
}
BY_LENGTH = "Europarl by length"
DRAWN = "RNNsearch-50"  # the model of figure 3
DEVELOPMENT = ("newstest2012", "newstest2013")
# Of the systems that took part in the workshop of 2014.
SYSTEMS = {"Moses (uedin-wmt14)": "uedin-wmt14", "online translator (onlineB)": "onlineB"}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True, help="folder of Europarl and the news tests")
    parser.add_argument("--output", type=Path, default=Path("runs/paper_small"), help="folder for the models")
    parser.add_argument("--results", type=Path, default=HERE.parents[1] / "results", help="for JSON and figures")
    parser.add_argument("--updates", type=int, default=3000, help="updates of every model (default 3000)")
    parser.add_argument("--models", nargs="+", choices=MODELS, default=list(MODELS), help="default all four")
    parser.add_argument("--adadelta-updates", type=int, default=1000, help="of the fifth (default 1000; 0: leave out)")
    parser.add_argument("--beam", type=int, default=10, help="width of the search, 1 for greedy (default 10)")
    options = parser.parse_args()
    prepare(options.data, options.output)
    updates = dict.fromkeys(options.models, options.updates)
    if options.adadelta_updates:
        updates[ADADELTA] = options.adadelta_updates
    for name, number in updates.items():
        train(name, options.data, options.output, number)
    models = {
        name: options.output / CONFIGS[name] / f"checkpoint-{best(name, options.output, options.updates)}"
        for name in options.models
    }
    search = ["--beam", str(options.beam), "--paper-decoding"]
    tests = {test: scores(test, models, options.data, options.output, search) for test in TESTS}
    record = {
        "versions": {package: version(package) for package in ("rnnsearch", "torch", "transformers", "sacrebleu")},
        "search": " ".join(search),
        "training": {name: training_record(name, options.output, number) for name, number in updates.items()},
        "tests": {test: as_results(report) for test, report in tests.items()},
        "by length": {name: by_range(row) for name, row in tests[BY_LENGTH].systems.items()},
        "by updates": {
            name: by_updates(name, options.data, options.output, options.updates) for name in options.models
        },
    }
    options.results.mkdir(parents=True, exist_ok=True)
    path = options.results / "paper_small.json"
    path.write_text(json.dumps(record, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    curves = options.output / "by_length.json"
    curves.write_text(tests[BY_LENGTH].to_json(), encoding="utf-8")
    run(["plot", "--curves", str(curves), "--output", str(options.results / "paper_small_lengths.png")])
    save_figure(plot_losses(record["training"]), options.results / "paper_small_losses.png")
    if DRAWN in models:
        draw_alignments(models[DRAWN], options.data, options.results / "paper_small_alignments.png")
    print(f"written: {path}")


def prepare(data: Path, output: Path) -> None:
    """The vocabularies that all models share, and the paper's development set: two news tests in one."""
    output.mkdir(parents=True, exist_ok=True)
    for language in ("en", "fr"):
        with (output / f"development.{language}").open("wb") as whole:
            for name in DEVELOPMENT:
                whole.write((data / "newstest" / f"{name}.{language}").read_bytes())
    if not (output / "tokenizer").exists():
        config = read_config("RNNsearch-50")
        words = ["--kind", config["tokenizer_kind"], "--vocab-size", str(config["vocab_size"])]
        words += ["--src-vocab-size", str(config["src_vocab_size"])]
        run(["tokenizer", "--train", *training_text(data), *words, "--output", str(output / "tokenizer")])


def read_config(name: str) -> dict[str, Any]:
    return json.loads((HERE / "small" / f"{CONFIGS[name]}.json").read_text(encoding="utf-8"))


def training_text(data: Path) -> list[str]:
    return [str(data / "europarl" / f"train-300k.{language}.gz") for language in ("en", "fr")]


def train(name: str, data: Path, output: Path, updates: int) -> None:
    """Train a model up to a number of updates, from its last checkpoint if there is one; note the CPU seconds."""
    folder = output / CONFIGS[name]
    reached = max((int(path.name[11:]) for path in folder.glob("checkpoint-*")), default=0)
    if reached >= updates:
        return
    words = ["train", str(HERE / "small" / f"{CONFIGS[name]}.json"), "--train", *training_text(data)]
    words += ["--validation", *(str(output / f"development.{language}") for language in ("en", "fr"))]
    words += ["--tokenizer", str(output / "tokenizer"), "--max_steps", str(updates), "--output_dir", str(folder)]
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    try:
        run([*words, *(["--resume"] if reached else [])])
    finally:
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        spent = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        if folder.exists():
            with (folder / "cpu_seconds.txt").open("a", encoding="utf-8") as runs:
                runs.write(f"{spent:.0f}\n")


def history(name: str, output: Path, updates: int) -> list[dict[str, Any]]:
    """What the trainer noted up to a number of updates."""
    state = output / CONFIGS[name] / f"checkpoint-{updates}" / "trainer_state.json"
    return json.loads(state.read_text(encoding="utf-8"))["log_history"]


def best(name: str, output: Path, updates: int) -> int:
    """The updates after which the loss of the development set was least."""
    validations = [entry for entry in history(name, output, updates) if "eval_loss" in entry]
    return min(validations, key=lambda entry: entry["eval_loss"])["step"]


def evaluate(model: Path, test: str, data: Path, path: Path, *words: str) -> None:
    """Score a model, or what `words` name in its place, unless that is done."""
    if not path.exists():
        text = ["--src", str(data / f"{TESTS[test]}.en"), "--ref", str(data / f"{TESTS[test]}.fr")]
        run(["evaluate", "--model", str(model), *text, "--json", str(path), *words])


def scores(test: str, models: dict[str, Path], data: Path, output: Path, search: list[str]) -> Report:
    """The scores of all models on a test set, and on newstest2014 those of other systems."""
    rows = {}
    for name, folder in models.items():
        rows[name] = folder / f"{test} {' '.join(search)}.json"
        evaluate(folder, test, data, rows[name], "--name", name, *search)
    for name, system in SYSTEMS.items():
        [*written] = (data / "newstest" / "systems2014").glob(f"*{system}*") if test == "newstest2014" else []
        if written:
            rows[name] = output / f"{system}.json"
            # Any of the models tells which sentences have no unknown word: they share their vocabularies.
            one_of_them = next(iter(models.values()))
            evaluate(one_of_them, test, data, rows[name], "--name", name, "--hyp", str(written[0]))
    report, *others = map(read_report, rows.values())
    for other in others:
        for name, row in other.systems.items():
            report = report.with_system(name, row)
    return report


def by_updates(name: str, data: Path, output: Path, updates: int) -> list[dict[str, Any]]:
    """BLEU of short and of long sentences as training goes on, greedy."""
    curve = []
    for number in range(1000, updates + 1, 1000):
        checkpoint = output / CONFIGS[name] / f"checkpoint-{number}"
        path = checkpoint / "greedy.json"
        evaluate(checkpoint, BY_LENGTH, data, path, "--beam", "1", "--name", name)
        curve.append({"updates": number} | by_range(read_report(path).systems[name]))
    return curve


def by_range(row: SystemScores) -> dict[str, float]:
    """BLEU of short and of long sentences, means over bins of ten words."""
    return {
        f"{low}-{high}": statistics.mean(
            one.bleu for one in row.bleu_by_length["all"] if low <= one.low and one.high <= high
        )
        for low, high in ((11, 30), (41, 60))
    }


def training_record(name: str, output: Path, updates: int) -> dict[str, Any]:
    """What a training took and how the losses went, from the record that the trainer keeps."""
    config, noted = read_config(name), history(name, output, updates)
    curve: list[dict[str, Any]] = []
    for entry in noted:
        if "eval_loss" in entry:
            since = curve[-1]["updates"] if curve else 0
            losses = [each["loss"] for each in noted if "loss" in each and since < each["step"] <= entry["step"]]
            # The loss is summed over the batch's words; table 2 of the paper counts it by sentence.
            nll = statistics.mean(losses) / config["per_device_train_batch_size"]
            curve.append({"updates": entry["step"], "training NLL": nll, "development loss": entry["eval_loss"]})
    seconds = (output / CONFIGS[name] / "cpu_seconds.txt").read_text(encoding="utf-8").split()
    return {
        "updates": updates,
        "epochs": noted[-1]["epoch"],
        "cpu_hours": sum(map(float, seconds)) / 3600,
        "best_updates": best(name, output, updates),
        "seed": config["seed"],
        "curve": curve,
    }


def plot_losses(training: dict[str, Any]) -> Figure:
    """The losses of all trainings against their updates: of the training text by sentence, of the other by word."""
    figure = Figure(figsize=(6.4, 5.6), layout="constrained")
    FigureCanvasAgg(figure)
    axes = figure.subplots(2, sharex=True)
    for (name, one), line_style in zip(training.items(), cycle(LINE_STYLES)):
        updates = [point["updates"] for point in one["curve"]]
        for panel, loss in zip(axes, ("training NLL", "development loss"), strict=True):
            panel.plot(
                updates, [point[loss] for point in one["curve"]], line_style, marker="o", markersize=3.5, label=name
            )
    axes[0].set_ylabel("Training NLL (nats a sentence)")
    axes[1].set_ylabel("Development loss (nats a word)")
    axes[1].set_xlabel("Updates")
    for panel in axes:
        panel.grid(alpha=0.25)
    axes[0].legend(frameon=False)
    return figure


def draw_alignments(model: Path, data: Path, figure: Path) -> None:
    """Four sentences of the test set chosen by chance, as the paper did: 10 to 20 words, none of them unknown."""
    source, reference = (data / f"{TESTS['Europarl']}.{language}" for language in ("en", "fr"))
    sources = read_lines(source)
    known = known_sentences(AutoTokenizer.from_pretrained(model), sources, read_lines(reference))
    candidates = [number + 1 for number in known if 10 <= len(sources[number].split()) <= 20]
    chosen = random.Random(1234).sample(candidates, 4)
    lines = [word for number in sorted(chosen) for word in ("--line", str(number))]
    run(["plot", "--model", str(model), "--src", str(source), *lines, "--output", str(figure)])


def as_results(report: Report) -> dict[str, Any]:
    """The rows of a report without the places of files."""
    return {
        name: {key: value for key, value in row.items() if key != "options"}
        for name, row in json.loads(report.to_json())["systems"].items()
    }


def run(words: list[str]) -> None:
    print("rnnsearch", *words, flush=True)
    subprocess.run([RNNSEARCH, *words], check=True, env=os.environ | {"TOKENIZERS_PARALLELISM": "false"})


if __name__ == "__main__":
    main()
