"""Insensitive MDAV: cells that one changed record can hardly change."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from microagg._validation import Constraint, Integer
from microagg.partition.base import Partitioner
from microagg.partition.runs import run_labels, run_sizes

__all__ = ["InsensitiveMDAV", "order_of_domain"]


class InsensitiveMDAV(Partitioner):
    """Partition records along a total order that does not depend on them (insensitive MDAV).

    MDAV, but with distances that are consistent with a total order of the whole domain: the most distant records are
    then the first and the last in that order, and cells are taken from both ends. If one record is replaced by another,
    every cell changes by at most one record, which is what differential privacy needs of a partition. The price is less
    homogeneous cells: where no noise follows, use MDAV.

    The order is by distance to the corner of the domain that is the origin of the space, then by the coordinates one
    after the other. **The space must not depend on the data either**: scale by declared bounds
    (``standardize = "bounds"``), under which the origin is the corner of all lower bounds.

    Parameters
    ----------
    k : int >= 2, default 5
        Smallest allowed number of records in a cell.

    Attributes
    ----------
    labels_ : ndarray of shape (n_records,)
        Cells in the order of their first records.
    n_cells_ : int
        The number of records divided by k, rounded down.
    sse_ : float

    Notes
    -----
    Sizes, and the place of the one larger cell (the middle, where the two ends meet), are a function of n and k only.
    If record x is replaced by x', the records between their places in the order move by one place, so each run loses
    at most one record and gains at most one.

    Complexity: O(n d + n log n).

    References
    ----------
    .. [1] Soria-Comas, J., Domingo-Ferrer, J., Sanchez, D. & Martinez, S. (2014). Enhancing data utility in
       differential privacy via microaggregation-based k-anonymity. VLDB Journal 23(5), 771-794.
       doi:10.1007/s00778-014-0351-4

    Examples
    --------
    >>> InsensitiveMDAV(k=2).fit([[0.1], [0.9], [0.2], [0.5], [0.8]]).labels_
    array([0, 1, 0, 1, 1])
    """

    fixed_order: ClassVar[bool] = True
    constraints: ClassVar[Mapping[str, Constraint]] = {"k": Integer(2)}

    def __init__(self, k: int = 5) -> None:
        self.k = k

    def _cells(self, X: npt.NDArray[np.float64]) -> npt.NDArray[np.int64]:
        return run_labels(order_of_domain(X), run_sizes(len(X), int(self.k), "middle"))


def order_of_domain(X: npt.NDArray[np.float64]) -> npt.NDArray[np.int64]:
    """Indices that sort records by distance to the origin, then by coordinates: an order of all points there can be.

    Examples
    --------
    >>> order_of_domain(np.array([[0.0, 0.5], [0.1, 0.1], [0.5, 0.0]]))
    array([1, 0, 2])
    """
    # Each record is brought near 1 by a power of two of its own, so that its squares neither overflow nor vanish: the
    # distance is then a mantissa and an exponent, which depend on the record alone.
    largest = np.abs(X).max(axis=1)
    exponents = np.frexp(largest)[1].astype(np.int64)
    with np.errstate(under="ignore"):
        near_one = np.ldexp(X, -exponents[:, None])
        squared = np.zeros(len(X))
        for column in near_one.T:
            squared += column * column
    mantissas, more = np.frexp(squared)
    powers = np.where(largest > 0, 2 * exponents + more, np.iinfo(np.int64).min)
    # Records equal in all of this are equal: their index, the last key, then decides nothing that shows.
    return np.lexsort((*X.T[::-1], mantissas, powers)).astype(np.int64)
