"""One pass over the blocks for six seeds: rows that may be among the nearest or farthest are noted, then weighed.

Half squared distances S of a row and the seeds are whole numbers; what they say about float64 distances, and why no
row that matters is missed, is in `grid`. The bound U that draws a limit is kept up while rows are noted. If so many are
noted that room runs out, they are weighed at once, and the limit comes from the float64 distances.

Most rows matter to no seed. Sums therefore do not begin at zero but at minus the near limit, less 1: they are negative
where a row is near enough, and one test of sixteen rows and six seeds rules the others out. Far rows are looked for
only in blocks whose norms reach far enough.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from microagg.partition._kernels.answers import FAR, NEAR, SEEDS, length_of, length_of_near_lists, list_of
from microagg.partition._kernels.blocks import BLOCK, STEP, n_blocks_left, points_in
from microagg.partition._kernels.candidates import NO_RECORD, comes_before, keep_smallest, offer_row, sort_nearest
from microagg.partition._kernels.filter_space import exact_distance
from microagg.partition._kernels.grid import (
    ANY,
    FAR_ANY,
    FAR_NONE,
    NONE,
    blur_for,
    limit_from_bound,
    limit_from_distance,
)
from microagg.partition._kernels.jit import inlined, inner, merged
from microagg.partition._kernels.lanes import (
    WIDTH,
    any_negative,
    either,
    load,
    lowest,
    spread,
    store,
    subtract,
    take_pair_products,
    which_at_least,
    which_at_most,
)

MOST_UPPERS = 256  # beyond, keeping them in order costs more than weighing what is noted now and then
SMALLEST, LARGEST = np.int32(-(2**31)), np.int32(2**31 - 1)


class Notes(NamedTuple):
    """What a pass notes on the way."""

    totals: npt.NDArray[np.int32]  # [seed][place in block], flat: S less its base
    bases: npt.NDArray[np.int64]  # [seed]: totals of the block at hand are S less this
    begins: npt.NDArray[np.int32]  # [seed]: sums begin at half(z) less this
    fars: npt.NDArray[np.int32]  # [seed]: totals above this are far
    reaches: npt.NDArray[np.float64]  # [seed]: rows of smaller norms, in steps, are not far
    hits: npt.NDArray[np.int64]  # of each sixteen points, the seeds that some are near to, then far from, as bits
    limits: npt.NDArray[np.int64]  # [side][seed]: of signed S
    uppers: npt.NDArray[np.int32]  # [side][seed][place], flat: the smallest signed S, behind smallest numbers
    noted: npt.NDArray[np.int64]  # [side][seed][place]: signed S of the rows noted
    places: npt.NDArray[np.int64]  # and where they lie in the blocks
    n_noted: npt.NDArray[np.int64]  # [side][seed]
    weighed: npt.NDArray[np.float64]  # [place]: signed squared distances of rows that are weighed
    records: npt.NDArray[np.int64]  # and their first records


def room_for_notes(k: int) -> Notes:
    width = length_of_near_lists(k)
    room = 2 * width + 4 * BLOCK
    lanes = -(-width // WIDTH) if width <= MOST_UPPERS else 1
    sides = (2, SEEDS)
    return Notes(
        totals=np.empty(SEEDS * BLOCK, dtype=np.int32),
        bases=np.empty(SEEDS, dtype=np.int64),
        begins=np.empty(SEEDS, dtype=np.int32),
        fars=np.empty(SEEDS, dtype=np.int32),
        reaches=np.empty(SEEDS),
        hits=np.empty(BLOCK // WIDTH, dtype=np.int64),
        limits=np.empty(sides, dtype=np.int64),
        uppers=np.empty(2 * SEEDS * (1 + lanes) * WIDTH, dtype=np.int32),
        noted=np.empty((*sides, room), dtype=np.int64),
        places=np.empty((*sides, room), dtype=np.int64),
        n_noted=np.empty(sides, dtype=np.int64),
        weighed=np.empty(room),
        records=np.empty(room, dtype=np.int64),
    )


@inner
def begin_notes(notes, batch, blur):
    """Nothing matters to a seed that is not there."""
    for seed in range(SEEDS):
        is_there = seed < batch.n_seeds[0]
        notes.limits[NEAR, seed] = ANY if is_there else NONE
        notes.limits[FAR, seed] = FAR_ANY if is_there else FAR_NONE
        heed_limits(notes, seed, batch, blur)
    notes.n_noted[:] = 0
    uppers = notes.uppers
    for start in range(0, uppers.shape[0], uppers.shape[0] // (2 * SEEDS)):
        uppers[start : start + uppers.shape[0] // (2 * SEEDS)] = LARGEST
        uppers[start : start + WIDTH] = SMALLEST


@inner
def heed_limits(notes, seed, batch, blur):
    """What follows from a seed's limits for the next block."""
    base, farthest, half = notes.limits[NEAR, seed] + 1, -notes.limits[FAR, seed], batch.halves[seed]
    notes.bases[seed] = base
    notes.begins[seed] = base - 1 - half
    notes.fars[seed] = farthest - 1 - base
    # No |z - q| is above |z| + |q|.
    notes.reaches[seed] = np.sqrt(max(2.0 * farthest - 2.0, 0.0)) - np.sqrt(2.0 * half + 2.0) - blur


