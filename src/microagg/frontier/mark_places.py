"""Where marks of a picture go so that none hides another: beside their point, as near as there is room."""

from __future__ import annotations

import math
from collections.abc import Sequence

__all__ = ["Box", "Place", "overlap", "places_apart"]

Place = tuple[float, float]
Box = tuple[float, float, float, float]
"""Left, low, right, high."""

_RINGS = 8
_ANGLES = (90, 270, 0, 180, 45, 225, 135, 315)


def places_apart(points: Sequence[Place], apart: float, frame: Box) -> list[Place]:
    """A place for the mark of each point: the point itself, or where it would hide an earlier mark, one nearby.

    Parameters
    ----------
    points : sequence of pairs
        On the page; those that should stay in their place first.
    apart : float
        The least distance between two marks.
    frame : Box
        Marks stay inside, as long as there is room.

    Examples
    --------
    >>> places_apart([(50.0, 50.0), (52.0, 50.0), (90.0, 50.0)], 10.0, (0.0, 0.0, 100.0, 100.0))
    [(50.0, 50.0), (52.0, 62.0), (90.0, 50.0)]
    """
    taken: list[Place] = []
    for i, point in enumerate(points):
        if all(math.dist(point, other) >= apart for other in taken):
            taken.append(point)
            continue
        others = [*taken, *points[:i], *points[i + 1 :]]
        free = (place for place in _around(point, apart, frame) if all(math.dist(place, o) >= apart for o in others))
        taken.append(next(free, point))
    return taken


def _around(point: Place, apart: float, frame: Box) -> list[Place]:
    found = []
    for ring in range(1, _RINGS + 1):
        for angle in _ANGLES:
            turn = math.radians(angle)
            x = point[0] + round(1.2 * ring * apart * math.cos(turn), 6)
            y = point[1] + round(1.2 * ring * apart * math.sin(turn), 6)
            if frame[0] + apart <= x <= frame[2] - apart and frame[1] + apart <= y <= frame[3] - apart:
                found.append((x, y))
    return found


def overlap(one: Box, other: Box) -> bool:
    """Whether two boxes share a place."""
    return one[0] < other[2] and other[0] < one[2] and one[1] < other[3] and other[1] < one[3]
