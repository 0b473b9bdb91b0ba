"""Columns of codes as kernels, and what replaces them, take them: what stands beside the numbers of mixed records.

A record's columns are numbers, then codes with a weight per mismatch, then codes with a table. A *query* is a record,
or the centroid of some records, which has no codes: where a code would stand it has `CENTROID`, and the squared
distances of all categories to it are looked up in `looks`.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

CENTROID = -1.0
NO_TABLE = -1


class Nominal(NamedTuple):
    """Columns of codes. Category c of column j has its place ``look_at[j] + c`` in `counts`, `high`, `low`, `looks`."""

    first: int  # columns before it hold numbers
    weights: npt.NDArray[np.float64]  # squared distance of codes that differ; 0 of columns with a table
    sizes: npt.NDArray[np.int64]  # numbers of categories
    look_at: npt.NDArray[np.int64]
    table_at: npt.NDArray[np.int64]  # where the table begins in `looks`, row after row; NO_TABLE
    looks: npt.NDArray[np.float64]  # squared distances of categories to the centroid, then the tables
    counts: npt.NDArray[np.int64]  # of the records that the centroid is of, by category
    high: npt.NDArray[np.float64]  # of columns with a table: sums over these records of the distances to each category
    low: npt.NDArray[np.float64]  # ... high + low, unevaluated
