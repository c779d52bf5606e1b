"""The `rnnsearch` command: one small file for each subcommand.

Nothing here imports PyTorch or Transformers before a command runs, so that `--help` answers at once.
"""

import sys
from typing import Annotated

import typer
from typer.core import TyperGroup

from ..errors import InputError
from ..version import __version__
from .align import align
from .demo import demo
from .demo_app import demo_app
from .evaluate import evaluate
from .evaluate_alignment import evaluate_alignment
from .export import export
from .plot import plot
from .push import push
from .score import score
from .tokenizer import tokenizer
from .train import train
from .translate import translate


class _Commands(TyperGroup):
    """Commands whose input errors are one line and exit code 2."""

    def invoke(self, ctx):
        try:
            return super().invoke(ctx)
        except InputError as error:
            print(f"rnnsearch: error: {error}", file=sys.stderr)
            raise typer.Exit(2) from error
        except KeyboardInterrupt as error:
            print("rnnsearch: interrupted", file=sys.stderr)
            raise typer.Exit(130) from error


app = typer.Typer(
    cls=_Commands,
    name="rnnsearch",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)


def _print_version(wanted: bool) -> None:
    if wanted:
        print(f"rnnsearch {__version__}")
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version and leave.")
    ] = False,
) -> None:
    """RNNsearch, the translation model that introduced attention (Bahdanau, Cho and Bengio, 2014)."""


app.command()(tokenizer)
# Its options are the fields of the training arguments, which read them, and `--help` too, themselves.
app.command(
    add_help_option=False,
    context_settings={"allow_extra_args": True, "ignore_unknown_options": True},
)(train)
app.command()(translate)
app.command()(evaluate)
app.command()(score)
app.command()(align)
app.command()(evaluate_alignment)
app.command()(plot)
app.command()(export)
app.command()(push)
app.command()(demo)
app.command()(demo_app)


def main() -> None:
    """Entry point of the `rnnsearch` command."""
    app()
