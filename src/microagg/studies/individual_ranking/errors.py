"""How far a release is from its original, by the measures of the individual-ranking paper."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from microagg._typing import FloatArray
from microagg.private.public_column import FROM_DATA_FACTOR
from microagg.schema.taxonomy import Taxonomy

__all__ = ["errors", "jensen_shannon", "relative_error", "variance_change"]


def variance_change(original: FloatArray, published: FloatArray) -> float:
    """|var' - var| / var."""
    return float(abs(published.var() - original.var()) / original.var())


def relative_error(original: FloatArray, published: FloatArray) -> float:
    """Mean of |a - a'| / max(|a|, domain / 100), the domain being 1.5 x the largest value."""
    floor = FROM_DATA_FACTOR * float(original.max()) / 100
    return float(np.mean(np.abs(original - published) / np.maximum(np.abs(original), floor)))


def jensen_shannon(original: npt.NDArray[Any], published: npt.NDArray[Any], n_bins: int | None = 100) -> float:
    """Jensen-Shannon divergence in bits: of histograms with bins of a hundredth of the domain, or of single values."""
    if n_bins is None:
        both = np.unique(np.concatenate([original, published]), return_inverse=True)[1]
        codes = both[: len(original)], both[len(original) :]
        counts = [np.bincount(one, minlength=int(both.max()) + 1) for one in codes]
    else:
        domain = (0.0, FROM_DATA_FACTOR * float(original.max()))
        counts = [np.histogram(column, n_bins, domain)[0] for column in (original, published)]
    p, q = (count / count.sum() for count in counts)
    middle = (p + q) / 2
    return float(sum(0.5 * np.sum(one[one > 0] * np.log2(one[one > 0] / middle[one > 0])) for one in (p, q)))


def errors(table: Any, published: Any, trees: Mapping[str, Taxonomy] | None = None) -> tuple[float, float]:
    """Relative error and divergence, means over attributes; semantic distance and frequencies for categories."""
    found = []
    for name in table.column_names:
        if trees is not None and name in trees:
            labels = sorted({*table[name].to_pylist(), *published[name].to_pylist()})
            place = {label: code for code, label in enumerate(labels)}
            before, after = (np.array([place[label] for label in one[name].to_pylist()]) for one in (table, published))
            apart = trees[name].distances(labels)[before, after]
            found.append((float(apart.mean()), jensen_shannon(before, after, n_bins=None)))
            continue
        first, second = (one[name].to_numpy().astype(np.float64) for one in (table, published))
        found.append((relative_error(first, second), jensen_shannon(first, second, 100 if trees is None else None)))
    return float(np.mean([error for error, _ in found])), float(np.mean([divergence for _, divergence in found]))
