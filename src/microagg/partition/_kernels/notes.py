"""One pass over the blocks for six seeds: rows that may be among the nearest or farthest are noted, then weighed.

Distances come as products here: |y - q|^2 = |y|^2 - 2 q.y + |q|^2 takes one operation per attribute instead of two. The
computed t = |y|^2 - 2 q.y errs by at most d + 2 roundings of terms that sum to 2 |y| (|y| + |q|); with N a bound on the
block's norms, `relative` (N + |q|)^2 covers that and the rounding of bounds and limits to float32. Call it the block's
error.

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

from microagg.partition._kernels.answers import NEAR, SEEDS, length_of, length_of_near_lists, list_of
from microagg.partition._kernels.blocks import BLOCK, n_blocks_left, points_in
from microagg.partition._kernels.candidates import keep_smallest, offer_row, sort_nearest
from microagg.partition._kernels.filter_space import exact_distance, slack_for
from microagg.partition._kernels.jit import inlined, inner, merged
from microagg.partition._kernels.lanes import (
    WIDTH,
    add_product,
    any_at_most,
    any_outside,
    load,
    lowest,
    spread,
    store,
    which_at_least,
    which_at_most,
)
from microagg.partition._kernels.walk import RADIUS

MOST_UPPERS = 256  # beyond, keeping them in order costs more than weighing what is noted now and then


class Notes(NamedTuple):
    """What a pass notes on the way."""

    totals: npt.NDArray[np.float32]  # [seed][place in block], flat
    reaches: npt.NDArray[np.float32]  # [side][seed], flat: t that matter in the block at hand
    hits: npt.NDArray[np.int64]  # of each sixteen points of the block, the seeds they matter to, as bits
    limits: npt.NDArray[np.float64]  # [side][seed]
    uppers: npt.NDArray[np.float32]  # [side][seed][place], flat: the smallest upper bounds, behind minus infinities
    noted: npt.NDArray[np.float64]  # [side][seed][place]: lower bounds of the rows noted
    noted_rows: npt.NDArray[np.int64]
    n_noted: npt.NDArray[np.int64]  # [side][seed]


def room_for_notes(k: int) -> Notes:
    width = length_of_near_lists(k)
    room = 2 * width + 4 * BLOCK
    lanes = -(-width // WIDTH) if width <= MOST_UPPERS else 1
    sides = (2, SEEDS)
    return Notes(
        totals=np.empty(SEEDS * BLOCK, dtype=np.float32),
        reaches=np.empty(2 * SEEDS, dtype=np.float32),
        hits=np.empty(BLOCK // WIDTH, dtype=np.int64),
        limits=np.empty(sides),
        uppers=np.empty(2 * SEEDS * (1 + lanes) * WIDTH, dtype=np.float32),
        noted=np.empty((*sides, room)),
        noted_rows=np.empty((*sides, room), dtype=np.int64),
        n_noted=np.empty(sides, dtype=np.int64),
    )


@inner
def begin_notes(notes):
    notes.limits[:] = np.inf
    notes.n_noted[:] = 0
    uppers = notes.uppers
    for start in range(0, uppers.shape[0], uppers.shape[0] // (2 * SEEDS)):
        uppers[start : start + uppers.shape[0] // (2 * SEEDS)] = np.inf
        uppers[start : start + WIDTH] = -np.inf


@inlined
def block_products(points, start, n_lanes, turned, dimension, totals, reaches, far_matters, hits):
    """t = |y|^2 - 2 q.y of a block's points y and six seeds q, and which sixteen points matter to which seed."""
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
        if not far_matters:
            hits[lane] = (
                any_at_most(a, reaches[0])
                | any_at_most(b, reaches[1]) << 1
                | any_at_most(c, reaches[2]) << 2
                | any_at_most(d, reaches[3]) << 3
                | any_at_most(e, reaches[4]) << 4
                | any_at_most(f, reaches[5]) << 5
            )
            continue
        hits[lane] = (
            any_outside(a, reaches[0], reaches[SEEDS])
            | any_outside(b, reaches[1], reaches[SEEDS + 1]) << 1
            | any_outside(c, reaches[2], reaches[SEEDS + 2]) << 2
            | any_outside(d, reaches[3], reaches[SEEDS + 3]) << 3
            | any_outside(e, reaches[4], reaches[SEEDS + 4]) << 4
            | any_outside(f, reaches[5], reaches[SEEDS + 5]) << 5
        )


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
def weigh(notes, side, seed, limit, rows, batch, answers):
    """Step 3: weigh the noted rows within the limit in float64."""
    found = list_of(answers, side, batch.slots[seed])
    sign = 1.0 if side == NEAR else -1.0
    for i in range(notes.n_noted[side, seed]):
        if notes.noted[side, seed, i] <= limit:
            row = notes.noted_rows[side, seed, i]
            offer_row(rows, row, sign * exact_distance(rows.values, row, batch.values[seed]), found)
    notes.n_noted[side, seed] = 0
    return found.distances[0]


