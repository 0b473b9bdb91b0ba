"""Representatives of cells: mean, median, medoid, mode and taxonomic centre, over all cells at once.

Every function takes the values of one attribute (or, for the medoid, the space) and the cells, and returns one
value per cell. A missing value (NaN) in a cell makes its representative missing: nothing is invented.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from microagg._typing import FloatArray, IntArray

__all__ = [
    "Cells",
    "cell_means",
    "cell_medians",
    "cell_medoids",
    "cell_modes",
    "cell_taxonomic_centres",
    "nearest_of_cells",
    "round_to_resolution",
    "running_shares",
]


_DENSE_COUNTS = 4_000_000  # numbers in a block of the cells x categories table


@dataclass(frozen=True)
class Cells:
    """Cells of a partition: labels 0 to n_cells - 1, each in use, and the records' sampling weights."""

    labels: IntArray
    weights: FloatArray | None = None

    @cached_property
    def sizes(self) -> IntArray:
        return np.bincount(self.labels)

    @cached_property
    def order(self) -> IntArray:
        """Record indices, cell after cell, ascending within each."""
        return np.argsort(self.labels, kind="stable")

    @cached_property
    def starts(self) -> IntArray:
        """Where each cell begins in :attr:`order`."""
        return np.concatenate([[0], np.cumsum(self.sizes)[:-1]]).astype(np.int64)

    @cached_property
    def record_weights(self) -> FloatArray:
        """The sampling weights, or 1 for every record."""
        return np.ones(len(self.labels)) if self.weights is None else self.weights


def cell_means(values: FloatArray, cells: Cells) -> FloatArray:
    """Weighted mean of each cell, never outside the range of the cell's own values.

    Examples
    --------
    >>> cell_means(np.array([1.0, 2.0, 6.0, 8.0]), Cells(np.array([0, 0, 1, 1])))
    array([1.5, 7. ])
    """
    ordered = values[cells.order]
    smallest = np.minimum.reduceat(ordered, cells.starts)
    largest = np.maximum.reduceat(ordered, cells.starts)
    # Sums are taken from each cell's smallest value, so that a common offset costs no precision.
    weights = cells.record_weights
    n_cells = len(cells.sizes)
    above = np.bincount(cells.labels, weights=(values - smallest[cells.labels]) * weights, minlength=n_cells)
    means = smallest + above / np.bincount(cells.labels, weights=weights, minlength=n_cells)
    return np.clip(means, smallest, largest) + 0.0  # + 0.0 makes -0.0 the 0.0 that other cells publish


def running_shares(cells: Cells, order: IntArray) -> FloatArray:
    """Running sum of the weights, as shares of their cell's total: cell c's goes from c to c + 1.

    Taken cell by cell, so that no cell's rounding errors reach another. `order` lists records cell after cell.
    """
    cell = cells.labels[order]
    weights = cells.record_weights[order]
    share = weights / np.add.reduceat(weights, cells.starts)[cell]
    running = np.cumsum(share)
    return np.clip(running - (running[cells.starts] - share[cells.starts])[cell], 0.0, 1.0) + cell


def cell_medians(values: FloatArray, cells: Cells, *, lower: bool = False) -> FloatArray:
    """Weighted median of each cell; between two middle values their midpoint, or the `lower` of them.

    Examples
    --------
    >>> cell_medians(np.array([1.0, 2.0, 6.0, 8.0]), Cells(np.array([0, 0, 1, 1])), lower=True)
    array([1., 6.])
    """
    order = np.lexsort((values, cells.labels))
    ordered = values[order]
    ends = cells.starts + cells.sizes - 1
    running = running_shares(cells, order)
    half = np.arange(len(ends)) + 0.5
    # A rounding error must not decide whether half the weight is reached.
    slack = 1e-9
    low = np.clip(np.searchsorted(running, half - slack), cells.starts, ends)
    high = np.clip(np.searchsorted(running, half + slack), cells.starts, ends)
    middle = np.where(ordered[low] == ordered[high], ordered[low], 0.5 * ordered[low] + 0.5 * ordered[high])
    medians = ordered[low] if lower else middle
    # NaN sorts last within its cell.
    return np.where(np.isnan(ordered[ends]), np.nan, medians) + 0.0


