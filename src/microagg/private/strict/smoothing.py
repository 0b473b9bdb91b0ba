"""A smooth distribution from few noisy counts. Post-processing only."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.optimize import minimize
from threadpoolctl import threadpool_limits

from microagg._typing import FloatArray, IntArray
from microagg.private.strict.scales import Scale

__all__ = ["Observation", "smooth_density"]

_LEAVES = 64
_KNOTS = 8.0  # to the whole measure: the spacing at which a bend of 1 is neither small nor large
_ITERATIONS = 400


@dataclass(frozen=True)
class Observation:
    """Noisy counts of runs of points.

    Attributes
    ----------
    edges : ndarray of int64, of shape (n_runs + 1,)
        From 0 to the number of points.
    shares : ndarray of shape (n_runs,)
        The counts, over the number of records.
    deviation : float
        Standard deviation of the noise in `shares`, above 0.
    """

    edges: IntArray
    shares: FloatArray
    deviation: float


def smooth_density(scale: Scale, observations: Sequence[Observation]) -> tuple[IntArray, FloatArray]:
    """Edges of fine leaves and their masses, which go with all observations and bend as little as they can.

    What bends is the logarithm of the density on the public measure. Minimised is the misfit to the counts, in scales
    of their noise, plus the mean second derivative, in knots. Both are measured by ``sqrt(1 + x^2) - 1``: like Laplace
    noise, and like spikes that some values make, large ones count by their size and not by its square. A straight line
    is an exponential or, on the logarithmic half of the measure, a power law, so the density goes on sensibly where
    nothing stands out of the noise.

    The origin says nothing about what lies beside it: many records may have that very value.
    """
    edges = np.unique(np.concatenate([scale.cut_evenly(_LEAVES), *(one.edges for one in observations)]))
    at = scale.measure(edges - 0.5)
    widths = np.diff(at)
    alone = int(np.searchsorted(edges, scale.origin, side="right")) - 1
    bends, weights = _second_derivatives((at[:-1] + at[1:]) / 2, alone)
    # Seen by level, slope and bends instead of leaf by leaf, ends of the domain follow the rest at once.
    logs_of = np.linalg.inv(_level_slope_and_bends(len(widths), alone, bends))
    sums = [_sums_of_runs(edges, one.edges) for one in observations]

    def shares_of(shape: FloatArray) -> FloatArray:
        logs = logs_of @ shape
        raised = np.exp(logs - logs.max()) * widths
        return np.asarray(raised / raised.sum(), dtype=np.float64)

    def misfit(shape: FloatArray) -> tuple[float, FloatArray]:
        shares = shares_of(shape)
        bend, bend_slope = _soft(shape[-len(bends) :] if len(bends) else shape[:0])
        value, by_share = float(weights @ bend), np.zeros(len(shares))
        for observation, of_runs in zip(observations, sums, strict=True):
            unit = observation.deviation / np.sqrt(2.0)
            fit, fit_slope = _soft((of_runs @ shares - observation.shares) / unit)
            value += float(fit.sum())
            by_share += fit_slope @ of_runs / unit
        slope = (shares * (by_share - shares @ by_share)) @ logs_of
        if len(bends):
            slope[-len(bends) :] += weights * bend_slope
        return value, slope

    start = np.linalg.solve(logs_of, _first_guess(observations[-1], sums[-1], widths))
    # Of vectors this short, threads of the linear algebra would spend their time waiting for each other.
    with threadpool_limits(1, user_api="blas"):
        found = minimize(misfit, start, jac=True, method="L-BFGS-B", options={"maxiter": _ITERATIONS})
    return edges, shares_of(found.x)


def _second_derivatives(places: FloatArray, alone: int) -> tuple[FloatArray, FloatArray]:
    """What gives second derivatives, in knots, of a function at some places but one, and how much each is to count."""
    others = np.delete(places, alone)
    if len(others) < 3:
        return np.zeros((0, len(places))), np.zeros(0)
    steps = np.diff(others)
    slopes = np.diff(np.eye(len(others)), axis=0) / steps[:, None]
    between = (steps[1:] + steps[:-1]) / 2
    bends = np.diff(slopes, axis=0) / (between * _KNOTS**2)[:, None]
    return np.insert(bends, alone, 0.0, axis=1), between * _KNOTS


def _level_slope_and_bends(count: int, alone: int, bends: FloatArray) -> FloatArray:
    """What gives from `count` logarithms as many other numbers, the bends last; the logarithms where there are none."""
    if len(bends) == 0:
        return np.eye(count)
    others = np.delete(np.arange(count), alone)
    first = np.zeros((3, count))
    first[0, alone] = 1.0
    first[1, others] = 1.0 / len(others)
    first[2, others[[0, -1]]] = -1.0, 1.0
    return np.vstack([first, bends])


def _sums_of_runs(fine: IntArray, coarse: IntArray) -> FloatArray:
    """What sums masses of fine leaves to those of the runs they lie in."""
    run = np.searchsorted(coarse, fine[:-1], side="right") - 1
    return np.equal.outer(np.arange(len(coarse) - 1), run).astype(np.float64)


def _first_guess(observation: Observation, of_runs: FloatArray, widths: FloatArray) -> FloatArray:
    """The logarithms of a density that spreads what stands out of the noise evenly over each run."""
    kept = np.where(observation.shares < observation.deviation / np.sqrt(2.0), 0.0, observation.shares)
    kept = np.maximum(kept, 1e-3 * max(float(observation.shares.max()), 1e-9))
    logs = np.log(kept / kept.sum() / (of_runs @ widths)) @ of_runs
    return np.convolve(np.pad(logs, 2, mode="edge"), np.full(5, 0.2), mode="valid")


def _soft(x: FloatArray) -> tuple[FloatArray, FloatArray]:
    """``sqrt(1 + x^2) - 1`` and its derivative."""
    root = np.hypot(1.0, x)
    return root - 1.0, x / root
