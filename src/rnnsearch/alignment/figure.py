"""The figures of the paper: soft alignments (figure 3) and BLEU against the length of the source (figure 2)."""

import math
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import cycle
from pathlib import Path
from typing import TYPE_CHECKING, Any
from unicodedata import east_asian_width

import numpy as np
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.text import Text
from matplotlib.ticker import MaxNLocator
from numpy.typing import ArrayLike

from ..errors import InputError
from .fonts import families_for

if TYPE_CHECKING:
    from ..evaluation.by_length import LengthBin
    from .aligner import SoftAlignment

__all__ = ["check_suffix", "plot_alignment", "plot_alignments", "plot_length_curves", "save_figure"]

SUFFIXES = (".pdf", ".png", ".svg")
CELL = 0.24  # inches of a matrix cell: one line of 10 point type with air around it
MARGIN = 0.08  # inches around the drawing, and between words and matrix
GAP = 0.3  # inches between the drawings of a figure
DPI = 150
LARGEST = 20_000  # pixels of a PNG's side: more is past what viewers open
LINE_STYLES = ("-", "--", "-.", ":")


def plot_alignment(
    weights: ArrayLike, source_words: Sequence[str], target_words: Sequence[str], title: str | None = None
) -> Figure:
    """Draw a soft alignment as in figure 3 of the paper: source across the top, target down the side.

    A cell is black where the weight is 0 and white where it is 1. The figure grows with the number of words.

    Args:
        weights: α, (T, S): row i holds the weights that target word i gives to the source words, each within 0 to 1.
        source_words: S words, one a column.
        target_words: T words, one a row.
        title: a line above the words.

    Raises:
        ValueError: the shape is not (T, S), there are no words, or a weight is outside 0 to 1; its kind InputError: no
            installed font has some character.
    """
    return _grid([_Panel(weights, source_words, target_words, title or "")])


def plot_alignments(alignments: Sequence["SoftAlignment"], titles: Sequence[str] | None = None) -> Figure:
    """Draw several alignments in one figure, in rows, as the four panels of figure 3.

    Args:
        alignments: what `align` returns.
        titles: a line above each.

    Raises:
        ValueError: there are no alignments, or another number of titles; its kind InputError: no installed font has
            some character.
    """
    titles = [""] * len(alignments) if titles is None else titles
    if not 0 < len(alignments) == len(titles):
        raise ValueError(
            f"{len(alignments)} alignments and {len(titles)} titles: give one title for each, at least one"
        )
    return _grid(
        [
            _Panel(one.weights, one.source_words, one.target_words, title)
            for one, title in zip(alignments, titles, strict=True)
        ]
    )


def plot_length_curves(curves: Mapping[str, Sequence["LengthBin"]], title: str | None = None) -> Figure:
    """Draw BLEU against the length of the source as in figure 2 of the paper: one line a model, with its confidence.

    A point stands in the middle of its bin; the band around the line is the bins' 95 % confidence interval.

    Args:
        curves: for each model's name, what `bleu_by_length` returns.
        title: a line above the axes.

    Raises:
        ValueError: there is no curve, or one has no bin.
    """
    if not curves or not all(curves.values()):
        raise ValueError("nothing to draw: give at least one curve, and one bin or more to each")

    figure = Figure(figsize=(6.4, 4.4), layout="constrained")
    FigureCanvasAgg(figure)
    axes = figure.add_subplot()
    for (name, bins), line_style in zip(curves.items(), cycle(LINE_STYLES), strict=False):
        middles = [(one.low + one.high) / 2 for one in bins]
        (line,) = axes.plot(middles, [one.bleu for one in bins], line_style, marker="o", markersize=3.5, label=name)
        lows, highs = [one.confidence_low for one in bins], [one.confidence_high for one in bins]
        axes.fill_between(middles, lows, highs, color=line.get_color(), alpha=0.15, linewidth=0)
        axes.vlines(
            middles, lows, highs, color=line.get_color(), alpha=0.4, linewidth=1
        )  # a band of one bin has no area
    axes.set_xlabel("Sentence length (source words)")
    axes.set_ylabel("BLEU score")
    axes.set_xlim(0, max(bins[-1].high for bins in curves.values()))
    axes.set_ylim(bottom=0)
    axes.xaxis.set_major_locator(MaxNLocator(steps=[1, 2, 5, 10], integer=True))
    axes.grid(alpha=0.25)
    axes.legend(frameon=False)
    if title:
        axes.set_title(title, parse_math=False)
    return figure


def save_figure(figure: Figure, path: str | os.PathLike[str]) -> None:
    """Write a figure in the format that the suffix of `path` names: `.png`, `.svg` or `.pdf`.

    The file is written whole or not at all; one that is already there is replaced.

    Raises:
        InputError: the suffix is another one, the figure too large for a PNG, or the file cannot be written.
    """
    path = Path(path)
    suffix = check_suffix(path)
    width, height = (figure.get_size_inches() * DPI).astype(int)
    if suffix == "png" and max(width, height) > LARGEST:
        raise InputError(
            f"{path}: would have {width} x {height} pixels, more than {LARGEST}: draw less, or write .svg or .pdf"
        )
    partial = path.with_name(f"{path.name}.part")
    try:
        figure.savefig(partial, format=suffix, dpi=DPI)
        partial.replace(path)
    except OSError as error:
        raise InputError(f"{path}: cannot be written: {error.strerror or error}") from error
    finally:
        partial.unlink(missing_ok=True)


