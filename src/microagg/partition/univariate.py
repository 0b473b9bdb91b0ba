"""Optimal univariate microaggregation."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from microagg._halt import current_halt
from microagg._validation import Constraint, Integer
from microagg.errors import ParameterError
from microagg.partition.base import Partitioner
from microagg.partition.runs import order_of
from microagg.partition.uncompiled.choice import numpy_costs_less

__all__ = ["OptimalUnivariate", "optimal_cells", "optimal_runs"]

_COMPILING = 4.5  # seconds


class OptimalUnivariate(Partitioner):
    """Partition one attribute into cells of at least k records with the least possible SSE.

    In one dimension the best cells are runs of the sorted values of k to 2k - 1 records, so the best partition is a
    shortest path; it is found exactly. For several attributes no such method is known: use
    :class:`~microagg.partition.ranking.IndividualRanking` to treat them one by one.

    Parameters
    ----------
    k : int >= 2, default 5
        Smallest allowed number of records in a cell.

    Attributes
    ----------
    labels_ : ndarray of shape (n_records,)
    n_cells_ : int
    sse_ : float

    Notes
    -----
    Privacy: as for every partition; cells only, see :func:`microagg.release`.

    Exactness: no sum of squares is ever subtracted from another, so offsets such as 1e9 + small cost no digits
    (see ``_kernels/univariate.py``). Of equal values the one with the lower record index comes first.

    Complexity: O(n log n) for the sort, then O(n log k) time and O(n) memory.

    References
    ----------
    .. [1] Hansen, S. L. & Mukherjee, S. (2003). A polynomial algorithm for optimal univariate microaggregation.
       IEEE Transactions on Knowledge and Data Engineering 15(4), 1043-1044. doi:10.1109/TKDE.2003.1209020

    Examples
    --------
    >>> OptimalUnivariate(k=2).fit([[5.0], [1.0], [5.1], [1.1], [1.2]]).labels_
    array([0, 1, 0, 1, 1])
    """

    constraints: ClassVar[Mapping[str, Constraint]] = {"k": Integer(2)}
    max_attributes: ClassVar[int | None] = 1

    def __init__(self, k: int = 5) -> None:
        self.k = k

    def _cells(self, X: npt.NDArray[np.float64]) -> npt.NDArray[np.int64]:
        if X.shape[1] != 1:
            raise ParameterError(
                f"OptimalUnivariate takes 1 feature (one attribute); got {X.shape[1]}. For several, one by one: "
                'IndividualRanking(k, cut="optimal"); together: MDAV(k)'
            )
        return optimal_cells(X[:, 0], int(self.k))


def optimal_cells(values: npt.NDArray[np.float64], k: int) -> npt.NDArray[np.int64]:
    """Label values by the optimal cells of at least `k` of them."""
    order = order_of(values)
    labels = np.empty(len(values), dtype=np.int64)
    labels[order] = optimal_runs(values[order], k)
    return labels


def optimal_runs(ordered: npt.NDArray[np.float64], k: int) -> npt.NDArray[np.int64]:
    """Label ascending values by the optimal runs of at least `k` of them."""
    if numpy_costs_less("optimal runs", 13e-6 * len(ordered), _kernel, _COMPILING):  # by a few timings
        from microagg.partition.uncompiled import cuts

        return cuts.label_runs(cuts.optimal_starts(ordered, k, current_halt().flag))
    from microagg.partition._kernels.univariate import cells_from_starts

    starts, _ = _kernel()(ordered, k)
    labels: npt.NDArray[np.int64] = cells_from_starts(starts)
    return labels


def _kernel() -> Any:
    from microagg.partition._kernels.univariate import optimal_starts

    return optimal_starts
