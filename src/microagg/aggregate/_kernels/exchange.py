"""Exchanges of draws between records of a cell that make a model's residuals cancel in small leaves, compiled."""

from __future__ import annotations

import numpy as np

from microagg._kernels.jit import compiled


@compiled
def residual_of(labels, known, odds, record, draw, term):
    """What the label of a record is above what the model expects at a draw; 0 where the label is unknown."""
    if not known[record, term]:
        return 0.0
    return labels[record, term] - odds[draw, term]


@compiled
def sum_residuals(labels, known, odds, dealt, leaves, sums):
    """Add up the residuals of each leaf; record i has draw dealt[i]."""
    for record in range(len(dealt)):
        draw = dealt[record]
        for term in range(labels.shape[1]):
            residual = residual_of(labels, known, odds, record, draw, term)
            for tree in range(leaves.shape[1]):
                sums[leaves[draw, tree], term] += residual


@compiled
def exchange(labels, known, odds, dealt, leaves, sums, weights, order, starts, sizes, uniforms):
    """Let every record meet another of its cell: they change draws if that lowers the residuals of the leaves.

    What is lowered is the sum over leaves of weight times squared sum of residuals, all terms together.

    Parameters
    ----------
    labels, known, odds : ndarrays of shape (n_records, n_terms)
    dealt : ndarray of int64, shape (n_records,)
        The draw of each record; changed.
    leaves : ndarray of int32, shape (n_draws, n_trees)
        The leaf of each draw in each tree; no two trees have a leaf in common.
    sums : ndarray of shape (n_leaves, n_terms)
        Of residuals; changed.
    weights : ndarray of shape (n_leaves,)
    order : ndarray of int64, shape (n_records,)
        Records, cell after cell.
    starts, sizes : ndarrays of int64, shape (n_cells,)
    uniforms : ndarray of shape (n_records,)
        Whom each record meets, from 0 to 1.

    Returns
    -------
    int
        How many exchanges there were.
    """
    n_terms, n_trees = labels.shape[1], leaves.shape[1]
    gained, lost = np.empty(n_terms), np.empty(n_terms)
    exchanges = 0
    for cell in range(len(starts)):
        first, size = starts[cell], sizes[cell]
        for place in range(first, first + size):
            one, two = order[place], order[first + min(int(uniforms[place] * size), size - 1)]
            here, there = dealt[one], dealt[two]
            differs = False
            for term in range(n_terms):
                gained[term] = residual_of(labels, known, odds, two, here, term)
                gained[term] -= residual_of(labels, known, odds, one, here, term)
                lost[term] = residual_of(labels, known, odds, one, there, term)
                lost[term] -= residual_of(labels, known, odds, two, there, term)
                differs = differs or gained[term] != 0.0 or lost[term] != 0.0
            if not differs:
                continue
            change = 0.0
            for tree in range(n_trees):
                a, b = leaves[here, tree], leaves[there, tree]
                if a != b:
                    for term in range(n_terms):
                        change += weights[a] * gained[term] * (2.0 * sums[a, term] + gained[term])
                        change += weights[b] * lost[term] * (2.0 * sums[b, term] + lost[term])
                else:
                    for term in range(n_terms):
                        both = gained[term] + lost[term]
                        change += weights[a] * both * (2.0 * sums[a, term] + both)
            if change < -1e-12:
                dealt[one], dealt[two] = there, here
                exchanges += 1
                for tree in range(n_trees):
                    a, b = leaves[here, tree], leaves[there, tree]
                    for term in range(n_terms):
                        sums[a, term] += gained[term]
                        sums[b, term] += lost[term]
    return exchanges
