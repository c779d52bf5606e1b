"""`rnnsearch align`: the links between the words of translations, and the weights behind them."""

import json
import sys
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, BinaryIO

import typer

from .common import BatchSize, Beam, Device, DtypeOption, check_correspondence, load_translator, written_whole

if TYPE_CHECKING:
    from ..alignment.aligner import SoftAlignment


class Format(StrEnum):
    """How alignments are written."""

    pharaoh = "pharaoh"
    jsonl = "jsonl"
    npz = "npz"


def align(
    model: Annotated[str, typer.Option(help="Folder of a trained model, or its name on the Hugging Face Hub.")],
    src: Annotated[Path, typer.Option(help="Source sentences.")],
    tgt: Annotated[
        Path | None,
        typer.Option(help="Their translations, line by line.", show_default="the model's own translations"),
    ] = None,
    reverse_model: Annotated[
        str | None, typer.Option(help="Model of the other direction: only links that both find are kept.")
    ] = None,
    output: Annotated[
        Path | None, typer.Option(help="Where alignments are written.", show_default="standard output")
    ] = None,
    format: Annotated[
        Format,
        typer.Option(
            help="pharaoh: links such as 0-0 1-2 on a line for each pair; jsonl: an object with words, "
            "log-probabilities, links and weights; npz: the same as NumPy arrays."
        ),
    ] = Format.pharaoh,
    threshold: Annotated[
        float | None,
        typer.Option(
            help="Link all words whose weight is at least this.",
            show_default="each target word with the source word of its largest weight",
        ),
    ] = None,
    tokenized: Annotated[
        bool,
        typer.Option(
            "--tokenized", help="Words are what stands between blanks, not what the model's tokenizer tells apart."
        ),
    ] = False,
    beam: Beam = 5,
    batch_size: BatchSize = 32,
    device: Device = None,
    dtype: DtypeOption = None,
) -> None:
    """Align the words of sentences and their translations by what the model reads to write each word.

    Links are pairs of indices, source first, counted from 0. The ends of sentences have none; a target word that is
    written mostly from the end of the source has none either.
    """
    from ..alignment.aligner import align
    from ..data.lines import read_lines

    sources, targets = read_lines(src), None
    if tgt:
        targets = read_lines(tgt)
        check_correspondence(src, sources, tgt, targets)
    with written_whole(output) as stream:
        forward = load_translator(model, device, dtype)
        backward = load_translator(reverse_model, device, dtype) if reverse_model else None
        alignments = align(
            forward.model,
            forward.tokenizer,
            [line.split() for line in sources] if tokenized else sources,
            [line.split() for line in targets] if tokenized and targets is not None else targets,
            batch_size,
            num_beams=beam,
            threshold=threshold,
            reverse=(backward.model, backward.tokenizer) if backward else None,
            progress=sys.stderr.isatty(),
        )
        _WRITERS[format](alignments, stream)


def _write_pharaoh(alignments: list["SoftAlignment"], stream: BinaryIO) -> None:
    from ..alignment.links import format_links

    stream.writelines(format_links(one.links).encode() + b"\n" for one in alignments)


def _write_jsonl(alignments: list["SoftAlignment"], stream: BinaryIO) -> None:
    for one in alignments:
        record = {
            "source_words": one.source_words,
            "target_words": one.target_words,
            "log_probs": one.log_probs.round(6).tolist(),
            "links": sorted(one.links),
            "weights": one.weights.round(6).tolist(),  # (target words, source words)
        }
        stream.write(json.dumps(record, ensure_ascii=False).encode() + b"\n")


def _write_npz(alignments: list["SoftAlignment"], stream: BinaryIO) -> None:
    """Sentences have different lengths: five arrays each, such as `weights/0` for the first."""
    import numpy as np

    arrays = {}
    for number, one in enumerate(alignments):
        arrays[f"source_words/{number}"] = np.array(one.source_words)
        arrays[f"target_words/{number}"] = np.array(one.target_words)
        arrays[f"log_probs/{number}"] = one.log_probs
        arrays[f"links/{number}"] = np.array(sorted(one.links), dtype=np.int64).reshape(-1, 2)
        arrays[f"weights/{number}"] = one.weights
    np.savez_compressed(stream, **arrays)  # type: ignore[arg-type]


_WRITERS = {Format.pharaoh: _write_pharaoh, Format.jsonl: _write_jsonl, Format.npz: _write_npz}
