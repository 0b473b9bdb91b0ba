"""The picture of a trade-off: what is lost, what is kept, what it costs."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

from microagg.frontier.axis_words import axis_title, is_share, set_scale
from microagg.frontier.label_places import Label, draw_labels, segment_boxes
from microagg.frontier.mark_places import places_apart

__all__ = ["can_plot", "plot_tradeoff"]

_BLUE, _ORANGE, _GREEN = "#0072B2", "#D55E00", "#009E73"  # told apart by people who confuse red and green
_APART = 8.0  # points of the page between two marks
_PARAMETERS = {
    "lambda": "lambda: weight of dependence, from none to all",
    "alpha": "alpha: stretch along the discriminant",
    "l": "l: least number of confidential values in a cell",
    "t": "t: largest distance of a cell's confidential values from the table's",
}
_LOSS = "information loss of the cells, %"


def can_plot() -> bool:
    """True if Matplotlib, an optional extra, is here."""
    from importlib.util import find_spec

    return find_spec("matplotlib") is not None


def plot_tradeoff(parameter: str, rows: Sequence[Mapping[str, Any]], path: Path) -> None:
    """Draw what is lost, and diversity and linkage against the parameter, into an SVG or PNG file.

    What is lost is D_Y against D_X, or where the releases differ in what they require of confidential values, the
    loss against that. A mark that would hide another stands beside its point, tied to it by a line; labels cover
    neither marks nor each other. Notes below count what has no place.
    """
    import matplotlib
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(10, 5.4), layout="constrained")
    FigureCanvasAgg(figure)
    panels: dict[str, Any] = figure.subplot_mosaic([["lost", "diversity"], ["lost", "linkage"]])
    both = any("D_Y" in row for row in rows)
    x, y = ("D_X", "D_Y") if both else (parameter, "information_loss")
    shown = _with_numbers(rows, x, y)
    lost = panels["lost"]
    at = [(float(row[x]), float(row[y])) for row in shown]
    lost.plot([one for one, _ in at], [one for _, one in at], color=_BLUE, linewidth=1.0, alpha=0.5)
    if both:
        for which, values in zip("xy", zip(*at, strict=True), strict=False):
            set_scale(lost, which, values, share=False)
    lost.margins(0.1)
    lost.set_xlabel(axis_title("loss", "D_X") if both else _in_words(parameter))
    lost.set_ylabel(axis_title("loss", "D_Y") if both else _LOSS)
    lost.set_title(f"each mark a release, by {parameter}" if both else "each mark a release", size=10)
    for name, which, colour in (("l_avg", "diversity", _GREEN), ("distance_linkage", "linkage", _ORANGE)):
        _draw_measure(panels[which], parameter, name, rows, colour)
    panels["linkage"].set_xlabel(_in_words(parameter))
    panels["diversity"].tick_params(labelbottom=False)
    notes = [
        f"{lacking} of {len(rows)} releases have no value of {' or '.join(needed)}."
        for needed in ((x, y), ("l_avg",), ("distance_linkage",))
        if (lacking := len(rows) - len(_with_numbers(rows, *needed)))
    ]
    internal = "Internal: measured on the original records, not for publication."
    below = figure.supxlabel(" ".join([*notes, internal]), size=8, color="#555555")
    for axis in panels.values():
        axis.grid(True, color="#e6e6e6", linewidth=0.6)
        axis.set_axisbelow(True)
    if _draw_marks(lost, at, [f"{row[parameter]:g}" for row in shown] if both else [""] * len(shown)):
        below.set_text(f"Marks that would hide another stand beside their point, at a line's end. {below.get_text()}")
    with matplotlib.rc_context({"svg.hashsalt": "microagg"}):
        figure.savefig(path, **({"metadata": {"Date": None}} if path.suffix.lower() == ".svg" else {"dpi": 150}))


def _in_words(parameter: str) -> str:
    return _PARAMETERS.get(parameter, parameter)


def _with_numbers(rows: Sequence[Mapping[str, Any]], *names: str) -> list[Mapping[str, Any]]:
    return [row for row in rows if all(row[name] is not None and math.isfinite(row[name]) for name in names)]


def _draw_measure(axis: Any, parameter: str, name: str, rows: Sequence[Mapping[str, Any]], colour: str) -> None:
    drawn = _with_numbers(rows, name)
    values = [float(row[name]) for row in drawn]
    axis.plot([row[parameter] for row in drawn], values, marker="o", markersize=5, color=colour)
    set_scale(axis, "y", values, share=is_share(name))
    if axis.get_yscale() == "linear":
        axis.set_ylim(bottom=min(0.0, *values) if values else 0.0)
    about = "diversity" if name == "l_avg" else "risk"
    axis.set_title(axis_title(about, name), size=9)


def _draw_marks(axis: Any, at: Sequence[tuple[float, float]], texts: Sequence[str]) -> int:
    """A mark for each release, on its point or beside it, and its label; how many stand beside."""
    axis.set_xlim(axis.get_xlim())
    axis.set_ylim(axis.get_ylim())
    axis.figure.draw_without_rendering()
    axis.figure.set_layout_engine("none")
    per_point, window = axis.figure.dpi / 72, axis.get_window_extent()
    on_page = [(float(x), float(y)) for x, y in (axis.transData.transform(one) for one in at)]
    places = places_apart(on_page, _APART * per_point, (window.x0, window.y0, window.x1, window.y1))
    lines = [box for one, other in pairwise(on_page) for box in segment_boxes(one, other, per_point)]
    to_axes = axis.transAxes.inverted().transform
    for true, place in zip(on_page, places, strict=True):
        if true != place:
            (x0, y0), (x1, y1) = to_axes(true), to_axes(place)
            axis.plot([x0, x1], [y0, y1], transform=axis.transAxes, color=_BLUE, linewidth=0.8)
            lines += segment_boxes(true, place, per_point)
        axis.plot(*to_axes(place), transform=axis.transAxes, marker="o", markersize=5, color=_BLUE, linestyle="none")
    half = 4 * per_point
    marks = [(x - half, y - half, x + half, y + half) for x, y in places]
    labels = [Label(text, place, 8, _BLUE) for text, place in zip(texts, places, strict=True)]
    if left_out := draw_labels(axis, labels, marks, lines):
        without = "1 label" if left_out == 1 else f"{left_out} labels"
        axis.set_title(f"{axis.get_title()}; no room for {without}", size=10)
    return sum(true != place for true, place in zip(on_page, places, strict=True))
