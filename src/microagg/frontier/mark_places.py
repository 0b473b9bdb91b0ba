"""Where marks of a picture go so that none hides another: beside their point, as near as there is room."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

__all__ = ["Box", "Place", "overlap", "places_apart"]

Place = tuple[float, float]
Box = tuple[float, float, float, float]
"""Left, low, right, high."""

_RINGS = 60
_STEP = 1.2  # rings are so many marks apart


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
    for point in points:
        if all(math.dist(point, other) >= apart for other in taken):
            taken.append(point)
            continue
        # Better beside a point that is still to come than far away; best beside none.
        taken.append(_near(point, [*taken, *points], apart, frame) or _near(point, taken, apart, frame) or point)
    return taken


def _near(point: Place, others: Sequence[Place], apart: float, frame: Box) -> Place | None:
    places = _around(point, apart, frame)
    return next((one for one in places if all(math.dist(one, other) >= apart for other in others)), None)


def _around(point: Place, apart: float, frame: Box) -> Iterator[Place]:
    """Places on rings about a point, first up, down, right and left of it."""
    for ring in range(1, _RINGS + 1):
        n_angles = 8 * ring
        # The first eight of each ring as on a compass, then those between them.
        angles = sorted((step * 360 / n_angles for step in range(n_angles)), key=lambda angle: (angle % 90, angle % 45))
        for angle in (90.0, 270.0, 0.0, 180.0, *angles):
            turn = math.radians(angle)
            x = point[0] + round(_STEP * ring * apart * math.cos(turn), 6)
            y = point[1] + round(_STEP * ring * apart * math.sin(turn), 6)
            if frame[0] + apart <= x <= frame[2] - apart and frame[1] + apart <= y <= frame[3] - apart:
                yield x, y


def overlap(one: Box, other: Box) -> bool:
    """Whether two boxes share a place."""
    return one[0] < other[2] and other[0] < one[2] and one[1] < other[3] and other[1] < one[3]
