"""Which records may share a cell: strata, and patterns of missing values."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from microagg._labels import cells_in_order, label_combinations
from microagg._typing import IntArray
from microagg.errors import TableError
from microagg.recipe.choices import SmallGroups
from microagg.releases.units import Units

__all__ = ["Grouping", "group_records", "pool_small_groups", "refuse_small_groups"]


@dataclass(frozen=True)
class Grouping:
    """Groups that no cell may cross.

    Attributes
    ----------
    labels : ndarray of shape (n_records,)
        Group of each record; every group has at least k records.
    merged_groups, merged_records : int
        How many groups had fewer than k records and were merged, and the records (or units, where k counts them: a
        public remark must not tell how many records one unit has) in them.
    """

    labels: IntArray
    merged_groups: int = 0
    merged_records: int = 0


def group_records(
    groups: IntArray,
    k: int,
    small: SmallGroups,
    what: str,
    *,
    within: IntArray | None = None,
    units: Units | None = None,
) -> Grouping:
    """Make every group at least k records (or units) large, or refuse.

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
    units : Units, optional
        Whose the records are: k units are then asked for.
    """
    within = np.zeros(len(groups), dtype=np.int64) if within is None else within
    labels = label_combinations([within, groups], len(groups))
    sizes = np.bincount(labels) if units is None else units.in_groups(labels)
    small_groups = np.flatnonzero(sizes < k)
    if not len(small_groups):
        return Grouping(labels)
    if small is SmallGroups.REFUSE:
        refuse_small_groups(sizes, k, what, np.bincount(labels), "records" if units is None else "units")
    container = np.zeros(len(sizes), dtype=np.int64)
    container[labels] = within
    together = None if units is None else _together(units, labels)
    target = pool_small_groups(sizes, container, k, together)
    merged = int(sizes[small_groups].sum()) if together is None else together(small_groups)
    return Grouping(cells_in_order(target[labels]), len(small_groups), merged)


def _together(units: Units, labels: IntArray) -> Callable[[IntArray], int]:
    """How many units some groups have together: one may have records in several."""
    return lambda some: len(np.unique(units.codes[np.isin(labels, some)]))


def refuse_small_groups(
    sizes: IntArray, k: int, what: str, n_records: IntArray | None = None, counted: str = "records"
) -> None:
    """Raise if a group has fewer than k records, or of whatever is `counted`; `n_records` are those of each group."""
    n_records = sizes if n_records is None else n_records
    few = np.flatnonzero(sizes < k)
    if len(few):
        in_all = int(n_records[few].sum())
        raise TableError(
            f"{len(few)} of {len(sizes)} {what} have fewer than k = {k} {counted} ({in_all} records in all). "
            'Lower k, or set small = "merge_small" to pool them'
        )


def pool_small_groups(
    sizes: IntArray, container: IntArray, k: int, together: Callable[[IntArray], int] | None = None
) -> IntArray:
    """For each group the one that it becomes a part of: itself, unless it has fewer than k records.

    Small groups of one container are pooled with each other; a pool that is still small joins the smallest group of the
    container that is not. `together` says how large some groups are together, if not as large as their sum.
    """
    target = np.arange(len(sizes))
    for outer in np.unique(container[sizes < k]):
        inside = np.flatnonzero(container == outer)
        pool = inside[sizes[inside] < k]
        target[pool] = pool[0]
        large = inside[sizes[inside] >= k]
        in_pool = int(sizes[pool].sum()) if together is None else together(pool)
        if in_pool < k and len(large):
            target[pool] = large[np.argmin(sizes[large])]
    return target
