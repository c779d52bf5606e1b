"""Alignment error rates on two sets of gold alignments, English-French, beside those of a statistical aligner.

    python examples/paper/alignment_text.py train.en.gz train.fr.gz hansards2003 golden100 runs/alignments
    python -m venv aligner
    aligner/bin/pip install eflomal==2.0.0
    for set in test golden100; do
        aligner/bin/eflomal-align -i runs/alignments/$set.pairs \
            -f runs/alignments/$set.forward -r runs/alignments/$set.reverse
    done
    python examples/paper/alignments.py runs/alignments hansards2003 golden100 results \
        --en-fr runs/paper-en-fr --en-fr runs/groundhog-en-fr \
        --fr-en runs/paper-fr-en --fr-en runs/groundhog-fr-en --eflomal 2.0.0

writes `results/alignments.json` and prints its two tables. Models are folders that `rnnsearch train` wrote; their
rows are named by their step order, and models of the two directions with the same order are intersected. A model
writes the gold sentences word by word; its links are

- argmax: each word written with the source word of its largest weight;
- threshold: all words whose weight is at least a threshold, that of the least error rate on the `trial` sentences of
  the Hansards (37 pairs, which are in no row);
- intersection: those that argmax finds in both directions.

eflomal (`--eflomal` says which version) has read the gold sentences among its training text, as is usual, but no gold
link; its forward links join each French word with one English word at most, as argmax does for a model from English to
French. Precision is against possible links, recall against sure ones; all links of `golden100` count
as sure.
"""

import json
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from importlib.metadata import version
from itertools import islice
from pathlib import Path
from typing import Any

import typer

from rnnsearch import Translator, align
from rnnsearch.alignment.links import read_links
from rnnsearch.data.lines import read_lines
from rnnsearch.evaluation.alignment_error import AlignmentError, Link, alignment_error_rate

SETS = {"test": "Hansards", "golden100": "Europarl"}
THRESHOLDS = [step / 20 for step in range(1, 20)]
DIRECTIONS = {"en-fr": ("en", "fr"), "fr-en": ("fr", "en")}

Links = list[frozenset[Link]]


@dataclass(frozen=True)
class GoldSet:
    """Sentences in words, by language, and the links (English word, French word) of people."""

    name: str
    words: dict[str, list[list[str]]]
    sure: Links
    possible: Links

    def error(self, links: Links) -> AlignmentError:
        return alignment_error_rate(links, self.sure, self.possible)


@dataclass(frozen=True)
class System:
    """A model of one direction."""

    folder: Path
    direction: str
    translator: Translator

    @property
    def name(self) -> str:
        return f"RNNsearch, {self.translator.model.config.step_order} order"

    def training(self) -> dict[str, Any]:
        """What the training took and reached, from the record that it left beside the model."""
        state, metrics = (
            json.loads((self.folder / f"{name}.json").read_text(encoding="utf-8"))
            for name in ("trainer_state", "all_results")
        )
        return {
            "system": self.name,
            "direction": self.direction,
            "updates": state["global_step"],
            "epochs": state["epoch"],
            "minutes": metrics["train_runtime"] / 60,
            "validation loss": metrics["eval_loss"],
        }

    def links(self, gold: GoldSet, threshold: float | None = None, reverse: "System | None" = None) -> Links:
        """Links (English word, French word)."""
        source, target = DIRECTIONS[self.direction]
        other = (reverse.translator.model, reverse.translator.tokenizer) if reverse else None
        found = align(
            self.translator.model,
            self.translator.tokenizer,
            gold.words[source],
            gold.words[target],
            threshold=threshold,
            reverse=other,
        )
        return [one.links if source == "en" else turned(one.links) for one in found]

    def command(self, gold: GoldSet, options: str = "") -> str:
        """What writes the same links to a file, the target's index second."""
        source, target = DIRECTIONS[self.direction]
        files = f"--src {gold.name}.{source} --tgt {gold.name}.{target}"
        return f"rnnsearch align --model {self.folder.name} {files} --tokenized{options}"


