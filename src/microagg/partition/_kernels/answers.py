"""Answers for several seeds from one pass over the blocks.

A scan waits for memory more than for arithmetic, so a pass that reads every block once answers up to six seeds: the one
that is needed now and five that will probably be needed next. An answer is a list of the nearest records, longer than a
cell, and a short one of the farthest, both in their exact order. Records only ever leave: what is left of a list, in
its order, is exact for as long as enough of it is left.

Distances come as products here: |y - q|^2 = |y|^2 - 2 q.y + |q|^2 takes one operation per attribute instead of two. The
computed t = |y|^2 - 2 q.y errs by at most d + 2 roundings of terms that sum to 2 |y| (|y| + |q|); with N a bound on the
block's norms, `relative` (N + |q|)^2 covers that twice over, with the rounding of limits to float32. Call it the
block's error.

To find the w nearest rows (the farthest are the same with signs turned):

1. t + error bounds a row from above. U, the w-th smallest of these so far, says: w rows have |y - q|^2 <= U + |q|^2.
2. So the w-th smallest float64 distance is at most (sqrt(U + |q|^2) / (1 - relative) + slack) / scale, and none of the
   w nearest rows can have |y - q| above (that, times scale, + slack) (1 + relative): a limit for t - error.
3. Rows within the limit are noted; in the end those still within it are weighed in float64. If so many are noted that
   room runs out, they are weighed at once, and the limit comes from the float64 distances.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from microagg.partition._kernels.blocks import BLOCK, n_blocks_left, points_in
from microagg.partition._kernels.candidates import Nearest, forget, offer_row, sort_nearest
from microagg.partition._kernels.filter_space import exact_distance, place_query, range_of, slack_for
from microagg.partition._kernels.jit import inner
from microagg.partition._kernels.lanes import (
    WIDTH,
    add_product,
    load,
    lowest,
    spread,
    store,
    which_at_least,
    which_at_most,
)
from microagg.partition._kernels.walk import RADIUS

SEEDS = 6  # with two vector registers each they fill the registers of the commonest processors
SLOTS = 40 * SEEDS  # a guess that is given up too early is made again ...
ROOM = 2_000_000  # ... but lists together hold no more than about so many records
NEAR, FAR = 0, 1
FARTHEST = 8  # length of the list of the farthest


class Answers(NamedTuple):
    """Lists for rows that are or may become seeds. Each side (near, far) has room for ``width`` records per slot."""

    slot_of: npt.NDArray[np.int32]  # of each row; -1 without
    row_in: npt.NDArray[np.int64]  # of each slot; -1 if free
    is_outer: npt.NDArray[np.bool_]  # guessed to be the farthest from a centroid, not from another seed
    next_slot: npt.NDArray[np.int64]
    begin: npt.NDArray[np.int64]  # the block that a pass looks at first
    distances: npt.NDArray[np.float64]  # [side][slot][place]: signed squared distances, ascending
    records: npt.NDArray[np.int64]
    rows: npt.NDArray[np.int64]


class Batch(NamedTuple):
    """The seeds of one pass, and what it notes on the way."""

    slots: npt.NDArray[np.int64]
    n_seeds: npt.NDArray[np.int64]
    values: npt.NDArray[np.float64]  # [seed][attribute]
    point: npt.NDArray[np.float32]  # one seed in the filter's coordinates
    turned: npt.NDArray[np.float32]  # [attribute][seed], flat: -2 q
    norms: npt.NDArray[np.float64]
    totals: npt.NDArray[np.float32]  # [seed][place in block], flat
    limits: npt.NDArray[np.float64]  # [side][seed]
    uppers: npt.NDArray[np.float64]  # [side][seed][place]: a max-heap of the smallest upper bounds
    noted: npt.NDArray[np.float64]  # [side][seed][place]: lower bounds of the rows noted
    noted_rows: npt.NDArray[np.int64]
    n_noted: npt.NDArray[np.int64]  # [side][seed]


def length_of_near_lists(k: int) -> int:
    """The seed itself, its cell, and some to spare for records that other cells take first."""
    return max(k + k // 4 + 4, FARTHEST)


def room_for_answers(n_rows: int, k: int) -> Answers:
    width = length_of_near_lists(k)
    n_slots = max(min(SLOTS, ROOM // width), 2 * SEEDS)
    shape = (2, n_slots, width)
    return Answers(
        slot_of=np.full(n_rows, -1, dtype=np.int32),
        row_in=np.full(n_slots, -1, dtype=np.int64),
        is_outer=np.zeros(n_slots, dtype=np.bool_),
        next_slot=np.zeros(1, dtype=np.int64),
        begin=np.zeros(1, dtype=np.int64),
        distances=np.empty(shape),
        records=np.empty(shape, dtype=np.int64),
        rows=np.empty(shape, dtype=np.int64),
    )


def room_for_batch(dimension: int, k: int) -> Batch:
    width = length_of_near_lists(k)
    room = 2 * width + 4 * BLOCK
    return Batch(
        slots=np.empty(SEEDS, dtype=np.int64),
        n_seeds=np.zeros(1, dtype=np.int64),
        values=np.empty((SEEDS, dimension)),
        point=np.empty(dimension, dtype=np.float32),
        turned=np.zeros(dimension * SEEDS, dtype=np.float32),
        norms=np.zeros(SEEDS),
        totals=np.empty(SEEDS * BLOCK, dtype=np.float32),
        limits=np.empty((2, SEEDS)),
        uppers=np.empty((2, SEEDS, width)),
        noted=np.empty((2, SEEDS, room)),
        noted_rows=np.empty((2, SEEDS, room), dtype=np.int64),
        n_noted=np.empty((2, SEEDS), dtype=np.int64),
    )


@inner
def length_of(answers, side):
    return FARTHEST if side == FAR else answers.distances.shape[2]


@inner
def list_of(answers, side, slot):
    """A slot's list of one side."""
    width = length_of(answers, side)
    return Nearest(
        answers.distances[side, slot, :width], answers.records[side, slot, :width], answers.rows[side, slot, :width]
    )


