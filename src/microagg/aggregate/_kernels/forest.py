"""Trees of chance over draws: small neighbourhoods, in which few things besides a model's odds differ, compiled."""

from __future__ import annotations

import numpy as np

from microagg._kernels.jit import compiled
from microagg._kernels.random import draw_below


@compiled
def gain_of_cut(ranks, odds, rows, column, cut, least, sums):
    """How much of the odds' variance a cut tells apart; negative if a side has fewer than `least` rows."""
    terms = odds.shape[1]
    sums[:] = 0.0
    n_left = 0
    for row in rows:
        is_left = ranks[row, column] <= cut
        n_left += is_left
        side = 0 if is_left else terms
        for term in range(terms):
            sums[side + term] += odds[row, term]
    n_right = len(rows) - n_left
    if n_left < least or n_right < least:
        return -1.0
    gain = 0.0
    for term in range(terms):
        difference = sums[term] / n_left - sums[terms + term] / n_right
        gain += difference * difference
    return gain * n_left * n_right


@compiled
def grow_tree(ranks, odds, least, tries, rng, leaves):
    """Cut rows at random places until parts are small; of some random cuts the one that tells most of the odds.

    Parameters
    ----------
    ranks : ndarray of int64, shape (n_rows, n_columns)
    odds : ndarray of shape (n_rows, n_terms)
    least : int
        Every leaf has at least this many rows.
    tries : int
        How many cuts are compared.
    rng : ndarray of int64, shape (4,)
    leaves : ndarray of int64, shape (n_rows,)
        Filled with the leaf of each row, counted from 0.

    Returns
    -------
    int
        How many leaves there are.
    """
    n_rows, n_columns = ranks.shape
    terms = odds.shape[1]
    rows = np.arange(n_rows)
    held = np.empty(n_rows, dtype=np.int64)
    stack = np.empty((n_rows + 1, 2), dtype=np.int64)
    sums = np.zeros(2 * terms)
    stack[0, 0], stack[0, 1] = 0, n_rows
    depth, n_leaves = 1, 0
    while depth > 0:  # ends: a cut leaves rows on both sides, so there are fewer cuts than rows
        depth -= 1
        first, last = stack[depth, 0], stack[depth, 1]
        best, best_column, best_cut = -1.0, -1, 0
        if last - first >= 2 * least:
            for _ in range(tries):
                column = draw_below(rng, n_columns)
                low = high = ranks[rows[first], column]
                for place in range(first + 1, last):
                    rank = ranks[rows[place], column]
                    low, high = min(low, rank), max(high, rank)
                if low == high:
                    continue
                cut = low + draw_below(rng, high - low)
                gain = gain_of_cut(ranks, odds, rows[first:last], column, cut, least, sums)
                if gain > best:
                    best, best_column, best_cut = gain, column, cut
        if best_column < 0:
            for place in range(first, last):
                leaves[rows[place]] = n_leaves
            n_leaves += 1
            continue
        middle, behind = first, 0
        for place in range(first, last):
            row = rows[place]
            if ranks[row, best_column] <= best_cut:
                rows[middle] = row
                middle += 1
            else:
                held[behind] = row
                behind += 1
        for place in range(behind):
            rows[middle + place] = held[place]
        stack[depth, 0], stack[depth, 1] = first, middle
        stack[depth + 1, 0], stack[depth + 1, 1] = middle, last
        depth += 2
    return n_leaves
