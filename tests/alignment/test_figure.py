"""The figures: what stands where, which grey a weight has, and files that are whole or absent."""

from itertools import combinations, pairwise
from types import SimpleNamespace

import matplotlib
import matplotlib.pyplot as plt
import numpy as np
import pytest

from rnnsearch.alignment import figure as figure_module
from rnnsearch.alignment.figure import plot_alignment, plot_alignments, plot_length_curves, save_figure
from rnnsearch.errors import InputError
from rnnsearch.evaluation.by_length import LengthBin

pytestmark = pytest.mark.filterwarnings("error")


def random_weights(target, source):
    return np.random.default_rng(0).dirichlet(np.ones(source), size=target)


def pixels(figure):
    """The figure as drawn: (height, width, 3) of 0 to 255, row 0 at the bottom, as in matplotlib's display units."""
    figure.canvas.draw()
    return np.asarray(figure.canvas.buffer_rgba())[::-1, :, :3].astype(int)


def words_of(axis):
    return [label.get_text() for label in axis.get_ticklabels()]


class TestPlotAlignment:
    @pytest.mark.parametrize("shape", [(1, 1), (1, 40), (60, 3), (14, 12)])
    def test_every_word_has_its_tick(self, shape):
        target = [f"cible{i}" for i in range(shape[0])]
        source = [f"source{j}" for j in range(shape[1])]
        figure = plot_alignment(random_weights(*shape), source, target, title="a title")
        figure.canvas.draw()
        (axes,) = figure.axes
        assert axes.get_xticks().tolist() == list(range(shape[1]))
        assert axes.get_yticks().tolist() == list(range(shape[0]))
        assert words_of(axes.xaxis) == source
        assert words_of(axes.yaxis) == target

    def test_words_said_twice(self):
        figure = plot_alignment(random_weights(3, 4), ["the", "cat", "the", "cat"], ["le", "le", "le"])
        figure.canvas.draw()
        assert words_of(figure.axes[0].xaxis) == ["the", "cat", "the", "cat"]
        assert words_of(figure.axes[0].yaxis) == ["le", "le", "le"]

    @pytest.mark.parametrize("weights", [[[0.0, 1.0, 0.0], [0.4, 0.2, 0.4]], [[0.3, 0.3, 0.4]]])
    def test_grey_of_each_cell(self, weights):
        """Row i is target word i counted from the top, column j source word j; 0 is black and 1 white."""
        figure = plot_alignment(weights, ["a", "b", "c"], ["x", "y"][: len(weights)])
        image = pixels(figure)
        (axes,) = figure.axes
        for (i, j), weight in np.ndenumerate(weights):
            column, row = axes.transData.transform((j, i)).astype(int)
            np.testing.assert_allclose(image[row, column], 255 * weight, atol=1)
        left_top, right_bottom = axes.transData.transform([(0, 0), (2, 1)])
        assert left_top[0] < right_bottom[0]
        assert left_top[1] > right_bottom[1]

    @pytest.mark.parametrize("title", [None, "a title a good deal wider than so narrow a matrix"])
    @pytest.mark.parametrize("shape", [(1, 1), (3, 40), (45, 2)])
    def test_words_are_inside_and_apart(self, shape, title):
        target = ["W" * (3 + i % 20) for i in range(shape[0])]
        source = ["ÂWjg" * (1 + j % 7) for j in range(shape[1])]
        figure = plot_alignment(random_weights(*shape), source, target, title)
        figure.canvas.draw()
        (axes,) = figure.axes
        columns = [label.get_window_extent() for label in axes.get_xticklabels()]
        rows = [label.get_window_extent() for label in axes.get_yticklabels()]
        headings = [text.get_window_extent() for text in figure.texts if text.get_text()]
        for box in [*columns, *rows, *headings, axes.get_window_extent()]:
            assert box.x0 >= 0
            assert box.y0 >= 0
            assert box.x1 <= figure.bbox.width
            assert box.y1 <= figure.bbox.height
        assert all(left.x1 < right.x0 for left, right in pairwise(columns))
        assert all(upper.y0 > lower.y1 for upper, lower in pairwise(rows))
        assert all(box.y0 > axes.get_window_extent().y1 for box in columns)
        assert all(box.x1 < axes.get_window_extent().x0 for box in rows)
        assert all(heading.y0 > box.y1 for heading in headings for box in columns)

    def test_cells_keep_their_size(self):
        sizes = []
        for shape in [(1, 1), (2, 30), (50, 3)]:
            figure = plot_alignment(random_weights(*shape), ["w"] * shape[1], ["mot"] * shape[0])
            box = figure.axes[0].get_window_extent()
            sizes.append((box.width / shape[1], box.height / shape[0]))
        np.testing.assert_allclose(sizes, sizes[0][0])

    def test_dollars_are_no_formula(self):
        plain = plot_alignment([[1.0]], ["a_1"], ["x"], "a_1")
        dollars = plot_alignment([[1.0]], ["$a_1$"], ["x"], "$a_1$")
        # As a formula the word would be narrower than its letters and the underscore gone.
        for find in (lambda figure: figure.axes[0].get_xticklabels()[0], lambda figure: figure.texts[0]):
            assert max(find(dollars).get_window_extent().size) > max(find(plain).get_window_extent().size)

    def test_pyplot_keeps_nothing(self):
        plot_alignment([[1.0]], ["a"], ["b"])
        plot_length_curves({"model": make_bins([10.0])})
        assert plt.get_fignums() == []

    @pytest.mark.parametrize(
        ("weights", "source", "target"),
        [
            ([[0.5, 0.5]], ["a"], ["x"]),
            ([[0.5], [0.5]], ["a", "b"], ["x"]),
            ([0.5, 0.5], ["a", "b"], ["x"]),
            (np.zeros((0, 0)), [], []),
        ],
    )
    def test_wrong_shape(self, weights, source, target):
        with pytest.raises(ValueError, match=r"target and \d source words"):
            plot_alignment(weights, source, target)

    @pytest.mark.parametrize("weight", [-0.1, 1.1, float("nan")])
    def test_no_weight(self, weight):
        with pytest.raises(ValueError, match="within 0 to 1"):
            plot_alignment([[weight, 0.5]], ["a", "b"], ["x"])


