"""What a training was told, kept beside the model as a file that `rnnsearch train` takes."""

import json
from dataclasses import asdict
from os import PathLike
from pathlib import Path
from typing import Any

from ..hub.card import RECIPE
from .arguments import DataArguments, ModelArguments, RNNsearchTrainingArguments

# Where a training writes to, who watches it and where it goes then: no part of what is trained.
_OF_THE_RUN = {"output_dir", "resume", "disable_tqdm", "report_to", "run_name", "push_to_hub"}
_PREFIXES = ("hub_", "logging_")


def changed_options(data: DataArguments, model_arguments: Any, args: RNNsearchTrainingArguments) -> dict[str, Any]:
    """The options that differ from their defaults on this machine, those of data and model first."""
    pairs = (
        (asdict(data), asdict(DataArguments())),
        (asdict(model_arguments), asdict(ModelArguments())),
        (args.to_dict(), type(args)(output_dir=args.output_dir).to_dict()),
    )
    return {
        name: value
        for given, defaults in pairs
        for name, value in given.items()
        if value not in (None, defaults[name]) and name not in _OF_THE_RUN and not name.startswith(_PREFIXES)
    }


def write_recipe(options: dict[str, Any], folder: str | PathLike[str]) -> None:
    """Write the options to the folder of the model that they made."""
    text = json.dumps(options, indent=2, ensure_ascii=False) + "\n"
    (Path(folder) / RECIPE).write_text(text, encoding="utf-8")
