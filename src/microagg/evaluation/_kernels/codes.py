"""Columns of codes as the search for near points takes them, beside the numbers of the points."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

NO_LIST = -1
NONE_MISSING = -1


class CodeColumns(NamedTuple):
    """Columns of codes 0, 1, ..., and how far these are from each other.

    Where codes have a weight per mismatch, only the distances to a missing value are listed; where they have a table,
    all distances are. Code c of column j has its place ``place_at[j] + c`` in `bits` and `least`.
    """

    rows: npt.NDArray[np.int32]  # of shape (n_columns, n_points), points in the order of the leaves
    present: npt.NDArray[np.uint64]  # of shape (n_nodes, n_columns): the bits of all codes that the node's points have
    weights: npt.NDArray[np.float64]  # squared distance of codes that differ; of columns with a table, unused
    missing: npt.NDArray[np.int32]  # the code of a missing value beside a weight per mismatch; NONE_MISSING
    list_at: npt.NDArray[np.int64]  # where the column's distances begin in `lists`; NO_LIST
    row_lengths: npt.NDArray[np.int64]  # of a table; 0 for a weight per mismatch
    lists: npt.NDArray[np.float64]  # squared distances to the missing value by code, or tables row after row
    place_at: npt.NDArray[np.int64]
    bits: npt.NDArray[np.uint64]  # for every code one or more bits
    least: npt.NDArray[np.float64]  # for every code the squared distance to the nearest other one
