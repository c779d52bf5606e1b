"""The card of a model: what is known of it as data, and the page that a template makes of that.

What is not known stays None or empty here, and the page calls it not stated or not measured.
"""

import json
import os
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Any

from huggingface_hub import EvalResult, ModelCard, ModelCardData

from ..errors import InputError
from ..evaluation.report import read_json_object, read_report
from ..evaluation.scores import Score
from ..modeling.configuration_rnnsearch import RNNsearchConfig
from ..tokenizer.tokenization_rnnsearch import RNNsearchTokenizer

__all__ = [
    "CARD",
    "PICTURE",
    "RECIPE",
    "Evaluation",
    "Example",
    "ModelFacts",
    "Training",
    "describe",
    "make_card",
    "read_evaluation",
]

# Names in a model's folder
CARD, PICTURE, RECIPE = "README.md", "alignment.png", "recipe.json"

_TEMPLATE = Path(__file__).with_name("model_card.md.jinja")
_METRICS = {"BLEU": "bleu", "chrF2": "chrf"}  # measures that the Hub has a name for


@dataclass(frozen=True)
class Example:
    """A sentence that the card's snippets translate.

    Args:
        source: the sentence.
        translation: what `pipeline("translation")` makes of it without further arguments.
    """

    source: str
    translation: str | None = None


@dataclass(frozen=True)
class Evaluation:
    """Scores on one test set.

    Args:
        test_set: its name.
        scores: of all sentences, each with its signature.
        no_unk: of the sentences without an unknown word, in the same order.
        decoding: how the translations were found.
    """

    test_set: str
    scores: Sequence[Score]
    no_unk: Sequence[Score] = ()
    decoding: str | None = None


@dataclass(frozen=True)
class Training:
    """How a training went.

    Args:
        updates: steps of the optimiser.
        epochs: passes over the training pairs.
        pairs: number of training pairs.
        validation_bleu: BLEU of the validation pairs, 0 to 100, by the model that was kept.
    """

    updates: int
    epochs: float
    pairs: int | None = None
    validation_bleu: float | None = None


@dataclass(frozen=True)
class ModelFacts:
    """All that a card can say of a model.

    Args:
        name: of the repository on the Hub, `owner/name`, or of the model's folder.
        config: its configuration.
        example: the sentence of the snippets.
        source_lang: code of the source language.
        target_lang: code of the target language.
        words: whether its vocabularies are of words, which leave others unknown.
        license: of the model, as the Hub abbreviates it, such as `apache-2.0`.
        data: origin and licence of the training text, in a sentence.
        recipe: options of `rnnsearch train` that are not the defaults.
        training: how the training went.
        evaluations: scores, test set by test set.
        picture: path of the alignment picture, relative to the card.
    """

    name: str
    config: RNNsearchConfig
    example: Example = Example("...")
    source_lang: str | None = None
    target_lang: str | None = None
    words: bool = False
    license: str | None = None
    data: str | None = None
    recipe: Mapping[str, Any] | None = None
    training: Training | None = None
    evaluations: Sequence[Evaluation] = ()
    picture: str | None = None


def describe(
    name: str, config: RNNsearchConfig, tokenizer: RNNsearchTokenizer | None, folder: str | PathLike[str]
) -> ModelFacts:
    """What a model, its tokenizer and the record that `rnnsearch train` left in its folder say.

    Raises:
        InputError: a file of the record cannot be read.
    """
    folder = Path(folder)
    state, results = (_read_json(folder / f"{file}.json") for file in ("trainer_state", "all_results"))
    return ModelFacts(
        name=name,
        config=config,
        source_lang=tokenizer.source_lang if tokenizer else None,
        target_lang=tokenizer.target_lang if tokenizer else None,
        words=tokenizer is not None and tokenizer.kind == "word",
        recipe={option: _without_place(value) for option, value in _read_json(folder / RECIPE).items()},
        training=Training(state["global_step"], state["epoch"], results.get("train_samples"), results.get("eval_bleu"))
        if "global_step" in state
        else None,
    )


def read_evaluation(path: Path) -> Evaluation:
    """The scores that `rnnsearch evaluate --json` wrote; the test set has the name of its source file.

    Raises:
        InputError: the file cannot be read, holds something else, or other systems' scores too.
    """
    systems = read_report(path).systems
    if len(systems) != 1:
        raise InputError(
            f"{path}: holds {', '.join(systems) or 'no system'}; evaluate the model into a file of its own"
        )
    [row] = systems.values()
    options = row.options
    try:
        decoding = f"beam {options['beam']}, length penalty {options['length_penalty']:g}"
        if options["paper_decoding"]:
            decoding += ", limits of length as in the authors' code"
        if options["hyp"]:
            decoding = "translations from a file"
        test_set = Path(options["src"] or options["ref"]).stem
        return Evaluation(test_set, row.scores["all"], row.scores.get("no_unk", ()), decoding)
    except (KeyError, TypeError, ValueError) as error:
        raise InputError(f"{path}: does not say how it was made; write it anew with `rnnsearch evaluate`") from error


def make_card(facts: ModelFacts) -> ModelCard:
    """The card as the Hub shows it: metadata, and the page."""
    results = [
        EvalResult(
            task_type="translation",
            dataset_type=evaluation.test_set,
            dataset_name=evaluation.test_set,
            metric_type=_METRICS[score.name],
            metric_name=score.name,
            metric_value=round(score.value, 2),
            metric_args={"signature": score.signature},
        )
        for evaluation in facts.evaluations
        for score in evaluation.scores
        if score.name in _METRICS
    ]
    data = ModelCardData(
        language=[code for code in (facts.source_lang, facts.target_lang) if code] or None,
        license=facts.license,
        library_name="transformers",
        pipeline_tag="translation",
        tags=["rnnsearch", "translation", "attention", "alignment", "recurrent"],
        model_name=facts.name if results else None,
        eval_results=results or None,
    )
    recipe = facts.recipe or {}
    return ModelCard.from_template(
        data,
        str(_TEMPLATE),
        facts=facts,
        fixed_context=facts.config.context == "fixed",
        in_python=json.dumps(facts.example.source, ensure_ascii=False),
        in_shell=shlex.quote(facts.example.source),
        texts={side: ", ".join(recipe.get(side, [])) for side in ("train", "validation")},
        recipe=json.dumps(recipe, indent=2, ensure_ascii=False) if recipe else None,
        score_rows=[row for evaluation in facts.evaluations for row in _score_rows(evaluation)],
        # Each once, and in the order of the table
        signatures=dict.fromkeys(
            (score.name, score.signature) for evaluation in facts.evaluations for score in evaluation.scores
        ),
    )


def _score_rows(evaluation: Evaluation) -> list[tuple[str, str, str, str]]:
    """Test set, measure, and value for all sentences and for those without an unknown word."""
    known = [f"{score.value:.1f}" for score in evaluation.no_unk] or ["not measured"] * len(evaluation.scores)
    return [
        (evaluation.test_set, score.name, f"{score.value:.1f}", of_known)
        for score, of_known in zip(evaluation.scores, known, strict=True)
    ]


def _read_json(path: Path) -> dict[str, Any]:
    """The object in a JSON file; an empty one where there is no file."""
    return read_json_object(path) if path.exists() else {}


def _without_place(value: Any) -> Any:
    """Files by their names alone: where they lie on somebody's machine is nobody else's business."""
    if isinstance(value, list):
        return [_without_place(one) for one in value]
    return os.path.basename(value) if isinstance(value, str) and os.path.isabs(value) else value
