"""Records drawn from the statistics of their cell: numbers from mean and covariance, categories from their counts."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from microagg.aggregate.centroid import Cells, running_shares
from microagg.aggregate.moments import Moments

__all__ = ["Uniforms", "draw_categories", "draw_numbers"]

FloatArray = npt.NDArray[np.float64]

Uniforms = Callable[[int], FloatArray]
"""From a number to so many independent uniform draws, strictly between 0 and 1."""


def draw_numbers(moments: Moments, labels: npt.NDArray[np.int64], uniforms: Uniforms) -> FloatArray:
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
    variances, axes = np.linalg.eigh(moments.covariances)
    factors = axes * np.sqrt(np.clip(variances, 0.0, None))[:, None, :]
    drawn = moments.means[labels]
    for j in range(n_attributes):
        drawn += factors[labels, :, j] * ndtri(uniforms(len(labels)))[:, None]
    return drawn


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
