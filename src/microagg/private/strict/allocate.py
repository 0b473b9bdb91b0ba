"""Whole numbers from shares: as even as can be, with chance only in what is left over."""

from __future__ import annotations

import numpy as np

from microagg._typing import FloatArray, IntArray

__all__ = ["allocate", "spread_evenly"]


def allocate(shares: FloatArray, total: int, rng: np.random.Generator) -> IntArray:
    """Counts that sum to `total` and are the shares of it, rounded down or up; what is up, is up by chance.

    Systematic: each remainder is rounded up with just its probability, and no two draws are independent, so counts
    scatter as little as they can.
    """
    exact = shares / shares.sum() * total
    counts: IntArray = np.floor(exact).astype(np.int64)
    left = total - int(counts.sum())
    if left > 0:
        order = rng.permutation(len(counts))
        remainders = (exact - counts)[order]
        ends = np.cumsum(remainders)
        ends *= left / ends[-1] if ends[-1] > 0 else 1.0
        marks = rng.random() + np.arange(left)
        chosen = np.minimum(np.searchsorted(ends, marks, side="right"), len(counts) - 1)
        np.add.at(counts, order[chosen], 1)
    return counts


def spread_evenly(shares: FloatArray, total: int, rng: np.random.Generator) -> IntArray:
    """`total` places of shares, each as often as its share says, in random order."""
    counts = allocate(shares, total, rng)
    places: IntArray = rng.permutation(np.repeat(np.arange(len(shares)), counts))
    return places
