"""Measures on one scale: where each lies between the worst and the best that it can be."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from microagg._notebook.picture import Picture, drawing

__all__ = ["PlacedMeasure", "draw_measures"]

_COLOURS = {"utility": "#0072B2", "risk": "#D55E00"}


class PlacedMeasure(NamedTuple):
    """A measure with its range, and what chance alone would reach."""

    name: str
    about: str
    value: float
    low: float
    high: float
    by_chance: float | None
    better: str

    def share(self, value: float) -> float:
        """How good a value is, from 0, the worst, to 1."""
        part = (value - self.low) / (self.high - self.low) if self.high > self.low else 0.0
        return min(max(1.0 - part if self.better == "lower" else part, 0.0), 1.0)


def draw_measures(measures: Sequence[PlacedMeasure]) -> Picture:
    """A row for each measure: its value, a tick where chance alone would be, better to the right."""
    with drawing(8.0, 1.1 + 0.3 * max(len(measures), 1)) as made:
        axis = made.figure.subplots()
        rows = list(enumerate(reversed(measures)))
        for row, one in rows:
            colour = _COLOURS[one.about]
            axis.plot([0.0, one.share(one.value)], [row, row], color=colour, linewidth=2)
            axis.plot(one.share(one.value), row, "o", color=colour, markersize=6)
            axis.annotate(f"{one.value:.4g}", (1.02, row), va="center", size=9, annotation_clip=False)
            if one.by_chance is not None:
                axis.plot(one.share(one.by_chance), row, "|", color="#000000", markersize=12)
        axis.set_yticks([row for row, _ in rows], [one.name for _, one in rows], size=9)
        axis.set_xlim(-0.02, 1.02)
        axis.set_xticks([0.0, 1.0], ["worst", "best"])
        axis.grid(True, axis="y", color="#e6e6e6", linewidth=0.6)
        axis.set_axisbelow(True)
        axis.set_title("Utility (blue) and risk (orange); | is what chance alone would reach", size=10)
        for side in ("top", "right"):
            axis.spines[side].set_visible(False)
    return made.picture
