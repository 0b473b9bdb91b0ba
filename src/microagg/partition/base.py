"""What every partitioner shares: validation, the scikit-learn surface, and the contract of its result."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from inspect import getattr_static
from typing import Any, ClassVar, Self

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator, ClusterMixin
from sklearn.utils.validation import validate_data

from microagg._deprecation import RenamedAttribute
from microagg._halt import attend
from microagg._labels import cells_in_order
from microagg._scaling import has_vanishing_column, times_power_of_two
from microagg._typing import FloatArray, IntArray
from microagg._validation import Constraint, Integer, check_parameters
from microagg.errors import GuaranteeError, ParameterError
from microagg.space.points import Points, distances_to_centroids
from microagg.space.valid_points import valid_points

__all__ = [
    "Partitioner",
    "cells_in_order",
    "exponent_of_differences",
    "on_one_scale",
    "require_records",
    "validated",
    "within_cell_sse",
]


class Partitioner(ClusterMixin, BaseEstimator):  # type: ignore[misc]
    """Base of the partitioners: a scikit-learn clusterer whose every cell has at least `k` records.

    A subclass declares its parameters in `constraints` and labels records in `_cells`, or, if it works on numbers and
    codes alike (`takes_codes`), in `_cells_of`; everything else (validation, canonical labels, `sse_`) happens here,
    once. `partitions` says what is put into cells: "records", the values of each attribute ("attributes"), or all
    values mixed ("values"). `fixed_order` says that a record's place must be decided by the record alone, so that no
    coordinate may be left out for what other records have there.
    `searches_by_chance` says that the cells depend on chance, which a parameter `random_state` fixes.

    Attributes
    ----------
    labels_ : ndarray of shape (n_records,)
        Cell of each record, 0 to ``n_cells_ - 1``.
    n_cells_ : int
    sse_ : float
        Sum of squared distances of the records to the mean of their cell; infinite if beyond the largest float.
    """

    partitions: ClassVar[str] = "records"
    labels = RenamedAttribute("Partitioner.labels", "partitions", gone_in="0.3")
    max_attributes: ClassVar[int | None] = None
    fixed_order: ClassVar[bool] = False
    searches_by_chance: ClassVar[bool] = False
    takes_codes: ClassVar[bool] = False
    constraints: ClassVar[Mapping[str, Constraint]] = {"k": Integer(2)}

    k: int

    def __dir__(self) -> list[str]:
        """The names but for old ones, which warn when something asks each name for its value, as notebooks do."""
        return [name for name in object.__dir__(self) if not self._is_renamed(name) and hasattr(self, name)]

    def _is_renamed(self, name: str) -> bool:
        return isinstance(getattr_static(type(self), name, None), RenamedAttribute)

    def fit(self, X: Any, y: Any = None) -> Self:
        """Partition the records.

        Parameters
        ----------
        X : array or dataframe of shape (n_records, n_attributes), or Points
            Finite numbers, on scales that can be compared (see :func:`microagg.space.standardize.standardize`); or
            numbers and codes (see :func:`microagg.space.mixed.mixed_points`), for partitioners that take them.
        y : ignored
        """
        points = self._validated_points(X) if isinstance(X, Points) else Points(validated(self, X))
        # Cells are the same on any scale, but squares overflow or vanish on some. An order of the whole domain may not
        # hang on which records there are, so it minds the scale by itself.
        scale = 0
        if not self.fixed_order:
            points, scale = on_one_scale(points)
        scaled = points.times_power_of_two(scale) if scale else points
        self.labels_ = cells_in_order(self._attended_cells(scaled))
        if scale:
            self._scale_back(-2 * scale)
        sizes = np.bincount(self.labels_)
        if sizes.min() < self.k:
            n_small = int((sizes < self.k).sum())
            raise GuaranteeError(
                f"{n_small} of {len(sizes)} cells have fewer than k = {self.k} records. This is a fault of "
                f"{type(self).__name__}, not of the table; please report it."
            )
        self.n_cells_ = len(sizes)
        self.sse_ = within_cell_sse(points, self.labels_, self.n_cells_)
        return self

    def _validated_points(self, points: Points) -> Points:
        """Check the parameters, and whether these numbers and codes can be partitioned at all."""
        if points.nominal and not self.takes_codes:
            raise ParameterError(
                f"{type(self).__name__} partitions numbers, not codes: give it coordinates "
                "(microagg.space.mixed.mixed_space)"
            )
        check_parameters(type(self).__name__, self.constraints, self.get_params(deep=False))
        points = valid_points(points)
        require_records(len(points), self.k)
        self.n_features_in_ = points.values.shape[1]
        return points

    def _attended_cells(self, points: Points) -> IntArray:
        """Label the records in a thread, so that an interrupt is heard while a kernel runs."""
        return attend(lambda: self._label(points))

    def _label(self, points: Points) -> IntArray:
        return self._cells_of(points) if points.nominal else self._cells(points.values)

    def _cells(self, X: FloatArray) -> IntArray:
        """Label the records; `X` is finite, C-contiguous, with at least `k` rows."""
        if not self.takes_codes:
            raise NotImplementedError(f"{type(self).__name__} does not label records")
        return self._cells_of(Points(X))

    def _cells_of(self, points: Points) -> IntArray:
        """Label the records of numbers and codes; where there are codes, in the form of `Points.telling`."""
        raise NotImplementedError(f"{type(self).__name__} does not label records with codes")

    def _scale_back(self, exponent: int) -> None:
        """Multiply what `_cells` has kept of squared distances by ``2**exponent``; most keep nothing."""


def matrix_of(check: Callable[[], Any]) -> npt.NDArray[np.float64]:
    """What a check of scikit-learn's returns; what it refuses is refused without its message if that shows values."""
    try:
        with np.errstate(invalid="ignore"):  # finite numbers whose sum is not
            matrix: npt.NDArray[np.float64] = check()
    except OverflowError:
        raise ParameterError("X holds numbers that are too large for a float64") from None
    except ValueError as error:
        message = str(error)
        if "could not convert" in message:
            raise ParameterError("X holds text where numbers are needed: encode it, or leave the column out") from None
        if "Complex data" in message:
            raise ParameterError("Complex data not supported: X must hold real numbers") from None
        if "array=" in message:
            raise ParameterError("Reshape your data: X must have two dimensions, records and attributes") from None
        raise
    return matrix


