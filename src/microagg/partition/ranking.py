"""Individual ranking: every attribute sorted and cut alone."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Literal, Self

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator

from microagg._scaling import near_one
from microagg._validation import Choice, Constraint, Integer
from microagg.partition.base import cells_in_order, validated
from microagg.partition.runs import Larger, order_of, run_labels, run_sizes, run_sse
from microagg.partition.univariate import optimal_runs

__all__ = ["IndividualRanking"]


class IndividualRanking(BaseEstimator):  # type: ignore[misc]
    """Partition each attribute alone into runs of its sorted values.

    Very little is lost, since each attribute gets the best possible cells; but the cells of two attributes have
    nothing to do with each other, so records are **not** k-anonymous: only each attribute alone is.

    Parameters
    ----------
    k : int >= 2, default 5
        Smallest allowed number of records in a cell.
    cut : {"fixed", "optimal"}, default "fixed"
        ``"fixed"`` cuts runs of k; their sizes are a function of n and k only. ``"optimal"`` takes the runs of k to
        2k - 1 values with the least SSE.
    larger : {"first", "middle", "last"}, default "middle"
        Which of the fixed runs takes the n mod k values left over.

    Attributes
    ----------
    labels_ : ndarray of shape (n_records, n_attributes)
        For each attribute a labelling of the records.
    n_cells_ : ndarray of shape (n_attributes,)
    sse_ : float
        Summed over attributes.

    Notes
    -----
    Of equal values the one with the lower record index comes first.

    Complexity: a sort per attribute, and O(n log k) for optimal cuts.

    References
    ----------
    .. [1] Defays, D. & Nanopoulos, P. (1993). Panels of enterprises and confidentiality: the small aggregates
       method. Proc. 92 Symposium on Design and Analysis of Longitudinal Surveys, 195-204. Statistics Canada.

    Examples
    --------
    >>> IndividualRanking(k=2).fit([[1.0, 9.0], [8.0, 1.0], [2.0, 2.0], [9.0, 8.0]]).labels_
    array([[0, 0],
           [1, 1],
           [0, 1],
           [1, 0]])
    """

    partitions: ClassVar[str] = "attributes"
    searches_by_chance: ClassVar[bool] = False
    max_attributes: ClassVar[int | None] = None
    fixed_order: ClassVar[bool] = False
    takes_codes: ClassVar[bool] = False
    constraints: ClassVar[Mapping[str, Constraint]] = {
        "k": Integer(2),
        "cut": Choice(("fixed", "optimal")),
        "larger": Choice(("first", "middle", "last")),
    }

    def __init__(self, k: int = 5, cut: Literal["fixed", "optimal"] = "fixed", larger: Larger = "middle") -> None:
        self.k = k
        self.cut = cut
        self.larger = larger

    def fit(self, X: Any, y: Any = None) -> Self:
        """Partition each attribute of X, an array or dataframe of shape (n_records, n_attributes)."""
        X = validated(self, X)
        n_records, n_attributes = X.shape
        labels = np.empty((n_attributes, n_records), dtype=np.int64)
        sse = 0.0
        for j in range(n_attributes):
            values = np.ascontiguousarray(X[:, j])
            order = order_of(values)
            ordered = values[order]
            sizes = self._sizes(ordered)
            labels[j] = cells_in_order(run_labels(order, sizes))
            sse += run_sse(ordered, sizes)  # infinite if beyond the largest float
        self.labels_ = labels.T
        self.n_cells_ = labels.max(axis=1) + 1
        self.sse_ = sse
        return self

    def _sizes(self, ordered: npt.NDArray[np.float64]) -> npt.NDArray[np.int64]:
        if self.cut == "optimal":
            return np.bincount(optimal_runs(near_one(ordered), int(self.k)))
        return run_sizes(len(ordered), int(self.k), self.larger)
