"""The picture of a frontier: each release a mark, risk against utility, those that no other beats joined by a line."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from microagg.report.tradeoff_plot import can_plot

if TYPE_CHECKING:
    from microagg.evaluation.frontier import Frontier, FrontierPoint

__all__ = ["can_plot", "plot_frontier"]

_MARKS = "osD^vP*X<>ph"
# Colours that people who confuse red and green can tell apart (Okabe and Ito), then greys.
_COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000", "#8B6D00", "#777777")
_WIDE = 50.0


def plot_frontier(frontier: Frontier, path: str | Path) -> None:
    """Draw risk against utility into a PNG, SVG or PDF file.

    One mark and colour per method, labelled with what distinguishes the point; points that no other beats are filled
    and joined, the others are faint; bars are standard deviations over repeats. Axes are logarithmic where
    values differ by more than a factor of 50.
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
    _draw_chance(axis, drawn, risk)
    _draw_labels(axis, best, utility, risk)
    axis.set_xlabel(f"utility: {utility} ({_better(utility)})")
    axis.set_ylabel(f"risk: {risk} ({_better(risk)})")
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
        zorder=1,
        label="beaten by no other",
    )
    methods = list(dict.fromkeys(point.settings["method"] for point in drawn))
    for i, method in enumerate(methods):
        colour, mark = _COLOURS[i % len(_COLOURS)], _MARKS[i % len(_MARKS)]
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


def _draw_labels(axis: Any, best: Sequence[FrontierPoint], utility: str, risk: str) -> None:
    """What distinguishes each of the best, on alternating sides so that neighbours do not cover each other."""
    for i, point in enumerate(best):
        above = i % 2 == 0
        axis.annotate(
            _label(point),
            (point.values[utility], point.values[risk]),
            textcoords="offset points",
            xytext=(7, 6) if above else (-7, -7),
            ha="left" if above else "right",
            va="bottom" if above else "top",
            size=8,
            zorder=4,
        )


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

    return next(f"{one.better} is better" for one in DEFINITIONS if one.name == name)
