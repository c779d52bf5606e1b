"""BLEU of the sentences in which a model writes [UNK], and of the same with the source words that were read for it.

    python examples/paper/unknown_words.py runs/paper-en-fr newstest2014.en newstest2014.fr results/unknown_words.json

The model is one of words. It translates the text as `rnnsearch translate` does, and the lines whose translation holds
an [UNK] once more with `--replace-unk copy`: the beam is the same, and in the place of each [UNK] stands the source
word of the greatest weight when it was written. Names and numbers are often right as they stand. Scored are these
lines, and all lines with and without the replacement.
"""

import json
from dataclasses import asdict
from importlib.metadata import version
from pathlib import Path
from typing import Any

import typer

from rnnsearch import Translator
from rnnsearch.data.lines import read_lines
from rnnsearch.evaluation.scores import all_scores

UNKNOWN = "[UNK]"


def main(model_folder: Path, source: Path, reference: Path, output: Path) -> dict[str, Any]:
    translator = Translator.from_pretrained(model_folder)
    sources, references = read_lines(source), read_lines(reference)
    kept = translate(translator, sources)
    lines = [number for number, line in enumerate(kept) if UNKNOWN in line]
    copied = list(kept)
    again = translate(translator, [sources[number] for number in lines], replace_unk="copy")
    for number, line in zip(lines, again, strict=True):
        copied[number] = line

    def scores(translations: list[str], positions: list[int]) -> dict[str, Any]:
        scored = all_scores(
            [translations[number] for number in positions],
            [references[number] for number in positions],
            translator.tokenizer.target_lang,
        )
        return {
            score.name: {name: value for name, value in asdict(score).items() if name != "name"} for score in scored
        }

    everything = list(range(len(sources)))
    report: dict[str, Any] = {
        "measured": {
            "model": "/".join(model_folder.parts[-2:]),
            "text": source.name,
            "unknown words written": sum(line.count(UNKNOWN) for line in kept),
            "lines with one": len(lines),
            "versions": {name: version(name) for name in ("rnnsearch", "torch", "transformers", "sacrebleu")},
        },
        "lines with one": {"[UNK] stays": scores(kept, lines), "copied": scores(copied, lines)},
        "all lines": {"[UNK] stays": scores(kept, everything), "copied": scores(copied, everything)},
    }
    print(f"{report['measured']['unknown words written']} [UNK] in {len(lines)} of {len(sources)} lines")
    for text in ("lines with one", "all lines"):
        for how, found in report[text].items():
            print(f"{text}, {how}: " + ", ".join(f"{name} {score['value']:.1f}" for name, score in found.items()))
    output.write_text(json.dumps(report, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
    return report


def translate(translator: Translator, lines: list[str], replace_unk: str | None = None) -> list[str]:
    return [best.text for [best] in translator.translate(lines, replace_unk=replace_unk, scores=False)]


if __name__ == "__main__":
    typer.run(main)
