"""Training data as cells of at least k records, inside a pipeline's fit; new rows pass as they are."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Self

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator, OneToOneFeatureMixin, TransformerMixin
from sklearn.utils.validation import check_consistent_length, check_is_fitted, validate_data

from microagg._typing import FloatArray, IntArray
from microagg._validation import Constraint, Flag, Integer, check_parameters
from microagg.errors import ParameterError
from microagg.methods.catalogue import METHODS, find_method
from microagg.methods.method import Method
from microagg.partition.base import matrix_of
from microagg.space.standardize import Standardize, standardize

__all__ = ["Microaggregate"]

_TYPES = (np.float64, np.float32)


class Microaggregate(OneToOneFeatureMixin, TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """Replace the rows that later steps of a pipeline are fitted on by the means of cells of at least k of them.

    ``make_pipeline(Microaggregate(k=5), model).fit(X, y)`` calls `fit_transform`, which microaggregates; ``predict``
    calls `transform`, which gives new rows on unchanged. So the model never sees a training row, and predictions are
    for the rows that were asked for.

    Parameters
    ----------
    k : int, default 5
        How many training rows at least share each row that later steps see.
    method : str, default "mdav"
        How cells are formed: any method of ``microagg methods`` that puts whole records into cells.
    standardize : bool, default True
        Whether distances are taken between z-scores of the training rows; columns of other units then count alike.
    random_state : int, optional
        Fixes the cells of methods that search by chance.

    Attributes
    ----------
    n_features_in_, feature_names_in_ : as usual
    n_cells_ : int
        Of the last `fit_transform`. No training row is kept.

    Notes
    -----
    *Promised*: every row that `fit_transform` returns occurs at least k times in it, within its group if there are
    groups. *Not promised*: `y` and `sample_weight` are as they were, row by row; a model can still learn from k rows
    that are alike; and nothing is differentially private. `fit` followed by `transform` protects nothing, as rows that
    `transform` gets are new rows: only `fit_transform` does, which is what pipelines call. To publish a table take
    :func:`microagg.release`.

    *Groups*, a label for each row, keep cells within them; ``set_fit_request(groups=True)`` routes them through a
    pipeline (``sklearn.set_config(enable_metadata_routing=True)``).

    Examples
    --------
    >>> step = Microaggregate(k=2)
    >>> step.fit_transform([[1.0], [2.0], [8.0], [9.0]]).ravel()
    array([1.5, 1.5, 8.5, 8.5])
    >>> step.transform([[3.0]])
    array([[3.]])
    """

    constraints: ClassVar[Mapping[str, Constraint]] = {"k": Integer(2), "standardize": Flag()}

    def __init__(
        self, k: int = 5, method: str = "mdav", standardize: bool = True, random_state: int | None = None
    ) -> None:
        self.k = k
        self.method = method
        self.standardize = standardize
        self.random_state = random_state

    def fit(self, X: Any, y: Any = None, groups: Any = None) -> Self:
        """Learn how many columns there are and their names, and nothing of the rows.

        Parameters
        ----------
        X : array or dataframe of shape (n_rows, n_columns)
        y : ignored
        groups : array of shape (n_rows,), optional
        """
        self._checked(X, groups)
        return self

    def fit_transform(self, X: Any, y: Any = None, groups: Any = None) -> Any:
        """The training rows, each replaced by the mean of its cell.

        Parameters
        ----------
        X : array or dataframe of shape (n_rows, n_columns)
            Finite numbers; at least k rows, in each group if there are groups.
        y : ignored
        groups : array of shape (n_rows,), optional
            Rows of different groups do not share cells.
        """
        rows, labels = self._cells_of(X, groups)
        sizes = np.bincount(labels).astype(np.float64)
        means = np.empty((len(sizes), rows.shape[1]), dtype=rows.dtype)
        for place in range(rows.shape[1]):
            # Around one of the values: means of large ones do not overflow, and equal ones stay equal.
            column = rows[:, place].astype(np.float64)
            first = np.zeros(len(sizes))
            first[labels] = column
            shares = (column / 2 - first[labels] / 2) / sizes[labels]
            means[:, place] = first + 2 * np.bincount(labels, weights=shares)
        return means[labels]

    def transform(self, X: Any) -> Any:
        """New rows, unchanged."""
        check_is_fitted(self)
        return matrix_of(lambda: validate_data(self, X, reset=False, dtype=_TYPES, copy=True))

    def _checked(self, X: Any, groups: Any) -> tuple[npt.NDArray[Any], IntArray, Method]:
        """The rows as numbers, the group of each, and how cells are formed."""
        check_parameters(type(self).__name__, self.constraints, {"k": self.k, "standardize": self.standardize})
        entry = find_method(self.method)
        if entry is None or not entry.has_cells or entry.partitions != "records" or entry.is_private:
            able = [
                name
                for name, one in METHODS.items()
                if one.has_cells and one.partitions == "records" and not one.is_private
            ]
            raise ParameterError(f"method must be one of {', '.join(able)}. Got {self.method!r} instead.")
        rows = matrix_of(lambda: validate_data(self, X, dtype=_TYPES, ensure_min_samples=self.k))
        if groups is None:
            of_row, n_groups = np.zeros(len(rows), dtype=np.int64), 1
        else:
            check_consistent_length(rows, groups)
            of_row, n_groups = _places_of(groups)
        counts = np.bincount(of_row, minlength=n_groups)
        n_small = int((counts < self.k).sum())
        if n_small:
            raise ParameterError(f"{n_small} of {n_groups} groups have fewer than k = {self.k} rows")
        return rows, of_row, entry

    def _cells_of(self, X: Any, groups: Any) -> tuple[npt.NDArray[Any], IntArray]:
        """The rows as numbers, and the cell of each."""
        rows, of_row, entry = self._checked(X, groups)
        space = self._space(rows)
        chance = {"random_state": self.random_state} if entry.searches_by_chance else {}
        labels = np.empty(len(rows), dtype=np.int64)
        self.n_cells_ = 0
        for group in range(int(of_row.max()) + 1):
            members = np.flatnonzero(of_row == group)
            fitted = entry.partitioner(self.k, **chance).fit(space[members])
            labels[members] = fitted.labels_ + self.n_cells_
            self.n_cells_ += fitted.n_cells_
        return rows, labels

    def _space(self, rows: npt.NDArray[Any]) -> FloatArray:
        numbers: FloatArray = rows.astype(np.float64)
        if not self.standardize:
            return numbers
        scaled = [standardize(numbers[:, place], Standardize.ZSCORE) for place in range(numbers.shape[1])]
        return np.column_stack(scaled)


def _places_of(groups: Any) -> tuple[IntArray, int]:
    """The group of each row as a number, and how many groups there are."""
    labels = np.asarray(groups)
    if labels.ndim != 1:
        raise ParameterError("groups must be one label for each row")
    amiss = "groups must be all numbers or all text, with none missing"
    if labels.dtype.kind == "f" and np.isnan(labels).any():
        raise ParameterError(amiss)
    try:
        names, of_row = np.unique(labels, return_inverse=True)
    except (TypeError, ValueError):  # text beside None, for one
        raise ParameterError(amiss) from None
    return of_row, len(names)
