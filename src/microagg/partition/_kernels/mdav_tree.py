"""MDAV by searching a wide kd-tree of the remaining rows.

A complete binary kd-tree (halved at the median of the attribute with the largest variance) whose levels are folded four
by four, so that a node has up to sixteen children and one vector operation bounds all of them. Leaves hold 64 or 128
rows, attribute after attribute, and below them a last line with the squared norms.

A *family* is sixteen siblings. Level t has the families ``first_family[t], ...``; node p of a level is number p % 16 of
the level's family p // 16, and p // 16 is the number of its parent one level up. Leaves are the last level.

Bounds, in the filter's float32 (its `relative` covers their rounding as it covers that of distances):

near   no point of a box is closer to q than the box itself: sum of max(low - q, q - high, 0)^2.
far    no point of a box is farther than its farthest corner: sum of max(q - low, high - q)^2.
norm   |y - q|^2 = |y|^2 + |q|^2 - 2 q.y <= (largest |y|^2 in the box) + |q|^2 + sum of max(-2 q low, -2 q high).
       Its terms cancel, so rounding is bounded by their magnitudes: |low|, |high| <= R in each attribute, the sum of
       |2 q_j y_j| is then at most 2 R sqrt(d) |q| <= sqrt(d) (R^2 + |q|^2), and d + 4 roundings of at most
       2^-24 (1 + sqrt(d)) (R^2 + |q|^2) are made up for by adding `relative` (1 + sqrt(d)) (R^2 + |q|^2).

A row that is used up is overwritten by the last of its leaf; boxes are fitted again up to the first that does not
change. The tree is never rebuilt: MDAV takes rows from the outside in, so leaves are mostly full or gone.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from microagg.partition._kernels.candidates import forget, offer_far, offer_near, sort_nearest
from microagg.partition._kernels.filter_space import (
    FilterSpace,
    block_distances,
    farthest_reach,
    fill_coordinates,
    place_query,
    slack_for,
)
from microagg.partition._kernels.jit import entry, inner
from microagg.partition._kernels.lanes import (
    WIDTH,
    add_product,
    everywhere,
    largest,
    least,
    load,
    lowest,
    maximum,
    minimum,
    store,
    subtract,
    which_at_least,
    which_at_most,
)
from microagg.partition._kernels.rows import Rows, chosen_rows
from microagg.partition._kernels.walk import (
    PATH,
    RADIUS,
    Walk,
    certain_distance,
    key_from,
    largest_norm,
    move_centroid,
    shrink_radius,
    take_off,
)

NOWHERE = np.float32(1e18)  # an empty box goes from here to minus here: far from every query, and never far enough
SAMPLE = 512
POINTS_SEEN, FAMILIES_SEEN, CELLS_FORMED = 0, 1, 2


class Tree(NamedTuple):
    points: npt.NDArray[np.float32]  # [leaf][attribute, then squared norm][place in leaf], flat
    row_at: npt.NDArray[np.int32]  # [leaf][place in leaf], flat
    leaf_of: npt.NDArray[np.int32]
    place_of: npt.NDArray[np.int32]
    counts: npt.NDArray[np.int64]  # rows in each leaf
    lows: npt.NDArray[np.float32]  # [family][attribute][sibling], flat; likewise highs
    highs: npt.NDArray[np.float32]
    norms: npt.NDArray[np.float32]  # [family][sibling], flat: the largest squared norm
    keys: npt.NDArray[np.float64]  # [family][sibling], flat: the lazy bounds of `walk`
    first_family: npt.NDArray[np.int64]
    leaf_room: int


class Search(NamedTuple):
    """Room that the searches work in."""

    query: npt.NDArray[np.float64]
    query32: npt.NDArray[np.float32]
    totals: npt.NDArray[np.float32]
    bounds: npt.NDArray[np.float32]  # the stack of nodes to visit: bound, number, level
    nodes: npt.NDArray[np.int64]
    levels: npt.NDArray[np.int64]
    visited: npt.NDArray[np.int64]
    visited_keys: npt.NDArray[np.float64]
    changed: npt.NDArray[np.int64]
    seen: npt.NDArray[np.int64]  # counts, by which the road is chosen


def build_tree(rows: Rows, space: FilterSpace, walk: Walk, leaf_size: int) -> tuple[Rows, Tree]:
    """The tree, and the rows in its order: neighbours in space then are neighbours in memory."""
    n_rows, dimension = rows.values.shape
    coordinates = np.empty((n_rows, dimension), dtype=np.float32)
    fill_coordinates(rows.values, space, coordinates)
    walk.numbers[RADIUS] = min(walk.numbers[RADIUS], largest_norm(coordinates))
    depth = max(int(np.ceil(np.log2(n_rows / leaf_size))), 0)
    n_leaves = 1 << depth
    order = np.arange(n_rows, dtype=np.int32)
    edges = np.zeros(n_leaves + 1, dtype=np.int64)
    edges[-1] = n_rows
    halve_repeatedly(coordinates, order, edges, depth, np.empty(n_rows, dtype=np.float32))
    sizes = np.diff(edges)
    leaf_room = int(-(-max(sizes.max(), 1) // WIDTH) * WIDTH)

    n_nodes = [n_leaves]
    while n_nodes[0] > WIDTH:
        n_nodes.insert(0, n_nodes[0] // WIDTH)
    n_families = [-(-count // WIDTH) for count in n_nodes]
    first_family = np.concatenate([[0], np.cumsum(n_families)[:-1]]).astype(np.int64)
    n_slots = sum(n_families) * WIDTH
    tree = Tree(
        points=np.zeros(n_leaves * (dimension + 1) * leaf_room, dtype=np.float32),
        row_at=np.zeros(n_leaves * leaf_room, dtype=np.int32),
        leaf_of=np.empty(n_rows, dtype=np.int32),
        place_of=np.empty(n_rows, dtype=np.int32),
        counts=sizes.astype(np.int64),
        lows=np.full(n_slots * dimension, NOWHERE),
        highs=np.full(n_slots * dimension, -NOWHERE),
        norms=np.zeros(n_slots, dtype=np.float32),
        keys=np.full(n_slots, -np.inf),
        first_family=first_family,
        leaf_room=leaf_room,
    )
    fill_leaves(coordinates, order, edges, tree)
    fit_all(tree, dimension)
    return chosen_rows(rows, order), tree


def room_for_search(tree: Tree, dimension: int, k: int) -> Search:
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
        seen=np.zeros(3, dtype=np.int64),
    )


def remaining_rows(rows: Rows) -> Rows:
    """The rows that have records left."""
    return chosen_rows(rows, np.flatnonzero(rows.first < rows.end))


# Building


@inner
def median_of_three(a, b, c):
    return max(min(a, b), min(max(a, b), c))


@inner
def split_at(keys, order, start, stop, place):
    """Quickselect: afterwards no key before ``place`` is larger than one from ``place`` on."""
    low, high = start, stop - 1
    while high > low:
        pivot = median_of_three(keys[low], keys[(low + high) >> 1], keys[high])
        i, j = low, high
        while i <= j:
            while keys[i] < pivot:
                i += 1
            while keys[j] > pivot:
                j -= 1
            if i <= j:
                keys[i], keys[j] = keys[j], keys[i]
                order[i], order[j] = order[j], order[i]
                i += 1
                j -= 1
        if place <= j:
            high = j
        elif place >= i:
            low = i
        else:
            return


@inner
def widest_attribute(coordinates, order, start, stop):
    """The attribute with the largest variance, judged by a sample."""
    step = max((stop - start) // SAMPLE, 1)
    widest, largest_variance = 0, -1.0
    for j in range(coordinates.shape[1]):
        origin = np.float64(coordinates[order[start], j])
        total, squares, count = 0.0, 0.0, 0
        for place in range(start, stop, step):
            value = np.float64(coordinates[order[place], j]) - origin
            total += value
            squares += value * value
            count += 1
        variance = squares / count - (total / count) ** 2
        if variance > largest_variance:
            widest, largest_variance = j, variance
    return widest


@entry
def halve_repeatedly(coordinates, order, edges, depth, keys):
    """Order the rows so that ``order[edges[leaf]:edges[leaf + 1]]`` are those of each leaf."""
    n_leaves = 1 << depth
    for level in range(depth):
        step = n_leaves >> level
        for first_leaf in range(0, n_leaves, step):
            start, stop = edges[first_leaf], edges[first_leaf + step]
            middle = (start + stop) >> 1
            if stop - start >= 4 * WIDTH:  # full vectors in all leaves but few
                middle = start + (((stop - start) // 2 + WIDTH // 2) // WIDTH) * WIDTH
            if stop - start > 1:
                widest = widest_attribute(coordinates, order, start, stop)
                for place in range(start, stop):
                    keys[place] = coordinates[order[place], widest]
                split_at(keys, order, start, stop, middle)
            edges[first_leaf + step // 2] = middle


@entry
def fill_leaves(coordinates, order, edges, tree):
    dimension = coordinates.shape[1]
    for leaf in range(edges.shape[0] - 1):
        for place in range(edges[leaf + 1] - edges[leaf]):
            row = edges[leaf] + place  # rows are numbered in the order of the tree
            tree.row_at[leaf * tree.leaf_room + place] = row
            tree.leaf_of[row] = leaf
            tree.place_of[row] = place
            start = leaf * (dimension + 1) * tree.leaf_room + place
            norm = np.float32(0.0)
            for j in range(dimension):
                value = coordinates[order[row], j]
                tree.points[start + j * tree.leaf_room] = value
                norm += value * value
            tree.points[start + dimension * tree.leaf_room] = norm


@entry
def fit_all(tree, dimension):
    """Boxes and keys of all nodes, from the leaves up. A key is first infinite: nothing is known yet."""
    last = tree.first_family.shape[0] - 1
    n_nodes = tree.counts.shape[0]
    for leaf in range(n_nodes):
        fit_leaf(tree, leaf, dimension)
        if tree.counts[leaf] > 0:
            tree.keys[tree.first_family[last] * WIDTH + leaf] = np.inf
    for level in range(last, 0, -1):
        for node in range(0, n_nodes, WIDTH):
            fit_parent(tree, level, node, dimension)
            raise_keys(tree, level, node)
        n_nodes //= WIDTH


# Keeping the boxes


@inner
def range_of(values, start, n_lanes):
    low = load(values, start)
    high = low
    for lane in range(1, n_lanes):
        more = load(values, start + lane * WIDTH)
        low, high = minimum(low, more), maximum(high, more)
    return least(low), largest(high)


@inner
def fit_leaf(tree, leaf, dimension):
    """The leaf's box; places behind its last row, up to a full vector, repeat the first one."""
    count, room = tree.counts[leaf], tree.leaf_room
    slot = tree.first_family[-1] * WIDTH + leaf
    family, sibling = slot // WIDTH, slot % WIDTH
    n_lanes = (count + WIDTH - 1) // WIDTH
    start = leaf * (dimension + 1) * room
    for j in range(dimension + 1):
        low, high = NOWHERE, -NOWHERE
        if count > 0:
            for place in range(count, n_lanes * WIDTH):
                tree.points[start + place] = tree.points[start]
            low, high = range_of(tree.points, start, n_lanes)
        if j < dimension:
            tree.lows[(family * dimension + j) * WIDTH + sibling] = low
            tree.highs[(family * dimension + j) * WIDTH + sibling] = high
        else:
            tree.norms[slot] = max(high, np.float32(0.0))
        start += room


