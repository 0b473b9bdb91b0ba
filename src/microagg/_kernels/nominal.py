"""Distances between codes, as kernels see them: what stands beside the numbers of mixed records.

Kernels that work on numbers and on mixed records alike take a `Nominal` or None. A function that is given None is
compiled without its branch for codes, so that tables of numbers pay nothing for it.

A record's columns are numbers, then codes with a weight per mismatch, then codes with a table. A *query* is a record,
or the centroid of some records, which has no codes: where a code would stand it has `CENTROID`, and the squared
distances of all categories to it are looked up in `looks`.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from microagg._kernels.jit import compiled, inner

CENTROID = -1.0
NO_TABLE = -1


class Nominal(NamedTuple):
    """Columns of codes. Category c of column j has its place ``look_at[j] + c`` in `counts`, `high`, `low`, `looks`."""

    first: int  # columns before it hold numbers
    weights: npt.NDArray[np.float64]  # squared distance of codes that differ; of columns with a table, unused
    sizes: npt.NDArray[np.int64]  # numbers of categories
    look_at: npt.NDArray[np.int64]
    table_at: npt.NDArray[np.int64]  # where the table begins in `looks`, row after row; NO_TABLE
    looks: npt.NDArray[np.float64]  # squared distances of categories to the centroid, then the tables
    counts: npt.NDArray[np.int64]  # of the records that the centroid is of, by category
    high: npt.NDArray[np.float64]  # of columns with a table: sums over these records of the distances to each category
    low: npt.NDArray[np.float64]  # ... high + low, unevaluated


@compiled
def numbers_of(nominal, n_columns):
    """How many of the columns hold numbers."""
    if nominal is None:
        return n_columns
    return nominal.first


@compiled
def looked_up(nominal, j, code):
    """Where the distances to a query are listed by category, for column j; NO_TABLE for a weight per mismatch."""
    if code == CENTROID:
        return nominal.look_at[j]
    if nominal.table_at[j] == NO_TABLE:
        return np.int64(NO_TABLE)
    return nominal.table_at[j] + np.int64(code) * nominal.sizes[j]


@compiled
def add_code_distances(nominal, columns, query, start, stop, totals):
    """Add the squared distances of the codes of records start..stop-1; ``columns`` has a row per column."""
    if nominal is None:
        return
    for j in range(nominal.weights.shape[0]):
        here = query[nominal.first + j]
        codes = columns[nominal.first + j]
        place = looked_up(nominal, j, here)
        if place == NO_TABLE:
            weight = nominal.weights[j]
            for i in range(stop - start):
                totals[i] += weight if codes[start + i] != here else 0.0
        else:
            for i in range(stop - start):
                totals[i] += nominal.looks[place + np.int64(codes[start + i])]


@inner
def plus_code_distance(nominal, values, row, query, total):
    """``total`` plus the squared distance of a row's codes to the query; added in the order of the columns."""
    if nominal is None:
        return total
    for j in range(nominal.weights.shape[0]):
        code, here = values[row, nominal.first + j], query[nominal.first + j]
        place = looked_up(nominal, j, here)
        if place == NO_TABLE:
            total += nominal.weights[j] if code != here else 0.0
        else:
            total += nominal.looks[place + np.int64(code)]
    return total
