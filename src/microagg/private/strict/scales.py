"""The public points of an attribute, numbered from 0, and how far apart they are taken to be before any record is seen.

Every record's value becomes the number of a point, by itself. Numbers of an attribute with a resolution are its
multiples; without one the domain is cut into :data:`STEPS` equal steps, and what is published lies anywhere in a step.
Categories are numbered as they are declared.

Cuts are made evenly on a *public measure*: half of it is linear in the value, half logarithmic in the distance from an
origin. Money, counts and durations crowd near zero; halving the bounds again and again would take many cuts, each of
which costs noise, to come near them. The logarithmic half gets there in a few.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from microagg._typing import FloatArray, IntArray
from microagg.errors import TableError
from microagg.private.public_column import PublicColumn
from microagg.schema.attribute import Kind

__all__ = ["STEPS", "Scale"]

STEPS = 2**30
_MOST_POINTS = 2**52  # numbers of points are exact as floats


@dataclass(frozen=True)
class Scale:
    """The points of one attribute.

    Attributes
    ----------
    name : str
    size : int
        The number of points, 0 .. size - 1.
    ordered : bool
        False of nominal attributes, whose points are in no order.
    first, step : float
        Point i is the number ``first + i step`` on the scale of the column; of categories, ``i``.
    origin : int
        The point from which the logarithmic half of the measure counts.
    whole_step : bool
        Whether a point stands for all numbers of its step, for want of a resolution.
    labels : tuple of int
        Of a nominal attribute, the code that each point stands for.
    """

    name: str
    size: int
    ordered: bool
    first: float = 0.0
    step: float = 1.0
    origin: int = 0
    whole_step: bool = False
    labels: tuple[int, ...] = ()

    @classmethod
    def of(cls, column: PublicColumn, origin: float | None = None) -> Scale:
        """The points of a column, from what is public of it; `origin` is a value of its domain."""
        if column.kind is Kind.NOMINAL:
            return cls(column.name, len(column.domain), ordered=False, labels=column.domain)
        if column.kind is Kind.ORDINAL:
            return cls(column.name, len(column.labels), ordered=True)
        resolution = column.resolution
        # Bounds that were read from the data must not show in a ledger, by how many points there are between them.
        if column.bounds_from_data or resolution is None or (column.high - column.low) / resolution > _MOST_POINTS:
            step, first, size, whole_step = (column.high - column.low) / STEPS, column.low, STEPS, True
        else:
            lowest, highest = math.ceil(column.low / resolution), math.floor(column.high / resolution)
            step, first, size, whole_step = resolution, lowest * resolution, highest - lowest + 1, False
            if size < 1:
                raise TableError(f"column {column.name!r}: no multiple of its resolution lies within its bounds")
        start = min(max(0.0 if origin is None else origin, column.low), column.high)
        place = min(max(round((start - first) / step), 0), size - 1)
        return cls(column.name, size, True, first, step, place, whole_step)

    def points_of(self, values: FloatArray) -> IntArray:
        """The point of each value, by itself."""
        if not self.ordered:
            place = np.zeros(max(self.labels) + 1, dtype=np.int64)
            place[list(self.labels)] = np.arange(self.size)
            return place[values.astype(np.int64)]
        steps = (values - self.first) / self.step
        nearest = np.floor(steps) if self.whole_step else np.rint(steps)
        return np.clip(nearest, 0, self.size - 1).astype(np.int64)

    def values_of(self, points: IntArray, uniforms: FloatArray) -> FloatArray:
        """Numbers on the scale of the column; where a point is a step, anywhere in it."""
        if not self.ordered:
            return np.asarray(self.labels, dtype=np.float64)[points]
        within = uniforms if self.whole_step else 0.0
        return np.asarray(self.first + (points + within) * self.step, dtype=np.float64)

    def measure(self, points: FloatArray) -> FloatArray:
        """Where points lie on the public measure, between 0 and 1; it increases with the point."""
        low, high = self._ends
        logs = np.sign(points - self.origin) * np.log1p(np.abs(points - self.origin))
        share: FloatArray = 0.5 * points / max(self.size - 1, 1) + 0.5 * (logs - low) / max(high - low, 1e-12)
        return share

    def cut_evenly(self, count: int) -> IntArray:
        """Edges of `count` parts that are equal on the public measure, and of the origin alone; fewer of few points."""
        targets = np.arange(1, count) / count
        edges = np.ceil(self._at_measure(targets, np.zeros(count - 1), np.full(count - 1, self.size - 1.0)))
        # Many records may have the very value at the origin, such as 0.
        own = [self.origin, self.origin + 1]
        return np.unique([0, *edges.astype(np.int64).tolist(), *own, self.size]).astype(np.int64)

    def halve(self, starts: IntArray, ends: IntArray) -> IntArray:
        """For each run of points ``start .. end - 1`` of at least two, the point that begins its upper half."""
        low: FloatArray = starts.astype(np.float64)
        high: FloatArray = ends.astype(np.float64) - 1.0
        target = (self.measure(low) + self.measure(high)) / 2
        middles: IntArray = np.clip(np.ceil(self._at_measure(target, low, high)).astype(np.int64), starts + 1, ends - 1)
        return middles

    def _at_measure(self, targets: FloatArray, low: FloatArray, high: FloatArray) -> FloatArray:
        """The points between `low` and `high` that have the given measures, by bisection."""
        for _ in range(60):
            middle = (low + high) / 2
            below = self.measure(middle) < targets
            low, high = np.where(below, middle, low), np.where(below, high, middle)
        return low

    @cached_property
    def _ends(self) -> tuple[float, float]:
        below, above = self.origin, self.size - 1 - self.origin
        return -math.log1p(below), math.log1p(above)
