"""From a JSON file and words of a command line to arguments that fit together, or to one line about what does not."""

import dataclasses
import difflib
import json
import re
import shutil
import textwrap
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, Literal, NoReturn, get_args, get_origin

from transformers import HfArgumentParser

from ..errors import InputError
from .arguments import DataArguments, ModelArguments, RNNsearchTrainingArguments

USAGE = """\
Usage: rnnsearch train CONFIG.json [--option value ...]
       rnnsearch train --train en.txt fr.txt [--option value ...]

Train a model. CONFIG.json is an object of options; those on the command line win. Names may be written with
underscores or dashes, and a yes-or-no option alone means yes."""


class OptionParser(HfArgumentParser):
    """The fields of the three classes of arguments as options of one command."""

    def __init__(self):
        kinds: Any = (DataArguments, ModelArguments, RNNsearchTrainingArguments)
        super().__init__(kinds, allow_abbrev=False)

    def read(self, words: Sequence[str]) -> tuple[DataArguments, Any, RNNsearchTrainingArguments]:
        """Arguments from the words of a command line, of which the first may be the path of a JSON file.

        Raises:
            InputError: the file cannot be read, an option is unknown, or a value is not possible.
        """
        options = list(words)
        if options and not options[0].startswith("-"):
            options[:1] = self._file_options(options[0])
        self._check(options)
        try:
            data, model, training = self.parse_args_into_dataclasses(options, look_for_args_file=False)
        except ValueError as error:
            raise InputError(_one_line(error)) from error
        return data, model, training

    def error(self, message: str) -> NoReturn:
        raise InputError(re.sub(r"^argument (--\w+)\S*:", r"\1:", message))

    def format_help(self) -> str:
        """Our own options first, then those of Transformers."""
        ours = RNNsearchTrainingArguments.__annotations__
        training = {item.name: item for item in dataclasses.fields(RNNsearchTrainingArguments)}
        groups = {
            "Data": dataclasses.fields(DataArguments),
            "Model": dataclasses.fields(ModelArguments),
            "Training": [training[name] for name in ours],
            "Training, from transformers.Seq2SeqTrainingArguments": [
                item for name, item in training.items() if name not in ours and item.init
            ],
        }
        return "\n\n".join([USAGE, *(f"{title}:\n{_describe(items)}" for title, items in groups.items())]) + "\n"

    def _file_options(self, path: str) -> list[str]:
        """The fields of a JSON file as words of a command line."""
        try:
            fields = json.loads(Path(path).read_bytes().decode("utf-8-sig"))
        except OSError as error:
            raise InputError(f"{path}: cannot be read: {error.strerror}") from error
        except ValueError as error:
            raise InputError(f"{path}: not a JSON file of options: {error}") from error
        if not isinstance(fields, dict):
            raise InputError(f'{path}: must hold a JSON object of options, such as {{"hidden_size": 256}}')
        words = []
        for name, value in fields.items():
            if value is None:
                raise InputError(f"{path}: {name} is null; leave it out for its default")
            values = value if isinstance(value, list) else [value]
            words += [f"--{name}", *(json.dumps(v) if isinstance(v, dict) else str(v) for v in values)]
        try:
            self._check(words)
        except InputError as error:
            raise InputError(f"{path}: {error}") from error
        return words

    def _check(self, words: Sequence[str]) -> None:
        _, unknown = self.parse_known_args(words)
        if not unknown:
            return
        if not unknown[0].startswith("--"):
            raise InputError(f"{unknown[0]!r} belongs to no option")
        name = unknown[0].partition("=")[0]
        names = [item.name for kind in self.dataclass_types for item in dataclasses.fields(kind)]
        near = difflib.get_close_matches(name.removeprefix("--").replace("-", "_"), names, n=1)
        hint = f"did you mean --{near[0]}?" if near else "rnnsearch train --help lists all"
        raise InputError(f"there is no option {name}; {hint}")


def _describe(items: Iterable[dataclasses.Field]) -> str:
    width = min(shutil.get_terminal_size().columns, 119)
    lines = []
    for item in items:
        choices = item.metadata.get("choices") or (get_args(item.type) if get_origin(item.type) is Literal else ())
        lines.append(f"  --{item.name} {'|'.join(choices)}".rstrip())
        text = " ".join(item.metadata.get("help", "").split()).replace("%%", "%")
        default = getattr(item.default, "value", item.default)
        if default not in (None, dataclasses.MISSING):
            text += f" [default: {default}]"
        lines += textwrap.wrap(text, width, initial_indent=" " * 6, subsequent_indent=" " * 6)
    return "\n".join(lines)


def _one_line(error: Exception) -> str:
    return " ".join(str(error).split())


__all__ = ["OptionParser"]
