"""Which draw of a cell stands beside which of its records: so that labels follow a model, with little noise."""

from __future__ import annotations

import numpy as np

from microagg._typing import BoolArray, FloatArray, IntArray, SmallIntArray
from microagg.aggregate.centroid import Cells
from microagg.aggregate.sampling import Uniforms

__all__ = ["deal_quietly", "neighbourhoods"]


_TREES = 80
_SMALLEST_LEAF = 5
_SWEEPS = 30


def neighbourhoods(ranks: IntArray, odds: FloatArray, uniforms: Uniforms) -> SmallIntArray:
    """Small leaves of random trees over draws, of shape (n_draws, n_trees); no two trees have a leaf in common."""
    from microagg._kernels.random import seed_rng
    from microagg.aggregate._kernels.forest import grow_tree

    rng = seed_rng((uniforms(4) * 2.0**32).astype(np.int64))
    found = np.empty((len(ranks), _TREES), dtype=np.int32)
    leaves = np.empty(len(ranks), dtype=np.int64)
    ranks, odds = np.ascontiguousarray(ranks), np.ascontiguousarray(odds)
    tries = max(2, (ranks.shape[1] + 1) // 2)
    n_leaves = 0
    for tree in range(_TREES):
        grown = grow_tree(ranks, odds, _SMALLEST_LEAF, tries, rng, leaves)
        found[:, tree] = leaves + n_leaves
        n_leaves += grown
    return found


def deal_quietly(
    labels: FloatArray,
    known: BoolArray,
    odds: FloatArray,
    ranks: IntArray,
    dealt: IntArray,
    cells: Cells,
    uniforms: Uniforms,
) -> IntArray:
    """Exchange draws within cells until residuals cancel in small neighbourhoods.

    Parameters
    ----------
    labels, known, odds : ndarrays of shape (n_records, n_terms)
        Labels of records and whether they are known, and what a model expects at draws, on one scale.
    ranks : ndarray of shape (n_draws, n_attributes)
        Draws as ranks, by which neighbourhoods are formed.
    dealt : ndarray of shape (n_records,)
        The draw of each record to begin with; of its own cell.
    cells : Cells
    uniforms : callable
        The source of chance.

    Returns
    -------
    ndarray of shape (n_records,)
    """
    from microagg.aggregate._kernels.exchange import exchange, sum_residuals

    leaves = neighbourhoods(ranks, odds, uniforms)
    n_leaves = int(leaves.max()) + 1
    sums = np.zeros((n_leaves, labels.shape[1]))
    dealt, labels, odds = dealt.copy(), np.ascontiguousarray(labels), np.ascontiguousarray(odds)
    sum_residuals(labels, known, odds, dealt, leaves, sums)
    weights = 1.0 / np.bincount(leaves.ravel(), minlength=n_leaves)
    for _ in range(int(min(_SWEEPS, max(cells.sizes.max(), 2)))):
        met = uniforms(len(dealt))
        if not exchange(labels, known, odds, dealt, leaves, sums, weights, cells.order, cells.starts, cells.sizes, met):
            break
    return dealt