@inner
def add_seed(answers, batch, rows, space, row):
    """Put a row into the batch, with a slot of its own; the oldest slot is given up for it."""
    seed = batch.n_seeds[0]
    slot = answers.next_slot[0]
    answers.next_slot[0] = (slot + 1) % answers.row_in.shape[0]
    if answers.row_in[slot] >= 0:
        answers.slot_of[answers.row_in[slot]] = -1
    answers.row_in[slot] = row
    answers.slot_of[row] = slot
    answers.is_outer[slot] = False
    dimension = rows.values.shape[1]
    for j in range(dimension):
        batch.values[seed, j] = rows.values[row, j]
    batch.norms[seed] = place_query(batch.values[seed], space, batch.point)
    for j in range(dimension):
        batch.turned[j * SEEDS + seed] = np.float32(-2.0) * batch.point[j]
    batch.slots[seed] = slot
    batch.n_seeds[0] = seed + 1
    forget(list_of(answers, NEAR, slot))
    forget(list_of(answers, FAR, slot))


@inner
def block_products(points, start, n_lanes, turned, dimension, totals):
    """t = |y|^2 - 2 q.y of a block's points y and six seeds q."""
    for lane in range(n_lanes):
        place = start + lane * WIDTH
        a = load(points, place + dimension * BLOCK)
        b, c, d, e, f = a, a, a, a, a
        at = 0
        for _ in range(dimension):
            y = load(points, place)
            a = add_product(a, y, spread(turned, at))
            b = add_product(b, y, spread(turned, at + 1))
            c = add_product(c, y, spread(turned, at + 2))
            d = add_product(d, y, spread(turned, at + 3))
            e = add_product(e, y, spread(turned, at + 4))
            f = add_product(f, y, spread(turned, at + 5))
            at += SEEDS
            place += BLOCK
        place = lane * WIDTH
        store(totals, place, a)
        store(totals, place + BLOCK, b)
        store(totals, place + 2 * BLOCK, c)
        store(totals, place + 3 * BLOCK, d)
        store(totals, place + 4 * BLOCK, e)
        store(totals, place + 5 * BLOCK, f)


@inner
def lower_largest(heap, value):
    """Put a value in place of the largest of a max-heap."""
    size, hole = heap.shape[0], 0
    while True:
        child = 2 * hole + 1
        if child >= size:
            break
        if child + 1 < size and heap[child + 1] > heap[child]:
            child += 1
        if heap[child] <= value:
            break
        heap[hole] = heap[child]
        hole = child
    heap[hole] = value


@inner
def limit_from_bound(upper, side, norm, space, slack):
    """Step 2 above: no row that matters has a signed t - error beyond this."""
    square = norm * norm
    if side == NEAR:
        reach = np.sqrt(max(upper + square, 0.0)) * (1.0 + 2.0 * space.relative) + 2.0 * slack
        return (reach * (1.0 + space.relative)) ** 2 - square
    reach = np.sqrt(max(square - upper, 0.0)) * (1.0 - 2.0 * space.relative) - 2.0 * slack
    return square - (max(reach, 0.0) * (1.0 - space.relative)) ** 2