def validated(estimator: Any, X: Any) -> npt.NDArray[np.float64]:
    """Check an estimator's parameters and its input; return the input as C-contiguous float64."""
    check_parameters(type(estimator).__name__, estimator.constraints, estimator.get_params(deep=False))
    X = matrix_of(lambda: validate_data(estimator, X, dtype=np.float64, order="C"))
    require_records(X.shape[0], estimator.k)
    matrix: npt.NDArray[np.float64] = X
    return matrix


def require_records(n_records: int, k: int) -> None:
    if n_records < k:
        raise ParameterError(
            f"k = {k} needs at least {k} records; got n_samples = {n_records}. Lower k, or add records."
        )


def on_one_scale(points: Points) -> tuple[Points, int]:
    """The columns that squared distances are computed from, and the `exponent` of their scale.

    A column on which records do not differ must not set the scale: beside a huge one, all squares would vanish. So
    codes, and numbers beyond any ordinary size, come in the form of `Points.telling`; other numbers are left as they
    are.
    """
    if _is_ordinary(points):
        return (points.telling() if points.nominal else points), 0
    telling = points.telling()
    return telling, telling.exponent


def exponent_of_differences(points: Points) -> int:
    """The `exponent` of columns on which records differ."""
    return 0 if _is_ordinary(points) else points.telling().exponent


def _is_ordinary(points: Points) -> bool:
    """Whether the scale is right for any of the columns, so that it does not matter on which of them records differ."""
    of_codes = np.sqrt([[column.largest for column in points.nominal]])
    return not (points.exponent or has_vanishing_column(points.numbers) or has_vanishing_column(of_codes))


def within_cell_sse(X: FloatArray | Points, labels: IntArray, n_cells: int) -> float:
    """Sum of squared distances of the records to the mean of their cell; every cell has a record.

    Infinite if it is beyond the largest float.
    """
    points, scale = on_one_scale(X if isinstance(X, Points) else Points(X))
    if scale:
        scaled = _sse(points.times_power_of_two(scale), labels, n_cells)
        return float(times_power_of_two(np.array(scaled), -2 * scale))
    return _sse(points, labels, n_cells)


def _sse(points: Points, labels: IntArray, n_cells: int) -> float:
    """`within_cell_sse` of what `on_one_scale` has found."""
    if points.nominal:
        return float(distances_to_centroids(points, labels, n_cells, is_telling=True).sum())
    counts = np.bincount(labels, minlength=n_cells)
    a_member = np.empty(n_cells, dtype=np.int64)
    a_member[labels] = np.arange(len(labels))
    total = 0.0
    for column in points.values.T:
        # Measured from a member of the cell, so that neither an offset nor far cells cost digits.
        values = column - column[a_member][labels]
        means = np.bincount(labels, weights=values, minlength=n_cells) / counts
        values -= means[labels]
        total += float(np.square(values, out=values).sum())
    return total