@inlined
def block_products(points, start, n_lanes, batch, notes, all_matter):
    """S less its base of a block's points and six seeds, all or where some are near; returns where, as bits."""
    packed, begins, totals, hits = batch.packed, notes.begins, notes.totals, notes.hits
    n_pairs, lanes_hit = packed.shape[0] // SEEDS, 0
    for lane in range(n_lanes):
        place = start + lane * WIDTH
        half = load(points, place + n_pairs * BLOCK)
        a = subtract(half, spread(begins, 0))
        b = subtract(half, spread(begins, 1))
        c = subtract(half, spread(begins, 2))
        d = subtract(half, spread(begins, 3))
        e = subtract(half, spread(begins, 4))
        f = subtract(half, spread(begins, 5))
        at = 0
        for _ in range(n_pairs):
            z = load(points, place)
            a = take_pair_products(a, z, spread(packed, at))
            b = take_pair_products(b, z, spread(packed, at + 1))
            c = take_pair_products(c, z, spread(packed, at + 2))
            d = take_pair_products(d, z, spread(packed, at + 3))
            e = take_pair_products(e, z, spread(packed, at + 4))
            f = take_pair_products(f, z, spread(packed, at + 5))
            at += SEEDS
            place += BLOCK
        if not all_matter and any_negative(either(either(either(a, b), either(c, d)), either(e, f))) == 0:
            continue
        place = lane * WIDTH
        store(totals, place, a)
        store(totals, place + BLOCK, b)
        store(totals, place + 2 * BLOCK, c)
        store(totals, place + 3 * BLOCK, d)
        store(totals, place + 4 * BLOCK, e)
        store(totals, place + 5 * BLOCK, f)
        if all_matter:
            hits[lane] = 0
            continue
        hits[lane] = any_negative(a) | any_negative(b) << 1 | any_negative(c) << 2
        hits[lane] |= any_negative(d) << 3 | any_negative(e) << 4 | any_negative(f) << 5
        lanes_hit |= 1 << lane
    return lanes_hit


@inlined
def find_near_and_far(notes, n_lanes):
    """Which totals of a block are near or far, seed by seed; returns where some are, as bits."""
    totals, fars, hits, lanes_hit = notes.totals, notes.fars, notes.hits, 0
    for seed in range(SEEDS):
        start, far = seed * BLOCK, spread(fars, seed)
        some = load(totals, start)
        some = either(some, subtract(far, some))
        for lane in range(1, n_lanes):
            total = load(totals, start + lane * WIDTH)
            some = either(some, either(total, subtract(far, total)))
        if any_negative(some) == 0:
            continue
        for lane in range(n_lanes):
            total = load(totals, start + lane * WIDTH)
            hit = any_negative(total) | any_negative(subtract(far, total)) << SEEDS
            hits[lane] |= hit << seed
            lanes_hit |= int(hit != 0) << lane
    return lanes_hit


@inner
def weigh(notes, side, seed, rows, blocks, batch, answers):
    """Weigh the noted rows within the limit in float64."""
    found, limit = list_of(answers, side, batch.slots[seed]), notes.limits[side, seed]
    noted, places = notes.noted[side, seed], notes.places[side, seed]
    weighed, records = notes.weighed, notes.records
    kept = 0
    for i in range(notes.n_noted[side, seed]):
        places[kept] = places[i]
        kept += noted[i] <= limit
    # All is looked up before any is offered: while one row is fetched from memory, the next are asked for already.
    sign, query = 1.0 if side == NEAR else -1.0, batch.values[seed]
    for i in range(kept):
        row = np.int64(blocks.row_at[places[i]])
        weighed[i] = sign * exact_distance(rows.values, row, query)
        records[i] = rows.members[rows.first[row]] if rows.first[row] < rows.end[row] else NO_RECORD
    for i in range(kept):
        if comes_before(weighed[i], records[i], found.distances[0], found.records[0]):
            offer_row(rows, np.int64(blocks.row_at[places[i]]), weighed[i], found)
    notes.n_noted[side, seed] = 0
    return found.distances[0]