@inner
def limit_from_distance(signed, side, norm, space, slack):
    """The same, from the float64 squared distance (signed) that is to be beaten."""
    if signed == np.inf:
        return np.inf
    square = norm * norm
    if side == NEAR:
        return ((np.sqrt(signed) * space.scale + slack) * (1.0 + space.relative)) ** 2 - square
    reach = np.sqrt(-signed) * space.scale - slack
    return square - (max(reach, 0.0) * (1.0 - space.relative)) ** 2


@inner
def weigh(batch, side, seed, rows, answers, space, slack):
    """Step 3: weigh the noted rows in float64, and draw the limit closer by what is found."""
    limit = batch.limits[side, seed]
    found = list_of(answers, side, batch.slots[seed])
    sign = 1.0 if side == NEAR else -1.0
    for i in range(batch.n_noted[side, seed]):
        if batch.noted[side, seed, i] <= limit:
            row = batch.noted_rows[side, seed, i]
            offer_row(rows, row, sign * exact_distance(rows.values, row, batch.values[seed]), found)
    batch.n_noted[side, seed] = 0
    closer = limit_from_distance(found.distances[0], side, batch.norms[seed], space, slack)
    batch.limits[side, seed] = min(limit, closer)


@inner
def look_at_block(batch, side, seed, blocks, block, error, rows, answers, space, slack):
    """Note the rows of a block that may matter, and draw the limit closer."""
    if batch.n_noted[side, seed] + BLOCK > batch.noted.shape[2]:
        weigh(batch, side, seed, rows, answers, space, slack)
    count, start = points_in(blocks, block), block * BLOCK
    totals = batch.totals[seed * BLOCK : (seed + 1) * BLOCK]
    noted, noted_rows, n_noted = batch.noted[side, seed], batch.noted_rows[side, seed], batch.n_noted[side, seed]
    uppers = batch.uppers[side, seed, : length_of(answers, side)]
    norm, limit = batch.norms[seed], batch.limits[side, seed]
    for lane in range(0, count, WIDTH):
        lanes, reach = load(totals, lane), np.float32(limit + error)
        mask = which_at_most(lanes, reach) if side == NEAR else which_at_least(lanes, -reach)
        closer = False
        while mask != 0:
            place = lane + lowest(mask)
            mask &= mask - 1
            if place >= count:
                break
            signed = np.float64(totals[place]) if side == NEAR else -np.float64(totals[place])
            noted[n_noted] = signed - error
            noted_rows[n_noted] = blocks.row_at[start + place]
            n_noted += 1
            if signed + error < uppers[0]:
                lower_largest(uppers, signed + error)
                closer = True
        if closer and uppers[0] < np.inf:
            limit = min(limit, limit_from_bound(uppers[0], side, norm, space, slack))
    batch.n_noted[side, seed] = n_noted
    batch.limits[side, seed] = limit


@inner
def answer(rows, blocks, space, walk, batch, answers):
    """One pass over all blocks: the lists of all seeds of the batch."""
    dimension, n_seeds = rows.values.shape[1], batch.n_seeds[0]
    slack = slack_for(walk.numbers[RADIUS], space)
    batch.limits[:] = np.inf
    batch.uppers[:] = np.inf
    batch.n_noted[:] = 0
    n_blocks = n_blocks_left(blocks)
    # After the outermost block (far rows) those around the last seed's neighbours: the limits are then close at once.
    begin = answers.begin[0] if answers.begin[0] < n_blocks else 0
    for turn in range(n_blocks):
        block = (begin + turn) % n_blocks
        if turn == 0 or block == 0:
            block = begin - block
        n_lanes = (points_in(blocks, block) + WIDTH - 1) // WIDTH
        start = block * (dimension + 1) * BLOCK
        block_products(blocks.points, start, n_lanes, batch.turned, dimension, batch.totals)
        for seed in range(n_seeds):
            low, high = range_of(batch.totals, seed * BLOCK, n_lanes)
            error = space.relative * (blocks.norms[block] + batch.norms[seed]) ** 2 + space.floor
            for side in range(2):
                best = low if side == NEAR else -high
                if best - error <= batch.limits[side, seed]:
                    look_at_block(batch, side, seed, blocks, block, error, rows, answers, space, slack)
    for seed in range(n_seeds):
        for side in range(2):
            weigh(batch, side, seed, rows, answers, space, slack)
            sort_nearest(list_of(answers, side, batch.slots[seed]))
    answers.begin[0] = blocks.place_of[answers.rows[NEAR, batch.slots[0], 1]] // BLOCK