def check_suffix(path: Path) -> str:
    """The format that a figure of this name has, such as `png`.

    Raises:
        InputError: there is no such format.
    """
    suffix = path.suffix.lower()
    if suffix not in SUFFIXES:
        raise InputError(f"{path}: cannot tell the format of the figure; end the name with {', '.join(SUFFIXES)}")
    return suffix[1:]


@dataclass(frozen=True, eq=False)
class _Panel:
    """What is to be drawn: the arguments of `plot_alignment`."""

    weights: ArrayLike
    source_words: Sequence[str]
    target_words: Sequence[str]
    title: str


class _Matrix:
    """A matrix with its words, drawn but not yet placed, and the room that it takes, in inches."""

    def __init__(self, figure: Figure, panel: _Panel, families: list[str]):
        weights = np.asarray(panel.weights, dtype=np.float64)
        expected = (len(panel.target_words), len(panel.source_words))
        if weights.shape != expected or 0 in expected:
            raise ValueError(
                f"weights of shape {weights.shape} for {expected[0]} target and {expected[1]} source words: "
                "give one row a target word and one column a source word, and at least one of each"
            )
        if not ((weights >= 0) & (weights <= 1 + 1e-6)).all():  # NaN fails too
            raise ValueError(f"weights from {weights.min()} to {weights.max()}: give weights within 0 to 1")

        self.axes = axes = figure.add_axes((0, 0, 1, 1))
        axes.imshow(weights, cmap="gray", vmin=0, vmax=1, interpolation="nearest", aspect="auto")
        # Not parsed as mathematics, which would change words such as $5.
        text: dict[str, Any] = {"fontfamily": families, "parse_math": False}
        above = [_downwards(word) for word in panel.source_words]
        axes.set_xticks(range(len(above)), above, rotation=90, fontsize=10, linespacing=1, **text)
        axes.set_yticks(range(expected[0]), panel.target_words, fontsize=10, **text)
        axes.tick_params(length=0, pad=MARGIN / 2 * 72, top=False, labeltop=True, bottom=False, labelbottom=False)
        for label, word in zip(axes.get_xticklabels(), panel.source_words, strict=True):
            if _is_wide(word):
                label.set_rotation(0)
        self.heading = figure.text(0, 0, panel.title, fontsize=12, horizontalalignment="center", **text)

        self.height, self.width = CELL * expected[0], CELL * expected[1]
        self.left = _inches(figure, axes.get_yticklabels())[0] + MARGIN
        self.to_heading = _inches(figure, axes.get_xticklabels())[1] + 2 * MARGIN
        heading_width, heading_height = _inches(figure, [self.heading]) if panel.title else (0, -MARGIN)
        self.above = self.to_heading + heading_height
        self.right = max(self.width, heading_width - self.left)


def _grid(panels: Sequence[_Panel]) -> Figure:
    """Panels in rows of as many as there are rows; matrices below each other begin at the same place."""
    families = families_for(text for one in panels for text in (*one.source_words, *one.target_words, one.title))
    figure = Figure()
    FigureCanvasAgg(figure)
    matrices = [_Matrix(figure, panel, families) for panel in panels]

    # The words are as long as they are and a cell keeps its size; the figure grows around them.
    per_row = math.ceil(math.sqrt(len(matrices)))
    columns = [matrices[start::per_row] for start in range(per_row)]
    rows = [matrices[start : start + per_row] for start in range(0, len(matrices), per_row)]
    lefts = [max(one.left for one in column) for column in columns]
    widths = [left + max(one.right for one in column) for left, column in zip(lefts, columns, strict=True)]
    aboves = [max(one.above for one in row) for row in rows]
    heights = [above + max(one.height for one in row) for above, row in zip(aboves, rows, strict=True)]
    width = 2 * MARGIN + sum(widths) + GAP * (len(widths) - 1)
    height = 2 * MARGIN + sum(heights) + GAP * (len(heights) - 1)
    figure.set_size_inches(width, height)
    for number, one in enumerate(matrices):
        row, column = divmod(number, per_row)
        x = MARGIN + sum(widths[:column]) + GAP * column + lefts[column]
        y = height - MARGIN - sum(heights[:row]) - GAP * row - aboves[row]
        one.axes.set_position((x / width, (y - one.height) / height, one.width / width, one.height / height))
        middle = x - one.left + (one.left + one.right) / 2
        one.heading.set(x=middle / width, y=(y + one.to_heading) / height, verticalalignment="bottom")
    return figure


def _is_wide(word: str) -> bool:
    """Whether all characters are of a script whose vertical lines keep them upright, such as Chinese."""
    return all(east_asian_width(char) in "WF" for char in word)


def _downwards(word: str) -> str:
    return "\n".join(word) if _is_wide(word) else word


def _inches(figure: Figure, texts: Iterable[Text]) -> tuple[float, float]:
    """Width of the widest and height of the highest of the texts, as they stand, turned or not."""
    boxes = [text.get_window_extent() for text in texts]
    return max(box.width for box in boxes) / figure.dpi, max(box.height for box in boxes) / figure.dpi
