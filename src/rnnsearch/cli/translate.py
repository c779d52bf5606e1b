"""`rnnsearch translate`: lines of text in, as many lines of translation out."""

import sys
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from ..errors import InputError
from .common import BatchSize, Beam, Device, DtypeOption, LengthPenalty, PaperDecoding, load_translator, written_whole


class Replacement(StrEnum):
    """What may stand in the place of an unknown word."""

    copy = "copy"
    lexicon = "lexicon"


def translate(
    model: Annotated[str, typer.Option(help="Folder of a trained model, or its name on the Hugging Face Hub.")],
    source: Annotated[
        Path | None, typer.Option("--input", help="Text to translate, UTF-8.", show_default="standard input")
    ] = None,
    output: Annotated[
        Path | None, typer.Option(help="Where translations are written.", show_default="standard output")
    ] = None,
    beam: Beam = 5,
    n_best: Annotated[
        int, typer.Option(min=1, help="Above 1, lines of: number of the source line, tab, score, tab, translation.")
    ] = 1,
    length_penalty: LengthPenalty = None,
    paper_decoding: PaperDecoding = False,
    scores: Annotated[bool, typer.Option("--scores", help="Write score, tab, translation.")] = False,
    replace_unk: Annotated[
        Replacement | None,
        typer.Option(
            help="In the place of each [UNK], write the source word that it was most read from: copied, or translated "
            "by --lexicon if it is there.",
            show_default="[UNK] stays",
        ),
    ] = None,
    lexicon: Annotated[
        Path | None, typer.Option(help="Lines of: source word, tab, translation; for --replace-unk lexicon.")
    ] = None,
    batch_size: BatchSize = 64,
    device: Device = None,
    dtype: DtypeOption = None,
) -> None:
    """Translate text line by line; a blank line stays blank.

    Scores are log-probabilities of whole translations, divided by the length penalty; blank lines have none.
    """
    if (replace_unk == Replacement.lexicon) != (lexicon is not None):
        raise InputError("--replace-unk lexicon and --lexicon FILE go together: give both or neither")

    from ..data.lines import decode_lines, read_lines
    from ..decoding.unknown import read_lexicon

    replacement = read_lexicon(lexicon) if lexicon else replace_unk and replace_unk.value
    lines = read_lines(source) if source else list(decode_lines(sys.stdin.buffer, "standard input"))
    with written_whole(output) as stream:
        translations = load_translator(model, device, dtype).translate(
            lines,
            num_beams=beam,
            n_best=n_best,
            length_penalty=length_penalty,
            batch_size=batch_size,
            replace_unk=replacement,
            paper_decoding=paper_decoding,
            scores=scores or n_best > 1,
            progress=sys.stderr.isatty(),
        )
        for number, hypotheses in enumerate(translations, 1):
            for hypothesis in hypotheses:
                columns = [hypothesis.text]
                if scores or n_best > 1:
                    columns.insert(0, "" if hypothesis.score is None else f"{hypothesis.score:.4f}")
                if n_best > 1:
                    columns.insert(0, str(number))
                stream.write("\t".join(columns).encode() + b"\n")
