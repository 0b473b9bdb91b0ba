"""Rearrange cells of arrays, without a recipe."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils.validation import check_array, column_or_1d

from microagg._typing import IntArray
from microagg._validation import check_parameters
from microagg.errors import ParameterError
from microagg.partition.base import matrix_of
from microagg.partition.rearrange.rearrange import REARRANGE_PARAMETERS, rearrange_cells, require_closeness
from microagg.partition.rearrange.rules import Demands
from microagg.partition.refine import checked_labels
from microagg.privacy.requirement import MIN_RANGE, RECURSIVE_C_L, REQUIREMENTS, ConfidentialValues, Requirement
from microagg.privacy.ways import Way
from microagg.schema.attribute import Kind
from microagg.space.points import Points

__all__ = ["rearrange"]


def rearrange(
    labels: Any,
    X: Any,
    confidential: Any,
    k: int,
    *,
    by: str = "search",
    effort: str = "default",
    random_state: int | None = None,
    time_limit: float | None = None,
    **requirements: Any,
) -> IntArray:
    """Rearrange the cells of a partition until each hides the confidential values of its records, and lose little.

    Parameters
    ----------
    labels : array of shape (n_records,)
        Cell of each record, from any method; every label occurs at least `k` times.
    X : array or dataframe of shape (n_records, n_attributes), or Points
        The space the cells were formed in.
    confidential : array of shape (n_records,)
        The confidential attribute: numbers are ordered, anything else is categories. NaN and None are missing, which
        is a value of its own.
    k : int >= 2
    by : {"search", "swap", "merge", "closeness_first"}, default "search"
        How: see :func:`microagg.partition.rearrange.rearrange.rearrange_cells`.
    effort, random_state, time_limit
        Of the search, as for :class:`microagg.NearOptimal`.
    **requirements
        One or several of ``distinct_l``, ``p_sensitive``, ``entropy_l``, ``recursive_c_l = (c, l)``, ``t_closeness``,
        ``max_share`` and ``min_range``, as in ``[protect.<attribute>]`` of a recipe.

    Returns
    -------
    ndarray of shape (n_records,)
        Cells of at least k records, numbered by their first record, that satisfy every requirement.

    Raises
    ------
    InputError
        No partition satisfies the requirements; the message has the bound that one would.
    ParameterError
        A parameter is outside its range, or `labels` does not put the records of `X` into cells of at least `k`.

    Examples
    --------
    >>> X = [[0.0], [0.1], [5.0], [5.1], [5.2], [9.0]]
    >>> illness = ["flu", "flu", "flu", "cold", "cold", "flu"]
    >>> rearrange([0, 0, 1, 1, 2, 2], X, illness, k=2, distinct_l=2, random_state=0)
    array([0, 0, 1, 0, 1, 1])
    """
    given = {"by": by, "effort": effort, "random_state": random_state, "time_limit": time_limit}
    check_parameters("rearrange", REARRANGE_PARAMETERS, given)
    points = X if isinstance(X, Points) else Points(matrix_of(lambda: check_array(X, dtype=np.float64, order="C")))
    start = checked_labels(labels, len(points), k)
    values = _values_of(confidential, len(points))
    demands = Demands(_requirements(requirements, values), {values.name: values})
    if by == Way.CLOSENESS_FIRST:
        require_closeness(demands)
    demands.require_possible(np.zeros(len(points), dtype=np.int64))
    members = np.arange(len(points))
    found = rearrange_cells(
        points,
        start,
        int(k),
        demands,
        members,
        by=Way(by),
        effort=effort,
        random_state=random_state,
        time_limit=time_limit,
    )
    return found.labels


def _values_of(confidential: Any, n_records: int) -> ConfidentialValues:
    """Numbers as they are, anything else as codes."""
    values = column_or_1d(np.asarray(confidential))
    if len(values) != n_records:
        raise ParameterError(f"confidential has {len(values)} entries; X has {n_records} records. Give one per record.")
    if values.dtype.kind in "iuf":
        numbers = values.astype(np.float64)
        if np.isinf(numbers).any():
            raise ParameterError(f"confidential holds {int(np.isinf(numbers).sum())} infinite values; give finite ones")
        return ConfidentialValues("confidential", numbers, Kind.NUMERIC)
    missing = np.array([value is None or value != value for value in values.tolist()])
    codes = np.full(n_records, np.nan)
    codes[~missing] = np.unique([str(value) for value in values[~missing].tolist()], return_inverse=True)[1]
    return ConfidentialValues("confidential", codes, Kind.NOMINAL)


def _requirements(given: dict[str, Any], values: ConfidentialValues) -> tuple[Requirement, ...]:
    unknown = [key for key in given if key not in REQUIREMENTS]
    if unknown or not given:
        what = f"no requirement is called {unknown[0]!r}" if unknown else "nothing is required"
        raise ParameterError(f"{what}: name one or several of {', '.join(REQUIREMENTS)}")
    found = []
    for key, value in given.items():
        kind = REQUIREMENTS[key]
        if kind is MIN_RANGE and values.kind is not Kind.NUMERIC:
            raise ParameterError("min_range is for numbers, and confidential holds none")
        try:
            bound, rarest = value if kind is RECURSIVE_C_L else (value, 0)
            whole = bound if key in ("distinct_l", "p_sensitive") else rarest
            is_valid = _LEAST[key] < float(bound) < _MOST.get(key, np.inf) and whole == int(whole)
            is_valid = is_valid and (rarest >= 2 or kind is not RECURSIVE_C_L)
        except (TypeError, ValueError):
            is_valid = False
        if not is_valid:
            raise ParameterError(f"{key} must be {_RANGES[key]}")
        found.append(Requirement(kind, values.name, float(bound), int(rarest)))
    return tuple(found)


_LEAST = dict.fromkeys(REQUIREMENTS, 0.0) | dict.fromkeys(("distinct_l", "p_sensitive", "entropy_l"), 1.0)
_MOST = {"t_closeness": 1.0, "max_share": 1.0}
_RANGES = {
    "distinct_l": "a whole number of at least 2",
    "p_sensitive": "a whole number of at least 2",
    "entropy_l": "a number above 1",
    "recursive_c_l": "c and l: a number above 0 and a whole number of at least 2, like (2.0, 3)",
    "t_closeness": "a number between 0 and 1",
    "max_share": "a number between 0 and 1",
    "min_range": "a number above 0",
}