@inner
def fit_parent(tree, level, node, dimension):
    """Fit the box of a node's parent around its family; says whether that changed it."""
    family = tree.first_family[level] + node // WIDTH
    parent_slot = tree.first_family[level - 1] * WIDTH + node // WIDTH
    parent_family, sibling = parent_slot // WIDTH, parent_slot % WIDTH
    changed = False
    for j in range(dimension):
        low = least(load(tree.lows, (family * dimension + j) * WIDTH))
        high = largest(load(tree.highs, (family * dimension + j) * WIDTH))
        place = (parent_family * dimension + j) * WIDTH + sibling
        if tree.lows[place] != low or tree.highs[place] != high:
            tree.lows[place], tree.highs[place] = low, high
            changed = True
    norm = largest(load(tree.norms, family * WIDTH))
    if tree.norms[parent_slot] != norm:
        tree.norms[parent_slot] = norm
        changed = True
    return changed


@inner
def drop_row(tree, row, dimension):
    """The last row of the leaf goes into the place of the dropped one; boxes are fitted later. Returns the leaf."""
    leaf, hole, room = tree.leaf_of[row], tree.place_of[row], tree.leaf_room
    last = tree.counts[leaf] - 1
    start = leaf * (dimension + 1) * room
    for j in range(dimension + 1):
        tree.points[start + j * room + hole] = tree.points[start + j * room + last]
    moved = tree.row_at[leaf * room + last]
    tree.row_at[leaf * room + hole] = moved
    tree.place_of[moved] = hole
    tree.counts[leaf] = last
    return leaf


