"""The point nearest to each query, and ties unless another is closer: a walk down a tree of tight boxes.

A tree is four arrays. ``columns`` holds the points, attribute by attribute, in an order in which every leaf is a run.
Nodes are numbered as in a heap: those below node i are 2i + 1 and 2i + 2, and the last ``n_leaves`` nodes are leaves.
``lows`` and ``highs`` are the corners of each node's box, ``starts`` where each leaf's run starts.
"""

from __future__ import annotations

import numpy as np

from microagg._kernels.jit import compiled

_DEEPEST = 64


@compiled
def to_box(query, low, high):
    """Squared distance from a query to a box; 0 inside."""
    total = 0.0
    for j in range(len(query)):
        outside = max(low[j] - query[j], 0.0) + max(query[j] - high[j], 0.0)
        total += outside * outside
    return total


@compiled
def to_points(columns, start, stop, query, found):
    """Squared distances from a query to a run of points."""
    found[: stop - start] = 0.0
    for j in range(len(query)):
        here = query[j]
        run = columns[j, start:stop]
        for i in range(stop - start):
            gap = run[i] - here
            found[i] += gap * gap


@compiled
def step_down(node, waiting, distances, depth, lows, highs, query, limit):
    """Put the boxes below a node on the pile, the nearer on top; those beyond ``limit`` are left out."""
    first, second = 2 * node + 1, 2 * node + 2
    to_first, to_second = to_box(query, lows[first], highs[first]), to_box(query, lows[second], highs[second])
    if to_first < to_second:
        first, second = second, first
        to_first, to_second = to_second, to_first
    if to_first <= limit:
        waiting[depth], distances[depth] = first, to_first
        depth += 1
    if to_second <= limit:
        waiting[depth], distances[depth] = second, to_second
        depth += 1
    return depth


@compiled
def nearest_points(columns, lows, highs, starts, queries, squared, places):
    """Fill ``squared`` and ``places`` with each query's squared distance to its nearest point and where that is."""
    n_leaves = len(starts) - 1
    waiting, distances = np.empty(_DEEPEST, np.int64), np.empty(_DEEPEST)
    found = np.empty(np.diff(starts).max())
    for row in range(len(queries)):
        query = queries[row]
        best, place = np.inf, -1
        waiting[0], distances[0], depth = 0, 0.0, 1
        while depth > 0:  # ends: every node of the tree is put on the pile once at most, and one leaves every time
            depth -= 1
            node = waiting[depth]
            if distances[depth] >= best:
                continue
            if node < n_leaves - 1:
                depth = step_down(node, waiting, distances, depth, lows, highs, query, best)
                continue
            start, stop = starts[node - n_leaves + 1], starts[node - n_leaves + 2]
            to_points(columns, start, stop, query, found)
            for i in range(stop - start):
                if found[i] < best:
                    best, place = found[i], start + i
        squared[row], places[row] = best, place


@compiled
def ties_unless_closer(columns, lows, highs, starts, queries, closer, as_close, ties):
    """Fill ``ties`` with the number of points within ``as_close`` of each query, or 0 if one is within ``closer``.

    Both are squared distances, one of each per query; a point just at ``closer`` does not count as closer.
    """
    n_leaves = len(starts) - 1
    waiting, distances = np.empty(_DEEPEST, np.int64), np.empty(_DEEPEST)
    found = np.empty(np.diff(starts).max())
    for row in range(len(queries)):
        query = queries[row]
        count = 0
        waiting[0], distances[0], depth = 0, 0.0, 1
        while depth > 0:  # ends: every node of the tree is put on the pile once at most, and one leaves every time
            depth -= 1
            node = waiting[depth]
            if node < n_leaves - 1:
                depth = step_down(node, waiting, distances, depth, lows, highs, query, as_close[row])
                continue
            start, stop = starts[node - n_leaves + 1], starts[node - n_leaves + 2]
            to_points(columns, start, stop, query, found)
            for i in range(stop - start):
                if found[i] < closer[row]:
                    count, depth = 0, -1
                    break
                if found[i] <= as_close[row]:
                    count += 1
        ties[row] = count
