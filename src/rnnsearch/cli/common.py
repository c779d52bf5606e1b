"""What several commands share: options, loading a model, and writing files and folders whole."""

import os
import sys
from collections.abc import Iterator, Sized
from contextlib import contextmanager
from enum import StrEnum
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Annotated, BinaryIO

import typer

from ..errors import InputError

if TYPE_CHECKING:
    from ..decoding.translator import Translator


class Dtype(StrEnum):
    """Number formats a model can compute in."""

    float32 = "float32"
    bfloat16 = "bfloat16"
    float16 = "float16"
    int8 = "int8"


Beam = Annotated[int, typer.Option(min=1, help="Hypotheses kept at each step; 1 is greedy search.")]
LengthPenalty = Annotated[
    float | None,
    typer.Option(
        help="Power of the length that divides log-probabilities; 0 compares their plain sums.",
        show_default="1, or 0 with --paper-decoding",
    ),
]
PaperDecoding = Annotated[
    bool,
    typer.Option(
        "--paper-decoding",
        help="Search as the authors' code does: plain sums, from half as many tokens as the source has to three times "
        "as many, and again with a doubled beam where none of these has ended.",
    ),
]
BatchSize = Annotated[int, typer.Option(min=1, help="Sentences decoded together.")]
Device = Annotated[str | None, typer.Option(help="Such as cpu or cuda:1.", show_default="a GPU if there is one")]
DtypeOption = Annotated[
    Dtype | None, typer.Option(help="Number format of the model; int8 on a CPU only.", show_default="as saved")
]


def load_translator(model: str, device: str | None, dtype: Dtype | None) -> "Translator":
    """The translator in a folder or of a Hub name, loaded without a bar unless a person watches.

    Raises:
        InputError: there is no RNNsearch model of that name, or no such device.
    """
    import torch
    from transformers.utils import logging

    from ..decoding.translator import Translator

    if not sys.stderr.isatty():
        logging.disable_progress_bar()
    return Translator.from_pretrained(model, device, getattr(torch, dtype) if dtype else None)


def hide_bars(of_text: bool) -> None:
    """Leave out the bars of reading and writing models, which cut through that of the work, and of encoding text."""
    from datasets import disable_progress_bars
    from transformers.utils import logging

    logging.disable_progress_bar()
    if of_text:
        disable_progress_bars()


def check_correspondence(path: Path, lines: Sized, other: Path, other_lines: Sized) -> None:
    """Raises InputError unless two files have equally many lines."""
    if len(lines) != len(other_lines):
        raise InputError(f"{path} has {len(lines)} lines but {other} has {len(other_lines)}; they must correspond")


@contextmanager
def written_whole(path: Path | None) -> Iterator[BinaryIO]:
    """A binary stream into a file that appears under its name when all is written; standard output for None.

    What is not a regular file, such as /dev/null, is written directly.

    Raises:
        InputError: the file cannot be written there.
    """
    if path is None:
        yield sys.stdout.buffer
        sys.stdout.buffer.flush()
        return
    place = Path(os.path.realpath(path))
    part = place if place.exists() and not place.is_file() else place.with_name(place.name + ".part")
    try:
        stream = part.open("wb")
    except OSError as error:
        raise InputError(f"{path}: cannot be written: {error.strerror}") from error
    try:
        with stream:
            yield stream
        if part != place:
            part.replace(place)
    finally:
        if part != place:
            part.unlink(missing_ok=True)


@contextmanager
def folder_written_whole(path: Path) -> Iterator[Path]:
    """A new folder that appears under its name when all in it is written.

    Raises:
        InputError: there is something of that name already, or it cannot be written there.
    """
    if os.path.lexists(path):
        raise InputError(f"{path}: is there already; name a new folder")
    try:
        with TemporaryDirectory(prefix=f"{path.name}.part", dir=path.parent) as temporary:
            part = Path(temporary) / path.name
            part.mkdir()
            yield part
            part.rename(path)
    except OSError as error:
        raise InputError(f"{path}: cannot be written: {error.strerror or error}") from error
