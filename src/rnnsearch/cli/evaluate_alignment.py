"""`rnnsearch evaluate-alignment`: found links against gold ones."""

import json
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from .common import check_correspondence, written_whole


def evaluate_alignment(
    links: Annotated[Path, typer.Option(help="Links to score, as `rnnsearch align` writes them (pharaoh or jsonl).")],
    gold: Annotated[
        Path,
        typer.Option(
            help="Links of people, a line for each pair: 0-0 1-2-P (P: possible, else sure), or JSON with a list "
            "`alignment` of pairs."
        ),
    ],
    gold_first_index: Annotated[
        int, typer.Option(min=0, max=1, help="Index of a sentence's first word in --gold.")
    ] = 0,
    gold_target_first: Annotated[
        bool, typer.Option("--gold-target-first", help="In --gold, the target's index stands before the source's.")
    ] = False,
    json_file: Annotated[
        Path | None, typer.Option("--json", help="Where the figures are saved; - prints them in place of the table.")
    ] = None,
) -> None:
    """Print precision, recall and alignment error rate (AER) of links, as fractions of 1 over all sentences.

    Precision is against the possible links, sure ones among them; recall against the sure ones.
    """
    from ..alignment.links import read_links
    from ..evaluation.alignment_error import alignment_error_rate

    found, _ = read_links(links)
    sure, possible = read_links(gold, gold_first_index, gold_target_first)
    check_correspondence(links, found, gold, sure)
    error = alignment_error_rate(found, sure, possible)
    rows = [("precision", error.precision), ("recall", error.recall), ("AER", error.error_rate)]
    table = "".join(f"{name:<10}{value:.4f}\n" for name, value in rows)
    table += f"{error.links} links in {error.sentences} sentences\n"
    to_file = json_file is not None and str(json_file) != "-"
    with written_whole(json_file if to_file else None) as stream:
        stream.write((json.dumps(asdict(error), indent=2) + "\n" if json_file else table).encode())
    if to_file:
        print(table, end="")