def cell_medoids(matrix: FloatArray, cells: Cells) -> IntArray:
    """The record of each cell nearest to the cell's centroid; the first one of several.

    Examples
    --------
    >>> cell_medoids(np.array([[0.0], [1.0], [5.0]]), Cells(np.array([0, 0, 0])))
    array([1])
    """
    distance = np.zeros(len(matrix))
    for column in matrix.T:
        distance += (column - cell_means(np.ascontiguousarray(column), cells)[cells.labels]) ** 2
    return nearest_of_cells(distance, cells)


def nearest_of_cells(distance: FloatArray, cells: Cells) -> IntArray:
    """The record of each cell with the least distance; the first one of several."""
    order = np.lexsort((np.arange(len(distance)), distance, cells.labels))
    return order[cells.starts]


def cell_modes(codes: FloatArray, cells: Cells) -> FloatArray:
    """The category with the largest weight in each cell; the first one of several.

    Examples
    --------
    >>> cell_modes(np.array([2.0, 0.0, 2.0, 1.0, 0.0]), Cells(np.array([0, 0, 0, 1, 1])))
    array([2., 0.])
    """
    missing = np.isnan(codes)
    filled = np.where(missing, 0, codes).astype(np.int64)
    n_categories = int(filled.max()) + 1
    pairs, inverse = np.unique(cells.labels * n_categories + filled, return_inverse=True)
    weight = np.bincount(inverse, weights=cells.record_weights)
    cell, category = np.divmod(pairs, n_categories)
    best_first = np.lexsort((category, -weight, cell))
    _, first = np.unique(cell[best_first], return_index=True)
    modes: FloatArray = category[best_first][first].astype(np.float64)
    modes[cells.labels[missing]] = np.nan
    return modes


def cell_taxonomic_centres(codes: FloatArray, distances: FloatArray, cells: Cells) -> FloatArray:
    """The category with the least total semantic distance to the cell's records; the first one of several.

    Parameters
    ----------
    codes : ndarray of shape (n_records,)
    distances : ndarray of shape (n_categories, n_categories)
        Categories that occur in no record of the table should be left out by an infinite column.
    """
    from scipy.sparse import csr_array

    missing = np.isnan(codes)
    if missing.all():
        return np.full(len(cells.sizes), np.nan)
    filled = np.where(missing, 0, codes).astype(np.int64)
    n_cells, n_categories = len(cells.sizes), len(distances)
    counts = csr_array((cells.record_weights, (cells.labels, filled)), shape=(n_cells, n_categories))
    centres = np.empty(n_cells)
    step = max(_DENSE_COUNTS // n_categories, 1)
    usable = np.isfinite(distances).all(axis=0)
    finite = np.where(usable, distances, 0.0)
    for start in range(0, n_cells, step):
        cost = counts[start : start + step] @ finite
        cost[:, ~usable] = np.inf
        # Sums of the same distances in another order must tie, so that the first category wins.
        centres[start : start + step] = np.argmin(np.round(cost, 9), axis=1)
    centres[cells.labels[missing]] = np.nan
    return centres


def round_to_resolution(values: FloatArray, resolution: float | None) -> FloatArray:
    """Round to multiples of `resolution`; None leaves the values.

    Examples
    --------
    >>> round_to_resolution(np.array([0.26, 0.34]), 0.1)
    array([0.3, 0.3])
    """
    if resolution is None:
        return values
    steps = 1.0 / resolution
    if not np.isfinite(steps):  # finer than any float: nothing to round
        return values
    if steps > 1 and abs(steps - round(steps)) < 1e-9 * steps:
        with np.errstate(over="ignore"):
            scaled = values * round(steps)
        # 3 / 10 is the float 0.3, 3 * 0.1 is not. What overflows has no digits that small.
        return np.where(np.isfinite(scaled), np.rint(scaled) / round(steps) + 0.0, values)
    return np.rint(values / resolution) * resolution + 0.0