def overlap(one, other):
    return one.x0 < other.x1 and other.x0 < one.x1 and one.y0 < other.y1 and other.y0 < one.y1


class TestPlotAlignments:
    shapes = [(2, 3), (14, 5), (1, 1), (4, 12), (3, 3)]

    def alignments(self, count):
        return [
            SimpleNamespace(
                weights=random_weights(t, s),
                source_words=["W" * (j + 1) for j in range(s)],
                target_words=["W" * (t + 3)] * t,
            )
            for t, s in self.shapes[:count]
        ]

    def test_four_panels(self):
        """Two rows of two, read as text is, at the same scale, with words and titles, nothing on top of another."""
        alignments = self.alignments(4)
        figure = plot_alignments(alignments, ["(a)", "(b)", "(c)", "a title wider than its matrix"])
        figure.canvas.draw()
        assert [words_of(axes.yaxis) for axes in figure.axes] == [one.target_words for one in alignments]
        boxes = [axes.get_window_extent() for axes in figure.axes]
        assert boxes[0].y1 == pytest.approx(boxes[1].y1)
        assert boxes[2].y1 == pytest.approx(boxes[3].y1)
        assert boxes[0].x0 == pytest.approx(boxes[2].x0)
        assert boxes[1].x0 == pytest.approx(boxes[3].x0)
        for box, (target, source) in zip(boxes, self.shapes, strict=False):
            assert box.width / source == pytest.approx(boxes[0].width / 3)
            assert box.height / target == pytest.approx(boxes[0].height / 2)

        boxes += [heading.get_window_extent() for heading in figure.texts]
        for axes in figure.axes:
            boxes += [label.get_window_extent() for label in (*axes.get_xticklabels(), *axes.get_yticklabels())]
        assert not any(overlap(one, other) for one, other in combinations(boxes, 2))
        assert all(0 <= box.x0 and box.x1 <= figure.bbox.width for box in boxes)
        assert all(0 <= box.y0 and box.y1 <= figure.bbox.height for box in boxes)
        for heading, axes in zip(figure.texts, figure.axes, strict=True):
            assert heading.get_window_extent().y0 > axes.get_xticklabels()[-1].get_window_extent().y1

    @pytest.mark.parametrize(("count", "columns"), [(1, 1), (2, 2), (3, 2), (5, 3)])
    def test_rows(self, count, columns):
        figure = plot_alignments(self.alignments(count))
        tops = [round(axes.get_window_extent().y1) for axes in figure.axes]
        assert tops == [tops[i // columns * columns] for i in range(count)]
        assert tops == sorted(tops, reverse=True)
        assert len(set(tops)) == -(-count // columns)

    def test_wrong_number(self):
        with pytest.raises(ValueError, match="0 alignments and 0 titles"):
            plot_alignments([])
        with pytest.raises(ValueError, match="2 alignments and 1 titles"):
            plot_alignments(self.alignments(2), ["one"])


class TestScripts:
    def test_chinese_stands_upright(self, monkeypatch):
        """Its characters one below the other, those of other words turned; what draws them is not asked here."""
        monkeypatch.setattr(figure_module, "families_for", lambda texts: ["DejaVu Sans"])
        with pytest.warns(UserWarning, match="[Gg]lyph"):
            figure = plot_alignment([[0.5, 0.5]], ["花园", "dog"], ["花园"])
        (axes,) = figure.axes
        assert words_of(axes.xaxis) == ["花\n园", "dog"]
        assert [label.get_rotation() for label in axes.get_xticklabels()] == [0, 90]
        assert words_of(axes.yaxis) == ["花园"]

    def test_every_character_is_drawn(self):
        """In a font that has it; warnings, one of which says that a font lacks it, are errors here."""
        try:
            figure = plot_alignment([[0.2, 0.8], [1.0, 0.0]], ["花园", "dog"], ["слово", "λόγος"])
        except InputError as error:
            pytest.skip(f"needs fonts: {error}")
        figure.canvas.draw()

    @pytest.mark.skipif(matplotlib.__version_info__ < (3, 11), reason="needs matplotlib 3.11")
    def test_arabic_letters_are_joined(self):
        """Joined, they are narrower than side by side; from right to left, the first one is at the right."""
        apart, joined = "س\u200cس\u200cس", "سسس"
        figure = plot_alignment([[0.5], [0.5]], ["a"], [apart, joined])
        wide, narrow = (label.get_window_extent().width for label in figure.axes[0].get_yticklabels())
        assert narrow < wide

    def test_a_character_that_no_font_has(self):
        with pytest.raises(InputError, match=r"no installed font has .* \(U\+F0000\)"):
            plot_alignment([[1.0]], ["\U000f0000"], ["b"])


def make_bins(scores, spread=2.0):
    return [
        LengthBin(10 * i + 1, 10 * i + 10, 20, score, score - spread, score + spread) for i, score in enumerate(scores)
    ]


class TestPlotLengthCurves:
    def test_lines_and_bands(self):
        figure = plot_length_curves(
            {"search": make_bins([20.0, 25.0, 24.0]), "encdec": make_bins([18.0, 9.0])}, "test"
        )
        (axes,) = figure.axes
        search, encdec = axes.get_lines()
        np.testing.assert_allclose(search.get_xydata(), [[5.5, 20], [15.5, 25], [25.5, 24]])
        np.testing.assert_allclose(encdec.get_xydata(), [[5.5, 18], [15.5, 9]])
        assert search.get_linestyle() != encdec.get_linestyle()

        band = {tuple(corner) for corner in axes.collections[0].get_paths()[0].vertices.tolist()}
        assert band >= {(5.5, 18.0), (5.5, 22.0), (15.5, 23.0), (15.5, 27.0), (25.5, 22.0), (25.5, 26.0)}

        assert [text.get_text() for text in axes.get_legend().get_texts()] == ["search", "encdec"]
        assert axes.get_title() == "test"
        assert axes.get_xlim() == (0, 30)
        assert axes.get_ylim()[0] == 0
        figure.canvas.draw()

    def test_the_interval_of_one_bin_is_seen(self):
        figure = plot_length_curves({"search": make_bins([20.0])})
        whiskers = [segment.tolist() for segment in figure.axes[0].collections[1].get_segments()]
        assert whiskers == [[[5.5, 18.0], [5.5, 22.0]]]

    @pytest.mark.parametrize("curves", [{}, {"search": []}, {"search": make_bins([20.0]), "encdec": []}])
    def test_nothing_to_draw(self, curves):
        with pytest.raises(ValueError, match="nothing to draw"):
            plot_length_curves(curves)


class TestSaveFigure:
    figure = plot_alignment([[0.0, 1.0]], ["a", "b"], ["x"])

    @pytest.mark.parametrize(
        ("name", "start"), [("a.png", b"\x89PNG\r\n"), ("a.svg", b"<?xml"), ("a.pdf", b"%PDF-"), ("a.PNG", b"\x89PNG")]
    )
    def test_formats(self, tmp_path, name, start):
        (tmp_path / name).write_bytes(b"older and to be replaced")
        save_figure(self.figure, tmp_path / name)
        assert (tmp_path / name).read_bytes().startswith(start)
        assert [path.name for path in tmp_path.iterdir()] == [name]

    def test_path_may_be_a_string(self, tmp_path):
        save_figure(self.figure, f"{tmp_path}/a.b.png")
        assert (tmp_path / "a.b.png").exists()

    @pytest.mark.parametrize("name", ["a.jpeg", "png", "a"])
    def test_unknown_format(self, tmp_path, name):
        with pytest.raises(InputError, match=r"\.pdf, \.png, \.svg"):
            save_figure(self.figure, tmp_path / name)
        assert list(tmp_path.iterdir()) == []

    def test_too_large_for_a_png(self, tmp_path):
        figure = plot_alignment(random_weights(1, 600), ["w"] * 600, ["x"])
        with pytest.raises(InputError, match=r"would have 21\d\d\d x \d+ pixels, more than 20000"):
            save_figure(figure, tmp_path / "a.png")
        assert list(tmp_path.iterdir()) == []

    @pytest.mark.parametrize("error", [OSError(28, "No space left on device"), KeyboardInterrupt()])
    def test_whole_or_not_at_all(self, tmp_path, monkeypatch, error):
        path = tmp_path / "a.png"
        path.write_bytes(b"older")

        def savefig(partial, **options):
            partial.write_bytes(b"half")
            raise error

        monkeypatch.setattr(self.figure, "savefig", savefig)
        with pytest.raises(InputError if isinstance(error, OSError) else KeyboardInterrupt):
            save_figure(self.figure, path)
        assert path.read_bytes() == b"older"
        assert list(tmp_path.iterdir()) == [path]

    def test_no_such_folder(self, tmp_path):
        with pytest.raises(InputError, match=r"a\.png: cannot be written: No such file"):
            save_figure(self.figure, tmp_path / "missing" / "a.png")

    def test_folder_in_the_way(self, tmp_path):
        (tmp_path / "a.png").mkdir()
        with pytest.raises(InputError, match="cannot be written"):
            save_figure(self.figure, tmp_path / "a.png")
        assert [path.name for path in tmp_path.iterdir()] == ["a.png"]
