"""The picture of a frontier: each release a mark, risk against utility, those that no other beats joined by a line."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from textwrap import fill
from typing import TYPE_CHECKING, Any

from microagg.evaluation.measures import measure_named
from microagg.frontier.axis_words import as_written, axis_title, is_share, set_scale
from microagg.frontier.label_places import Label, draw_labels, segment_boxes
from microagg.frontier.mark_places import Box, Place, places_apart
from microagg.frontier.tradeoff_plot import can_plot
from microagg.methods.catalogue import METHODS

if TYPE_CHECKING:
    from microagg.frontier.frontier import Axes, Frontier, FrontierPoint

__all__ = ["can_plot", "plot_frontier"]

_MARKS = "osD^vP*X<>ph"
# Colours that people who confuse red and green can tell apart (Okabe and Ito), then greys.
_COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#B87700", "#2F8FC4", "#000000", "#8B6D00", "#777777")
_APART = 10.0  # points of the page between two marks
_LEGEND_WIDTH, _LONGEST_NAME = 26, 60  # characters
_IN_ONE_COLUMN = 24
_NOTES_WIDTH = 150
_SYMBOLS = {
    "k": ("k", "least number of records in a cell"),
    "epsilon": ("\N{GREEK SMALL LETTER EPSILON}", "privacy budget"),
    "lambda": ("\N{GREEK SMALL LETTER LAMDA}", "weight of dependence"),
    "alpha": ("\N{GREEK SMALL LETTER ALPHA}", "stretch along the discriminant"),
    "l": ("l", "least number of confidential values in a cell"),
    "t": ("t", "largest distance of a cell's confidential values from the table's"),
}
_INTERNAL = "Internal: measured on the original records, not for publication."


def plot_frontier(frontier: Frontier, path: str | Path) -> None:
    """Draw risk against utility into a PNG, SVG or PDF file.

    One mark and colour per method, labelled with what distinguishes the point, where there is room; points that no
    other beats are filled and joined, the others are hollow; bars are standard deviations over repeats. A mark that
    would hide another stands beside its point, tied to it by a line. Axes are set by the points: logarithmic where
    values differ by more than a factor of 50, and turned so that better is to the left and down. Notes below say what
    chance alone would reach, which releases have no place, what the symbols of labels mean.
    """
    import matplotlib
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    utility, risk = frontier.axes.utility, frontier.axes.risk
    best = [point for point in frontier.best() if _has_place(point, frontier.axes)]
    names = {point.name for point in best}
    shown = [point for point in frontier.points if _has_place(point, frontier.axes)]
    drawn = [*best, *(point for point in shown if point.name not in names)]
    figure = Figure(figsize=(9.5, 7.0), layout="constrained")
    FigureCanvasAgg(figure)
    axis = figure.subplots()
    styles = _styles(shown)
    _draw_points(axis, drawn, best, styles, frontier.axes)
    for which, name in (("x", utility), ("y", risk)):
        set_scale(axis, which, [_value(point, name) for point in drawn], share=is_share(name))
    axis.margins(0.07)
    axis.set_xlim(axis.get_xlim())
    axis.set_ylim(axis.get_ylim())
    # Whichever way a measure points: better is to the left, and down.
    if measure_named(utility).better == "higher":
        axis.invert_xaxis()
    if measure_named(risk).better == "higher":
        axis.invert_yaxis()
    notes = [*_chance(axis, drawn, risk), *_without_place(frontier, len(drawn)), *_symbols(drawn)]
    axis.set_xlabel(axis_title("utility", utility))
    axis.set_ylabel(axis_title("risk", risk))
    axis.text(0.012, 0.015, "\N{SOUTH WEST ARROW} better", transform=axis.transAxes, size=9, color="#666666")
    axis.set_title(_title(len(drawn), len(best)), size=11)
    axis.grid(True, color="#e6e6e6", linewidth=0.6)
    axis.set_axisbelow(True)
    if drawn:
        columns = math.ceil(len(styles) / _IN_ONE_COLUMN)
        axis.legend(loc="center left", bbox_to_anchor=(1.01, 0.5), frameon=False, fontsize=9, ncols=columns)
    figure.supxlabel("\n".join([*(fill(note, _NOTES_WIDTH) for note in notes), _INTERNAL]), size=8, color="#555555")
    if left_out := _draw_marks(axis, drawn, names, styles, frontier.axes):
        labels = "1 label" if left_out == 1 else f"{left_out} labels"
        axis.set_title(f"{axis.get_title()}; no room for {labels}", size=11)
    # The same points give the same file: no date, and names of parts that do not change.
    with matplotlib.rc_context({"svg.hashsalt": "microagg"}):
        if Path(path).suffix.lower() == ".svg":
            figure.savefig(path, metadata={"Date": None})
        else:
            figure.savefig(path, dpi=150)


def _title(n_drawn: int, n_best: int) -> str:
    if n_drawn <= 1:
        return f"{n_drawn or 'no'} {'release' if n_drawn == 1 else 'releases'}"
    if n_best == n_drawn:
        return f"{n_drawn} releases, of which none beats another"
    return f"{n_drawn} releases; {n_best} are beaten by no other (filled)"


def _has_place(point: FrontierPoint, axes: Axes) -> bool:
    """Whether both measures are numbers that a picture can show."""
    return point.has(axes.utility, axes.risk) and all(math.isfinite(one) for one in _at(point, axes))


def _draw_points(
    axis: Any,
    drawn: Sequence[FrontierPoint],
    best: Sequence[FrontierPoint],
    styles: Mapping[str, tuple[str, str]],
    axes: Axes,
) -> None:
    """Where the points are: a dot each with its bars, and the line through the best; entries of the legend."""
    axis.plot(
        [point.values[axes.utility] for point in best],
        [point.values[axes.risk] for point in best],
        color="#999999",
        linewidth=1.2,
        drawstyle="steps-post",  # between two releases there is none
        zorder=1,
        label="beaten by no other",
    )
    for method, (mark, colour) in styles.items():
        chosen = [point for point in drawn if point.settings["method"] == method]
        axis.errorbar(
            [point.values[axes.utility] for point in chosen],
            [point.values[axes.risk] for point in chosen],
            xerr=[_spread(point, axes.utility) for point in chosen],
            yerr=[_spread(point, axes.risk) for point in chosen],
            linestyle="none",
            marker=".",
            markersize=3,
            color=colour,
            elinewidth=1.0,
            capsize=2,
            alpha=0.8,
            zorder=2,
        )
        axis.plot([], [], linestyle="none", marker=mark, color=colour, label=_method_words(method))


def _method_words(method: str) -> str:
    known = METHODS.get(method)
    name = known.title if known is not None else method
    return fill(name if len(name) <= _LONGEST_NAME else f"{name[:30]}...{name[-27:]}", _LEGEND_WIDTH)


def _draw_marks(
    axis: Any,
    drawn: Sequence[FrontierPoint],
    best: Collection[str],
    styles: Mapping[str, tuple[str, str]],
    axes: Axes,
) -> int:
    """A mark for each point, on it or beside it, and what distinguishes it; how many labels had no room."""
    axis.figure.draw_without_rendering()  # the layout settles, so that places on the page are known
    axis.figure.set_layout_engine("none")
    per_point, window = axis.figure.dpi / 72, axis.get_window_extent()
    frame = (window.x0, window.y0, window.x1, window.y1)
    at = [_on_page(axis, point, axes) for point in drawn]
    places = places_apart(at, _APART * per_point, frame)
    labels, lines = [], _line_boxes(at[: len(best)], per_point)
    for point, (x, y), (to_x, to_y) in zip(drawn, at, places, strict=True):
        mark, colour = styles[point.settings["method"]]
        is_best = point.name in best
        if (x, y) != (to_x, to_y):
            lines += segment_boxes((x, y), (to_x, to_y), per_point)
            axis.annotate(
                "",
                _at(point, axes),
                xytext=((to_x - x) / per_point, (to_y - y) / per_point),
                textcoords="offset points",
                arrowprops={"arrowstyle": "-", "color": colour, "linewidth": 0.8, "shrinkA": 0, "shrinkB": 0},
                zorder=2.5,
            )
        axis.plot(
            *_at(point, axes),
            linestyle="none",
            marker=mark,
            color=colour,
            markersize=8 if is_best else 5.5,
            markeredgecolor="black" if is_best else colour,
            markerfacecolor=colour if is_best else "white",
            transform=axis.transData + _shift(axis, (to_x - x) / per_point, (to_y - y) / per_point),
            zorder=4 if is_best else 3,
        )
        labels.append(Label(_label(point), (to_x, to_y), 8 if is_best else 7, colour, 1.0 if is_best else 0.8))
    half = 5 * per_point
    return draw_labels(axis, labels, [(x - half, y - half, x + half, y + half) for x, y in places], lines)


def _line_boxes(at: Sequence[Place], per_point: float) -> list[Box]:
    """What the line through the best covers: across, then up or down."""
    found: list[Box] = []
    for (x, y), (next_x, next_y) in pairwise(at):
        found += segment_boxes((x, y), (next_x, y), per_point) + segment_boxes((next_x, y), (next_x, next_y), per_point)
    return found


def _on_page(axis: Any, point: FrontierPoint, axes: Axes) -> Place:
    x, y = axis.transData.transform(_at(point, axes))
    return float(x), float(y)


def _shift(axis: Any, dx: float, dy: float) -> Any:
    """So many points of the page to the right and up."""
    from matplotlib.transforms import ScaledTranslation

    return ScaledTranslation(dx / 72, dy / 72, axis.figure.dpi_scale_trans)


def _spread(point: FrontierPoint, name: str) -> float:
    """The half length of a bar; not a number, and so no bar, where there was one repeat."""
    return point.spreads.get(name) or float("nan")


def _chance(axis: Any, drawn: Sequence[FrontierPoint], risk: str) -> Iterator[str]:
    """What chance alone would reach, if that is one number; a line where it lies among the points."""
    known = {point.baselines.get(risk) for point in drawn}
    if len(known) != 1 or (chance := known.pop()) is None:
        return
    low, high = sorted(axis.get_ylim())
    number = as_written(chance, share=is_share(risk))
    if low <= chance <= high:
        axis.axhline(chance, color="#777777", linestyle=":", linewidth=1.0)
        yield f"Dotted line: blind guessing reaches {number}."
        return
    at_top = (chance > high) is not axis.yaxis_inverted()
    yield f"Blind guessing reaches {number}, {'above' if at_top else 'below'} what is shown."


def _without_place(frontier: Frontier, n_drawn: int) -> Iterator[str]:
    absent = len(frontier.points) - n_drawn
    if absent:
        releases = "1 release is" if absent == 1 else f"{absent} releases are"
        yield (
            f"{releases} not shown: it failed, or a measure has no value."
            if absent == 1
            else (f"{releases} not shown: they failed, or a measure has no value.")
        )


def _symbols(drawn: Sequence[FrontierPoint]) -> Iterator[str]:
    used = [
        f"{symbol}: {words}"
        for key, (symbol, words) in _SYMBOLS.items()
        if any(point.settings.get(key) is not None for point in drawn)
    ]
    if used:
        yield f"{'; '.join(used)}."


def _at(point: FrontierPoint, axes: Axes) -> Place:
    return _value(point, axes.utility), _value(point, axes.risk)


def _value(point: FrontierPoint, name: str) -> float:
    value = point.values[name]
    assert value is not None, "ask has() first"
    return float(value)


def _styles(points: Sequence[FrontierPoint]) -> dict[str, tuple[str, str]]:
    """Mark and colour of each method."""
    methods = dict.fromkeys(str(point.settings["method"]) for point in points)
    return {method: (_MARKS[i % len(_MARKS)], _COLOURS[i % len(_COLOURS)]) for i, method in enumerate(methods)}


def _label(point: FrontierPoint) -> str:
    known = [(symbol, point.settings.get(key)) for key, (symbol, _) in _SYMBOLS.items()]
    return ", ".join(
        f"{symbol}={value:g}" if not isinstance(value, str) else f"{symbol}={value}"
        for symbol, value in known
        if value is not None
    )
