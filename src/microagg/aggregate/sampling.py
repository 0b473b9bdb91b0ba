"""Records drawn from the statistics of their cell: numbers from mean and covariance, categories from their counts."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from microagg._typing import FloatArray, IntArray
from microagg.aggregate.centroid import Cells, running_shares
from microagg.aggregate.moments import Moments

__all__ = [
    "SkewNormal",
    "Uniforms",
    "draw_categories",
    "draw_numbers",
    "draw_skew_normal",
    "skew_normal",
    "skew_normals_alone",
]


Uniforms = Callable[[int], FloatArray]
"""From a number to so many independent uniform draws, strictly between 0 and 1."""


def draw_numbers(moments: Moments, labels: IntArray, uniforms: Uniforms) -> FloatArray:
    """Draw one point per record from the normal distribution with its cell's mean and covariance.

    Parameters
    ----------
    moments : Moments
    labels : ndarray of shape (n_records,)
        The cell of each record.
    uniforms : callable
        The source of chance.

    Returns
    -------
    ndarray of shape (n_records, n_attributes)
        NaN where the cell's mean is. Which of a cell's draws goes to which of its records is chance.

    Notes
    -----
    A covariance need not have full rank: draws then stay in the plane of the cell's records.
    """
    from scipy.special import ndtri

    n_attributes = moments.means.shape[1]
    # Of correlations, so that attributes in large units do not drown those in small ones.
    deviations, correlations = _deviations_and_correlations(moments.covariances)
    variances, axes = np.linalg.eigh(correlations)
    factors = deviations[:, :, None] * axes * np.sqrt(np.clip(variances, 0.0, None))[:, None, :]
    drawn = moments.means[labels]
    for j in range(n_attributes):
        drawn += factors[labels, :, j] * ndtri(uniforms(len(labels)))[:, None]
    return drawn


def _deviations_and_correlations(covariances: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Standard deviations of each cell, and its covariances divided by them; 0 where an attribute does not vary."""
    deviations = np.sqrt(np.clip(np.einsum("...ii->...i", covariances), 0.0, None))
    divisors = np.where(deviations > 0, deviations, 1.0)
    varies = (deviations > 0).astype(np.float64)
    correlations = covariances / divisors[..., :, None] / divisors[..., None, :]
    return deviations, correlations * varies[..., :, None] * varies[..., None, :]


def draw_categories(codes: FloatArray, cells: Cells, uniforms: Uniforms) -> FloatArray:
    """Draw one category per record from the weighted counts of its cell; NaN where any record of the cell has none.

    Examples
    --------
    >>> draw_categories(np.array([3.0, 3.0, 1.0]), Cells(np.array([0, 0, 1])), np.random.default_rng(0).random)
    array([3., 3., 1.])
    """
    places = np.searchsorted(running_shares(cells, cells.order), cells.labels + uniforms(len(codes)))
    last = cells.starts + cells.sizes - 1
    places = np.clip(places, cells.starts[cells.labels], last[cells.labels])
    drawn: FloatArray = codes[cells.order[places]]
    lacking = np.bincount(cells.labels, weights=np.isnan(codes)) > 0
    drawn[lacking[cells.labels]] = np.nan
    return drawn


_HALF_NORMAL_MEAN = math.sqrt(2.0 / math.pi)
_HALF_NORMAL_VARIANCE = 1.0 - 2.0 / math.pi
_HALF_NORMAL_THIRD = math.sqrt(2.0 / math.pi) * (4.0 / math.pi - 1.0)


@dataclass(frozen=True)
class SkewNormal:
    """Skew-normal distributions, one per cell, as a normal part and a half-normal one.

    ``x = mean + slant (|z| - sqrt(2/pi)) + normal(0, rest)`` with z standard normal is Azzalini's distribution in
    centred parameters: its mean is `mean`, its covariance ``rest + (1 - 2/pi) slant slant^T``.

    Attributes
    ----------
    means, slants : ndarray of shape (n_cells, n_attributes)
    rests : ndarray of shape (n_cells, n_attributes, n_attributes)
        Positive semidefinite.
    alone : bool
        True if each attribute has a z of its own, and so is independent of the others.
    """

    means: FloatArray
    slants: FloatArray
    rests: FloatArray
    alone: bool

    @property
    def covariances(self) -> FloatArray:
        shared = self.slants[:, :, None] * self.slants[:, None, :]
        if self.alone:
            shared = shared * np.eye(self.means.shape[1])
        return self.rests + _HALF_NORMAL_VARIANCE * shared


