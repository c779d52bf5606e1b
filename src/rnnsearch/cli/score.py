"""`rnnsearch score`: how likely the model finds given translations."""

import sys
from pathlib import Path
from typing import Annotated

import typer

from ..errors import InputError
from .common import BatchSize, Device, DtypeOption, check_correspondence, load_translator, written_whole


def score(
    model: Annotated[str, typer.Option(help="Folder of a trained model, or its name on the Hugging Face Hub.")],
    src: Annotated[Path, typer.Option(help="Source sentences.")],
    tgt: Annotated[Path, typer.Option(help="Their translations, line by line.")],
    n_best: Annotated[
        bool,
        typer.Option(
            "--n-best",
            help="--tgt is an n-best list as Moses writes it: number of the source line from 0 ||| translation ||| "
            "whatever else.",
        ),
    ] = False,
    output: Annotated[
        Path | None, typer.Option(help="Where log-probabilities are written.", show_default="standard output")
    ] = None,
    batch_size: BatchSize = 32,
    device: Device = None,
    dtype: DtypeOption = None,
) -> None:
    """Write the log-probability of each translation: natural logarithm, the end of the sentence included.

    It is a sum over the words, so longer translations have lower ones.
    """
    from ..alignment.forced import score
    from ..data.lines import read_lines

    sources, targets = read_lines(src), read_lines(tgt)
    if n_best:
        sources, targets = _read_n_best(src, sources, tgt, targets)
    else:
        check_correspondence(src, sources, tgt, targets)
    with written_whole(output) as stream:
        loaded = load_translator(model, device, dtype)
        found = score(loaded.model, loaded.tokenizer, sources, targets, batch_size, progress=sys.stderr.isatty())
        stream.writelines(f"{value:.6f}\n".encode() for value in found)


def _read_n_best(src: Path, sources: list[str], tgt: Path, lines: list[str]) -> tuple[list[str], list[str]]:
    """Source and translation of each line of an n-best list."""
    repeated, targets = [], []
    for number, line in enumerate(lines, 1):
        columns = [column.strip() for column in line.split("|||")]
        if len(columns) < 2 or not columns[0].isdecimal():
            raise InputError(f"{tgt}, line {number}: does not begin with a number, ||| and a translation")
        if int(columns[0]) >= len(sources):
            raise InputError(
                f"{tgt}, line {number}: is of source {columns[0]}, but {src} has {len(sources)}, counted from 0"
            )
        repeated.append(sources[int(columns[0])])
        targets.append(columns[1])
    return repeated, targets
