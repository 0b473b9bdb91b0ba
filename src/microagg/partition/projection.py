"""Projection-based partitions: records sorted by one number, then cut."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Literal

import numpy as np
import numpy.typing as npt

from microagg._halt import current_halt
from microagg._scaling import near_one
from microagg._validation import Choice, Constraint, Integer
from microagg.partition.base import Partitioner
from microagg.partition.runs import order_of, run_labels, run_sizes
from microagg.partition.uncompiled.choice import numpy_costs_less

__all__ = ["Projection"]

_COMPILING = 1.2  # seconds


class Projection(Partitioner):
    """Partition records along one axis: the first principal component, or the sum of z-scores.

    Records are sorted by their projection and cut into runs. Fast, and good when one axis tells most of the story;
    otherwise MDAV loses less.

    Parameters
    ----------
    k : int >= 2, default 5
        Smallest allowed number of records in a cell.
    axis : {"principal", "zscores"}, default "principal"
        What records are sorted by.
    cut : {"shortest_path", "fixed"}, default "shortest_path"
        ``"shortest_path"`` takes the runs of k to 2k - 1 records with the least SSE *of all attributes*; ``"fixed"``
        takes runs of k, the last one with the records left over.

    Attributes
    ----------
    labels_ : ndarray of shape (n_records,)
    n_cells_ : int
    sse_ : float

    Notes
    -----
    The principal axis is that of the centred input (standardise first); its sign is set so that its largest entry is
    positive. Ties in the projection go to the lowest record index.

    Complexity: O(n d^2 + n log n), and O(n k d) for the shortest path.

    References
    ----------
    .. [1] Domingo-Ferrer, J. & Mateo-Sanz, J. M. (2002). Practical data-oriented microaggregation for statistical
       disclosure control. IEEE Transactions on Knowledge and Data Engineering 14(1), 189-201. doi:10.1109/69.979982

    Examples
    --------
    >>> Projection(k=2).fit([[0.0, 0.0], [9.0, 8.0], [0.1, 0.1], [8.0, 9.0], [9.0, 9.0]]).labels_
    array([0, 1, 0, 1, 1])
    """

    constraints: ClassVar[Mapping[str, Constraint]] = {
        "k": Integer(2),
        "axis": Choice(("principal", "zscores")),
        "cut": Choice(("shortest_path", "fixed")),
    }

    def __init__(
        self,
        k: int = 5,
        axis: Literal["principal", "zscores"] = "principal",
        cut: Literal["shortest_path", "fixed"] = "shortest_path",
    ) -> None:
        self.k = k
        self.axis = axis
        self.cut = cut

    def _cells(self, X: npt.NDArray[np.float64]) -> npt.NDArray[np.int64]:
        order = order_of(_principal(X) if self.axis == "principal" else _sum_of_zscores(X))
        if self.cut == "fixed":
            return run_labels(order, run_sizes(len(X), int(self.k)))
        labels = np.empty(len(X), dtype=np.int64)
        labels[order] = _shortest_path(np.ascontiguousarray(X[order]), int(self.k))
        return labels


def _shortest_path(X: npt.NDArray[np.float64], k: int) -> npt.NDArray[np.int64]:
    """Label records in order by the runs of k to 2k - 1 of them with the least SSE of all attributes."""
    n_records, dimension = X.shape
    seconds = n_records * (12e-6 / k + 10e-9 * k * dimension)  # by a few timings
    stop = current_halt().flag
    if numpy_costs_less("shortest path", seconds, _kernel, _COMPILING):
        from microagg.partition.uncompiled import cuts

        return cuts.label_runs(cuts.shortest_path_starts(X, k, stop))
    from microagg.partition._kernels.univariate import cells_from_starts

    labels: npt.NDArray[np.int64] = cells_from_starts(_kernel()(X, k, stop))
    return labels


def _kernel() -> Any:
    from microagg.partition._kernels.projection import shortest_path_starts

    return shortest_path_starts


def _principal(X: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    centred = X - X.mean(axis=0)
    _, vectors = np.linalg.eigh(centred.T @ centred)
    axis = vectors[:, -1]
    axis = axis * np.sign(axis[np.argmax(np.abs(axis))])
    projected: npt.NDArray[np.float64] = centred @ axis
    return projected


def _sum_of_zscores(X: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    total = np.zeros(len(X))
    for column in X.T:
        values = near_one(column - column[0])  # from zero, so that an offset costs no digits
        deviation = values.std()
        if deviation > 0:
            total += (values - values.mean()) / deviation
    return total
