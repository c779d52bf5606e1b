"""`rnnsearch train`: a model from parallel text."""

import json
from pathlib import Path
from typing import Annotated

import typer

from ..errors import InputError


def train(
    context: typer.Context,
    help: Annotated[bool, typer.Option("--help", help="Every option with its default.")] = False,
) -> None:
    """Train a model: rnnsearch train CONFIG.json [--option value ...], or options alone.

    Every field of transformers' Seq2SeqTrainingArguments is an option, too; options override the file.
    """
    from transformers import HfArgumentParser

    from ..training.arguments import DataArguments, ModelArguments, RNNsearchTrainingArguments

    class Parser(HfArgumentParser):
        def error(self, message: str):
            raise InputError(f"{message} (rnnsearch train --help lists the options)")

    parser = Parser(
        (DataArguments, ModelArguments, RNNsearchTrainingArguments), prog="rnnsearch train", allow_abbrev=False
    )
    if help:
        parser.print_help()
        return
    words = list(context.args)
    if words and not words[0].startswith("-"):
        words = [*_options_of(words[0]), *words[1:]]
    data, model, args = parser.parse_args_into_dataclasses(words)

    from ..training.train import train as run

    run(data, model, args)


def _options_of(path: str) -> list[str]:
    """The fields of a JSON file as command-line words; those given on the command line come later and win."""
    try:
        fields = json.loads(Path(path).read_bytes().decode("utf-8"))
    except OSError as error:
        raise InputError(f"{path}: cannot read the configuration: {error.strerror}") from error
    except ValueError as error:
        raise InputError(f"{path}: not a JSON configuration: {error}") from error
    if not isinstance(fields, dict):
        raise InputError(f"{path}: the configuration must be a JSON object of options")
    words = []
    for name, value in fields.items():
        values = value if isinstance(value, list) else [value]
        words += [f"--{name}", *(json.dumps(v) if isinstance(v, dict) else str(v) for v in values)]
    return words
