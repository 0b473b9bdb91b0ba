"""Mic1D-k: all values of a table mixed into one vector."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, Self

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.validation import validate_data

from microagg._scaling import exponent_near_one, times_power_of_two
from microagg._typing import FloatArray, IntArray
from microagg._validation import Choice, Constraint, Integer, check_parameters
from microagg.errors import ParameterError
from microagg.partition.base import cells_in_order, matrix_of
from microagg.partition.runs import order_of
from microagg.partition.univariate import optimal_runs

__all__ = ["Mic1D"]


class Mic1D(BaseEstimator):  # type: ignore[misc]
    """Partition the values of a table, whatever attribute they come from, into cells of k values (Mic1D-k).

    All values go into one vector, which is sorted and cut into partitions of k; each partition is scaled to [0, 1]. The
    scaled values are sorted, cut and scaled once more, and every value is replaced by the mean of its second partition,
    scaled back twice. Mixing attributes leaves no attribute intact for a reader to start from.

    **No k-anonymity of records follows**: k counts values, not records, and two records are equal only by chance.

    Parameters
    ----------
    k : int >= 2, default 1000
        Values per partition, at most the number of values in the table. Useful sizes are in the thousands.
    cut : {"fixed", "optimal"}, default "fixed"
        ``"fixed"`` is the published method: partitions of k values, the last one with what is left, which may be fewer
        than k. ``"optimal"`` takes partitions of k to 2k - 1 values with the least SSE, in both passes.

    Attributes
    ----------
    labels_ : ndarray of shape (n_records, n_attributes)
        Second partition of each value.
    published_ : ndarray of shape (n_records, n_attributes)
        The values to publish.
    n_cells_ : int
    sse_ : float
        Sum of squared differences between the published and the original values; infinite if beyond the largest float.

    Notes
    -----
    The input is used as it is: scaling columns first is not part of the method. Ties go by the original value, then by
    record and attribute.

    Complexity: two sorts of n d values.

    References
    ----------
    .. [1] Nin, J. One dimension microaggregation (Mic1D-k), sections 3 and 4.

    Examples
    --------
    >>> Mic1D(k=2).fit([[1.0, 10.0], [2.0, 20.0], [3.0, 30.0]]).published_
    array([[ 1. , 10. ],
           [ 1.5, 25. ],
           [ 3. , 30. ]])
    """

    partitions: ClassVar[str] = "values"
    searches_by_chance: ClassVar[bool] = False
    max_attributes: ClassVar[int | None] = None
    constraints: ClassVar[Mapping[str, Constraint]] = {"k": Integer(2), "cut": Choice(("fixed", "optimal"))}

    def __init__(self, k: int = 1000, cut: Literal["fixed", "optimal"] = "fixed") -> None:
        self.k = k
        self.cut = cut

    def fit(self, X: Any, y: Any = None) -> Self:
        """Partition the values of X, an array or dataframe of shape (n_records, n_attributes)."""
        check_parameters(type(self).__name__, self.constraints, self.get_params(deep=False))
        X = matrix_of(lambda: validate_data(self, X, dtype=np.float64, order="C"))
        if self.k > X.size:
            raise ParameterError(
                f"k = {self.k} is larger than the number of values, {X.size} "
                f"({X.shape[0]} records x {X.shape[1]} attributes). Choose k of at most {X.size}"
            )
        scale = exponent_near_one([X])  # partitions are the same on any scale, but squares overflow on some
        values = times_power_of_two(X.reshape(-1), scale)
        first = self._pass(values, order_of(values))
        # Every partition has a 0 and a 1 after scaling: such ties go by the original value.
        second = self._pass(first.scaled, np.lexsort((values, first.scaled)))
        means = np.bincount(second.labels, weights=second.scaled) / np.bincount(second.labels)
        published = first.undo(second.undo(means[second.labels]))
        self.labels_ = cells_in_order(second.labels).reshape(X.shape)
        self.published_ = times_power_of_two(published.reshape(X.shape), -scale)
        self.n_cells_ = len(means)
        self.sse_ = float(times_power_of_two(((published - values) ** 2).sum(), -2 * scale))
        return self

    def _pass(self, values: FloatArray, order: IntArray) -> _Scaled:
        labels = np.empty(len(values), dtype=np.int64)
        if self.cut == "optimal":
            labels[order] = optimal_runs(values[order], int(self.k))
        else:
            labels[order] = np.arange(len(values)) // self.k
        return _scale_within(values, labels)


@dataclass(frozen=True)
class _Scaled:
    """Values scaled to [0, 1] within partitions, and the way back."""

    labels: IntArray
    scaled: FloatArray
    low: FloatArray
    span: FloatArray

    def undo(self, scaled: FloatArray) -> FloatArray:
        return self.low[self.labels] + scaled * self.span[self.labels]


def _scale_within(values: FloatArray, labels: IntArray) -> _Scaled:
    order = np.argsort(labels, kind="stable")
    starts = np.searchsorted(labels[order], np.arange(labels.max() + 1))
    low = np.minimum.reduceat(values[order], starts)
    span = np.maximum.reduceat(values[order], starts) - low
    divisor = np.where(span > 0, span, 1.0)
    scaled = np.where(span[labels] > 0, (values - low[labels]) / divisor[labels], 0.5)
    return _Scaled(labels, scaled, low, span)
