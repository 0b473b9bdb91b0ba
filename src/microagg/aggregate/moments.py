"""Moments of cells: mean and covariance, over all cells at once."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from microagg.aggregate.centroid import Cells, cell_means

__all__ = ["Moments", "cell_moments"]

FloatArray = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Moments:
    """Mean and covariance of each cell.

    Attributes
    ----------
    means : ndarray of shape (n_cells, n_attributes)
        NaN where a record of the cell lacks the attribute.
    covariances : ndarray of shape (n_cells, n_attributes, n_attributes)
        Of the population: divided by the cell's total weight. 0 where the mean is NaN.
    """

    means: FloatArray
    covariances: FloatArray


def cell_moments(values: FloatArray, cells: Cells) -> Moments:
    """Weighted mean and covariance of each cell.

    Parameters
    ----------
    values : ndarray of shape (n_records, n_attributes)
    cells : Cells

    Notes
    -----
    With population covariances, the cells' covariances and the covariance between their means add up to the
    covariance of the table. Memory is O(n_records + n_cells n_attributes^2).

    Examples
    --------
    >>> moments = cell_moments(np.array([[1.0], [3.0], [5.0], [5.0]]), Cells(np.array([0, 0, 1, 1])))
    >>> moments.means.ravel(), moments.covariances.ravel()
    (array([2., 5.]), array([1., 0.]))
    """
    n_attributes, n_cells = values.shape[1], len(cells.sizes)
    columns = [np.ascontiguousarray(values[:, j]) for j in range(n_attributes)]
    means = np.empty((n_cells, n_attributes))
    for j, column in enumerate(columns):
        means[:, j] = cell_means(column, cells)
    weights = cells.record_weights
    total = np.bincount(cells.labels, weights=weights, minlength=n_cells)
    covariances = np.zeros((n_cells, n_attributes, n_attributes))
    centred = [column - means[cells.labels, j] for j, column in enumerate(columns)]
    for i in range(n_attributes):
        for j in range(i + 1):
            product = np.nan_to_num(centred[i] * centred[j]) * weights
            shared = np.bincount(cells.labels, weights=product, minlength=n_cells) / total
            covariances[:, i, j] = covariances[:, j, i] = shared
    lacking = np.isnan(means)
    covariances[lacking[:, :, None] | lacking[:, None, :]] = 0.0
    return Moments(means, covariances)
