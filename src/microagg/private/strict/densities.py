"""Where values lie inside a leaf: by a density that goes on as its neighbours suggest. Post-processing only."""

from __future__ import annotations

import numpy as np

from microagg._typing import FloatArray, IntArray
from microagg.private.strict.marginals import Marginal

__all__ = ["draw_points", "slopes_of"]

_LEAST_MASS = 1e-4  # an empty leaf has no logarithm
_FLAT = 1e-6
_STEEPEST = 60.0


def slopes_of(marginal: Marginal) -> FloatArray:
    """The slope of the logarithm of the density inside each leaf.

    Between two neighbours that both rise or both fall it is the smaller of the two slopes; at a peak or a valley it is
    flat. In the outermost leaf the density falls exponentially from its neighbour's. A leaf of one point says nothing
    about the density beside it: values such as 0 occur more often than all others.
    """
    widths = np.diff(marginal.edges).astype(np.float64)
    slopes = np.zeros(marginal.n_leaves)
    if not marginal.scale.ordered or marginal.is_list or marginal.n_leaves < 3:
        return slopes
    density = np.maximum(marginal.mass, _LEAST_MASS) / widths
    logs = np.log(density)
    wide = widths > 1
    between = 2.0 * np.diff(logs) / (widths[1:] + widths[:-1])  # from leaf i to i + 1
    both = wide[1:] & wide[:-1]
    for i in np.flatnonzero(wide):
        left = between[i - 1] if i > 0 and both[i - 1] else None
        right = between[i] if i + 1 < len(wide) and both[i] else None
        if left is not None and right is not None:
            slopes[i] = 0.0 if left * right < 0 else np.sign(left) * min(abs(left), abs(right))
        elif left is not None and i + 1 == len(wide) and density[i - 1] > density[i]:
            slopes[i] = -_falling_rate(density[i - 1], marginal.mass[i], widths[i])
        elif right is not None and i == 0 and density[1] > density[0]:
            slopes[i] = _falling_rate(density[1], marginal.mass[i], widths[i])
    return slopes


def draw_points(marginal: Marginal, slopes: FloatArray, leaves: IntArray, uniforms: FloatArray) -> IntArray:
    """A point inside each of the leaves."""
    widths = np.diff(marginal.edges)[leaves].astype(np.float64)
    steep = np.clip(slopes[leaves] * widths, -_STEEPEST, _STEEPEST)
    flat = np.abs(steep) < _FLAT
    safe = np.where(flat, 1.0, steep)
    share = np.where(flat, uniforms, np.log1p(uniforms * np.expm1(safe)) / safe)
    within = np.minimum(np.floor(share * widths), widths - 1).astype(np.int64)
    points: IntArray = marginal.edges[leaves] + within
    return points


def _falling_rate(start: float, mass: float, width: float) -> float:
    """The rate of an exponential density of that mass on a width, which begins at `start`, above mass / width."""
    low, high = 0.0, 1e6 / width
    for _ in range(60):
        rate = (low + high) / 2
        held = start * -np.expm1(-rate * width) / rate
        low, high = (rate, high) if held > mass else (low, rate)
    return low