def main(
    text: Path,
    hansards: Path,
    golden: Path,
    results: Path,
    en_fr: list[Path] | None = None,
    fr_en: list[Path] | None = None,
    eflomal: str | None = None,
) -> None:
    trial, *sets = (
        GoldSet(name, read_words(text / name), *read_links(path, target_first=path.suffix == ".align"))
        for name, path in (
            ("trial", hansards / "trial.align"),
            ("test", hansards / "test.align"),
            ("golden100", golden / "fr_golden.jsonl"),
        )
    )
    rows = list(eflomal_rows(eflomal, text, sets)) if eflomal else []
    forward, backward = (
        [System(folder, direction, Translator.from_pretrained(folder)) for folder in folders or []]
        for direction, folders in zip(DIRECTIONS, (en_fr, fr_en), strict=True)
    )
    trainings = [system.training() for system in (*forward, *backward)]
    for system in (*forward, *backward):
        threshold = min(THRESHOLDS, key=lambda one: trial.error(system.links(trial, one)).error_rate)
        for gold in sets:
            rows.append(row(gold, system.name, system.direction, "argmax", system.links(gold), system.command(gold)))
            command = system.command(gold, f" --threshold {threshold}")
            links = system.links(gold, threshold)
            rows.append(row(gold, system.name, system.direction, f"threshold {threshold}", links, command))
    for there in forward:
        for back in (system for system in backward if system.name == there.name):
            for gold in sets:
                command = there.command(gold, f" --reverse-model {back.folder.name}")
                links = there.links(gold, reverse=back)
                rows.append(row(gold, there.name, "both", "intersection", links, command))

    rows.sort(key=lambda one: [*SETS.values()].index(one["set"]))
    report = {
        "versions": {name: version(name) for name in ("rnnsearch", "torch", "transformers")},
        "trainings": trainings,
        "rows": rows,
    }
    path = results / "alignments.json"
    path.write_text(json.dumps(report, indent=2) + "\n", encoding="utf-8")
    print(*map(training_row, trainings), "", *map(table_row, rows), f"written: {path}", sep="\n")


def eflomal_rows(version: str, text: Path, sets: list[GoldSet]) -> Iterator[dict[str, Any]]:
    """From the first lines of what eflomal wrote, which are those of the set."""
    for gold in sets:
        forward, reverse = (
            list(islice(read_links(text / f"{gold.name}.{way}")[0], len(gold.sure))) for way in ("forward", "reverse")
        )
        both = [one & other for one, other in zip(forward, reverse, strict=True)]
        command = f"eflomal-align -i {gold.name}.pairs -f {gold.name}.forward -r {gold.name}.reverse"
        for direction, method, links in (
            ("en-fr", "forward", forward),
            ("fr-en", "reverse", reverse),
            ("both", "intersection", both),
        ):
            yield row(gold, f"eflomal {version}", direction, method, links, command)


def row(gold: GoldSet, system: str, direction: str, method: str, links: Links, command: str) -> dict[str, Any]:
    """A row of the table: how the links of a set were found, and how well they agree with its gold ones."""
    said = {"set": SETS[gold.name], "system": system, "direction": direction, "method": method}
    return said | asdict(gold.error(links)) | {"command": command}


def training_row(training: dict[str, Any]) -> str:
    """A line of the table of trainings in docs/results.md."""
    cells = [training["system"], training["direction"], f"{training['updates']:,}", f"{training['epochs']:.2f}"]
    cells += [f"{training['minutes']:.0f}", f"{training['validation loss']:.2f}"]
    return f"| {' | '.join(cells)} |"


def table_row(row: dict[str, Any]) -> str:
    """A line of the table of links in docs/results.md."""
    cells = [row[name] for name in ("set", "system", "direction", "method")]
    cells += [f"{row[name]:.3f}" for name in ("precision", "recall", "error_rate")]
    return f"| {' | '.join(cells)} |"


def read_words(path: Path) -> dict[str, list[list[str]]]:
    return {
        language: [line.split() for line in read_lines(path.with_name(f"{path.name}.{language}"))]
        for language in ("en", "fr")
    }


def turned(links: frozenset[Link]) -> frozenset[Link]:
    return frozenset((target, source) for source, target in links)


if __name__ == "__main__":
    typer.run(main)