@inlined
def note_points(notes, side, seed, lane, blocks, block, error, answers, norm, space, slack):
    """Note those of sixteen points that may matter, and draw the limit closer."""
    totals, start = notes.totals, seed * BLOCK
    limit = notes.limits[side, seed]
    lanes, reach = load(totals, start + lane * WIDTH), np.float32(limit + error)
    mask = which_at_most(lanes, reach) if side == NEAR else which_at_least(lanes, -reach)
    if mask == 0:
        return
    count, n_noted = points_in(blocks, block), notes.n_noted[side, seed]
    room, wanted = notes.uppers.shape[0] // (2 * SEEDS), length_of(answers, side)
    first_upper = (side * SEEDS + seed) * room + WIDTH
    keeps_uppers = wanted <= room - WIDTH
    while mask != 0:
        place = lane * WIDTH + lowest(mask)
        mask &= mask - 1
        if place >= count:
            break
        signed = np.float64(totals[start + place]) if side == NEAR else -np.float64(totals[start + place])
        notes.noted[side, seed, n_noted] = signed - error
        notes.noted_rows[side, seed, n_noted] = blocks.row_at[block * BLOCK + place]
        n_noted += 1
        if keeps_uppers:
            keep_smallest(notes.uppers, first_upper, room // WIDTH - 1, np.float32(signed + error))
    notes.n_noted[side, seed] = n_noted
    if keeps_uppers:
        upper = notes.uppers[first_upper + wanted - 1]
        if upper < np.inf:
            closer = limit_from_bound(np.float64(upper), side, norm, space, slack)
            notes.limits[side, seed] = min(limit, closer)


@merged
def look_at_block(notes, blocks, block, rows, batch, answers, space, slack):
    """Note the rows of a block that may matter."""
    dimension, n_seeds = rows.values.shape[1], batch.n_seeds[0]
    reaches, norms, hits = notes.reaches, batch.norms, notes.hits
    for seed in range(SEEDS):
        reaches[seed], reaches[SEEDS + seed] = np.float32(-np.inf), np.float32(np.inf)  # nothing matters to no seed
    far_matters = False
    for seed in range(n_seeds):
        largest = blocks.norms[block]
        error = space.relative * (largest + norms[seed]) ** 2 + space.floor
        for side in range(2):
            if notes.n_noted[side, seed] + BLOCK > notes.noted.shape[2]:
                limit = notes.limits[side, seed]
                beaten = weigh(notes, side, seed, limit, rows, batch, answers)
                closer = limit_from_distance(beaten, side, norms[seed], space, slack)
                notes.limits[side, seed] = min(limit, closer)
            reach = np.float32(notes.limits[side, seed] + error)
            reaches[side * SEEDS + seed] = reach if side == NEAR else -reach
        # No t is above N^2 + 2 N |q|, and its error: most blocks lie too far inside to hold anything far.
        if largest * (largest + 2.0 * norms[seed]) + 2.0 * error >= reaches[SEEDS + seed]:
            far_matters = True
    n_lanes = (points_in(blocks, block) + WIDTH - 1) // WIDTH
    start = block * (dimension + 1) * BLOCK
    block_products(blocks.points, start, n_lanes, batch.turned, dimension, notes.totals, reaches, far_matters, hits)
    for lane in range(n_lanes):
        seeds = hits[lane]
        while seeds != 0:
            seed = lowest(seeds)
            seeds &= seeds - 1
            error = space.relative * (blocks.norms[block] + norms[seed]) ** 2 + space.floor
            for side in range(2 if far_matters else 1):
                note_points(notes, side, seed, lane, blocks, block, error, answers, norms[seed], space, slack)


@merged
def answer(rows, blocks, space, walk, batch, notes, answers):
    """One pass over all blocks: the lists of all seeds of the batch."""
    slack = slack_for(walk.numbers[RADIUS], space)
    n_blocks = n_blocks_left(blocks)
    begin_notes(notes)
    # After the outermost block (far rows) that around the last seed's neighbours: the limits are then close at once.
    begin = answers.begin[0] if answers.begin[0] < n_blocks else 0
    for turn in range(n_blocks):
        block = (begin + turn) % n_blocks
        if turn == 0 or block == 0:
            block = begin - block
        look_at_block(notes, blocks, block, rows, batch, answers, space, slack)
    for seed in range(batch.n_seeds[0]):
        for side in range(2):
            weigh(notes, side, seed, notes.limits[side, seed], rows, batch, answers)
            sort_nearest(list_of(answers, side, batch.slots[seed]))
    answers.begin[0] = blocks.place_of[answers.rows[NEAR, batch.slots[0], 1]] // BLOCK
