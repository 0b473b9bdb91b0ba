"""Labels of a picture: each beside its mark, where it covers no mark and no other label; or left out."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from microagg.frontier.mark_places import Box, Place, overlap

__all__ = ["Label", "draw_labels", "segment_boxes"]

# Of a mark, for its label: first what is nearest.
_SIDES = ((1, 1), (-1, -1), (1, -1), (-1, 1), (1, 0), (-1, 0), (0, 1), (0, -1))
_DISTANCES = (7.0, 11.0, 16.0)  # points of the page
_MARGIN = 1.0


@dataclass(frozen=True)
class Label:
    """What is written beside a mark.

    Attributes
    ----------
    text : str
    at : Place
        Of the mark, on the page in pixels.
    size, alpha : float
    colour : str
    """

    text: str
    at: Place
    size: float
    colour: str
    alpha: float = 1.0


def draw_labels(axis: Any, labels: Sequence[Label], marks: Iterable[Box], lines: Iterable[Box]) -> int:
    """Write labels into a picture whose layout has settled, the first with the best choice.

    A label never covers a mark or another label. It covers a line only where there is no other room, and then a
    white rim keeps it apart.

    Returns
    -------
    int
        How many labels were left out.
    """
    from matplotlib.patheffects import withStroke

    window = axis.get_window_extent()
    frame = (window.x0, window.y0, window.x1, window.y1)
    taken, thin = list(marks), list(lines)
    boxes = (text.get_window_extent() for text in axis.texts if text.get_text())
    taken += [(box.x0, box.y0, box.x1, box.y1) for box in boxes]
    left_out = 0
    for label in labels:
        if not label.text:
            continue
        found = _place(label, _size(axis, label), axis.figure.dpi / 72, frame, taken, thin)
        if found is None:
            left_out += 1
            continue
        taken.append(found)
        x, y = axis.transAxes.inverted().transform((found[0] + _MARGIN, found[1] + _MARGIN))
        axis.text(
            x,
            y,
            label.text,
            transform=axis.transAxes,
            ha="left",
            va="bottom",
            size=label.size,
            color=label.colour,
            alpha=label.alpha,
            path_effects=[withStroke(linewidth=2.5, foreground="white")],
            zorder=5,
        )
    return left_out


def _place(
    label: Label, size: tuple[float, float], per_point: float, frame: Box, taken: list[Box], thin: list[Box]
) -> Box | None:
    (width, height), (mark_x, mark_y) = size, label.at
    across_a_line = None
    for distance in _DISTANCES:
        for dx, dy in _SIDES:
            x, y = mark_x + distance * dx * per_point, mark_y + distance * dy * per_point
            left, low = x - width * (1 - dx) / 2, y - height * (1 - dy) / 2
            box = (left, low, left + width, low + height)
            if box[0] < frame[0] or box[1] < frame[1] or box[2] > frame[2] or box[3] > frame[3]:
                continue
            if any(overlap(box, other) for other in taken):
                continue
            if not any(overlap(box, other) for other in thin):
                return box
            across_a_line = across_a_line or box
    return across_a_line


def _size(axis: Any, label: Label) -> tuple[float, float]:
    """How wide and high a label is on the page, with a margin."""
    drawn = axis.text(0, 0, label.text, size=label.size)
    box = drawn.get_window_extent()
    drawn.remove()
    return box.width + 2 * _MARGIN, box.height + 2 * _MARGIN


def segment_boxes(one: Place, other: Place, width: float) -> list[Box]:
    """Small boxes along a line, so that labels can keep clear of it.

    Examples
    --------
    >>> segment_boxes((0.0, 0.0), (0.0, 8.0), 2.0)
    [(-1.0, -1.0, 1.0, 1.0), (-1.0, 3.0, 1.0, 5.0), (-1.0, 7.0, 1.0, 9.0)]
    """
    steps = max(math.ceil(math.dist(one, other) / (2 * width)), 1)
    half, found = width / 2, []
    for i in range(steps + 1):
        x, y = (a + (b - a) * i / steps for a, b in zip(one, other, strict=True))
        found.append((x - half, y - half, x + half, y + half))
    return found
