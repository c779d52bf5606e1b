"""See which source words each target word was written from, as numbers and as the paper's figure 3.

    python examples/align.py demo/model "The old doctor sells a black dog." "Le vieux médecin vend un chien noir." \
        alignment.png

`demo/model` is what `make demo` writes.

Expected: 0.1 CPU minutes: percent that chien reads dog 93.0, percent that noir reads black 95.0
(results/examples.json).
"""

from pathlib import Path

import typer
from transformers import AutoModelForSeq2SeqLM, AutoTokenizer

from rnnsearch import align
from rnnsearch.alignment.figure import plot_alignment, save_figure


def main(model_folder: Path, source: str, target: str, picture: Path) -> dict[str, float]:
    model = AutoModelForSeq2SeqLM.from_pretrained(model_folder)
    tokenizer = AutoTokenizer.from_pretrained(model_folder)
    [pair] = align(model, tokenizer, [source], [target])
    largest = {}
    for word, weights in zip(pair.target_words, pair.weights, strict=True):  # of each source word; they sum to 1
        read = pair.source_words[int(weights.argmax())]
        print(f"{word:>15}  {weights.max():4.0%}  {read}")
        largest[f"{word} reads {read}"] = 100 * weights.max()
    save_figure(plot_alignment(pair.weights, pair.source_words, pair.target_words), picture)
    print(f"the whole matrix: {picture}")
    return largest


if __name__ == "__main__":
    typer.run(main)
