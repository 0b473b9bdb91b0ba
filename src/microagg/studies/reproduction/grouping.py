"""Points by what they share, for comparisons and curves."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from microagg._typing import FloatArray
from microagg.studies.reproduction.experiment import Curve, Point

__all__ = ["curves", "mean_over", "series", "where"]


def where(points: Iterable[Point], **wanted: Any) -> list[Point]:
    """The points that have these values.

    Examples
    --------
    >>> where([{"k": 2, "y": 1.0}, {"k": 3, "y": 2.0}], k=3)
    [{'k': 3, 'y': 2.0}]
    """
    return [point for point in points if all(point.get(name) == value for name, value in wanted.items())]


def mean_over(points: Sequence[Point], by: Sequence[str], values: Sequence[str]) -> list[Point]:
    """One point per combination of `by`, as they appear: the means of `values`, their standard errors, and how many.

    Examples
    --------
    >>> mean_over([{"k": 2, "y": 1.0}, {"k": 2, "y": 3.0}], ["k"], ["y"])
    [{'k': 2, 'y': 2.0, 'y_error': 1.0, 'runs': 2}]
    """
    groups: dict[tuple[Any, ...], list[Point]] = {}
    for point in points:
        groups.setdefault(tuple(point[name] for name in by), []).append(point)
    found = []
    for key, group in groups.items():
        mean: Point = dict(zip(by, key, strict=True))
        for value in values:
            of_value = np.array([point[value] for point in group], dtype=np.float64)
            mean[value] = float(of_value.mean())
            alone = len(of_value) == 1
            mean[f"{value}_error"] = 0.0 if alone else float(of_value.std(ddof=1) / np.sqrt(len(of_value)))
        found.append(mean | {"runs": len(group)})
    return found


def series(points: Sequence[Point], x: str, y: str) -> tuple[FloatArray, FloatArray]:
    """Two columns of points, in the order of the first."""
    ordered = sorted(points, key=lambda point: point[x])
    return np.array([point[x] for point in ordered]), np.array([point[y] for point in ordered], dtype=np.float64)


def curves(
    points: Sequence[Point], *, by: str, x: str, y: str, prefix: str = "", dotted: Sequence[Any] = ()
) -> tuple[Curve, ...]:
    """A curve per value of `by`."""
    found = []
    for value in dict.fromkeys(point[by] for point in points):
        of_value = where(points, **{by: value})
        label = f"{prefix}{value:g}" if isinstance(value, float) else f"{prefix}{value}"
        along = sorted(of_value, key=lambda point: point[x]) if x == "k" else of_value
        places, heights = [float(point[x]) for point in along], [float(point[y]) for point in along]
        found.append(Curve(label, tuple(places), tuple(heights), dotted=value in dotted))
    return tuple(found)
