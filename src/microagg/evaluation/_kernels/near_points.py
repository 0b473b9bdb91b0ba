"""The point nearest to each query, and ties unless another is closer: a walk down a tree of tight boxes.

A tree is four arrays. ``columns`` holds the points' numbers, attribute by attribute, in an order in which every leaf is
a run. Nodes are numbered as in a heap: those below node i are 2i + 1 and 2i + 2, and the last ``n_leaves`` nodes are
leaves. ``lows`` and ``highs`` are the corners of each node's box, ``starts`` where each leaf's run starts.

Points that have codes beside their numbers come with `CodeColumns`, and queries with their own codes. Both are None if
there are only numbers, and then no branch for codes is compiled. A query whose code no point of a node has is at least
as far from these points as that code is from the nearest other one. Distances to boxes and to points are summed in the
same order, so that rounding puts no point nearer than its box.
"""

from __future__ import annotations

import numpy as np

from microagg._kernels.jit import compiled
from microagg.evaluation._kernels.codes import NONE_MISSING

_DEEPEST = 64


@compiled
def n_code_columns(codes):
    if codes is None:
        return 0
    return len(codes.weights)


@compiled
def place_query(codes, query_codes, row, bits, absent):
    """For each code of a query its bits, and the least squared distance to points that do not have that code."""
    if codes is None:
        return
    for j in range(len(codes.weights)):
        place = codes.place_at[j] + query_codes[row, j]
        bits[j], absent[j] = codes.bits[place], codes.least[place]


@compiled
def plus_absent_codes(codes, node, bits, absent, total):
    """``total`` plus the least squared distance of a query's codes to those of a node's points."""
    if codes is None:
        return total
    for j in range(len(bits)):
        total += absent[j] if codes.present[node, j] & bits[j] != bits[j] else 0.0
    return total


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
def add_code_distances(codes, start, stop, query_codes, row, found):
    """Add the squared distances of a query's codes to those of a run of points."""
    if codes is None:
        return
    for j in range(len(codes.weights)):
        here = query_codes[row, j]
        run = codes.rows[j, start:stop]
        missing, length, place = codes.missing[j], codes.row_lengths[j], codes.list_at[j]
        if length > 0 or here == missing:
            distances = codes.lists[place + here * length :] if length > 0 else codes.lists[place:]
            for i in range(stop - start):
                found[i] += distances[run[i]]
        elif missing == NONE_MISSING:
            weight = codes.weights[j]
            for i in range(stop - start):
                found[i] += weight if run[i] != here else 0.0
        else:
            weight, to_missing = codes.weights[j], codes.lists[place + here]
            for i in range(stop - start):
                apart = to_missing if run[i] == missing else weight
                found[i] += apart if run[i] != here else 0.0


@compiled
def step_down(node, waiting, distances, depth, lows, highs, query, limit, codes, bits, absent):
    """Put the boxes below a node on the pile, the nearer on top; those beyond ``limit`` are left out."""
    first, second = 2 * node + 1, 2 * node + 2
    to_first, to_second = to_box(query, lows[first], highs[first]), to_box(query, lows[second], highs[second])
    to_first = plus_absent_codes(codes, first, bits, absent, to_first)
    to_second = plus_absent_codes(codes, second, bits, absent, to_second)
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
def nearest_points(columns, lows, highs, starts, codes, queries, query_codes, squared, places):
    """Fill ``squared`` and ``places`` with each query's squared distance to its nearest point and where that is."""
    n_leaves = len(starts) - 1
    waiting, distances = np.empty(_DEEPEST, np.int64), np.empty(_DEEPEST)
    found = np.empty(np.diff(starts).max())
    bits, absent = np.empty(n_code_columns(codes), np.uint64), np.empty(n_code_columns(codes))
    for row in range(len(queries)):
        query = queries[row]
        place_query(codes, query_codes, row, bits, absent)
        best, place = np.inf, -1
        waiting[0], distances[0], depth = 0, 0.0, 1
        while depth > 0:  # ends: every node of the tree is put on the pile once at most, and one leaves every time
            depth -= 1
            node = waiting[depth]
            if distances[depth] >= best:
                continue
            if node < n_leaves - 1:
                depth = step_down(node, waiting, distances, depth, lows, highs, query, best, codes, bits, absent)
                continue
            start, stop = starts[node - n_leaves + 1], starts[node - n_leaves + 2]
            to_points(columns, start, stop, query, found)
            add_code_distances(codes, start, stop, query_codes, row, found)
            for i in range(stop - start):
                if found[i] < best:
                    best, place = found[i], start + i
        squared[row], places[row] = best, place


@compiled
def ties_unless_closer(columns, lows, highs, starts, codes, queries, query_codes, closer, as_close, ties):
    """Fill ``ties`` with the number of points within ``as_close`` of each query, or 0 if one is within ``closer``.

    Both are squared distances, one of each per query; a point just at ``closer`` does not count as closer.
    """
    n_leaves = len(starts) - 1
    waiting, distances = np.empty(_DEEPEST, np.int64), np.empty(_DEEPEST)
    found = np.empty(np.diff(starts).max())
    bits, absent = np.empty(n_code_columns(codes), np.uint64), np.empty(n_code_columns(codes))
    for row in range(len(queries)):
        query = queries[row]
        place_query(codes, query_codes, row, bits, absent)
        count = 0
        limit = as_close[row]
        waiting[0], distances[0], depth = 0, 0.0, 1
        while depth > 0:  # ends: every node of the tree is put on the pile once at most, and one leaves every time
            depth -= 1
            node = waiting[depth]
            if node < n_leaves - 1:
                depth = step_down(node, waiting, distances, depth, lows, highs, query, limit, codes, bits, absent)
                continue
            start, stop = starts[node - n_leaves + 1], starts[node - n_leaves + 2]
            to_points(columns, start, stop, query, found)
            add_code_distances(codes, start, stop, query_codes, row, found)
            for i in range(stop - start):
                if found[i] < closer[row]:
                    count, depth = 0, -1
                    break
                if found[i] <= limit:
                    count += 1
        ties[row] = count
