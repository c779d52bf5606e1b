"""`rnnsearch train`: a model from parallel text."""

import sys
from typing import Annotated

import typer

from .common import hide_bars


def train(
    context: typer.Context,
    help: Annotated[bool, typer.Option("--help", help="Every option with its default.")] = False,
) -> None:
    """Train a model: rnnsearch train CONFIG.json [--option value ...], or options alone.

    Every field of transformers' Seq2SeqTrainingArguments is an option, too; options override the file.
    """
    from ..training.parser import OptionParser

    parser = OptionParser()
    if help:
        print(parser.format_help(), end="")
        return
    # A bar is for a person who watches; a log file gets the lines alone.
    parser.set_defaults(disable_tqdm=None if sys.stderr.isatty() else True)
    data, model, args = parser.read(context.args)

    import torch
    from accelerate import PartialState
    from transformers.utils import logging

    from ..training.train import last_checkpoint
    from ..training.train import train as run

    hide_bars(of_text=bool(args.disable_tqdm))
    logging.get_logger("transformers.trainer_utils").setLevel(logging.ERROR)  # doubts about the clock of the disk
    try:
        run(data, model, args)
    except KeyboardInterrupt as interrupt:
        last = last_checkpoint(args.output_dir)
        hint = f"add --resume to go on from {last}" if last else "no checkpoint was written yet"
        print(f"rnnsearch: interrupted; {hint}", file=sys.stderr)
        raise typer.Exit(130) from interrupt
    # Threads of the process group that outlive the interpreter may abort it; PyTorch 2.6 may wait for them for ever.
    if torch.__version__ >= "2.8":
        PartialState().destroy_process_group()
