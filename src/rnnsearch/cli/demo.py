"""`rnnsearch demo`: train on the embedded grammar, translate, and draw what the model read."""

import json
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ..errors import InputError
from .common import hide_bars, load_translator

if TYPE_CHECKING:
    from ..data.syntax import SentencePair
    from ..decoding.translator import Translator

SEEN = (3, 15)  # words of a training sentence
LONGER = (16, 30)  # up to twice as long as any of them
TRAINING_PAIRS, TEST_PAIRS = 20_000, 500


def demo(
    output: Annotated[Path, typer.Option(help="Folder for text, model, translations and pictures.")] = Path("demo"),
    compare: Annotated[
        bool, typer.Option("--compare", help="Train RNNencdec, without attention, as well; draw both against length.")
    ] = False,
    seed: Annotated[int, typer.Option(help="Seed of the sentences and the training.")] = 1234,
) -> None:
    """Train RNNsearch on the embedded English-French grammar, in minutes and without a download.

    It then translates sentences that it has not seen, of the lengths of its training and up to twice as long, and
    draws the alignment of one of them. What it writes is a complete model folder with the text it was trained on.
    """
    if output.exists() and any(output.iterdir()):
        raise InputError(f"{output} is not empty: choose another folder with --output, or remove it")

    started = time.perf_counter()
    from ..data.grammar import corpus

    held_out = corpus(TEST_PAIRS, SEEN, seed + 1)
    longer = corpus(TEST_PAIRS, LONGER, seed + 2)
    training = corpus(TRAINING_PAIRS, SEEN, seed, exclude={pair.source for pair in held_out})
    for name, pairs in (("train", training), ("test", held_out), ("longer", longer)):
        _write_text(output / "text", name, pairs)
    print(
        f"{TRAINING_PAIRS:,} pairs of {SEEN[0]} to {SEEN[1]} words, {TEST_PAIRS} more held out and {TEST_PAIRS} of "
        f"{LONGER[0]} to {LONGER[1]} words, written to {output / 'text'}"
    )

    tests = {"held out": held_out, "longer": longer}
    models = {"RNNsearch": "search"} | ({"RNNencdec": "fixed"} if compare else {})
    curves, report = {}, {}
    for name, context in models.items():
        folder = output / "model" if context == "search" else output / "model-without-attention"
        report[name] = _train(folder, output / "text", context, seed)
        translator = load_translator(str(folder), None, None)
        translated = {test: _translate(translator, pairs) for test, pairs in tests.items()}
        if context == "search":
            _show(held_out, translated["held out"])
        report[name] |= _scores(name, translated, tests)
        curves[name] = _by_length(translated, tests)
        if context == "search":
            report[name] |= _alignment_error(name, translator, held_out)
            _draw_alignment(translator, held_out, output / "alignment.png")

    if compare:
        from ..alignment.figure import plot_length_curves, save_figure

        save_figure(plot_length_curves(curves, "BLEU by source length"), output / "length.png")
        print(f"BLEU against length, as the paper's figure 2: {output / 'length.png'}")
    minutes = round((time.perf_counter() - started) / 60, 2)
    (output / "demo.json").write_text(json.dumps({**report, "minutes": minutes}, indent=2) + "\n", encoding="utf-8")
    print(f"{minutes} minutes in all; the figures are in {output / 'demo.json'}")


def _write_text(folder: Path, name: str, pairs: Sequence["SentencePair"]) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for language, texts in (("en", [pair.source for pair in pairs]), ("fr", [pair.target for pair in pairs])):
        (folder / f"{name}.{language}").write_text("".join(f"{text}\n" for text in texts), encoding="utf-8")


