"""The picture of a trade-off: what is lost, what is kept, what it costs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

__all__ = ["can_plot", "plot_tradeoff"]


def can_plot() -> bool:
    """True if Matplotlib, an optional extra, is here."""
    from importlib.util import find_spec

    return find_spec("matplotlib") is not None


def plot_tradeoff(parameter: str, rows: Sequence[Mapping[str, Any]], path: Path) -> None:
    """Draw what is lost, and diversity and linkage against the parameter, into an SVG or PNG file.

    What is lost is D_Y against D_X, or where the releases differ in what they require of confidential values, the
    loss against that.
    """
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(9, 3.6), layout="constrained")
    FigureCanvasAgg(figure)
    left, right = figure.subplots(1, 2)
    if any("D_Y" in row for row in rows):
        _draw_both_losses(left, parameter, rows)
    else:
        left.plot([row[parameter] for row in rows], [row["information_loss"] for row in rows], marker="o")
        left.set_xlabel(parameter)
        left.set_ylabel("information loss, %")
        left.set_ylim(bottom=0)
        left.set_title("each point a release", size=10)
    values = [row[parameter] for row in rows]
    for name, colour in (("l_avg", "tab:green"), ("distance_linkage", "tab:red")):
        axis = right if name == "l_avg" else right.twinx()
        axis.plot(values, [row[name] for row in rows], marker="o", color=colour)
        axis.set_ylabel(name, color=colour)
        axis.set_ylim(bottom=0)
    right.set_xlabel(parameter)
    right.set_title("diversity within cells, and linkage", size=10)
    figure.savefig(path)


def _draw_both_losses(left: Any, parameter: str, rows: Sequence[Mapping[str, Any]]) -> None:
    drawn = [row for row in rows if row["D_X"] is not None and row["D_Y"] is not None]
    left.plot([row["D_X"] for row in drawn], [row["D_Y"] for row in drawn], marker="o")
    for row in drawn:
        left.annotate(
            f"{row[parameter]:g}", (row["D_X"], row["D_Y"]), textcoords="offset points", xytext=(5, 4), size=8
        )
    left.set_xlabel("D_X: loss of the quasi-identifiers")
    left.set_ylabel("D_Y: loss of dependence")
    left.set_title(f"each point a release, by {parameter}", size=10)
