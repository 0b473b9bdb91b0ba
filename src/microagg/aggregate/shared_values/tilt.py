"""Which place of an interval a draw has: more often those that lead a model to the labels of the interval's records."""

from __future__ import annotations

import numpy as np

from microagg._typing import FloatArray, IntArray

__all__ = ["steer", "tilted_places"]


_STEPS = 30  # of Newton's method
_RIDGE = 1e-3  # keeps the strength finite where no strength reaches the labels
_STRONGEST = 15.0


def tilted_places(odds: FloatArray, due: FloatArray, uniforms: FloatArray) -> IntArray:
    """Choose a place for each draw of one interval, with weights that lead expectations to what is due.

    Parameters
    ----------
    odds : ndarray of shape (n_draws, n_places, n_terms)
        What a model expects where the draw has that place.
    due : ndarray of shape (n_terms,)
        The mean label of the records of the interval.
    uniforms : ndarray of shape (n_draws,)

    Returns
    -------
    ndarray of shape (n_draws,)

    Notes
    -----
    Place m of draw i has probability proportional to exp(strength . odds[i, m]), with one strength for all draws of the
    interval: of all ways to reach the mean that is due, the one nearest to equal chances.
    """
    chances = np.cumsum(_chances(odds, steer(odds, due)), axis=1)
    places: IntArray = np.minimum((chances < uniforms[:, None]).sum(axis=1), odds.shape[1] - 1)
    return places


def steer(odds: FloatArray, due: FloatArray) -> FloatArray:
    """The strength of :func:`tilted_places`, of shape (n_terms,), by damped Newton steps on a convex function."""
    strength = np.zeros(odds.shape[2])
    value, slope, curve = _log_partition(odds, due, strength)
    for _ in range(_STEPS):
        step = np.linalg.solve(curve, slope)
        damping = 1.0
        while damping > 1e-4:
            tried = strength - damping * step
            new_value, new_slope, new_curve = _log_partition(odds, due, tried)
            if new_value <= value:
                break
            damping /= 2
        else:
            break
        gained = value - new_value
        strength, value, slope, curve = tried, new_value, new_slope, new_curve
        if gained < 1e-10:
            break
    return np.clip(strength, -_STRONGEST, _STRONGEST)


def _chances(odds: FloatArray, strength: FloatArray) -> FloatArray:
    """Probabilities of the places of each draw."""
    exponents = odds @ strength
    exponents -= exponents.max(axis=1, keepdims=True)
    weights: FloatArray = np.exp(exponents)
    weights /= weights.sum(axis=1, keepdims=True)
    return weights


def _log_partition(odds: FloatArray, due: FloatArray, strength: FloatArray) -> tuple[float, FloatArray, FloatArray]:
    """The function whose smallest value is where expectations are as due; its slope and curvature."""
    exponents = odds @ strength
    highest = exponents.max(axis=1, keepdims=True)
    weights = np.exp(exponents - highest)
    total = weights.sum(axis=1, keepdims=True)
    chances = weights / total
    means = np.einsum("ij,ijt->it", chances, odds)
    value = float((np.log(total) + highest).mean() - strength @ due + 0.5 * _RIDGE * strength @ strength)
    slope = means.mean(axis=0) - due + _RIDGE * strength
    centred = odds - means[:, None, :]
    curve = np.einsum("ij,ijt,iju->tu", chances, centred, centred) / len(odds) + _RIDGE * np.eye(len(due))
    return value, slope, curve
