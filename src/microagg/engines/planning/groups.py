"""Groups of records that no cell crosses, from how many records each stratum and pattern of missing values has."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from microagg._typing import IntArray
from microagg.engines.planning.survey import GroupKey
from microagg.recipe.choices import MissingPolicy, SmallGroups
from microagg.recipe.recipe import Recipe
from microagg.releases.groups import pool_small_groups, refuse_small_groups
from microagg.releases.prepare import pattern_remark, strata_phrase, strata_remark

__all__ = ["Groups"]


@dataclass(frozen=True)
class Groups:
    """Groups of at least k records that no cell crosses.

    Attributes
    ----------
    of_key : dict of key to int
        The group of each stratum and pattern of missing values.
    sizes : ndarray
        Records of each group.
    remarks : tuple of str
        What the statement says of them.
    """

    of_key: Mapping[GroupKey, int] = field(repr=False)
    sizes: IntArray
    remarks: tuple[str, ...] = ()

    def number(self, labels: IntArray, keys: Sequence[GroupKey]) -> IntArray:
        """The group of each record of a batch."""
        return np.array([self.of_key[key] for key in keys], dtype=np.int64)[labels]

    @classmethod
    def of(cls, counts: Mapping[GroupKey, int], recipe: Recipe) -> Groups:
        """Pool small strata, and small patterns within them, by the rule of :func:`group_records`, or refuse.

        Raises
        ------
        TableError
            If the recipe refuses small groups and there are some.
        """
        keys = sorted(counts, key=lambda key: [(one is None, str(one)) for one in key])
        sizes = np.array([counts[key] for key in keys], dtype=np.int64)
        remarks: list[str] = []
        n_keys = len(keys)
        stratum = np.zeros(n_keys, dtype=np.int64)
        if recipe.strata.by:
            names = sorted({key[:-1] for key in keys}, key=lambda key: [(one is None, str(one)) for one in key])
            place = {name: number for number, name in enumerate(names)}
            stratum = np.array([place[key[:-1]] for key in keys], dtype=np.int64)
            of_strata = np.bincount(stratum, sizes).astype(np.int64)
            if recipe.strata.small is SmallGroups.REFUSE:
                refuse_small_groups(of_strata, recipe.k, f"strata of {strata_phrase(recipe)}")
            small = of_strata < recipe.k
            remarks.append(strata_remark(recipe, int(of_strata[small].sum()) if small.any() else None))
            stratum = pool_small_groups(of_strata, np.zeros(len(of_strata), dtype=np.int64), recipe.k)[stratum]
        patterns = np.array([key[-1] for key in keys], dtype=object)
        labels = _numbered(list(zip(stratum.tolist(), patterns.tolist(), strict=True)))
        if recipe.missing.policy is MissingPolicy.OWN_CELL and any(pattern for pattern in patterns):
            of_groups = np.bincount(labels, sizes).astype(np.int64)
            container = np.zeros(len(of_groups), dtype=np.int64)
            container[labels] = stratum
            if recipe.missing.small is SmallGroups.REFUSE:
                refuse_small_groups(of_groups, recipe.k, "patterns of missing values")
            small = of_groups < recipe.k
            remarks.append(pattern_remark(recipe, int(of_groups[small].sum()) if small.any() else None))
            labels = pool_small_groups(of_groups, container, recipe.k)[labels]
        labels = np.unique(labels, return_inverse=True)[1]
        totals = np.bincount(labels, sizes).astype(np.int64)
        return cls(dict(zip(keys, labels.tolist(), strict=True)), totals, tuple(remarks))


def _numbered(keys: Sequence[tuple[int, int]]) -> IntArray:
    order = {key: number for number, key in enumerate(sorted(set(keys)))}
    return np.array([order[key] for key in keys], dtype=np.int64)
