"""The picture of a frontier: each release a mark, risk against utility, those that no other beats joined by a line."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from microagg.frontier.mark_places import Box, Place, overlap, places_apart
from microagg.frontier.tradeoff_plot import can_plot

if TYPE_CHECKING:
    from microagg.frontier.frontier import Axes, Frontier, FrontierPoint

__all__ = ["can_plot", "plot_frontier"]

_MARKS = "osD^vP*X<>ph"
# Colours that people who confuse red and green can tell apart (Okabe and Ito), then greys.
_COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000", "#8B6D00", "#777777")
_WIDE = 50.0
_APART = 10.0  # points of the page between two marks
_SIDES = ((1, 1), (-1, -1), (1, -1), (-1, 1), (1, 0), (-1, 0), (0, 1), (0, -1))  # of a mark, for its label


def plot_frontier(frontier: Frontier, path: str | Path) -> None:
    """Draw risk against utility into a PNG, SVG or PDF file.

    One mark and colour per method, labelled with what distinguishes the point, where there is room; points that no
    other beats are filled and joined, the others are faint; bars are standard deviations over repeats. A mark that
    would hide another stands beside its point, tied to it by a line. Axes are set by the points: logarithmic where
    values differ by more than a factor of 50, and turned so that better is to the left and down. What chance alone
    would reach is a line, or a word in the legend where it lies beyond.
    """
    import matplotlib
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    utility, risk = frontier.axes.utility, frontier.axes.risk
    best = frontier.best()
    names = {point.name for point in best}
    drawn = [*best, *(point for point in frontier.points if point.has(utility, risk) and point.name not in names)]
    figure = Figure(figsize=(9.5, 6.2), layout="constrained")
    FigureCanvasAgg(figure)
    axis = figure.subplots()
    styles = _styles([point for point in frontier.points if point.has(utility, risk)])
    _draw_points(axis, drawn, best, styles, frontier.axes)
    for set_scale, name in ((axis.set_xscale, utility), (axis.set_yscale, risk)):
        values = [point.values[name] or 0.0 for point in drawn]
        if values and min(values) > 0 and max(values) > _WIDE * min(values):
            set_scale("log")
    axis.margins(0.07)
    axis.set_xlim(axis.get_xlim())
    axis.set_ylim(axis.get_ylim())
    # Whichever way a measure points: better is to the left, and down.
    if _better(utility) == "higher":
        axis.invert_xaxis()
    if _better(risk) == "higher":
        axis.invert_yaxis()
    _draw_chance(axis, drawn, risk)
    axis.set_xlabel(f"utility: {utility} ({_better(utility)} is better)")
    axis.set_ylabel(f"risk: {risk} ({_better(risk)} is better)")
    axis.text(0.012, 0.015, "\N{SOUTH WEST ARROW} better", transform=axis.transAxes, size=9, color="#777777")
    axis.set_title(f"{len(drawn)} releases; {len(best)} are beaten by no other", size=11)
    axis.grid(True, color="#e6e6e6", linewidth=0.6)
    axis.set_axisbelow(True)
    if drawn:
        axis.legend(loc="center left", bbox_to_anchor=(1.01, 0.5), frameon=False, fontsize=9)
    figure.supxlabel("internal: measured on the original records, not for publication", size=8, color="#777777")
    _draw_marks(axis, drawn, names, styles, frontier.axes)
    # The same points give the same file: no date, and names of parts that do not change.
    with matplotlib.rc_context({"svg.hashsalt": "microagg"}):
        if Path(path).suffix.lower() == ".svg":
            figure.savefig(path, metadata={"Date": None})
        else:
            figure.savefig(path, dpi=150)


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
        axis.plot([], [], linestyle="none", marker=mark, color=colour, label=method)


def _draw_marks(
    axis: Any,
    drawn: Sequence[FrontierPoint],
    best: Collection[str],
    styles: Mapping[str, tuple[str, str]],
    axes: Axes,
) -> None:
    """A mark for each point, on it or beside it, and what distinguishes it where there is room."""
    axis.figure.draw_without_rendering()  # the layout settles, so that places on the page are known
    per_point, window = axis.figure.dpi / 72, axis.get_window_extent()
    frame = (window.x0, window.y0, window.x1, window.y1)
    at = [tuple(axis.transData.transform(_at(point, axes))) for point in drawn]
    places = places_apart(at, _APART * per_point, frame)
    for point, (x, y), (to_x, to_y) in zip(drawn, at, places, strict=True):
        mark, colour = styles[point.settings["method"]]
        is_best = point.name in best
        if (x, y) != (to_x, to_y):
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
    _draw_labels(axis, drawn, best, styles, axes, at, places, frame)


def _shift(axis: Any, dx: float, dy: float) -> Any:
    """So many points of the page to the right and up."""
    from matplotlib.transforms import ScaledTranslation

    return ScaledTranslation(dx / 72, dy / 72, axis.figure.dpi_scale_trans)


def _spread(point: FrontierPoint, name: str) -> float:
    """The half length of a bar; not a number, and so no bar, where there was one repeat."""
    return point.spreads.get(name) or float("nan")


def _draw_chance(axis: Any, drawn: Sequence[FrontierPoint], risk: str) -> None:
    """Where chance alone would be, if that is one place; beyond the points only in words, not to squeeze them."""
    known = {point.baselines.get(risk) for point in drawn}
    if len(known) != 1 or (chance := known.pop()) is None:
        return
    low, high = sorted(axis.get_ylim())
    if low <= chance <= high:
        axis.axhline(chance, color="#999999", linestyle=":", linewidth=1.0, label="by chance")
        return
    at_top = (chance > high) is not axis.yaxis_inverted()
    arrow = "\N{UPWARDS ARROW}" if at_top else "\N{DOWNWARDS ARROW}"
    axis.plot([], [], linestyle="none", label=f"by chance: {chance:.3g} {arrow}")


def _draw_labels(
    axis: Any,
    drawn: Sequence[FrontierPoint],
    best: Collection[str],
    styles: Mapping[str, tuple[str, str]],
    axes: Axes,
    at: Sequence[Place],
    places: Sequence[Place],
    frame: Box,
) -> None:
    """What distinguishes each point, where there is room: the best first, the others fainter."""
    per_point = axis.figure.dpi / 72
    half = 5 * per_point
    taken = [(x - half, y - half, x + half, y + half) for x, y in places]
    boxes = (text.get_window_extent() for text in axis.texts if text.get_text())
    taken += [(box.x0, box.y0, box.x1, box.y1) for box in boxes]
    for point, (true_x, true_y), (mark_x, mark_y) in zip(drawn, at, places, strict=True):
        text, is_best = _label(point), point.name in best
        width, height = 0.72 * len(text) * 8 * per_point, 10 * per_point
        for dx, dy in _SIDES:
            x, y = mark_x + 8 * dx * per_point, mark_y + 8 * dy * per_point
            left, low = x - width * (1 - dx) / 2, y - height * (1 - dy) / 2
            box = (left, low, left + width, low + height)
            outside = box[0] < frame[0] or box[1] < frame[1] or box[2] > frame[2] or box[3] > frame[3]
            if outside or any(overlap(box, other) for other in taken):
                continue
            taken.append(box)
            axis.annotate(
                text,
                _at(point, axes),
                textcoords="offset points",
                xytext=((x - true_x) / per_point, (y - true_y) / per_point),
                ha={-1: "right", 0: "center", 1: "left"}[dx],
                va={-1: "top", 0: "center", 1: "bottom"}[dy],
                size=8 if is_best else 7,
                color=styles[point.settings["method"]][1],
                alpha=1.0 if is_best else 0.75,
                zorder=5,
            )
            break


def _at(point: FrontierPoint, axes: Axes) -> Place:
    return float(point.values[axes.utility] or 0.0), float(point.values[axes.risk] or 0.0)


def _styles(points: Sequence[FrontierPoint]) -> dict[str, tuple[str, str]]:
    """Mark and colour of each method."""
    methods = dict.fromkeys(str(point.settings["method"]) for point in points)
    return {method: (_MARKS[i % len(_MARKS)], _COLOURS[i % len(_COLOURS)]) for i, method in enumerate(methods)}


def _label(point: FrontierPoint) -> str:
    symbols = {"k": "k", "epsilon": "\N{GREEK SMALL LETTER EPSILON}", "lambda": "\N{GREEK SMALL LETTER LAMDA}"}
    symbols |= {"alpha": "\N{GREEK SMALL LETTER ALPHA}", "l": "l", "t": "t"}
    known = [(symbol, point.settings.get(key)) for key, symbol in symbols.items()]
    return ", ".join(
        f"{symbol}={value:g}" if not isinstance(value, str) else f"{symbol}={value}"
        for symbol, value in known
        if value is not None
    )


def _better(name: str) -> str:
    from microagg.evaluation.measures import measure_named

    return measure_named(name).better
