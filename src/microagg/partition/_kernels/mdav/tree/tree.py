"""A wide kd-tree of the remaining rows: its form, and how boxes and keys are kept as rows leave.

A complete binary kd-tree (halved at the median of the attribute with the largest variance, see `tree_build`) whose
levels are folded four by four, so that a node has up to sixteen children and one vector operation bounds all of them.
Leaves hold 32 to 128 rows, attribute after attribute, and below them a last line with the squared norms.

A *family* is sixteen siblings. Level t has the families ``first_family[t], ...``; node p of a level is number p % 16 of
the level's family p // 16, and p // 16 is the number of its parent one level up. Leaves are the last level.

A row that is used up is overwritten by the last of its leaf; boxes are fitted again up to the first that does not
change. The tree is never rebuilt: MDAV takes rows from the outside in, so leaves are mostly full or gone.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from microagg._kernels.jit import inlined, inner
from microagg._kernels.simd import WIDTH, load, reduce_max, reduce_min
from microagg.partition._kernels.mdav.filter_space import range_of

FIRST = np.int64(0)  # typed: for a bare 0, the function it is passed to would be compiled once more
NOWHERE = np.float32(1e18)  # an empty box has this as its low end and minus this as its high end: no search enters it


class Tree(NamedTuple):
    points: npt.NDArray[np.float32]  # [leaf][attribute, then squared norm][place in leaf], flat
    row_at: npt.NDArray[np.int32]  # [leaf][place in leaf], flat
    leaf_of: npt.NDArray[np.int32]
    place_of: npt.NDArray[np.int32]
    counts: npt.NDArray[np.int64]  # rows in each leaf
    lows: npt.NDArray[np.float32]  # [family][attribute][sibling], flat; likewise highs
    highs: npt.NDArray[np.float32]
    norms: npt.NDArray[np.float32]  # [family][sibling], flat: the largest squared norm
    keys: npt.NDArray[np.float64]  # [family][sibling], flat: the lazy bounds of `centroid_tracker`
    first_family: npt.NDArray[np.int64]
    leaf_room: int


@inlined
def fit_leaf(tree, leaf, dimension):
    """The leaf's box; places behind its last row, up to a full vector, repeat the first one."""
    count, room = tree.counts[leaf], tree.leaf_room
    slot = tree.first_family[-1] * WIDTH + leaf
    family, sibling = slot // WIDTH, slot % WIDTH
    n_vectors = (count + WIDTH - 1) // WIDTH
    start = leaf * (dimension + 1) * room
    for j in range(dimension + 1):
        low, high = NOWHERE, -NOWHERE
        if count > 0:
            for place in range(count, n_vectors * WIDTH):
                tree.points[start + place] = tree.points[start]
            low, high = range_of(tree.points, start, n_vectors)
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
        low = reduce_min(load(tree.lows, (family * dimension + j) * WIDTH))
        high = reduce_max(load(tree.highs, (family * dimension + j) * WIDTH))
        place = (parent_family * dimension + j) * WIDTH + sibling
        if tree.lows[place] != low or tree.highs[place] != high:
            tree.lows[place], tree.highs[place] = low, high
            changed = True
    norm = reduce_max(load(tree.norms, family * WIDTH))
    if tree.norms[parent_slot] != norm:
        tree.norms[parent_slot] = norm
        changed = True
    return changed


@inlined
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


@inlined
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
    while level > 0:  # ends: level falls
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
    node = np.int64(largest_key(tree.keys, FIRST))
    for level in range(1, tree.first_family.shape[0]):
        start = tree.first_family[level] * WIDTH
        node = largest_key(tree.keys, start + node * WIDTH) - start
    return node
