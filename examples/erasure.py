"""What the weights are not: replace the source word that was read most, or another one, and see what changes.

    python examples/erasure.py runs/multi30k_en_de multi30k/test_2016_flickr.en results/erasure.json

For each of 200 lines of the text, drawn at random, the model translates greedily, and a word of its translation is
drawn. Its source word of the greatest weight is replaced by a word drawn from those of the chosen lines, and in a
second copy another source word, drawn at random, is replaced by the same. The words before the chosen one are given;
the model's probabilities of the next token, in the first of the word's pieces if it has several, are compared with
those for the line as it was. If the weights told what a word was written from, the first replacement would always
change it, and the second never.

It writes for each of the two and for their difference, with 95 per cent bootstrap intervals over lines: in how many
per cent the likeliest token is another one, the mean total variation of the probabilities (0 the same, 1 disjoint),
and by how many nats the log-probability of the token first chosen falls on average.
"""

import json
import random
from collections.abc import Sequence
from importlib.metadata import version
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import torch
import typer
from numpy.typing import NDArray
from transformers import AutoModelForSeq2SeqLM, AutoTokenizer

import rnnsearch
from rnnsearch.data.lines import read_lines

RESAMPLES = 10_000
LONGEST = 100  # tokens of a translation, its start counted


def main(model_folder: Path, text: Path, output: Path, lines: int = 200, seed: int = 1234) -> dict[str, Any]:
    model = AutoModelForSeq2SeqLM.from_pretrained(model_folder).eval()
    tokenizer = AutoTokenizer.from_pretrained(model_folder)
    rng = random.Random(seed)
    sources = [words_of(tokenizer, line) for line in read_lines(text)]
    chosen = rng.sample([words for words in sources if len(words) > 1], lines)
    vocabulary = [word for words in chosen for word in words]

    erasures = [erase(model, tokenizer, words, vocabulary, rng) for words in chosen]
    measures = {name: np.array([one[name] for one in erasures], dtype=float) for name in erasures[0]}  # (lines, 2)
    resampled = np.random.default_rng(seed).integers(lines, size=(RESAMPLES, lines))
    report = {
        name: {
            "most read": interval(values[:, 0], resampled),
            "another": interval(values[:, 1], resampled),
            "difference": interval(values[:, 0] - values[:, 1], resampled),
        }
        for name, values in measures.items()
    }
    for name, found in report.items():
        print(name, *(f"{which} {mean:.2f} ({low:.2f} to {high:.2f})" for which, (mean, low, high) in found.items()))
    measured = {
        "model": model_folder.name,
        "text": text.name,
        "lines": lines,
        "seed": seed,
        "versions": {name: version(name) for name in ("rnnsearch", "torch", "transformers")},
    }
    output.write_text(json.dumps({"measured": measured, **report}, indent=2) + "\n", encoding="utf-8")
    return report


def words_of(tokenizer: rnnsearch.RNNsearchTokenizer, line: str) -> list[tuple[int, ...]]:
    """The tokens of each word of a line, without its end."""
    ids = tokenizer(line, verbose=False).input_ids[:-1]
    starts = np.flatnonzero(tokenizer.source_word_starts(ids))
    return [tuple(ids[start:end]) for start, end in pairwise([*starts, len(ids)])]


@torch.inference_mode()
def erase(
    model: rnnsearch.RNNsearchForConditionalGeneration,
    tokenizer: rnnsearch.RNNsearchTokenizer,
    words: list[tuple[int, ...]],
    vocabulary: Sequence[tuple[int, ...]],
    rng: random.Random,
) -> dict[str, list[float]]:
    """Each measure for the word that was read most and for another one."""
    batch = tokenizer.pad({"input_ids": [flat(words, tokenizer)]}, return_tensors="pt")
    written = model.generate(**batch, num_beams=1, do_sample=False, max_length=LONGEST)  # (1, 1 + T), start first
    target = written[0, 1:].tolist()
    starts = [
        place
        for place, start in enumerate(tokenizer.target_word_starts(target))
        if start and target[place] != tokenizer.eos_token_id
    ]
    place = rng.choice(starts)
    read = model(**batch, decoder_input_ids=written[:, : place + 1], output_attentions=True).cross_attentions[0]
    weights = np.add.reduceat(read[0, 0, -1].numpy(), np.cumsum([0, *map(len, words)]))[:-1]  # without the end
    most = int(weights.argmax())
    another = rng.choice([position for position in range(len(words)) if position != most])
    new = rng.choice([word for word in vocabulary if word not in (words[most], words[another])])

    versions = [words, *([*words[:position], new, *words[position + 1 :]] for position in (most, another))]
    batch = tokenizer.pad({"input_ids": [flat(version, tokenizer) for version in versions]}, return_tensors="pt")
    prefix = written[:, : place + 1].expand(3, -1)
    logits = model(**batch, decoder_input_ids=prefix).logits[:, -1].double()
    before, *after = logits.log_softmax(dim=-1)
    token = int(before.argmax())
    return {
        "weight": [float(weights[most]), float(weights[another])],
        "percent changed": [100.0 * (int(probs.argmax()) != token) for probs in after],
        "total variation": [float((probs.exp() - before.exp()).abs().sum() / 2) for probs in after],
        "log-probability lost": [float(before[token] - probs[token]) for probs in after],
    }


def flat(words: Sequence[tuple[int, ...]], tokenizer: rnnsearch.RNNsearchTokenizer) -> list[int]:
    return [index for word in words for index in word] + [tokenizer.eos_token_id]


def interval(values: NDArray[np.float64], resampled: NDArray[np.int64]) -> list[float]:
    """The mean and the ends of its 95 per cent bootstrap interval."""
    low, high = np.percentile(values[resampled].mean(axis=1), [2.5, 97.5])
    return [round(float(one), 4) for one in (values.mean(), low, high)]


if __name__ == "__main__":
    typer.run(main)
