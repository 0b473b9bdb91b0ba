"""Which records may share a cell: strata, and patterns of missing values."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

import numpy as np
import numpy.typing as npt

from microagg.errors import TableError
from microagg.partition.base import cells_in_order

__all__ = ["Grouping", "SmallGroups", "combine", "group_records"]

IntArray = npt.NDArray[np.int64]


class SmallGroups(StrEnum):
    """What becomes of a group with fewer than k records."""

    REFUSE = "refuse"
    MERGE_SMALL = "merge_small"


@dataclass(frozen=True)
class Grouping:
    """Groups that no cell may cross.

    Attributes
    ----------
    labels : ndarray of shape (n_records,)
        Group of each record; every group has at least k records.
    merged_groups, merged_records : int
        How many groups had fewer than k records and were merged, and the records in them.
    """

    labels: IntArray
    merged_groups: int = 0
    merged_records: int = 0


def combine(codes: Sequence[npt.NDArray[np.generic]], n_records: int) -> IntArray:
    """One label per distinct combination of several codes, numbered by first occurrence.

    Examples
    --------
    >>> combine([np.array([0, 0, 1]), np.array([1, 1, 1])], 3)
    array([0, 0, 1])
    """
    labels = np.zeros(n_records, dtype=np.int64)
    for code in codes:
        _, dense = np.unique(code, return_inverse=True)
        labels = cells_in_order(labels * (int(dense.max(initial=0)) + 1) + dense)
    return labels


def group_records(
    groups: IntArray, k: int, small: SmallGroups, what: str, *, within: IntArray | None = None
) -> Grouping:
    """Make every group at least k records large, or refuse.

    Small groups are pooled with each other; if the pool is still small, it joins the smallest group that is not.

    Parameters
    ----------
    groups : ndarray of shape (n_records,)
    k : int
    small : SmallGroups
    what : str
        What the groups are, in the plural, for the error: ``"strata of 'region'"``.
    within : ndarray of shape (n_records,), optional
        Larger groups, each of at least k records, that pooling must not cross.
    """
    within = np.zeros(len(groups), dtype=np.int64) if within is None else within
    labels = combine([within, groups], len(groups))
    sizes = np.bincount(labels)
    small_groups = np.flatnonzero(sizes < k)
    if not len(small_groups):
        return Grouping(labels)
    if small is SmallGroups.REFUSE:
        raise TableError(
            f"{len(small_groups)} of {len(sizes)} {what} have fewer than k = {k} records "
            f'({int(sizes[small_groups].sum())} records in all). Lower k, or set small = "merge_small" to pool them'
        )
    container = np.zeros(len(sizes), dtype=np.int64)
    container[labels] = within
    target = np.arange(len(sizes))
    for outer in np.unique(container[small_groups]):
        inside = np.flatnonzero(container == outer)
        pool = inside[sizes[inside] < k]
        target[pool] = pool[0]
        large = inside[sizes[inside] >= k]
        if sizes[pool].sum() < k and len(large):
            target[pool] = large[np.argmin(sizes[large])]
    return Grouping(cells_in_order(target[labels]), len(small_groups), int(sizes[small_groups].sum()))
