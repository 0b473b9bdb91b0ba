"""The k from which one method loses less than another: three ways to average runs, and how far chance moves it.

MDAV cuts n records into ``n // k`` cells, so the curves are stairs: level while the number of cells is the same, and
steep where one cell fewer is left. A line drawn between two k on either side of such a step crosses at a k that neither
curve knows of; so nothing is interpolated here, and the grids of k have the first k of every step.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from microagg._typing import FloatArray

__all__ = ["WAYS", "Crossing", "crossing", "first_of_steps", "interpolated", "settle"]


def _log_of_mean(runs: FloatArray) -> FloatArray:
    return np.asarray(np.log2(np.exp2(runs).mean(axis=-2)))


WAYS: dict[str, Callable[[FloatArray], FloatArray]] = {
    "log2 of the mean": _log_of_mean,
    "mean of log2": lambda runs: np.asarray(runs.mean(axis=-2)),
    "median": lambda runs: np.asarray(np.median(runs, axis=-2)),
}
"""From log2 SSE, of shape (..., n_runs, n_k), to a level per k; the paper does not say how it averages."""

_RESAMPLES = 1000
_SURE = 0.95


def first_of_steps(n_records: int, least: int, most: int) -> list[int]:
    """The k from `least` to `most` at which MDAV makes one cell fewer than at ``k - 1``.

    Examples
    --------
    >>> first_of_steps(1080, 200, 540)
    [217, 271, 361]
    """
    return [k for k in range(max(least, 2), most + 1) if n_records // k < n_records // (k - 1)]


def crossing(before: FloatArray, after: FloatArray, ks: Sequence[int]) -> float:
    """The first of these k from which `after` stays below `before`; NaN if it does not on this range.

    Examples
    --------
    >>> crossing(np.array([1.0, 1.0, 1.0]), np.array([3.0, 2.0, 0.0]), [100, 200, 300])
    300.0
    """
    last = _last_above(np.asarray(after) - np.asarray(before))
    return math.nan if last == len(ks) - 1 else float(ks[last + 1])


def interpolated(before: FloatArray, after: FloatArray, ks: Sequence[int]) -> float:
    """The same read from lines drawn between the points, as from a printed figure.

    Examples
    --------
    >>> interpolated(np.array([1.0, 1.0, 1.0]), np.array([3.0, 2.0, 0.0]), [100, 200, 300])
    250.0
    """
    gap = np.asarray(after) - np.asarray(before)
    last = _last_above(gap)
    if last == len(ks) - 1:
        return math.nan
    return float(ks[0] if last < 0 else ks[last] + (ks[last + 1] - ks[last]) * gap[last] / (gap[last] - gap[last + 1]))


def _last_above(gap: FloatArray) -> int:
    above = np.flatnonzero(gap >= 0)
    return int(above[-1]) if len(above) else -1


@dataclass(frozen=True)
class Crossing:
    """Where two curves cross by one way to average.

    Attributes
    ----------
    place : float
        The first k from which the second method stays below the first; NaN for none.
    low, high : float
        Between them lie 95 % of the places that runs drawn again from those at hand give; NaN for none.
    beyond : int
        The largest k.
    """

    place: float
    low: float
    high: float
    beyond: int

    @property
    def interval(self) -> str:
        """In words."""
        return self.told(self.low) if self._same else f"{self.told(self.low)} to {self.told(self.high)}"

    @property
    def _same(self) -> bool:
        return self.low == self.high or (math.isnan(self.low) and math.isnan(self.high))

    def told(self, place: float) -> str:
        """A place in words."""
        return f"none up to {self.beyond}" if math.isnan(place) else f"{place:.0f}"

    def reaches(self, place: float) -> bool:
        """Whether chance in the runs could put the crossing there."""
        low, high = (math.inf if math.isnan(one) else one for one in (self.low, self.high))
        return low <= place <= high


def settle(before: FloatArray, after: FloatArray, ks: Sequence[int], way: str) -> Crossing:
    """Where curves of runs cross, and how far chance moves it.

    Parameters
    ----------
    before, after : ndarray of shape (n_runs, n_k)
        log2 SSE. A run has one seed at all k and in both methods, so runs are drawn again whole.
    ks : sequence of int
    way : str
        One of :data:`WAYS`.
    """
    average = WAYS[way]
    rng = np.random.default_rng(0)
    n_runs = len(before)
    found = []
    for _ in range(_RESAMPLES):
        drawn = rng.integers(n_runs, size=n_runs)
        found.append(crossing(average(before[drawn]), average(after[drawn]), ks))
    ordered = np.sort(found)  # NaN, no crossing on this range, comes last
    outside = int((1 - _SURE) / 2 * _RESAMPLES)
    low, high = float(ordered[outside]), float(ordered[-1 - outside])
    return Crossing(crossing(average(before), average(after), ks), low, high, int(ks[-1]))
