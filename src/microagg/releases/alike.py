"""Which records of a table look alike, and how far those that do agree in something confidential."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from microagg._typing import FloatArray, IntArray
from microagg.errors import TableError
from microagg.evaluation.pairs import combinations
from microagg.recipe.choices import AggregateForm
from microagg.reports.results import Alike
from microagg.reports.sections.alike import AGREED
from microagg.reports.source import ReportRequest
from microagg.schema.attribute import Role
from microagg.tables.frames import Frame

__all__ = ["classes_of", "find_alike", "whole_groups"]


def classes_of(frame: Frame, names: Sequence[str]) -> IntArray | None:
    """Rows with equal values, by label; None if the table lacks columns, or holds what cannot be compared."""
    if any(name not in frame.names for name in names):
        return None
    try:
        return combinations(frame, names)
    except TableError:  # another tool's values; the section on measures says which column
        return None


def find_alike(request: ReportRequest, labels: IntArray | None, most: int) -> Alike | None:
    """How many records look like each one; None where rows are no records, or were drawn or noised one by one.

    Parameters
    ----------
    request : ReportRequest
    labels : ndarray or None
        Classes of the released table.
    most : int
        Agreement in confidential attributes is looked at on about so many records of whole classes.
    """
    drawn = request.recipe.aggregate.form is AggregateForm.SAMPLED
    if labels is None or not len(labels) or drawn or request.is_private or not request.rows_are_records:
        return None
    before = None
    if request.internal and request.original is not None:
        originals = classes_of(request.original, request.schema.quasi_identifiers)
        before = None if originals is None else _records_by_size(originals)
    return Alike(_records_by_size(labels), before, _agreement(request, labels, most))


def _records_by_size(labels: IntArray) -> IntArray:
    """For each size of a class, how many records are in classes of that size."""
    counts = np.bincount(np.bincount(labels))
    return counts * np.arange(len(counts))


def _agreement(request: ReportRequest, labels: IntArray, most: int) -> dict[str, FloatArray]:
    """For each confidential attribute and record, the share of the most frequent value in its class."""
    names = [name for name in request.schema.of_role(Role.CONFIDENTIAL) if name in request.released.names]
    if not names:
        return {}
    rows = whole_groups(labels, most)
    _, classes = np.unique(labels[rows], return_inverse=True)
    released = request.released if len(rows) == len(labels) else request.released.take(rows)
    return {name: _most_frequent(released.column(name).codes, classes) for name in names[:AGREED]}


def _most_frequent(codes: IntArray, classes: IntArray) -> FloatArray:
    """The share of the most frequent code in the class of each record, missing (-1) a value of its own.

    Examples
    --------
    >>> _most_frequent(np.array([0, 0, 1, 2]), np.array([0, 0, 0, 1])).round(2).tolist()
    [0.67, 0.67, 0.67, 1.0]
    """
    n_values = int(codes.max(initial=-1)) + 2
    pairs, counts = np.unique(classes.astype(np.int64) * n_values + (codes + 1), return_counts=True)
    largest = np.zeros(int(classes.max()) + 1, dtype=np.int64)
    np.maximum.at(largest, pairs // n_values, counts)
    return (largest / np.bincount(classes))[classes]


def whole_groups(labels: IntArray, wanted: int) -> IntArray:
    """Rows of whole groups, chosen at random, until `wanted` are reached; all if there are no more, at least one group.

    Examples
    --------
    >>> whole_groups(np.array([0, 1, 0, 1, 2, 2]), 4).tolist()
    [0, 2, 4, 5]
    """
    sizes = np.bincount(labels)
    if len(labels) <= wanted:
        return np.arange(len(labels))
    order = np.random.default_rng(0).permutation(len(sizes))
    groups = order[: max(1, int(np.searchsorted(np.cumsum(sizes[order]), wanted, side="right")))]
    chosen = np.zeros(len(sizes), dtype=bool)
    chosen[groups] = True
    return np.flatnonzero(chosen[labels])
