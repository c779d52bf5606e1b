"""`rnnsearch push`: a trained model onto the Hugging Face Hub, with a card that says what is known of it."""

import shutil
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Annotated

import typer

from ..errors import InputError
from .common import load_translator, written_whole

if TYPE_CHECKING:
    from ..decoding.translator import Translator
    from ..hub.card import ModelFacts

ENGLISH = "The old house is red."


def push(
    model: Annotated[Path, typer.Option(help="Folder of a trained model.")],
    repo: Annotated[str, typer.Option(help="Its name on the Hub, owner/name; without an owner it is yours.")],
    evaluation: Annotated[
        list[Path] | None, typer.Option(help="Scores for the card, from `rnnsearch evaluate --json`; may be repeated.")
    ] = None,
    example: Annotated[
        str | None,
        typer.Option(help="Source sentence that the card translates and draws.", show_default="one for English"),
    ] = None,
    license: Annotated[str | None, typer.Option(help="Licence of the model for the card, such as apache-2.0.")] = None,
    data: Annotated[
        str | None, typer.Option(help="A sentence for the card: where the training text is from, and its licence.")
    ] = None,
    private: Annotated[bool, typer.Option("--private", help="Let nobody but you see a new repository.")] = False,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Write card and picture into the folder and leave the Hub alone.")
    ] = False,
) -> None:
    """Publish a model: weights, tokenizer, the code of both, a card, and the picture of an alignment.

    --dry-run writes the card, README.md, and its picture, alignment.png, into the model's folder, to be read and
    completed by hand. A card that lies there is published as it is; where there is none, one is made.

    All files arrive together or not at all; after an interruption run the same command again. You need a token of
    the Hub that may write: `hf auth login` asks for it, HF_TOKEN holds it.
    """
    from ..hub.card import CARD, PICTURE, describe, read_evaluation
    from ..hub.publish import create_repository, publish

    if not model.is_dir():
        raise InputError(f"{model}: is not a folder; give that of a trained model")
    own_card = (model / CARD).exists()
    for_the_card = {"--evaluation": evaluation, "--example": example, "--license": license, "--data": data}
    given = [name for name, value in {**for_the_card, "--dry-run": dry_run}.items() if value]
    if own_card and given:
        raise InputError(f"{model / CARD}: is there already; leave {given[0]} out, or remove the file for a new one")
    evaluations = [read_evaluation(path) for path in evaluation or []]
    translator = load_translator(str(model), None, None)
    if not (own_card or example):
        example = _usual_example(translator.tokenizer.source_lang)
    name = repo if dry_run else create_repository(repo, private)
    with TemporaryDirectory() as temporary:
        folder = model if dry_run else Path(temporary)
        if own_card:
            for path in (model / CARD, model / PICTURE):
                if path.exists():
                    shutil.copy(path, folder)
        else:
            facts = describe(name, translator.model.config, translator.tokenizer, model)
            facts = replace(facts, evaluations=evaluations, license=license, data=data)
            _write_card(facts, translator, str(example), folder)
        if dry_run:
            print(f"card: {model / CARD}")
            return
        # Saved anew, so that nothing else of the training's folder goes along and the code is this package's.
        translator.model.save_pretrained(folder)
        translator.tokenizer.save_pretrained(folder)
        print(f"published: {publish(folder, name)}")


def _usual_example(language: str | None) -> str:
    if language != "en":
        raise InputError(f"the model reads {language!r}: give a sentence of that language with --example")
    return ENGLISH


def _write_card(facts: "ModelFacts", translator: "Translator", sentence: str, folder: Path) -> None:
    """Write the card, with the sentence as the model translates it, and a picture of what it read, if it attends."""
    from ..alignment.figure import plot_alignment, save_figure
    from ..hub.card import CARD, PICTURE, Example, make_card
    from ..modeling.pipeline_rnnsearch import TranslationPipeline

    attends = facts.config.context == "search"
    translate = TranslationPipeline(model=translator.model, tokenizer=translator.tokenizer)  # type: ignore[arg-type]
    [record] = translate(sentence, return_alignment=attends)
    if attends:
        figure = plot_alignment(record["alignment"], record["source_words"], record["target_words"])
        save_figure(figure, folder / PICTURE)
        facts = replace(facts, picture=PICTURE)
    facts = replace(facts, example=Example(sentence, record["translation_text"]))
    with written_whole(folder / CARD) as stream:
        stream.write(str(make_card(facts)).encode())
