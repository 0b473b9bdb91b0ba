"""Remaining rows in blocks of 256, from the outside in: what the scans read.

A block holds its rows as whole numbers (see `grid`), pair of attributes after pair of attributes and, as a last line,
half of their squared norms. Rows are sorted by their distance from the centre when the blocks are built. A row that is
used up is overwritten by the last one, which comes from farther inside: so a block's bound on norms holds for good.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from microagg._kernels.jit import entry, inner
from microagg._kernels.simd import (
    WIDTH,
    add,
    add_product,
    broadcast,
    broadcast_element,
    load,
    maximum,
    reduce_max,
    store,
    subtract_pair_products,
    to_floats,
)
from microagg.partition._kernels.mdav.centroid_tracker import RADIUS, CentroidTracker
from microagg.partition._kernels.mdav.filter_space import FilterSpace
from microagg.partition._kernels.mdav.rows import Rows
from microagg.partition._kernels.mdav.scan.grid import blur_for, pack, step_for

BLOCK = 256
STEP, COARSE = 0, 1


class Blocks(NamedTuple):
    points: npt.NDArray[np.int32]  # [block][pair of attributes, then half the squared norm][place in block], flat
    row_at: npt.NDArray[np.int32]
    place_of: npt.NDArray[np.int32]
    norms: npt.NDArray[np.float64]  # a bound on the norms of each block's rows
    keys: npt.NDArray[np.float64]  # the lazy bounds of `centroid_tracker`
    n_rows: npt.NDArray[np.int64]  # one number: how many rows are left
    grid: npt.NDArray[np.float64]  # STEP, and COARSE: the radius below which a new grid pays


@entry
def n_pairs_of(dimension):
    return (dimension + 1) // 2


def build_blocks(rows: Rows, space: FilterSpace, tracker: CentroidTracker) -> Blocks:
    """Sort the rows into blocks from the outside in."""
    n_rows, dimension = rows.values.shape
    norms = np.empty(n_rows)
    fill_norms(rows.values, space, norms)
    tracker.numbers[RADIUS] = min(tracker.numbers[RADIUS], norms.max())
    row_at = np.argsort(-norms).astype(np.int32)
    place_of = np.empty(n_rows, dtype=np.int32)
    place_of[row_at] = np.arange(n_rows, dtype=np.int32)
    n_blocks = -(-n_rows // BLOCK)
    blocks = Blocks(
        points=np.zeros(n_blocks * (n_pairs_of(dimension) + 1) * BLOCK, dtype=np.int32),
        row_at=row_at,
        place_of=place_of,
        norms=norms[row_at[::BLOCK]],
        keys=np.full(n_blocks, np.inf),
        n_rows=np.array([n_rows]),
        grid=np.empty(2),
    )
    renew_grid(blocks, rows, space, tracker)
    return blocks


def renew_grid(blocks: Blocks, rows: Rows, space: FilterSpace, tracker: CentroidTracker) -> None:
    """Whole numbers of the remaining rows, in steps as small as their norms allow."""
    dimension, radius = rows.values.shape[1], float(tracker.numbers[RADIUS])
    step = step_for(radius, dimension, space.floor)
    is_finest = step_for(radius / 2, dimension, space.floor) == step
    blocks.grid[:] = step, 0.0 if is_finest else radius / 2
    fill_points(rows.values, space, blocks, np.empty(n_pairs_of(dimension), dtype=np.int32))


@entry
def fill_norms(values, space, norms):
    """Norms in the filter's coordinates, and a little more: for the roundings here, and of the coordinates."""
    for i in range(values.shape[0]):
        square = 0.0
        for j in range(values.shape[1]):
            gap = (values[i, j] - space.centre[j]) * space.scale
            square += gap * gap
        norms[i] = np.sqrt(square) * (1.0 + 2.0**-16) + space.floor


@entry
def fill_points(values, space, blocks, packed):
    n_pairs = packed.shape[0]
    for place in range(blocks.n_rows[0]):
        half = pack(values[blocks.row_at[place]], space, blocks.grid[STEP], packed)
        start = address_of(place, n_pairs)
        for pair in range(n_pairs):
            blocks.points[start + pair * BLOCK] = packed[pair]
        blocks.points[start + n_pairs * BLOCK] = half


@inner
def address_of(place, n_pairs):
    """Where the first line of a place lies in `points`; the others follow BLOCK apart, half the squared norm last."""
    return (place // BLOCK) * (n_pairs + 1) * BLOCK + place % BLOCK


@inner
def n_blocks_left(blocks):
    return (blocks.n_rows[0] + BLOCK - 1) // BLOCK


@inner
def points_in(blocks, block):
    return min(BLOCK, blocks.n_rows[0] - block * BLOCK)


@inner
def drop_row(blocks, row, n_pairs):
    """The last row goes into the place of the dropped one, and may raise the key of its new block."""
    points, row_at, place_of, _, keys, n_rows, _ = blocks
    hole = place_of[row]
    last = n_rows[0] - 1
    moved = row_at[last]
    to, source = address_of(hole, n_pairs), address_of(last, n_pairs)
    for line in range(n_pairs + 1):
        points[to + line * BLOCK] = points[source + line * BLOCK]
    row_at[hole] = moved
    place_of[moved] = hole
    keys[hole // BLOCK] = max(keys[hole // BLOCK], keys[last // BLOCK])
    n_rows[0] = last


@inner
def slack_of(blocks, dimension):
    """How far the root of a squared distance from `distances_in` can be off, apart from rounding to float32."""
    return (blur_for(dimension) + 1.5) * blocks.grid[STEP]


@inner
def distances_in(blocks, block, packed, half, totals):
    """Squared distances of a block's points from a packed one, in the filter's coordinates; returns the largest.

    2 S exceeds the squared distance in steps by 0 to 2, its root thus the distance by less than 1.5. Places behind the
    last row hold old points: they may let a block through the filter, never keep one out.
    """
    points, n_pairs, step = blocks.points, packed.shape[0], blocks.grid[STEP]
    start = block * (n_pairs + 1) * BLOCK
    zero, factor = broadcast(np.float32(0.0)), broadcast(np.float32(2.0 * step * step))
    high, begin = zero, broadcast(np.int32(half + 1))
    for offset in range(0, points_in(blocks, block), WIDTH):
        place = start + offset
        total = add(begin, load(points, place + n_pairs * BLOCK))
        for pair in range(n_pairs):
            total = subtract_pair_products(total, load(points, place), broadcast_element(packed, pair))
            place += BLOCK
        distances = add_product(zero, to_floats(total), factor)
        store(totals, offset, distances)
        high = maximum(high, distances)
    return reduce_max(high)
