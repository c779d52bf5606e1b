"""`rnnsearch plot`: what a model reads to write each word, as a picture or a page; and BLEU against length."""

import sys
from contextlib import ExitStack
from pathlib import Path
from typing import Annotated

import typer

from ..errors import InputError
from .common import Beam, Device, DtypeOption, check_correspondence, load_translator, written_whole


def plot(
    sentences: Annotated[
        list[str] | None,
        typer.Argument(help="Sentences to translate and draw.", show_default="--src, or standard input"),
    ] = None,
    model: Annotated[
        str | None, typer.Option(help="Folder of a trained model, or its name on the Hugging Face Hub.")
    ] = None,
    src: Annotated[Path | None, typer.Option(help="File of sentences to draw, one a line.")] = None,
    tgt: Annotated[
        Path | None,
        typer.Option(help="Translations of --src, line by line.", show_default="the model's own translations"),
    ] = None,
    line: Annotated[
        list[int] | None,
        typer.Option(min=1, help="Draw this line of --src, counted from 1; can be repeated.", show_default="all"),
    ] = None,
    output: Annotated[
        Path | None, typer.Option(help="Where the picture is written: .png, .svg or .pdf; several go into one grid.")
    ] = None,
    html: Annotated[
        Path | None,
        typer.Option(
            help="Where a page is written that answers to the pointer and the keyboard, and needs no network."
        ),
    ] = None,
    curves: Annotated[
        Path | None,
        typer.Option(
            help="In place of alignments, draw BLEU against the length of the source, for each system in this file of "
            "`rnnsearch evaluate --json`."
        ),
    ] = None,
    beam: Beam = 5,
    device: Device = None,
    dtype: DtypeOption = None,
) -> None:
    """Draw the alignment of sentences as the paper's figure 3: source across the top, translation down the side.

    White is read in full, black not at all. How much was read does not say why a word was written.
    With --curves, draw BLEU against length as in figure 2; bands are 95 % bootstrap intervals.
    """
    if not (output or html):
        raise InputError("nowhere to draw: give --output FILE for a picture, --html FILE for a page, or both")
    if curves:
        if sentences or model or src or html or not output:
            raise InputError("--curves draws scores that are there already: give --output beside it, and no more")
        _plot_curves(curves, output)
        return
    if not model:
        raise InputError("nothing to draw: give --model with sentences, or scores with --curves")
    if sentences and src:
        raise InputError("sentences stand in --src and after the command: leave one out")
    if not src and (tgt or line):
        raise InputError(f"{'--tgt' if tgt else '--line'} goes with --src: give the file of the sentences")

    from ..alignment.aligner import align
    from ..alignment.figure import check_suffix, plot_alignments, save_figure
    from ..alignment.page import make_page
    from ..data.lines import decode_lines, read_lines

    if output:
        check_suffix(output)
    if not (sentences or src):
        sentences = list(decode_lines(sys.stdin.buffer, "standard input"))
    sources = read_lines(src) if src else sentences or []
    targets = None
    if src and tgt:
        targets = read_lines(tgt)
        check_correspondence(src, sources, tgt, targets)
    if not sources:
        raise InputError("standard input: is empty; give sentences there, after the command, or in --src")
    numbers = line or range(1, len(sources) + 1)
    if max(numbers) > len(sources):
        raise InputError(f"{src} has {len(sources)} lines, but line {max(numbers)} is to be drawn")

    with ExitStack() as files:
        page = files.enter_context(written_whole(html)) if html else None
        translator = load_translator(model, device, dtype)
        alignments = align(
            translator.model,
            translator.tokenizer,
            [sources[number - 1] for number in numbers],
            [targets[number - 1] for number in numbers] if targets is not None else None,
            num_beams=beam,
            keep_tokens=page is not None,
            progress=sys.stderr.isatty(),
        )
        if output:
            titles = [f"({number})" for number in numbers] if len(alignments) > 1 else None
            save_figure(plot_alignments(alignments, titles), output)
        if page:
            tokenizer = translator.tokenizer
            page.write(make_page(alignments, tokenizer.source_lang, tokenizer.target_lang).encode())


def _plot_curves(scores: Path, output: Path) -> None:
    from ..alignment.figure import plot_length_curves, save_figure
    from ..evaluation.report import read_report

    systems = read_report(scores).systems
    curves = {name: system.bleu_by_length.get("all", ()) for name, system in systems.items()}
    if not curves:
        raise InputError(f"{scores}: has no system; score one with `rnnsearch evaluate --json`")
    if without := [name for name, bins in curves.items() if not bins]:
        raise InputError(f"{scores}: has no lengths for {', '.join(without)}; score with `rnnsearch evaluate --src`")
    save_figure(plot_length_curves(curves), output)
