"""What `Points` may hold: kernels look distances up by code, and trust it."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import numpy.typing as npt

from microagg._typing import FloatArray, IntArray
from microagg._validation import Integer, Real
from microagg.errors import ParameterError
from microagg.space.points import NominalColumn, Points

__all__ = ["valid_points"]

_ROWS = 4096


def valid_points(points: Points) -> Points:
    """The same records as C-contiguous float64, or an error that says what is wrong: columns and counts, never values.

    Raises
    ------
    ParameterError
        Numbers are not finite; codes are not whole, or not those of a category; weights or distances are not finite or
        below 0; shapes do not fit together.
    """
    values = _numbers(points.values, "values")
    if values.ndim != 2:
        raise ParameterError(f"Points: values has {values.ndim} dimensions; it needs two, records and columns")
    n_numbers = values.shape[1] - len(points.nominal)
    if n_numbers < 0 or not values.shape[1]:
        raise ParameterError(
            f"Points: values has {values.shape[1]} columns, and nominal describes {len(points.nominal)} of them"
        )
    nominal = tuple(_valid_column(column) for column in points.nominal)
    ends = np.array([column.n_categories + (column.to_missing is not None) for column in nominal])
    if not _are_valid(values, n_numbers, ends):
        _refuse(values, n_numbers, nominal)
    return Points(values, nominal)


def _are_valid(values: FloatArray, n_numbers: int, ends: IntArray) -> bool:
    """Whether all numbers are finite, and all codes whole, from 0 to below the end of their column.

    So many records at once that they stay in the processor's cache: column after column takes several times as long.
    """
    for start in range(0, len(values), _ROWS):
        columns = np.ascontiguousarray(values[start : start + _ROWS].T)
        numbers, codes = columns[:n_numbers], columns[n_numbers:]
        if not (np.isfinite(numbers).all() and (codes == np.floor(codes)).all()):
            return False
        if (codes.min(axis=1) < 0.0).any() or (codes.max(axis=1) >= ends).any():
            return False
    return True


def _refuse(values: FloatArray, n_numbers: int, nominal: tuple[NominalColumn, ...]) -> None:
    """Say which column has what is wrong."""
    for j, column in enumerate(values[:, :n_numbers].T):
        is_finite = np.isfinite(column)
        if not is_finite.all():
            raise ParameterError(f"Points: column {j} has numbers that are NaN or infinite ({_share(~is_finite)})")
    for codes, attribute in zip(values[:, n_numbers:].T, nominal, strict=True):
        _check_codes(codes, attribute)


def _numbers(array: Any, what: str) -> FloatArray:
    array = np.asarray(array)
    if array.dtype.kind not in "fiub":
        raise ParameterError(f"Points: {what} must be an array of numbers")
    return np.ascontiguousarray(array, dtype=np.float64)


def _share(is_wrong: npt.NDArray[np.bool_]) -> str:
    return f"{int(is_wrong.sum())} of {is_wrong.size}"


def _valid_column(column: NominalColumn) -> NominalColumn:
    """What is known about the codes of one attribute."""
    name, n_categories = column.name, column.n_categories
    if not Integer(0).allows(n_categories):
        raise ParameterError(f"Points: n_categories of column {name!r} must be {Integer(0).describe()}")
    if not Real(0.0).allows(column.weight):
        raise ParameterError(f"Points: the weight of column {name!r} must be {Real(0.0).describe()}")
    table = _valid_distances(column.table, f"table of column {name!r}", (n_categories, n_categories))
    to_missing = _valid_distances(column.to_missing, f"to_missing of column {name!r}", (n_categories,))
    return NominalColumn(name, int(n_categories), float(column.weight), table, to_missing)


def _valid_distances(distances: Any, what: str, shape: tuple[int, ...]) -> FloatArray | None:
    if distances is None:
        return None
    numbers = _numbers(distances, what)
    if numbers.shape != shape:
        raise ParameterError(f"Points: {what} has the shape {numbers.shape}; its categories need {shape}")
    # Two numbers decide, without an array as large as the table; if there is a NaN, both are NaN.
    if not (numbers.min(initial=0.0) >= 0.0 and numbers.max(initial=0.0) < math.inf):
        is_wrong = ~((numbers >= 0.0) & (numbers < math.inf))
        raise ParameterError(f"Points: {what} has distances that are NaN, infinite or below 0 ({_share(is_wrong)})")
    return numbers


def _check_codes(codes: FloatArray, column: NominalColumn) -> None:
    is_whole = codes == np.floor(codes)
    if not is_whole.all():
        raise ParameterError(
            f"Points: column {column.name!r} has codes that are not whole numbers ({_share(~is_whole)})"
        )
    end = column.n_categories + (column.to_missing is not None)
    is_known = (codes >= 0.0) & (codes < end)
    if not is_known.all():
        missing = ", nor for a missing value" if column.to_missing is not None else ""
        raise ParameterError(
            f"Points: column {column.name!r} has codes that stand for none of its {column.n_categories} categories"
            f"{missing} ({_share(~is_known)})"
        )
