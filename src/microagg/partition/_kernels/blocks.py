"""Remaining rows in blocks of 256, from the outside in: what the scans read.

A block holds its rows attribute after attribute and, as a last line, their squared norms, all in the filter's float32.
Rows are sorted by their distance from the centre when the blocks are built. A row that is used up is overwritten by the
last one, which comes from farther inside: so a block's bound on norms holds for good.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from microagg.partition._kernels.filter_space import FilterSpace, block_distances, fill_coordinates
from microagg.partition._kernels.jit import entry, inner
from microagg.partition._kernels.lanes import WIDTH
from microagg.partition._kernels.rows import Rows
from microagg.partition._kernels.walk import RADIUS, Walk, largest_norm

BLOCK = 256


class Blocks(NamedTuple):
    points: npt.NDArray[np.float32]  # [block][attribute, then squared norm][place in block], flat
    row_at: npt.NDArray[np.int32]
    place_of: npt.NDArray[np.int32]
    norms: npt.NDArray[np.float64]  # a bound on the norms of each block's rows
    keys: npt.NDArray[np.float64]  # the lazy bounds of `walk`
    n_rows: npt.NDArray[np.int64]  # one number: how many rows are left


def build_blocks(rows: Rows, space: FilterSpace, walk: Walk) -> Blocks:
    """Sort the rows into blocks from the outside in."""
    n_rows, dimension = rows.values.shape
    coordinates = np.empty((n_rows, dimension), dtype=np.float32)
    fill_coordinates(rows.values, space, coordinates)
    walk.numbers[RADIUS] = min(walk.numbers[RADIUS], largest_norm(coordinates))
    squares = np.zeros(n_rows, dtype=np.float32)
    for column in coordinates.T:
        squares += column * column
    row_at = np.argsort(-squares).astype(np.int32)
    place_of = np.empty(n_rows, dtype=np.int32)
    place_of[row_at] = np.arange(n_rows, dtype=np.int32)
    n_blocks = -(-n_rows // BLOCK)
    points = np.zeros(n_blocks * (dimension + 1) * BLOCK, dtype=np.float32)
    fill_blocks(coordinates, squares, row_at, points)
    # Sums of d squares are off by at most d + 1 roundings, in any order.
    norms = np.sqrt(squares[row_at[::BLOCK]].astype(np.float64) * (1.0 + space.relative)) + space.floor
    return Blocks(points, row_at, place_of, norms, np.full(n_blocks, np.inf), np.array([n_rows]))


@entry
def fill_blocks(coordinates, squares, row_at, points):
    dimension = coordinates.shape[1]
    for place in range(row_at.shape[0]):
        row = row_at[place]
        start = (place // BLOCK) * (dimension + 1) * BLOCK + place % BLOCK
        for j in range(dimension):
            points[start + j * BLOCK] = coordinates[row, j]
        points[start + dimension * BLOCK] = squares[row]


@inner
def n_blocks_left(blocks):
    return (blocks.n_rows[0] + BLOCK - 1) // BLOCK


@inner
def points_in(blocks, block):
    return min(BLOCK, blocks.n_rows[0] - block * BLOCK)


@inner
def drop_row(blocks, row, dimension):
    """The last row goes into the place of the dropped one, and may raise the key of its new block."""
    points, row_at, place_of, _, keys, n_rows = blocks
    hole = place_of[row]
    last = n_rows[0] - 1
    moved = row_at[last]
    to = (hole // BLOCK) * (dimension + 1) * BLOCK + hole % BLOCK
    source = (last // BLOCK) * (dimension + 1) * BLOCK + last % BLOCK
    for j in range(dimension + 1):
        points[to + j * BLOCK] = points[source + j * BLOCK]
    row_at[hole] = moved
    place_of[moved] = hole
    keys[hole // BLOCK] = max(keys[hole // BLOCK], keys[last // BLOCK])
    n_rows[0] = last


@inner
def distances_in(blocks, block, query32, totals):
    """Places behind the last row hold old points: they may let a block through the filter, never keep one out."""
    dimension = query32.shape[0]
    n_lanes = (points_in(blocks, block) + WIDTH - 1) // WIDTH
    start, stride = block * (dimension + 1) * BLOCK, np.int64(BLOCK)
    return block_distances(blocks.points, start, stride, n_lanes, query32, totals)
