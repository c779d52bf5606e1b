"""The figures of the paper: soft alignments (figure 3) and BLEU against the length of the source (figure 2)."""

import os
from collections.abc import Iterable, Mapping, Sequence
from itertools import cycle
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.text import Text
from matplotlib.ticker import MaxNLocator
from numpy.typing import ArrayLike

from ..errors import InputError

if TYPE_CHECKING:
    from ..evaluation.by_length import LengthBin

__all__ = ["plot_alignment", "plot_length_curves", "save_figure"]

SUFFIXES = (".pdf", ".png", ".svg")
CELL = 0.24  # inches of a matrix cell: one line of 10 point type with air around it
MARGIN = 0.08  # inches around the drawing, and between words and matrix
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
        ValueError: the shape is not (T, S), there are no words, or a weight is outside 0 to 1.
    """
    weights = np.asarray(weights, dtype=np.float64)
    expected = (len(target_words), len(source_words))
    if weights.shape != expected or 0 in expected:
        raise ValueError(
            f"weights of shape {weights.shape} for {expected[0]} target and {expected[1]} source words: "
            "give one row a target word and one column a source word, and at least one of each"
        )
    if not ((weights >= 0) & (weights <= 1 + 1e-6)).all():  # NaN fails too
        raise ValueError(f"weights from {weights.min()} to {weights.max()}: give weights within 0 to 1")

    figure = Figure()
    FigureCanvasAgg(figure)
    axes = figure.add_axes((0, 0, 1, 1))
    axes.imshow(weights, cmap="gray", vmin=0, vmax=1, interpolation="nearest", aspect="auto")
    # Not parsed as mathematics, which would change words such as $5.
    axes.set_xticks(range(len(source_words)), source_words, rotation=90, fontsize=10, parse_math=False)
    axes.set_yticks(range(len(target_words)), target_words, fontsize=10, parse_math=False)
    axes.tick_params(length=0, pad=MARGIN / 2 * 72, top=False, labeltop=True, bottom=False, labelbottom=False)
    heading = figure.text(0.5, 1, title or "", fontsize=12, horizontalalignment="center", parse_math=False)

    # The words are as long as they are and a cell keeps its size; the figure grows around them.
    left = _inches(figure, axes.get_yticklabels())[0] + 2 * MARGIN
    above = _inches(figure, axes.get_xticklabels())[1] + 2 * MARGIN
    heading_width, heading_height = _inches(figure, [heading])
    right = max(MARGIN, heading_width + 2 * MARGIN - left - CELL * len(source_words))
    width = left + CELL * len(source_words) + right
    height = MARGIN + CELL * len(target_words) + above + (heading_height + MARGIN if title else 0)
    figure.set_size_inches(width, height)
    axes.set_position(
        (left / width, MARGIN / height, CELL * len(source_words) / width, CELL * len(target_words) / height)
    )
    heading.set(y=1 - MARGIN / height, verticalalignment="top")
    return figure


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
        InputError: the suffix is another one, or the file cannot be written.
    """
    path = Path(path)
    suffix = path.suffix.lower()
    if suffix not in SUFFIXES:
        raise InputError(f"{path}: cannot tell the format of the figure; end the name with {', '.join(SUFFIXES)}")
    partial = path.with_name(f"{path.name}.part")
    try:
        figure.savefig(partial, format=suffix[1:], dpi=150)
        partial.replace(path)
    except OSError as error:
        raise InputError(f"{path}: cannot be written: {error.strerror or error}") from error
    finally:
        partial.unlink(missing_ok=True)


def _inches(figure: Figure, texts: Iterable[Text]) -> tuple[float, float]:
    """Width of the widest and height of the highest of the texts, as they stand, turned or not."""
    boxes = [text.get_window_extent() for text in texts]
    return max(box.width for box in boxes) / figure.dpi, max(box.height for box in boxes) / figure.dpi
