"""The picture of a frontier: each release a mark, risk against utility, those that no other beats joined by a line."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from microagg.report.tradeoff_plot import can_plot

if TYPE_CHECKING:
    from microagg.evaluation.frontier import Axes, Frontier, FrontierPoint

__all__ = ["can_plot", "plot_frontier"]

_MARKS = "osD^vP*X<>ph"
# Colours that people who confuse red and green can tell apart (Okabe and Ito), then greys.
_COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000", "#8B6D00", "#777777")
_WIDE = 50.0
_SIDES = ((1, 1), (-1, -1), (1, -1), (-1, 1), (1, 0), (-1, 0), (0, 1), (0, -1))  # of a mark, for its label


def plot_frontier(frontier: Frontier, path: str | Path) -> None:
    """Draw risk against utility into a PNG, SVG or PDF file.

    One mark and colour per method, labelled with what distinguishes the point, where there is room; points that no
    other beats are filled and joined, the others are faint; bars are standard deviations over repeats. Axes are
    logarithmic where values differ by more than a factor of 50, and turned so that better is to the left and down.
    """
    import matplotlib
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    utility, risk = frontier.axes.utility, frontier.axes.risk
    drawn = [point for point in frontier.points if point.has(utility, risk)]
    best = frontier.best()
    figure = Figure(figsize=(9.5, 6.2), layout="constrained")
    FigureCanvasAgg(figure)
    axis = figure.subplots()
    _draw_marks(axis, drawn, best, utility, risk)
    for set_scale, name in ((axis.set_xscale, utility), (axis.set_yscale, risk)):
        values = [point.values[name] or 0.0 for point in drawn]
        if values and min(values) > 0 and max(values) > _WIDE * min(values):
            set_scale("log")
    # Whichever way a measure points: better is to the left, and down.
    if _better(utility) == "higher":
        axis.invert_xaxis()
    if _better(risk) == "higher":
        axis.invert_yaxis()
    _draw_chance(axis, drawn, risk)
    _draw_labels(axis, drawn, best, frontier.axes)
    axis.set_xlabel(f"utility: {utility} ({_better(utility)} is better)")
    axis.set_ylabel(f"risk: {risk} ({_better(risk)} is better)")
    axis.text(0.012, 0.015, "\N{SOUTH WEST ARROW} better", transform=axis.transAxes, size=9, color="#777777")
    axis.set_title(f"{len(drawn)} releases; {len(best)} are beaten by no other", size=11)
    axis.grid(True, color="#e6e6e6", linewidth=0.6)
    axis.set_axisbelow(True)
    if drawn:
        axis.legend(loc="center left", bbox_to_anchor=(1.01, 0.5), frameon=False, fontsize=9)
    figure.supxlabel("internal: measured on the original records, not for publication", size=8, color="#777777")
    # The same points give the same file: no date, and names of parts that do not change.
    with matplotlib.rc_context({"svg.hashsalt": "microagg"}):
        if Path(path).suffix.lower() == ".svg":
            figure.savefig(path, metadata={"Date": None})
        else:
            figure.savefig(path, dpi=150)


def _draw_marks(
    axis: Any, drawn: Sequence[FrontierPoint], best: Sequence[FrontierPoint], utility: str, risk: str
) -> None:
    names = {point.name for point in best}
    axis.plot(
        [point.values[utility] for point in best],
        [point.values[risk] for point in best],
        color="#999999",
        linewidth=1.2,
        drawstyle="steps-post",  # between two releases there is none
        zorder=1,
        label="beaten by no other",
    )
    for i, (method, colour) in enumerate(_colours(drawn).items()):
        mark = _MARKS[i % len(_MARKS)]
        for is_best in (False, True):
            chosen = [
                point for point in drawn if point.settings["method"] == method and (point.name in names) is is_best
            ]
            axis.errorbar(
                [point.values[utility] for point in chosen],
                [point.values[risk] for point in chosen],
                xerr=[point.spreads.get(utility) or 0.0 for point in chosen],
                yerr=[point.spreads.get(risk) or 0.0 for point in chosen],
                linestyle="none",
                marker=mark,
                color=colour,
                markersize=8 if is_best else 5.5,
                markeredgecolor="black" if is_best else colour,
                markerfacecolor=colour if is_best else "white",
                alpha=1.0 if is_best else 0.65,
                elinewidth=1.0,
                capsize=2,
                zorder=3 if is_best else 2,
            )
        axis.plot([], [], linestyle="none", marker=mark, color=colour, label=method)


def _draw_chance(axis: Any, drawn: Sequence[FrontierPoint], risk: str) -> None:
    """Where chance alone would be, if that is one place."""
    known = {point.baselines.get(risk) for point in drawn}
    if len(known) == 1 and (chance := known.pop()) is not None and (chance > 0 or axis.get_yscale() == "linear"):
        axis.axhline(chance, color="#999999", linestyle=":", linewidth=1.0, label="by chance")


def _draw_labels(axis: Any, drawn: Sequence[FrontierPoint], best: Sequence[FrontierPoint], axes: Axes) -> None:
    """What distinguishes each point, where there is room: the best first, the others fainter."""
    axis.figure.draw_without_rendering()  # the layout settles, so that places on the page are known
    places = {point.name: axis.transData.transform(_at(point, axes)) for point in drawn}
    taken = [(x - 5, y - 5, x + 5, y + 5) for x, y in places.values()]
    colours = _colours(drawn)
    per_point, frame = axis.figure.dpi / 72, axis.get_window_extent()
    for point in [*best, *(point for point in drawn if point not in best)]:
        text, is_best = _label(point), point in best
        width, height = 0.72 * len(text) * 8 * per_point, 10 * per_point
        for dx, dy in _SIDES:
            x, y = places[point.name][0] + 8 * dx * per_point, places[point.name][1] + 8 * dy * per_point
            left, low = x - width * (1 - dx) / 2, y - height * (1 - dy) / 2
            box = (left, low, left + width, low + height)
            outside = box[0] < frame.x0 or box[1] < frame.y0 or box[2] > frame.x1 or box[3] > frame.y1
            if outside or any(_overlap(box, other) for other in taken):
                continue
            taken.append(box)
            axis.annotate(
                text,
                _at(point, axes),
                textcoords="offset points",
                xytext=(8 * dx, 8 * dy),
                ha={-1: "right", 0: "center", 1: "left"}[dx],
                va={-1: "top", 0: "center", 1: "bottom"}[dy],
                size=8 if is_best else 7,
                color=colours[point.settings["method"]],
                alpha=1.0 if is_best else 0.75,
                zorder=4,
            )
            break


def _at(point: FrontierPoint, axes: Axes) -> tuple[float, float]:
    return float(point.values[axes.utility] or 0.0), float(point.values[axes.risk] or 0.0)


def _overlap(one: tuple[float, ...], other: tuple[float, ...]) -> bool:
    return one[0] < other[2] and other[0] < one[2] and one[1] < other[3] and other[1] < one[3]


def _colours(drawn: Sequence[FrontierPoint]) -> dict[str, str]:
    methods = dict.fromkeys(point.settings["method"] for point in drawn)
    return {method: _COLOURS[i % len(_COLOURS)] for i, method in enumerate(methods)}


def _label(point: FrontierPoint) -> str:
    symbols = {"k": "k", "epsilon": "\N{GREEK SMALL LETTER EPSILON}", "lambda": "\N{GREEK SMALL LETTER LAMDA}"}
    symbols["alpha"] = "\N{GREEK SMALL LETTER ALPHA}"
    known = [(symbol, point.settings.get(key)) for key, symbol in symbols.items()]
    return ", ".join(
        f"{symbol}={value:g}" if not isinstance(value, str) else f"{symbol}={value}"
        for symbol, value in known
        if value is not None
    )


def _better(name: str) -> str:
    from microagg.evaluation.evaluate import DEFINITIONS

    return next(one.better for one in DEFINITIONS if one.name == name)
