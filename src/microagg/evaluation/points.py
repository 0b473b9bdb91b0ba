"""Records of two tables as numbers and codes, of which squared distances say how far they differ."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from microagg._typing import FloatArray, IntArray
from microagg.evaluation.pairs import Pair
from microagg.schema.attribute import Kind
from microagg.schema.encode import EncodedColumn
from microagg.space import points as space
from microagg.space.mixed import mixed_points
from microagg.space.points import NominalColumn, Points, distances_to_centroids

__all__ = [
    "as_points",
    "attribute_points",
    "different_records",
    "join_points",
    "points_of",
    "row_distances",
    "spread_within",
    "unweighted",
]

Both = tuple[Points, Points]


def attribute_points(one: Pair, *, own_scale: bool = False, missing_apart: bool = True) -> Both:
    """One attribute of both tables; where some values are missing, with an indicator of it.

    Numbers and ranks are z-scores, by the first table's mean and deviation or, if `own_scale`, each table's own.
    Categories are at distance 0 or 1, or at their semantic distance. A missing value is at the mean of those that are
    present (a category's in both tables) and, if `missing_apart`, at distance 1 from it.
    """
    if one.joint.kind is Kind.NOMINAL:
        found = unweighted(one.joint)
        (column,) = found.nominal
        if column.to_missing is not None and not missing_apart:
            found = replace(found, nominal=(replace(column, to_missing=np.maximum(column.to_missing - 1.0, 0.0)),))
        return replace(found, values=found.values[: one.n_first]), replace(found, values=found.values[one.n_first :])
    first, second = one.points(own_scale=own_scale)
    lacking = one.missing
    if missing_apart and any(side.any() for side in lacking):
        first, second = np.hstack([first, lacking[0][:, None]]), np.hstack([second, lacking[1][:, None]])
    return as_points(first), as_points(second)


def unweighted(measured: EncodedColumn) -> Points:
    """One attribute as if its weight were 1, numbers and ranks as z-scores."""
    plain = measured.attribute.model_copy(update={"weight": 1.0})
    return mixed_points([replace(measured, attribute=plain)])


def as_points(points: FloatArray | Points) -> Points:
    """Rows of numbers in the form of records that may have codes, too."""
    return points if isinstance(points, Points) else Points(np.ascontiguousarray(points, dtype=np.float64))


def join_points(parts: Sequence[Both]) -> Both:
    """Several attributes side by side."""
    return space.join_points([first for first, _ in parts]), space.join_points([second for _, second in parts])


def points_of(pairs: Sequence[Pair], *, own_scale: bool = False) -> Both:
    """Records of both tables, by all of `pairs`."""
    return join_points([attribute_points(one, own_scale=own_scale) for one in pairs])


def different_records(points: Points) -> tuple[Points, IntArray]:
    """Each record once, and for every record which of them it is."""
    different, which = np.unique(points.values, axis=0, return_inverse=True)
    return replace(points, values=different), which.ravel()


def row_distances(first: Points, second: Points) -> FloatArray:
    """Squared distance of each record of `first` to that in the same row of `second`."""
    total: FloatArray = ((second.numbers - first.numbers) ** 2).sum(axis=1)
    for j, column in enumerate(first.nominal, first.n_numbers):
        total += _code_distances(column, first.values[:, j].astype(np.int64), second.values[:, j].astype(np.int64))
    return total


def _code_distances(column: NominalColumn, first: IntArray, second: IntArray) -> FloatArray:
    if column.to_missing is None:
        return _present_distances(column, first, second)
    lacking = first == column.n_categories, second == column.n_categories
    found = np.zeros(len(first))
    for one_lacks, codes in ((lacking[0] & ~lacking[1], second), (lacking[1] & ~lacking[0], first)):
        found[one_lacks] = column.to_missing[codes[one_lacks]]
    neither = ~(lacking[0] | lacking[1])
    found[neither] = _present_distances(column, first[neither], second[neither])
    return found


def _present_distances(column: NominalColumn, first: IntArray, second: IntArray) -> FloatArray:
    if column.table is not None:
        return column.table[first, second]
    return np.where(first != second, column.weight, 0.0)


def spread_within(points: Points, labels: IntArray) -> float:
    """Squared distance of records to the centroid of their cell, averaged over records.

    Parameters
    ----------
    points : Points
    labels : ndarray of shape (n_records,)
        Cells 0 to n_cells - 1, each in use.

    Notes
    -----
    Codes with a weight w per mismatch, some of them missing, need no table. With s_c the shares of categories among all
    records of a cell, p = sum of s_c and d_c the squared distance of a missing value to category c, the mean squared
    distance to the cell's centroid is half of that between two records:
    w (p^2 - sum of s_c^2) / 2 + (1 - p) sum of s_c d_c.
    """
    n_cells = int(labels.max()) + 1
    sizes = np.bincount(labels, minlength=n_cells)
    total, others = 0.0, []
    for j, column in enumerate(points.nominal, points.n_numbers):
        if column.table is not None or column.to_missing is None:
            others.append(j)
            continue
        codes, present = points.values[:, j].astype(np.int64), points.values[:, j] < column.n_categories
        pairs, counts = np.unique(labels[present] * column.n_categories + codes[present], return_counts=True)
        cell, category = np.divmod(pairs, max(column.n_categories, 1))
        share = counts / sizes[cell]
        of_present = np.bincount(cell, share, minlength=n_cells)
        squares = np.bincount(cell, share**2, minlength=n_cells)
        to_missing = np.bincount(cell, share * column.to_missing[category], minlength=n_cells)
        within = 0.5 * column.weight * (of_present**2 - squares) + (1.0 - of_present) * to_missing
        total += float((sizes * within).sum()) / len(labels)
    columns = [*range(points.n_numbers), *others]
    rest = Points(points.values[:, columns], tuple(points.nominal[j - points.n_numbers] for j in others))
    return total + float(distances_to_centroids(rest, labels, n_cells).mean()) if columns else total
