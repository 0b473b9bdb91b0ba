"""Searching the wide kd-tree: the farthest from the centroid, the farthest from and the nearest to a record.

Bounds, in the filter's float32 (its `relative` covers their rounding as it covers that of distances):

near   no point of a box is closer to q than the box itself: sum of max(low - q, q - high, 0)^2.
far    the points of a box lie in it and within the ball of their largest norm: see `far_terms`.
codes  a box has a range of codes. One without the query's code is a mismatch away, or as near as a running least of
       the query's row of the table says; how far, see `far_code_terms`.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from microagg._kernels.codes import NO_TABLE
from microagg._kernels.jit import inner, merged
from microagg._kernels.nominal import looked_up, numbers_of
from microagg._kernels.simd import (
    WIDTH,
    add_product,
    broadcast,
    load,
    lowest_bit,
    mask_at_least,
    mask_at_most,
    maximum,
    minimum,
    reduce_max,
    store,
    subtract,
)
from microagg.partition._kernels.mdav.centroid_tracker import PATH, RADIUS, certain_distance, key_from, shrink_radius
from microagg.partition._kernels.mdav.filter_space import block_distances, farthest_reach, place_query, slack_for
from microagg.partition._kernels.mdav.nearest import forget, limit_from_block, offer_far, offer_near
from microagg.partition._kernels.mdav.tree.tree import FIRST, Tree, leaf_with_largest_key, set_leaf_key

MOST_KEPT = 64  # of a leaf's distances, so that the first limit is tight
POINTS_SEEN, FAMILIES_SEEN, CELLS_FORMED = 0, 1, 2


class Search(NamedTuple):
    """Working space of the searches."""

    query: npt.NDArray[np.float64]
    query32: npt.NDArray[np.float32]
    totals: npt.NDArray[np.float32]
    bounds: npt.NDArray[np.float32]  # the stack of nodes to visit: bound, number, level
    nodes: npt.NDArray[np.int64]
    levels: npt.NDArray[np.int64]
    visited: npt.NDArray[np.int64]
    visited_keys: npt.NDArray[np.float64]
    changed: npt.NDArray[np.int64]
    kept: npt.NDArray[np.float32]
    seen: npt.NDArray[np.int64]  # counts, by which tree and scan are compared


def allocate_search(tree: Tree, dimension: int, k: int) -> Search:
    stack = WIDTH * (len(tree.first_family) + 1)
    n_leaves = len(tree.counts)
    return Search(
        query=np.empty(dimension),
        query32=np.empty(dimension, dtype=np.float32),
        totals=np.empty(max(tree.leaf_room, WIDTH), dtype=np.float32),
        bounds=np.empty(stack, dtype=np.float32),
        nodes=np.empty(stack, dtype=np.int64),
        levels=np.empty(stack, dtype=np.int64),
        visited=np.empty(n_leaves, dtype=np.int64),
        visited_keys=np.empty(n_leaves),
        changed=np.empty(k, dtype=np.int64),
        kept=np.empty(WIDTH * (1 + MOST_KEPT // WIDTH), dtype=np.float32),
        seen=np.zeros(3, dtype=np.int64),
    )


@inner
def leaf_distances(tree, leaf, query32, totals, space):
    n_vectors = (tree.counts[leaf] + WIDTH - 1) // WIDTH
    start = leaf * (query32.shape[0] + 1) * tree.leaf_room
    return block_distances(tree.points, start, tree.leaf_room, n_vectors, query32, totals, space.nominal, space.codes)


@merged
def farthest_from_centroid(rows, tree, space, tracker, search):
    """Look at leaves from the largest key down, until what is left cannot reach the best distance found."""
    query32, totals = search.query32, search.totals
    centroid_norm = place_query(tracker.centroid, space, query32)
    slack = slack_for(max(tracker.numbers[RADIUS], centroid_norm), space)
    farthest, distance, limit = np.int64(0), -1.0, np.float32(-1.0)
    certain = -np.inf
    n_visited = 0
    last_slots = tree.first_family[-1] * WIDTH
    for _ in range(tree.counts.shape[0] + 1):  # a leaf looked at is put aside or too near: it comes up once at most
        leaf = leaf_with_largest_key(tree)
        key = tree.keys[last_slots + leaf]
        if key == -np.inf or key + tracker.numbers[PATH] < certain:
            break
        fresh = -np.inf  # what an empty leaf keeps
        if tree.counts[leaf] > 0:
            search.seen[POINTS_SEEN] += tree.counts[leaf]
            _, high = leaf_distances(tree, leaf, query32, totals, space)
            fresh = key_from(farthest_reach(high, space, slack), tracker)
            if high >= limit:
                start = leaf * tree.leaf_room
                count = tree.counts[leaf]
                farthest, distance, limit = offer_far(
                    totals, count, tree.row_at, start, rows, tracker.centroid, farthest, distance, limit, space, slack
                )
                certain = certain_distance(distance, space)
        if fresh + tracker.numbers[PATH] >= certain:  # it would come up again: put aside until the search is over
            search.visited[n_visited], search.visited_keys[n_visited] = leaf, fresh
            n_visited += 1
            fresh = -np.inf
        set_leaf_key(tree, leaf, fresh)
    for i in range(n_visited):
        set_leaf_key(tree, search.visited[i], search.visited_keys[i])
    shrink_radius(tracker, distance, centroid_norm, space)
    return farthest


@inner
def near_bounds(tree, family, query32, space, bounds, limit):
    """Lower bounds on the squared distances to sixteen boxes; returns which are within ``limit``."""
    zero = broadcast(np.float32(0.0))
    total = zero
    dimension = query32.shape[0]
    for j in range(numbers_of(space.nominal, dimension)):
        place = (family * dimension + j) * WIDTH
        centre = broadcast(query32[j])
        gap = maximum(subtract(load(tree.lows, place), centre), subtract(centre, load(tree.highs, place)))
        gap = maximum(gap, zero)
        total = add_product(total, gap, gap)
    store(bounds, 0, total)
    return near_code_bounds(
        tree, family, query32, space.nominal, space.codes, bounds, mask_at_most(total, limit), limit
    )


@inner
def near_code_bounds(tree, family, query32, nominal, codes, bounds, mask, limit):
    """Add what ranges of codes have in the lower bounds; returns which of a mask are still within ``limit``."""
    if nominal is None or mask == 0:
        return mask
    dimension = query32.shape[0]
    total = load(bounds, 0)
    zero, one = broadcast(np.float32(0.0)), broadcast(np.float32(1.0))
    for j in range(nominal.weights.shape[0]):
        place = (family * dimension + nominal.first + j) * WIDTH
        here = query32[nominal.first + j]
        if nominal.table_at[j] == NO_TABLE:
            centre = broadcast(here)
            gap = maximum(subtract(load(tree.lows, place), centre), subtract(centre, load(tree.highs, place)))
            differ = minimum(maximum(gap, zero), one)  # whole numbers: a code outside the range differs by 1 or more
            total = add_product(total, differ, broadcast(codes.weights[j]))
    store(bounds, 0, total)
    for j in range(nominal.weights.shape[0]):
        if nominal.table_at[j] != NO_TABLE:
            place = (family * dimension + nominal.first + j) * WIDTH
            here, start = query32[nominal.first + j], nominal.look_at[j]
            for sibling in range(WIDTH):
                low, high = tree.lows[place + sibling], tree.highs[place + sibling]
                if low <= high and high < here:
                    bounds[sibling] += codes.least[start + np.int64(high)]
                elif low <= high and low > here:
                    bounds[sibling] += codes.least[start + np.int64(low)]
    return mask & mask_at_most(load(bounds, 0), limit)


@inner
def far_terms(tree, query32, radius, space):
    """What the upper bounds of a query have in common: the curve c, and |q|^2 with slack for rounding.

    A box holds points with low <= y <= high and |y| <= N. For any c >= 0

        |y - q|^2 = (1 + c) |y|^2 + |q|^2 - sum(c y_j^2 + 2 q_j y_j)
                 <= (1 + c) N^2 + |q|^2 + sum(max(-c y_j^2 - 2 q_j y_j))

    with each maximum over low_j <= y_j <= high_j: at -q_j / c, or at the end nearest to it. With c = 0 the box alone
    bounds q.y; c near |q| / R, best for the ball alone, cuts off the corners that no point can be in.

    Rounding: |-q_j / c| and the end nearest to zero bound y_j, so |y|^2 <= |q|^2 / c^2 + R^2 < 3 R^2, and all terms
    together are less than 4.5 (R^2 + |q|^2). d + 5 roundings of these, and d + 1 in (1 + c) N^2 <= 1.75 R^2, are
    less than 6.25 (d + 5) 2^-24 (R^2 + |q|^2), within 4 `relative` (R^2 + |q|^2).
    """
    norm = 0.0
    for j in range(space.centre.shape[0]):
        norm += np.float64(query32[j]) * np.float64(query32[j])
    curve = max(0.75 * np.sqrt(norm) / max(radius, 1e-30), 1e-6)
    constant = norm + 4.0 * space.relative * (norm + radius * radius)
    return far_code_terms(tree, query32, space.nominal, space.codes, norm, radius, space.relative, curve, constant)


@inner
def far_code_terms(tree, query32, nominal, codes, norm, radius, relative, curve, constant):
    """The terms with codes: each is a point, too, and has a squared norm L. So do rows: N^2 includes theirs.

    With D its squared distance to the query's code, what a code adds is D = (1 + c) L + gain. A rare category is far
    from the others and has a large norm: which boxes hold one beside a large number, N^2 tells. Gains are bounded over
    a range of codes. Without tables, frequent categories come first and have the least norms: the largest gain is near
    the lower end.

    Rounding: gains and norms add less than 3 (sum of the largest distances), so do N^2 and the ends of boxes.
    """
    if nominal is None:
        return np.float32(curve), np.float32(constant)
    own, sum_of_largest = 0.0, 0.0
    for j in range(nominal.weights.shape[0]):
        own += codes.norms[nominal.look_at[j] + np.int64(query32[nominal.first + j])]
        sum_of_largest += codes.largest[j]
    farthest = np.float64(reduce_max(load(tree.norms, 0)))
    curve = min(max(0.75 * np.sqrt((norm + own) / max(farthest, 1e-30)), 1e-6), 1.0)
    constant = norm + 8.0 * relative * (norm + radius * radius + farthest + sum_of_largest)
    factor = np.float32(1.0 + curve)
    for j in range(nominal.weights.shape[0]):
        start, size, here = nominal.look_at[j], nominal.sizes[j], np.int64(query32[nominal.first + j])
        row = looked_up(nominal, j, query32[nominal.first + j])
        for c in range(size):
            apart = codes.looks[row + c] if row != NO_TABLE else (codes.weights[j] if c != here else np.float32(0.0))
            codes.gains[start + c] = apart - factor * codes.norms[start + c]
        most = np.float32(-np.inf)
        if row == NO_TABLE:
            for c in range(size - 1, -1, -1):
                most = max(most, codes.gains[start + c])
                codes.most[start + c] = most
            continue
        for c in range(here):
            most = max(most, codes.gains[start + c])
            codes.most[start + c] = most
        largest = np.float32(-np.inf)
        for c in range(size - 1, here, -1):
            largest = max(largest, codes.gains[start + c])
            codes.most[start + c] = largest
        codes.most[start + here] = max(max(most, largest), codes.gains[start + here])
    return np.float32(curve), np.float32(constant)


@inner
def far_bounds(tree, family, query32, space, curve, constant, bounds, limit):
    """Upper bounds on the squared distances to points of sixteen boxes; returns which reach ``limit``.

    Empty boxes, inside out, get something far below zero.
    """
    factor = broadcast(np.float32(1.0) + curve)
    total = add_product(broadcast(constant), load(tree.norms, family * WIDTH), factor)
    minus_curve = broadcast(-curve)
    dimension = query32.shape[0]
    for j in range(numbers_of(space.nominal, dimension)):
        place = (family * dimension + j) * WIDTH
        top, twice = broadcast(-query32[j] / curve), broadcast(np.float32(-2.0) * query32[j])
        y = minimum(maximum(top, load(tree.lows, place)), load(tree.highs, place))
        total = add_product(total, add_product(twice, minus_curve, y), y)
    store(bounds, 0, total)
    add_far_codes(tree, family, query32, space.nominal, space.codes, bounds)
    return mask_at_least(load(bounds, 0), limit)


@inner
def add_far_codes(tree, family, query32, nominal, codes, bounds):
    """Add the largest gains of ranges of codes to the upper bounds."""
    if nominal is None:
        return
    dimension = query32.shape[0]
    for j in range(nominal.weights.shape[0]):
        place = (family * dimension + nominal.first + j) * WIDTH
        here, start = query32[nominal.first + j], nominal.look_at[j]
        if nominal.table_at[j] == NO_TABLE:
            for sibling in range(WIDTH):  # without branches, which would be mispredicted
                low, high = tree.lows[place + sibling], tree.highs[place + sibling]
                code = start + np.int64(low if low <= high else np.float32(0.0))
                bounds[sibling] += codes.gains[code] if low == high else codes.most[code]
            continue
        for sibling in range(WIDTH):
            low, high = tree.lows[place + sibling], tree.highs[place + sibling]
            if low == high:
                bounds[sibling] += codes.gains[start + np.int64(low)]
            elif low < high:
                end = high if high < here else max(low, here)
                bounds[sibling] += codes.most[start + np.int64(end)]


@inner
def root_family(tree):
    """Which of the sixteen places of the first family are nodes; in all other families all are."""
    n_nodes = tree.counts.shape[0] >> (4 * (tree.first_family.shape[0] - 1))
    return (1 << n_nodes) - 1


@inner
def push_family(search, height, mask, family_bounds, sign, first_node, level):
    """Push the nodes of a mask so that the most promising one comes off first; returns the new height."""
    base = height
    while mask != 0:  # ends: the mask loses a bit every time
        sibling = lowest_bit(mask)
        mask &= mask - 1
        promise = sign * family_bounds[sibling]
        place = height
        while place > base and search.bounds[place - 1] > promise:  # ends: place falls
            search.bounds[place] = search.bounds[place - 1]
            search.nodes[place] = search.nodes[place - 1]
            search.levels[place] = search.levels[place - 1]
            place -= 1
        search.bounds[place], search.nodes[place], search.levels[place] = promise, first_node + sibling, level
        height += 1
    return height


@merged
def farthest_from_query(rows, tree, space, tracker, search):
    """The row farthest from the query; boxes that may hold the farthest points first."""
    query32, totals = search.query32, search.totals
    slack = slack_for(tracker.numbers[RADIUS], space)
    curve, constant = far_terms(tree, query32, tracker.numbers[RADIUS], space)
    last = tree.first_family.shape[0] - 1
    farthest, distance, limit = np.int64(0), -1.0, np.float32(-1.0)
    mask = root_family(tree) & far_bounds(tree, FIRST, query32, space, curve, constant, totals, limit)
    height = push_family(search, FIRST, mask, totals, np.float32(1.0), FIRST, FIRST)
    search.seen[FAMILIES_SEEN] += 1
    while height > 0:  # ends: every node of the tree is pushed once at most, and one leaves every time
        height -= 1
        if search.bounds[height] < limit:
            continue
        node, level = search.nodes[height], search.levels[height]
        if level < last:
            family = tree.first_family[level + 1] + node
            mask = far_bounds(tree, family, query32, space, curve, constant, totals, limit)
            height = push_family(search, height, mask, totals, np.float32(1.0), node * WIDTH, level + 1)
            search.seen[FAMILIES_SEEN] += 1
        elif tree.counts[node] > 0:
            count, start = tree.counts[node], node * tree.leaf_room
            search.seen[POINTS_SEEN] += count
            _, high = leaf_distances(tree, node, query32, totals, space)
            if high >= limit:
                farthest, distance, limit = offer_far(
                    totals, count, tree.row_at, start, rows, search.query, farthest, distance, limit, space, slack
                )
    return farthest


@merged
def nearest_to_query(rows, tree, space, tracker, search, nearest):
    """The nearest records into ``nearest``; the closest boxes first."""
    query32, totals = search.query32, search.totals
    slack = slack_for(tracker.numbers[RADIUS], space)
    last = tree.first_family.shape[0] - 1
    forget(nearest)
    limit = np.float32(np.inf)
    mask = root_family(tree) & near_bounds(tree, FIRST, query32, space, totals, limit)
    height = push_family(search, FIRST, mask, totals, np.float32(-1.0), FIRST, FIRST)
    search.seen[FAMILIES_SEEN] += 1
    while height > 0:  # ends: every node of the tree is pushed once at most, and one leaves every time
        height -= 1
        if -search.bounds[height] > limit:
            continue
        node, level = search.nodes[height], search.levels[height]
        if level < last:
            family = tree.first_family[level + 1] + node
            mask = near_bounds(tree, family, query32, space, totals, limit)
            height = push_family(search, height, mask, totals, np.float32(-1.0), node * WIDTH, level + 1)
            search.seen[FAMILIES_SEEN] += 1
        elif tree.counts[node] > 0:
            count, start = tree.counts[node], node * tree.leaf_room
            search.seen[POINTS_SEEN] += count
            low, _ = leaf_distances(tree, node, query32, totals, space)
            if limit == np.inf:
                limit = limit_from_block(totals, count, nearest.distances.shape[0], search.kept, space, slack)
            if low <= limit:
                limit = offer_near(totals, count, tree.row_at, start, rows, search.query, nearest, limit, space, slack)