@inner
def refit(tree, leaves, n_leaves, dimension):
    """Fit the boxes of changed leaves and of all above them that change in turn."""
    for i in range(n_leaves):
        fit_leaf(tree, leaves[i], dimension)
    for i in range(n_leaves):
        node = np.int64(leaves[i])
        for level in range(tree.first_family.shape[0] - 1, 0, -1):
            if not fit_parent(tree, level, node, dimension):
                break
            node //= WIDTH


# The farthest from the centroid, by lazy keys


@inner
def largest_key(keys, start):
    best = start
    for slot in range(start + 1, start + WIDTH):
        if keys[slot] > keys[best]:
            best = slot
    return best


@inner
def raise_keys(tree, level, node):
    """Carry a changed key up: a node's key is the largest of its children's."""
    while level > 0:
        family_start = (tree.first_family[level] + node // WIDTH) * WIDTH
        key = tree.keys[largest_key(tree.keys, family_start)]
        node //= WIDTH
        level -= 1
        slot = tree.first_family[level] * WIDTH + node
        if tree.keys[slot] == key:
            return
        tree.keys[slot] = key


@inner
def set_leaf_key(tree, leaf, key):
    last = tree.first_family.shape[0] - 1
    tree.keys[tree.first_family[last] * WIDTH + leaf] = key
    raise_keys(tree, last, leaf)


@inner
def leaf_with_largest_key(tree):
    node = np.int64(largest_key(tree.keys, 0))
    for level in range(1, tree.first_family.shape[0]):
        start = tree.first_family[level] * WIDTH
        node = largest_key(tree.keys, start + node * WIDTH) - start
    return node


@inner
def leaf_distances(tree, leaf, query32, totals):
    n_lanes = (tree.counts[leaf] + WIDTH - 1) // WIDTH
    start = leaf * (query32.shape[0] + 1) * tree.leaf_room
    return block_distances(tree.points, start, tree.leaf_room, n_lanes, query32, totals)


@inner
def farthest_from_centroid(rows, tree, space, walk, search):
    """Look at leaves from the largest key down, until what is left cannot reach the best distance found."""
    query32, totals = search.query32, search.totals
    centroid_norm = place_query(walk.centroid, space, query32)
    slack = slack_for(max(walk.numbers[RADIUS], centroid_norm), space)
    farthest, distance, limit = np.int64(0), -1.0, np.float32(-1.0)
    certain = -np.inf
    n_visited = 0
    last_slots = tree.first_family[-1] * WIDTH
    while True:
        leaf = leaf_with_largest_key(tree)
        key = tree.keys[last_slots + leaf]
        if key == -np.inf or key + walk.numbers[PATH] < certain:
            break
        fresh = -np.inf  # what an empty leaf keeps
        if tree.counts[leaf] > 0:
            search.seen[POINTS_SEEN] += tree.counts[leaf]
            _, high = leaf_distances(tree, leaf, query32, totals)
            fresh = key_from(farthest_reach(high, space, slack), walk)
            if high >= limit:
                start = leaf * tree.leaf_room
                count = tree.counts[leaf]
                farthest, distance, limit = offer_far(
                    totals, count, tree.row_at, start, rows, walk.centroid, farthest, distance, limit, space, slack
                )
                certain = certain_distance(distance, space)
        if fresh + walk.numbers[PATH] >= certain:  # it would come up again: put aside until the search is over
            search.visited[n_visited], search.visited_keys[n_visited] = leaf, fresh
            n_visited += 1
            fresh = -np.inf
        set_leaf_key(tree, leaf, fresh)
    for i in range(n_visited):
        set_leaf_key(tree, search.visited[i], search.visited_keys[i])
    shrink_radius(walk, distance, centroid_norm, space)
    return farthest


# The farthest from and the nearest to a record, by boxes


@inner
def near_bounds(tree, family, query32, bounds, limit):
    """Lower bounds on the squared distances to sixteen boxes; returns which are within ``limit``."""
    zero = everywhere(np.float32(0.0))
    total = zero
    dimension = query32.shape[0]
    for j in range(dimension):
        place = (family * dimension + j) * WIDTH
        centre = everywhere(query32[j])
        gap = maximum(subtract(load(tree.lows, place), centre), subtract(centre, load(tree.highs, place)))
        gap = maximum(gap, zero)
        total = add_product(total, gap, gap)
    store(bounds, 0, total)
    return which_at_most(total, limit)


@inner
def far_bounds(tree, family, query32, constant, bounds, limit):
    """Upper bounds on the squared distances to points of sixteen boxes; returns which reach ``limit``.

    ``constant`` is |q|^2 with the slack of the norm bound. An empty box gets 0.
    """
    zero = everywhere(np.float32(0.0))
    corner = zero
    norm = everywhere(constant)
    dimension = query32.shape[0]
    for j in range(dimension):
        place = (family * dimension + j) * WIDTH
        centre = everywhere(query32[j])
        twice = everywhere(np.float32(-2.0) * query32[j])
        low, high = load(tree.lows, place), load(tree.highs, place)
        gap = maximum(maximum(subtract(centre, low), subtract(high, centre)), zero)
        corner = add_product(corner, gap, gap)
        norm = maximum(add_product(norm, twice, low), add_product(norm, twice, high))
    norm = add_product(norm, load(tree.norms, family * WIDTH), everywhere(np.float32(1.0)))
    bound = minimum(corner, norm)
    store(bounds, 0, bound)
    return which_at_least(bound, limit)


@inner
def root_family(tree):
    """Which of the sixteen places of the first family are nodes; in all other families all are."""
    n_nodes = tree.counts.shape[0] >> (4 * (tree.first_family.shape[0] - 1))
    return (1 << n_nodes) - 1


@inner
def push_family(search, height, mask, family_bounds, sign, first_node, level):
    """Push the nodes of a mask so that the most promising one comes off first; returns the new height."""
    base = height
    while mask != 0:
        sibling = lowest(mask)
        mask &= mask - 1
        promise = sign * family_bounds[sibling]
        place = height
        while place > base and search.bounds[place - 1] > promise:
            search.bounds[place] = search.bounds[place - 1]
            search.nodes[place] = search.nodes[place - 1]
            search.levels[place] = search.levels[place - 1]
            place -= 1
        search.bounds[place], search.nodes[place], search.levels[place] = promise, first_node + sibling, level
        height += 1
    return height


@inner
def farthest_from_query(rows, tree, space, walk, search):
    """The row farthest from the query; boxes that may hold the farthest points first."""
    query32, totals = search.query32, search.totals
    radius, dimension = walk.numbers[RADIUS], query32.shape[0]
    slack = slack_for(radius, space)
    norm = 0.0
    for j in range(dimension):
        norm += np.float64(query32[j]) * np.float64(query32[j])
    constant = np.float32(norm + space.relative * (1.0 + np.sqrt(dimension)) * (norm + radius * radius))
    last = tree.first_family.shape[0] - 1
    farthest, distance, limit = np.int64(0), -1.0, np.float32(-1.0)
    mask = root_family(tree) & far_bounds(tree, 0, query32, constant, totals, limit)
    height = push_family(search, 0, mask, totals, np.float32(1.0), 0, 0)
    search.seen[FAMILIES_SEEN] += 1
    while height > 0:
        height -= 1
        if search.bounds[height] < limit:
            continue
        node, level = search.nodes[height], search.levels[height]
        if level < last:
            family = tree.first_family[level + 1] + node
            mask = far_bounds(tree, family, query32, constant, totals, limit)
            height = push_family(search, height, mask, totals, np.float32(1.0), node * WIDTH, level + 1)
            search.seen[FAMILIES_SEEN] += 1
        elif tree.counts[node] > 0:
            count, start = tree.counts[node], node * tree.leaf_room
            search.seen[POINTS_SEEN] += count
            _, high = leaf_distances(tree, node, query32, totals)
            if high >= limit:
                farthest, distance, limit = offer_far(
                    totals, count, tree.row_at, start, rows, search.query, farthest, distance, limit, space, slack
                )
    return farthest


@inner
def nearest_to_query(rows, tree, space, walk, search, nearest):
    """The nearest records into ``nearest``; the closest boxes first."""
    query32, totals = search.query32, search.totals
    slack = slack_for(walk.numbers[RADIUS], space)
    last = tree.first_family.shape[0] - 1
    forget(nearest)
    limit = np.float32(np.inf)
    mask = root_family(tree) & near_bounds(tree, 0, query32, totals, limit)
    height = push_family(search, 0, mask, totals, np.float32(-1.0), 0, 0)
    search.seen[FAMILIES_SEEN] += 1
    while height > 0:
        height -= 1
        if -search.bounds[height] > limit:
            continue
        node, level = search.nodes[height], search.levels[height]
        if level < last:
            family = tree.first_family[level + 1] + node
            mask = near_bounds(tree, family, query32, totals, limit)
            height = push_family(search, height, mask, totals, np.float32(-1.0), node * WIDTH, level + 1)
            search.seen[FAMILIES_SEEN] += 1
        elif tree.counts[node] > 0:
            count, start = tree.counts[node], node * tree.leaf_room
            search.seen[POINTS_SEEN] += count
            low, _ = leaf_distances(tree, node, query32, totals)
            if low <= limit:
                limit = offer_near(totals, count, tree.row_at, start, rows, search.query, nearest, limit, space, slack)


# Cells


@inner
def take_record(rows, tree, walk, row, label, labels, changed, n_changed):
    """Give the row's first record the label; notes the leaf if the row is used up. Returns the number of notes."""
    labels[rows.members[rows.first[row]]] = label
    rows.first[row] += 1
    take_off(walk, rows.values, row)
    if rows.first[row] == rows.end[row]:
        leaf = drop_row(tree, row, rows.values.shape[1])
        for i in range(n_changed):
            if changed[i] == leaf:
                return n_changed
        changed[n_changed] = leaf
        n_changed += 1
    return n_changed


@inner
def take_cell(rows, tree, space, walk, search, nearest, seed, cell, labels):
    """Make a cell of the seed's first record and its nearest."""
    dimension = rows.values.shape[1]
    for j in range(dimension):
        search.query[j] = rows.values[seed, j]
    place_query(search.query, space, search.query32)
    n_changed = take_record(rows, tree, walk, seed, cell, labels, search.changed, 0)
    nearest_to_query(rows, tree, space, walk, search, nearest)
    sort_nearest(nearest)
    for i in range(nearest.rows.shape[0]):
        n_changed = take_record(rows, tree, walk, nearest.rows[i], cell, labels, search.changed, n_changed)
    refit(tree, search.changed, n_changed, dimension)


@entry
def form_cells_tree(k, two_cells_from, rows, tree, space, walk, search, nearest, labels, state, work):
    """Form cells until about ``work`` distances or bounds were computed or fewer than 2k records remain.

    ``state`` holds the number of remaining records and of cells so far.
    """
    remaining, cell = state[0], state[1]
    seen = search.seen
    stop = seen[POINTS_SEEN] + WIDTH * seen[FAMILIES_SEEN] + work
    while remaining >= 2 * k and seen[POINTS_SEEN] + WIDTH * seen[FAMILIES_SEEN] <= stop:
        move_centroid(walk, remaining, space)
        seed = farthest_from_centroid(rows, tree, space, walk, search)
        formed = 2 if remaining >= two_cells_from else 1
        for turn in range(formed):
            if turn == 1:
                seed = farthest_from_query(rows, tree, space, walk, search)
            take_cell(rows, tree, space, walk, search, nearest, seed, cell + turn, labels)
        cell += formed
        remaining -= formed * k
        seen[CELLS_FORMED] += formed
    state[0], state[1] = remaining, cell
