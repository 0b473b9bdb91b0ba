"""Individual ranking: every attribute sorted and cut alone."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Literal, Self

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator

from microagg._validation import Choice, Constraint, Integer
from microagg.partition.base import cells_in_order, validated, within_cell_sse
from microagg.partition.runs import Larger, order_of, run_labels, run_sizes
from microagg.partition.univariate import optimal_cells

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

    labels: ClassVar[str] = "attributes"
    max_attributes: ClassVar[int | None] = None
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
        labels = np.column_stack([cells_in_order(self._cells(column)) for column in X.T])
        self.labels_ = labels
        self.n_cells_ = labels.max(axis=0) + 1
        self.sse_ = sum(within_cell_sse(X[:, [j]], labels[:, j], int(self.n_cells_[j])) for j in range(X.shape[1]))
        return self

    def _cells(self, values: npt.NDArray[np.float64]) -> npt.NDArray[np.int64]:
        values = np.ascontiguousarray(values)
        if self.cut == "optimal":
            return optimal_cells(values, int(self.k))
        return run_labels(order_of(values), run_sizes(len(values), int(self.k), self.larger))