def _train(folder: Path, text: Path, context: str, seed: int) -> dict[str, Any]:
    """Train one model with the library's own command, as anyone would on two text files."""
    from ..training.parser import OptionParser
    from ..training.train import train

    watched = sys.stderr.isatty()  # a bar is for a person
    options = {
        "train": [str(text / "train.en"), str(text / "train.fr")],
        "tokenizer_kind": "word",
        "embedding_size": 128,
        "hidden_size": 160,
        "alignment_size": 128,
        "maxout_size": 128,
        "context": context,
        "initializer_range": 0.05,
        # Not in the paper: what keeps so small a model from learning its few sentences by heart, and from reading a
        # word from its neighbour's annotation.
        "embedding_dropout": 0.2,
        "annotation_dropout": 0.3,
        "label_smoothing_factor": 0.1,
        "output_dir": str(folder),
        "per_device_train_batch_size": 64,
        "num_train_epochs": 4,
        "learning_rate": 6e-3,
        "eval_strategy": "no",
        "save_strategy": "no",
        "logging_steps": 200,
        "disable_tqdm": not watched,
        "seed": seed,
    }
    hide_bars(of_text=not watched)
    data, model, arguments = OptionParser().parse_dict(options)
    metrics = train(data, model, arguments)
    return {"training_minutes": round(metrics["train_runtime"] / 60, 2), "training_loss": metrics["train_loss"]}


def _translate(translator: "Translator", pairs: Sequence["SentencePair"]) -> list[str]:
    results = translator.translate([pair.source for pair in pairs], num_beams=2, scores=False)
    return [hypotheses[0].text for hypotheses in results]


def _scores(
    name: str, translated: dict[str, list[str]], tests: Mapping[str, Sequence["SentencePair"]]
) -> dict[str, Any]:
    from ..evaluation.scores import bleu

    found: dict[str, Any] = {}
    for test, range_ in (("held out", SEEN), ("longer", LONGER)):
        score = bleu(translated[test], [pair.target for pair in tests[test]])
        print(f"{name}: BLEU {score.value:.1f} on {TEST_PAIRS} unseen sentences of {range_[0]} to {range_[1]} words")
        found[f"bleu {test}"] = score.value
        found["signature"] = score.signature
    return found


def _by_length(translated: dict[str, list[str]], tests: Mapping[str, Sequence["SentencePair"]]) -> list:
    from ..evaluation.by_length import bleu_by_length

    hypotheses = [text for texts in translated.values() for text in texts]
    pairs = [pair for test in translated for pair in tests[test]]
    lengths = [len(pair.source.split()) for pair in pairs]
    return bleu_by_length(hypotheses, [pair.target for pair in pairs], lengths, "fr", bin_width=5)


def _show(pairs: Sequence["SentencePair"], translations: Sequence[str], count: int = 3) -> None:
    for pair, translation in zip(pairs[:count], translations, strict=False):
        print(f"  {pair.source}\n    {translation}")
        if translation != pair.target:
            print(f"    (reference: {pair.target})")


def _alignment_error(name: str, translator: "Translator", pairs: Sequence["SentencePair"]) -> dict[str, float]:
    """Of the links that the weights imply, against those that the grammar knows."""
    from ..alignment.aligner import align
    from ..evaluation.alignment_error import alignment_error_rate

    words = [pair.source_words for pair in pairs], [pair.target_words for pair in pairs]
    found = align(translator.model, translator.tokenizer, *words)
    error = alignment_error_rate(
        [one.links for one in found], [pair.alignment for pair in pairs], [frozenset()] * len(pairs)
    )
    print(
        f"{name}: AER {error.error_rate:.3f} on the gold alignments of the unseen sentences "
        f"(precision {error.precision:.3f}, recall {error.recall:.3f})"
    )
    return {"precision": error.precision, "recall": error.recall, "alignment error rate": error.error_rate}


def _draw_alignment(translator: "Translator", pairs: Sequence["SentencePair"], path: Path) -> None:
    """The held-out pair whose words cross most, for its length: there the weights have most to show."""
    from ..alignment.aligner import align
    from ..alignment.figure import plot_alignment, save_figure

    pair = max(pairs, key=lambda pair: _crossings(pair) / len(pair.source_words))
    [aligned] = align(translator.model, translator.tokenizer, [pair.source], [pair.target])
    save_figure(plot_alignment(aligned.weights, aligned.source_words, aligned.target_words), path)
    print(f"what the model read to write each word, as the paper's figure 3: {path}")


def _crossings(pair: "SentencePair") -> int:
    links = sorted(pair.alignment)
    return sum(s1 < s2 and t1 > t2 for s1, t1 in links for s2, t2 in links)