def skew_normals_alone(means: FloatArray, variances: FloatArray, skewness: FloatArray) -> SkewNormal:
    """Univariate skew-normal distributions of attributes that are independent within their cell.

    Parameters
    ----------
    means, variances, skewness : ndarray of shape (n_cells, n_attributes)
        Skewness within what the distribution can have (:func:`microagg.aggregate.repair.feasible_skewness`).

    Examples
    --------
    >>> one = skew_normals_alone(np.array([[0.0]]), np.array([[4.0]]), np.array([[0.5]]))
    >>> one.covariances.ravel(), one.slants.round(4).ravel()
    (array([4.]), array([2.6375]))
    """
    slants = np.sqrt(variances) * np.cbrt(skewness / _HALF_NORMAL_THIRD)
    rest = np.clip(variances - _HALF_NORMAL_VARIANCE * slants**2, 0.0, None)
    return SkewNormal(means, slants, rest[:, :, None] * np.eye(means.shape[1]), alone=True)


def skew_normal(means: FloatArray, covariances: FloatArray, skewness: FloatArray) -> SkewNormal:
    """Multivariate skew-normal distributions in centred parameters [1]_.

    Parameters
    ----------
    means, skewness : ndarray of shape (n_cells, n_attributes)
    covariances : ndarray of shape (n_cells, n_attributes, n_attributes)
        Positive semidefinite.

    Notes
    -----
    Not every covariance goes with every vector of skewness: what the half-normal part adds to the covariance,
    ``(1 - 2/pi) slant slant^T``, may not exceed it. Where it would, mean and covariance are kept and the skewness of
    all attributes of the cell is shrunk by one factor, the largest that fits.

    References
    ----------
    .. [1] Azzalini, A. & Capitanio, A. (1999). Statistical applications of the multivariate skew normal
       distribution. Journal of the Royal Statistical Society B 61(3), 579-602. doi:10.1111/1467-9868.00194
    """
    # In units of each attribute's own deviation, so that large units do not drown small ones.
    deviations, correlations = _deviations_and_correlations(covariances)
    slants = np.where(deviations > 0, np.cbrt(skewness / _HALF_NORMAL_THIRD), 0.0)
    values, axes = np.linalg.eigh(correlations)
    along = np.einsum("cij,ci->cj", axes, slants)
    # Along an axis in which the cell does not vary there is no room for a slant.
    room = values > 1e-12 * np.clip(values[:, -1:], 0.0, None)
    along = np.where(room, along, 0.0)
    used = _HALF_NORMAL_VARIANCE * np.divide(along**2, values, out=np.zeros_like(along), where=room).sum(axis=1)
    # A little inside: rounding must not leave a negative variance.
    shrink = np.where(used > 1.0 - 1e-9, np.sqrt((1.0 - 1e-9) / np.maximum(used, 1e-300)), 1.0)
    slants = np.einsum("cij,cj->ci", axes, along * shrink[:, None])
    rests = correlations - _HALF_NORMAL_VARIANCE * slants[:, :, None] * slants[:, None, :]
    return SkewNormal(means, slants * deviations, rests * deviations[:, :, None] * deviations[:, None, :], alone=False)


def draw_skew_normal(cells: SkewNormal, labels: IntArray, uniforms: Uniforms) -> FloatArray:
    """Draw one point per record from its cell's skew-normal distribution.

    Parameters
    ----------
    cells : SkewNormal
    labels : ndarray of shape (n_records,)
    uniforms : callable
        The source of chance.

    Returns
    -------
    ndarray of shape (n_records, n_attributes)
    """
    from scipy.special import ndtri

    drawn = draw_numbers(Moments(cells.means, cells.rests), labels, uniforms)
    half = None
    for j in range(drawn.shape[1]):
        if half is None or cells.alone:
            half = np.abs(ndtri(uniforms(len(labels)))) - _HALF_NORMAL_MEAN
        drawn[:, j] += cells.slants[labels, j] * half
    return drawn
