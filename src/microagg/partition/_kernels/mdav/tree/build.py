"""Build the wide kd-tree of `tree`."""

from __future__ import annotations

import numpy as np

from microagg._kernels.codes import NO_TABLE
from microagg._kernels.jit import entry, inner
from microagg._kernels.nominal import looked_up, numbers_of
from microagg._kernels.simd import WIDTH
from microagg.partition._kernels.mdav.centroid_tracker import RADIUS, CentroidTracker, largest_norm
from microagg.partition._kernels.mdav.filter_space import FilterSpace, fill_coordinates
from microagg.partition._kernels.mdav.rows import Rows, select_rows
from microagg.partition._kernels.mdav.tree.tree import NOWHERE, Tree, fit_leaf, fit_parent, raise_keys

SAMPLE = 128
CACHE = 1 << 24  # bytes that most last-level caches hold
NOT, YES = np.int64(0), np.int64(1)


def rows_per_leaf(n_rows: int, dimension: int, n_codes: int = 0) -> int:
    """How many rows a leaf should hold, chosen by timings: where caches do not hold all rows, smaller leaves pay.

    Codes make boxes costlier to bound, by their number, so that fewer of them pay.
    """
    if dimension < 8:
        return 64
    if n_rows * (dimension + 1) * 4 <= CACHE:
        return 128
    return 64 if n_codes else 32


def build_tree(
    rows: Rows, space: FilterSpace, tracker: CentroidTracker, leaf_size: int | None = None
) -> tuple[Rows, Tree]:
    """The tree, and the rows in its order: neighbours in space then are neighbours in memory."""
    n_rows, dimension = rows.values.shape
    coordinates = np.empty((n_rows, dimension), dtype=np.float32)
    fill_coordinates(rows.values, space, coordinates)
    tracker.numbers[RADIUS] = min(tracker.numbers[RADIUS], largest_norm(coordinates, len(space.centre)))
    depth = max(
        int(np.ceil(np.log2(n_rows / (leaf_size or rows_per_leaf(n_rows, dimension, dimension - len(space.centre)))))),
        0,
    )
    n_leaves = 1 << depth
    order = np.arange(n_rows, dtype=np.int32)
    edges = np.zeros(n_leaves + 1, dtype=np.int64)
    edges[-1] = n_rows
    halve_repeatedly(coordinates, order, edges, depth, np.empty(n_rows, dtype=np.float32), space.nominal, space.codes)
    sizes = np.diff(edges)
    leaf_room = int(-(-max(sizes.max(), 1) // WIDTH) * WIDTH)

    n_nodes = [n_leaves]
    while n_nodes[0] > WIDTH:  # ends: divided by WIDTH every time
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
    fill_leaves(coordinates, order, edges, tree, space)
    fit_all(tree, dimension)
    return select_rows(rows, order), tree


@inner
def median_of_three(a, b, c):
    return max(min(a, b), min(max(a, b), c))


@inner
def guess_of_median(keys, low, high):
    """Tukey's ninther: the median of three medians of three."""
    step = (high - low) >> 3
    return median_of_three(
        median_of_three(keys[low], keys[low + step], keys[low + 2 * step]),
        median_of_three(keys[low + 3 * step], keys[low + 4 * step], keys[low + 5 * step]),
        median_of_three(keys[high - 2 * step], keys[high - step], keys[high]),
    )


@inner
def smaller_first(keys, order, start, stop, pivot, equal_counts):
    """Bring the keys below the pivot to the front (equal ones, too, with ``equal_counts`` = 1); returns where they end.

    Every key is swapped, and only the end moves or not: a branch would be guessed wrong for every other key.
    """
    end = start
    for i in range(start, stop):
        key, row = keys[i], order[i]
        keys[i], order[i] = keys[end], order[end]
        keys[end], order[end] = key, row
        end += np.int64(key < pivot) | (np.int64(key == pivot) & equal_counts)
    return end


@inner
def split_at(keys, order, start, stop, place):
    """Quickselect: afterwards no key before ``place`` is larger than one from ``place`` on."""
    while stop - start > 1:  # ends: at least the pivot, which is one of the keys, is cut off every time
        pivot = guess_of_median(keys, start, stop - 1)
        end = smaller_first(keys, order, start, stop, pivot, NOT)
        if place < end:
            stop = end
            continue
        start = smaller_first(keys, order, end, stop, pivot, YES)  # the pivot itself at least
        if place < start:
            return


@inner
def widest_attribute(coordinates, order, start, stop, nominal, codes):
    """The attribute with the largest variance, judged by a sample."""
    step = max((stop - start) // SAMPLE, 1)
    widest, largest_variance = 0, -1.0
    for j in range(numbers_of(nominal, coordinates.shape[1])):
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
    return widest_code(coordinates, order, start, stop, step, widest, largest_variance, nominal, codes)


@inner
def widest_code(coordinates, order, start, stop, step, widest, largest_variance, nominal, codes):
    """The column of codes with a larger variance than any other, or ``widest``.

    The variance is half of the mean squared distance of two rows, here of rows that follow each other in the sample.
    """
    if nominal is None:
        return widest
    for j in range(nominal.weights.shape[0]):
        total, count = 0.0, 0
        column = nominal.first + j
        before = coordinates[order[start], column]
        for place in range(start + step, stop, step):
            code = coordinates[order[place], column]
            look = looked_up(nominal, j, before)
            if look != NO_TABLE:
                total += codes.looks[look + np.int64(code)]
            elif code != before:
                total += codes.weights[j]
            before = code
            count += 1
        variance = 0.5 * total / max(count, 1)
        if variance > largest_variance:
            widest, largest_variance = column, variance
    return widest


@entry
def halve_repeatedly(coordinates, order, edges, depth, keys, nominal, codes):
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
                widest = widest_attribute(coordinates, order, start, stop, nominal, codes)
                for place in range(start, stop):
                    keys[place] = coordinates[order[place], widest]
                split_at(keys, order, start, stop, middle)
            edges[first_leaf + step // 2] = middle


@inner
def norm_of_codes(coordinates, row, nominal, codes):
    """What a row's codes have in its squared norm."""
    if nominal is None:
        return np.float32(0.0)
    norm = np.float32(0.0)
    for j in range(nominal.weights.shape[0]):
        norm += codes.norms[nominal.look_at[j] + np.int64(coordinates[row, nominal.first + j])]
    return norm


@entry
def fill_leaves(coordinates, order, edges, tree, space):
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
                if j < space.centre.shape[0]:
                    norm += value * value
            norm += norm_of_codes(coordinates, order[row], space.nominal, space.codes)
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