@inlined
def note_points(notes, side, seed, lane, blocks, block, base, answers, blur):
    """Note those of sixteen points that may matter, and draw the limit closer. S is a total and ``base``."""
    totals, start = notes.totals, seed * BLOCK
    limit = notes.limits[side, seed]
    lanes = load(totals, start + lane * WIDTH)
    if side == NEAR:
        mask = which_at_most(lanes, np.int32(limit - base))
    else:
        mask = which_at_least(lanes, np.int32(-limit - base))
    if mask == 0:
        return
    count, n_noted = points_in(blocks, block), notes.n_noted[side, seed]
    room, wanted = notes.uppers.shape[0] // (2 * SEEDS), length_of(answers, side)
    first_upper = (side * SEEDS + seed) * room + WIDTH
    keeps_uppers = wanted <= room - WIDTH
    while mask != 0:  # ends: the mask loses a bit every time
        place = lane * WIDTH + lowest(mask)
        mask &= mask - 1
        if place >= count:
            break
        signed = totals[start + place] + base
        if side == FAR:
            signed = -signed
        notes.noted[side, seed, n_noted] = signed
        notes.places[side, seed, n_noted] = block * BLOCK + place
        n_noted += 1
        if keeps_uppers:
            keep_smallest(notes.uppers, first_upper, room // WIDTH - 1, np.int32(signed))
    notes.n_noted[side, seed] = n_noted
    if keeps_uppers:
        upper = notes.uppers[first_upper + wanted - 1]
        if upper < LARGEST:
            notes.limits[side, seed] = min(limit, limit_from_bound(np.float64(upper), side == FAR, blur))


@merged
def look_at_block(notes, blocks, block, rows, batch, answers, space, blur):
    """Note the rows of a block that may matter."""
    n_pairs, step = batch.packed.shape[0] // SEEDS, blocks.grid[STEP]
    largest, far_matters = blocks.norms[block] / step, False
    for seed in range(SEEDS):
        far_matters |= largest >= notes.reaches[seed]  # blocks farther inside hold nothing far
    n_lanes = (points_in(blocks, block) + WIDTH - 1) // WIDTH
    lanes_hit = block_products(blocks.points, block * (n_pairs + 1) * BLOCK, n_lanes, batch, notes, far_matters)
    if far_matters:
        lanes_hit = find_near_and_far(notes, n_lanes)
    changed = 0
    while lanes_hit != 0:  # ends, like those below: a bit less every time
        lane = lowest(lanes_hit)
        lanes_hit &= lanes_hit - 1
        hits = notes.hits[lane]
        while hits != 0:  # ends
            hit = lowest(hits)
            hits &= hits - 1
            side, seed = hit // SEEDS, hit % SEEDS
            note_points(notes, side, seed, lane, blocks, block, notes.bases[seed], answers, blur)
            changed |= 1 << seed
    while changed != 0:  # ends
        seed = lowest(changed)
        changed &= changed - 1
        for side in range(2):
            if notes.n_noted[side, seed] + BLOCK > notes.noted.shape[2]:
                beaten = weigh(notes, side, seed, rows, blocks, batch, answers)
                closer = limit_from_distance(beaten, side == FAR, space, step, blur)
                notes.limits[side, seed] = min(notes.limits[side, seed], closer)
        heed_limits(notes, seed, batch, blur)


@merged
def answer(rows, blocks, space, batch, notes, answers):
    """One pass over all blocks: the lists of all seeds of the batch."""
    blur = blur_for(rows.values.shape[1])
    n_blocks = n_blocks_left(blocks)
    begin_notes(notes, batch, blur)
    # After the outermost block (far rows) that around the last seed's neighbours: the limits are then close at once.
    begin = answers.begin[0] if answers.begin[0] < n_blocks else 0
    for turn in range(n_blocks):
        block = (begin + turn) % n_blocks
        if turn == 0 or block == 0:
            block = begin - block
        look_at_block(notes, blocks, block, rows, batch, answers, space, blur)
    for seed in range(batch.n_seeds[0]):
        for side in range(2):
            weigh(notes, side, seed, rows, blocks, batch, answers)
            sort_nearest(list_of(answers, side, batch.slots[seed]))
    answers.begin[0] = blocks.place_of[answers.rows[NEAR, batch.slots[0], 1]] // BLOCK
