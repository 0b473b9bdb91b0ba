"""Moments of cells: mean, covariance and coskewness, over all cells at once."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import combinations_with_replacement, permutations

import numpy as np

from microagg._typing import FloatArray, IntArray
from microagg.aggregate.centroid import Cells, cell_means
from microagg.aggregate.content import Content, Coskewness
from microagg.errors import ParameterError

__all__ = [
    "CrossMoments",
    "Moments",
    "cell_moments",
    "cell_third_moments",
    "cross_moments",
    "kept_pairs",
    "kept_triples",
]


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


def cell_third_moments(values: FloatArray, means: FloatArray, cells: Cells) -> FloatArray:
    """Weighted third central moment of each attribute and cell, of the population; 0 where the mean is NaN.

    Examples
    --------
    >>> cells = Cells(np.array([0, 0, 0]))
    >>> cell_third_moments(np.array([[0.0], [0.0], [3.0]]), np.array([[1.0]]), cells)
    array([[2.]])
    """
    weights, n_cells = cells.record_weights, len(cells.sizes)
    total = np.bincount(cells.labels, weights=weights, minlength=n_cells)
    third = np.empty_like(means)
    for j in range(values.shape[1]):
        cubes = np.nan_to_num(values[:, j] - means[cells.labels, j]) ** 3 * weights
        third[:, j] = np.bincount(cells.labels, weights=cubes, minlength=n_cells) / total
    return np.where(np.isnan(means), 0.0, third)


def kept_pairs(n_attributes: int, content: Content = Content.PURE) -> tuple[tuple[int, int], ...]:
    """Unique elements (i, j) of a covariance matrix that are kept: all with i <= j, or the variances alone.

    Examples
    --------
    >>> kept_pairs(2), kept_pairs(2, Content.VARIANCES)
    (((0, 0), (0, 1), (1, 1)), ((0, 0), (1, 1)))
    """
    if content is Content.VARIANCES:
        return tuple((i, i) for i in range(n_attributes))
    return tuple(combinations_with_replacement(range(n_attributes), 2))


def kept_triples(
    n_attributes: int, content: Content = Content.PURE, coskewness: Coskewness = Coskewness.ALL
) -> tuple[tuple[int, int, int], ...]:
    """Unique elements (i, j, l) of a coskewness that are kept: all with i <= j <= l, or the marginal ones (i, i, i).

    Examples
    --------
    >>> len(kept_triples(4)), kept_triples(2, Content.VARIANCES)
    (20, ((0, 0, 0), (1, 1, 1)))
    """
    if content is Content.VARIANCES or coskewness is Coskewness.MARGINAL:
        return tuple((i, i, i) for i in range(n_attributes))
    return tuple(combinations_with_replacement(range(n_attributes), 3))


@dataclass(frozen=True)
class CrossMoments:
    """What m-microaggregation keeps of each cell: mean, and the first m central cross moments.

    Attributes
    ----------
    sizes : ndarray of shape (n_cells,)
    means : ndarray of shape (n_cells, n_attributes)
    pairs : tuple of (i, j)
        Which elements of the covariance are kept; none for m = 0.
    covariances : ndarray of shape (n_cells, n_pairs)
        Unbiased: divided by k - 1.
    triples : tuple of (i, j, l)
        Which elements of the coskewness are kept; none for m < 2.
    coskewness : ndarray of shape (n_cells, n_triples)
        Fisher's unbiased estimator of the third central cross moment.
    """

    sizes: IntArray
    means: FloatArray
    pairs: tuple[tuple[int, int], ...]
    covariances: FloatArray
    triples: tuple[tuple[int, int, int], ...]
    coskewness: FloatArray

    @property
    def m(self) -> int:
        """How many central moments there are."""
        return 2 if self.triples else int(bool(self.pairs))

    @property
    def n_attributes(self) -> int:
        return int(self.means.shape[1])

    @property
    def covariance_matrices(self) -> FloatArray:
        """Of shape (n_cells, n_attributes, n_attributes); elements that are not kept are 0."""
        matrices = np.zeros((len(self.means), self.n_attributes, self.n_attributes))
        if self.pairs:
            i, j = np.array(self.pairs).T
            matrices[:, i, j] = matrices[:, j, i] = self.covariances
        return matrices

    @property
    def coskewness_slices(self) -> FloatArray:
        """Of shape (n_cells, n_attributes, n_attributes, n_attributes), symmetric; elements not kept are 0."""
        slices = np.zeros((len(self.means), *[self.n_attributes] * 3))
        if self.triples:
            index = np.array(self.triples)
            for order in permutations(range(3)):
                first, second, last = index[:, order].T
                slices[:, first, second, last] = self.coskewness
        return slices

    @property
    def marginal_coskewness(self) -> FloatArray:
        """Third central moment of each attribute, of shape (n_cells, n_attributes); 0 if not kept."""
        marginal = np.zeros_like(self.means)
        for place, triple in enumerate(self.triples):
            if len(set(triple)) == 1:
                marginal[:, triple[0]] = self.coskewness[:, place]
        return marginal

    @property
    def statistics(self) -> FloatArray:
        """All statistics side by side, of shape (n_cells, n_statistics): means, covariances, coskewness."""
        return np.hstack([self.means, self.covariances, self.coskewness])

    def of_cells(self, order: IntArray) -> CrossMoments:
        """Those of some cells, in that order."""
        return replace(self, sizes=self.sizes[order]).with_statistics(self.statistics[order])

    def with_statistics(self, statistics: FloatArray) -> CrossMoments:
        """The same elements with other values, in the order of :attr:`statistics`."""
        first, second = self.n_attributes, self.n_attributes + len(self.pairs)
        return replace(
            self,
            means=statistics[:, :first],
            covariances=statistics[:, first:second],
            coskewness=statistics[:, second:],
        )


def cross_moments(
    values: FloatArray,
    cells: Cells,
    m: int,
    *,
    content: Content = Content.PURE,
    coskewness: Coskewness = Coskewness.ALL,
) -> CrossMoments:
    """Mean and first `m` central cross moments of each cell, unbiased.

    Parameters
    ----------
    values : ndarray of shape (n_records, n_attributes)
        Without missing values.
    cells : Cells
        Without sampling weights; of at least 2 records for m = 1, and 3 for m = 2.
    m : {0, 1, 2}
    content : {"pure", "variances"}
    coskewness : {"all", "marginal"}

    Notes
    -----
    With x centred at the cell's mean, ``q_ij = sum(x_i x_j) / (k - 1)`` and ``phi_ijl = k sum(x_i x_j x_l) /
    ((k - 1)(k - 2))``. Both are U-statistics: the average of the same statistic over all subsets of a fixed size,
    from which their sensitivities follow (:mod:`microagg.privacy.sensitivity`).

    One pass over the records per kept element, none over cells.

    Examples
    --------
    >>> cells = Cells(np.array([0, 0, 0, 1, 1, 1]))
    >>> kept = cross_moments(np.array([[0.0], [0.0], [3.0], [1.0], [2.0], [3.0]]), cells, 2)
    >>> kept.means.ravel(), kept.covariances.ravel(), kept.coskewness.ravel()
    (array([1., 2.]), array([3., 1.]), array([9., 0.]))
    """
    if cells.weights is not None:
        raise ParameterError("moments under differential privacy take records of equal weight; leave weights out")
    n_attributes, sizes, labels = values.shape[1], cells.sizes, cells.labels
    least = m + 1
    if m and int(sizes.min()) < least:
        raise ParameterError(f"m = {m} needs cells of at least {least} records; the smallest has {int(sizes.min())}")
    columns = [np.ascontiguousarray(values[:, j]) for j in range(n_attributes)]
    means = np.column_stack([cell_means(column, cells) for column in columns])
    pairs = kept_pairs(n_attributes, content) if m else ()
    triples = kept_triples(n_attributes, content, coskewness) if m == 2 else ()
    centred = [column - means[labels, j] for j, column in enumerate(columns)] if m else []

    def sum_by_cell(products: FloatArray) -> FloatArray:
        return np.asarray(np.bincount(labels, weights=products, minlength=len(sizes)), dtype=np.float64)

    second = np.empty((len(sizes), len(pairs)))
    third = np.empty((len(sizes), len(triples)))
    shared: tuple[tuple[int, int], FloatArray] | None = None
    for place, (i, j) in enumerate(pairs):
        second[:, place] = sum_by_cell(centred[i] * centred[j]) / (sizes - 1)
    for place, (i, j, last) in enumerate(triples):
        if shared is None or shared[0] != (i, j):  # triples are sorted: one product serves all that begin alike
            shared = ((i, j), centred[i] * centred[j])
        third[:, place] = sum_by_cell(shared[1] * centred[last]) * (sizes / ((sizes - 1.0) * (sizes - 2.0)))
    return CrossMoments(sizes, means, pairs, second, triples, third)
