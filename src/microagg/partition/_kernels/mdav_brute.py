"""MDAV by scanning all remaining rows in float32, with float64 deciding.

Rows lie in blocks of 256, attribute after attribute, sorted by their distance from the centre; a row that is used up is
overwritten by the last one. A round takes two passes: one around r (nearest and farthest at once), one around s. The
record farthest from the centroid costs no pass: lazy bounds (see `walk`) leave a few blocks to look at.
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
from microagg.partition._kernels.lanes import WIDTH
from microagg.partition._kernels.rows import Rows
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

BLOCK = 256


class Blocks(NamedTuple):
    points: npt.NDArray[np.float32]  # [block][attribute][place in block], flat
    row_at: npt.NDArray[np.int32]
    place_of: npt.NDArray[np.int32]
    keys: npt.NDArray[np.float64]
    n_rows: npt.NDArray[np.int64]  # one number: how many rows are left


class Scratch(NamedTuple):
    """Room that the scans work in."""

    query: npt.NDArray[np.float64]
    query32: npt.NDArray[np.float32]
    totals: npt.NDArray[np.float32]


def room_for_scan(dimension: int) -> Scratch:
    return Scratch(np.empty(dimension), np.empty(dimension, dtype=np.float32), np.empty(BLOCK, dtype=np.float32))


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
    points = np.zeros(n_blocks * dimension * BLOCK, dtype=np.float32)
    fill_blocks(coordinates, row_at, points)
    return Blocks(points, row_at, place_of, np.full(n_blocks, np.inf), np.array([n_rows]))


@entry
def fill_blocks(coordinates, row_at, points):
    dimension = coordinates.shape[1]
    for place in range(row_at.shape[0]):
        start = (place // BLOCK) * dimension * BLOCK + place % BLOCK
        for j in range(dimension):
            points[start + j * BLOCK] = coordinates[row_at[place], j]


@inner
def drop_row(blocks, row, dimension):
    """The last row goes into the place of the dropped one, and may raise the bound of its new block."""
    points, row_at, place_of, keys, n_rows = blocks
    hole = place_of[row]
    last = n_rows[0] - 1
    moved = row_at[last]
    to = (hole // BLOCK) * dimension * BLOCK + hole % BLOCK
    source = (last // BLOCK) * dimension * BLOCK + last % BLOCK
    for j in range(dimension):
        points[to + j * BLOCK] = points[source + j * BLOCK]
    row_at[hole] = moved
    place_of[moved] = hole
    keys[hole // BLOCK] = max(keys[hole // BLOCK], keys[last // BLOCK])
    n_rows[0] = last


@inner
def points_in(blocks, block):
    return min(BLOCK, blocks.n_rows[0] - block * BLOCK)


@inner
def distances_in(blocks, block, query32, totals):
    """Places behind the last row hold old points: they may let a block through the filter, never keep one out."""
    dimension = query32.shape[0]
    n_lanes = (points_in(blocks, block) + WIDTH - 1) // WIDTH
    return block_distances(blocks.points, block * dimension * BLOCK, BLOCK, n_lanes, query32, totals)


@inner
def farthest_from_centroid(rows, blocks, space, walk, query32, totals):
    """The row farthest from the centroid; looks at blocks whose bound reaches the best distance so far."""
    centroid_norm = place_query(walk.centroid, space, query32)
    slack = slack_for(max(walk.numbers[RADIUS], centroid_norm), space)
    path = walk.numbers[PATH]
    n_blocks = (blocks.n_rows[0] + BLOCK - 1) // BLOCK
    begin = 0
    for block in range(1, n_blocks):
        if blocks.keys[block] > blocks.keys[begin]:
            begin = block
    farthest, distance, limit = np.int64(0), -1.0, np.float32(-1.0)
    certain = -np.inf
    for turn in range(n_blocks):  # the most promising block first: it rules out most others
        block = begin if turn == 0 else (0 if turn == begin else turn)
        if blocks.keys[block] + path < certain:
            continue
        _, high = distances_in(blocks, block, query32, totals)
        blocks.keys[block] = key_from(farthest_reach(high, space, slack), walk)
        if high >= limit:
            farthest, distance, limit = offer_far(
                totals,
                points_in(blocks, block),
                blocks.row_at,
                block * BLOCK,
                rows,
                walk.centroid,
                farthest,
                distance,
                limit,
                space,
                slack,
            )
            certain = certain_distance(distance, space)
    shrink_radius(walk, distance, centroid_norm, space)
    return farthest


@inner
def scan(rows, blocks, space, walk, query, query32, wants_near, wants_far, nearest, totals):
    """One pass: the nearest records into ``nearest`` (unless told otherwise) and the farthest row (likewise)."""
    slack = slack_for(walk.numbers[RADIUS], space)
    near = np.float32(-1.0)
    if wants_near:
        forget(nearest)
        near = np.float32(np.inf)
    far = np.float32(-1.0) if wants_far else np.float32(np.inf)
    farthest, distance = np.int64(0), -1.0
    for block in range((blocks.n_rows[0] + BLOCK - 1) // BLOCK):
        low, high = distances_in(blocks, block, query32, totals)
        count, start = points_in(blocks, block), block * BLOCK
        if low <= near:
            near = offer_near(totals, count, blocks.row_at, start, rows, query, nearest, near, space, slack)
        if high >= far:
            farthest, distance, far = offer_far(
                totals, count, blocks.row_at, start, rows, query, farthest, distance, far, space, slack
            )
    return farthest


@inner
def take_record(rows, blocks, walk, row, label, labels):
    """Give the row's first record the label; returns the record."""
    record = rows.members[rows.first[row]]
    labels[record] = label
    rows.first[row] += 1
    take_off(walk, rows.values, row)
    if rows.first[row] == rows.end[row]:
        drop_row(blocks, row, rows.values.shape[1])
    return record


@entry
def form_cells_brute(k, two_cells_from, rows, blocks, space, walk, scratch, nearest, labels, state, work):
    """Form cells until about ``work`` distances were computed or fewer than 2k records remain.

    ``state`` holds the number of remaining records and of cells so far.
    """
    dimension = rows.values.shape[1]
    query, query32, totals = scratch
    remaining, cell = state[0], state[1]
    opposite_record = np.int64(-1)
    while remaining >= 2 * k and work > 0:
        move_centroid(walk, remaining, space)
        seed = farthest_from_centroid(rows, blocks, space, walk, query32, totals)
        cells_this_round = 2 if remaining >= two_cells_from else 1
        for turn in range(cells_this_round):
            wants_far = turn == 0 and cells_this_round == 2
            for j in range(dimension):
                query[j] = rows.values[seed, j]
            place_query(query, space, query32)
            take_record(rows, blocks, walk, seed, cell, labels)
            opposite = scan(rows, blocks, space, walk, query, query32, True, wants_far, nearest, totals)
            if wants_far:
                opposite_record = rows.members[rows.first[opposite]]
            sort_nearest(nearest)
            for i in range(k - 1):
                take_record(rows, blocks, walk, nearest.rows[i], cell, labels)
            remaining -= k
            work -= blocks.n_rows[0] + BLOCK
            cell += 1
            if wants_far:
                if labels[opposite_record] >= 0:  # the farthest record went into the cell itself
                    opposite = scan(rows, blocks, space, walk, query, query32, False, True, nearest, totals)
                seed = opposite
    state[0], state[1] = remaining, cell
