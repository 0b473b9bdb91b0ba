"""Figures in the form of the papers: one pair of axes per panel. They need Matplotlib; tables come without."""

from __future__ import annotations

import importlib.util
import io
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from microagg.studies.reproduction.experiment import Panel
from microagg.studies.reproduction.kept import write_whole

__all__ = ["can_draw", "draw_panels"]

_COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000", "#8B6D00", "#777777")
_MARKS = "osD^vP*X<>"


def can_draw() -> bool:
    """Whether Matplotlib is installed."""
    return importlib.util.find_spec("matplotlib") is not None


def draw_panels(panels: Sequence[Panel], path: Path) -> None:
    """Draw the panels of a figure into a PNG file, two or three beside each other."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    pairs = len(panels) > 1 and panels[0].title == panels[1].title  # of one setting: beside each other
    across = 2 if pairs or len(panels) in (1, 2, 4) else 3
    across = min(across, len(panels))
    down = -(-len(panels) // across)
    figure = Figure(figsize=(5.6 * across, 4.2 * down), layout="constrained")
    FigureCanvasAgg(figure)
    grid = figure.subplots(down, across, squeeze=False).ravel()
    for axis, panel in zip(grid, panels, strict=False):
        _draw(axis, panel)
    for axis in grid[len(panels) :]:
        axis.set_visible(False)
    buffer = io.BytesIO()
    figure.savefig(buffer, format="png", dpi=110, metadata={"Software": None})
    write_whole(path, buffer.getvalue())


def _draw(axis: Any, panel: Panel) -> None:
    for place, curve in enumerate(panel.curves):
        axis.plot(
            curve.x,
            curve.y,
            label=curve.label,
            color=_COLOURS[place % len(_COLOURS)],
            marker="" if curve.dotted else _MARKS[place % len(_MARKS)],
            linestyle=":" if curve.dotted else "-",
            markersize=3.5,
            linewidth=1.2,
        )
    if panel.log_y:
        axis.set_yscale("log")
    axis.set_title(panel.title, fontsize=10)
    axis.set_xlabel(panel.x_label)
    axis.set_ylabel(panel.y_label)
    axis.grid(alpha=0.25, linewidth=0.5)
    axis.legend(fontsize=7, ncols=2 if len(panel.curves) > 7 else 1)
