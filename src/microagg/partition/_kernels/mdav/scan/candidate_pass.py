"""One pass over the blocks for six seeds: list the rows that may be among the nearest or farthest, then recheck them.

The pass computes half squared distances S of rows and seeds in whole numbers. `grid` says what they tell about float64
distances, and why no row that matters is missed. The bound U, from which a limit follows, is updated while rows are
listed. If a list is full before the pass ends, its rows are rechecked in float64 at once, and the limit comes from
their float64 distances.

Most rows matter to no seed. Sums therefore begin not at zero but at minus the near limit, less 1: they are negative
where a row is near enough, and one test of sixteen rows and six seeds rules the others out. Far rows are searched only
in blocks whose norms reach far enough.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from microagg._kernels.jit import inlined, inner, merged
from microagg._kernels.simd import (
    WIDTH,
    any_negative,
    bitwise_or,
    broadcast_element,
    load,
    lowest_bit,
    mask_at_least,
    mask_at_most,
    store,
    subtract,
    subtract_pair_products,
)
from microagg.partition._kernels.mdav.filter_space import exact_distance
from microagg.partition._kernels.mdav.nearest import NO_RECORD, comes_before, keep_smallest, offer_row, sort_nearest
from microagg.partition._kernels.mdav.scan.blocks import BLOCK, STEP, n_blocks_left, points_in
from microagg.partition._kernels.mdav.scan.grid import (
    ANY,
    FAR_ANY,
    FAR_NONE,
    NONE,
    blur_for,
    limit_from_bound,
    limit_from_distance,
)
from microagg.partition._kernels.mdav.scan.neighbour_lists import (
    FAR,
    NEAR,
    SEEDS,
    length_of,
    length_of_near_lists,
    list_of,
)

MOST_UPPERS = 256  # beyond, keeping them in order costs more than rechecking full lists now and then
SMALLEST, LARGEST = np.int32(-(2**31)), np.int32(2**31 - 1)


class Candidates(NamedTuple):
    """The candidates of one pass, and what the pass needs to tell them from other rows."""

    totals: npt.NDArray[np.int32]  # [seed][place in block], flat: S less its base
    bases: npt.NDArray[np.int64]  # [seed]: totals of the block at hand are S less this
    begins: npt.NDArray[np.int32]  # [seed]: sums begin at half(z) less this
    fars: npt.NDArray[np.int32]  # [seed]: totals above this are far
    reaches: npt.NDArray[np.float64]  # [seed]: rows of smaller norms, in steps, are not far
    hits: npt.NDArray[np.int64]  # of each sixteen points, the seeds that some are near to, then far from, as bits
    limits: npt.NDArray[np.int64]  # [side][seed]: of signed S
    uppers: npt.NDArray[np.int32]  # [side][seed][place], flat: the smallest signed S, behind smallest numbers
    listed: npt.NDArray[np.int64]  # [side][seed][place]: signed S of the rows listed
    places: npt.NDArray[np.int64]  # and where they lie in the blocks
    n_listed: npt.NDArray[np.int64]  # [side][seed]
    exact: npt.NDArray[np.float64]  # [place]: signed float64 squared distances of rows being rechecked
    records: npt.NDArray[np.int64]  # and their first records


def allocate_candidates(k: int) -> Candidates:
    width = length_of_near_lists(k)
    room = 2 * width + 4 * BLOCK
    vectors = -(-width // WIDTH) if width <= MOST_UPPERS else 1
    sides = (2, SEEDS)
    return Candidates(
        totals=np.empty(SEEDS * BLOCK, dtype=np.int32),
        bases=np.empty(SEEDS, dtype=np.int64),
        begins=np.empty(SEEDS, dtype=np.int32),
        fars=np.empty(SEEDS, dtype=np.int32),
        reaches=np.empty(SEEDS),
        hits=np.empty(BLOCK // WIDTH, dtype=np.int64),
        limits=np.empty(sides, dtype=np.int64),
        uppers=np.empty(2 * SEEDS * (1 + vectors) * WIDTH, dtype=np.int32),
        listed=np.empty((*sides, room), dtype=np.int64),
        places=np.empty((*sides, room), dtype=np.int64),
        n_listed=np.empty(sides, dtype=np.int64),
        exact=np.empty(room),
        records=np.empty(room, dtype=np.int64),
    )


@inner
def begin_pass(candidates, batch, blur):
    """Empty all lists. A batch may have fewer than six seeds: nothing matters to a seed that is missing."""
    for seed in range(SEEDS):
        is_there = seed < batch.n_seeds[0]
        candidates.limits[NEAR, seed] = ANY if is_there else NONE
        candidates.limits[FAR, seed] = FAR_ANY if is_there else FAR_NONE
        apply_limits(candidates, seed, batch, blur)
    candidates.n_listed[:] = 0
    uppers = candidates.uppers
    for start in range(0, uppers.shape[0], uppers.shape[0] // (2 * SEEDS)):
        uppers[start : start + uppers.shape[0] // (2 * SEEDS)] = LARGEST
        uppers[start : start + WIDTH] = SMALLEST


@inner
def apply_limits(candidates, seed, batch, blur):
    """Set what follows from a seed's limits for the next block."""
    base, farthest, half = candidates.limits[NEAR, seed] + 1, -candidates.limits[FAR, seed], batch.halves[seed]
    candidates.bases[seed] = base
    candidates.begins[seed] = base - 1 - half
    candidates.fars[seed] = farthest - 1 - base
    # No |z - q| is above |z| + |q|.
    candidates.reaches[seed] = np.sqrt(max(2.0 * farthest - 2.0, 0.0)) - np.sqrt(2.0 * half + 2.0) - blur


@inlined
def fill_block_totals(points, start, n_vectors, batch, candidates, all_matter):
    """Fill in S less its base for a block's points, all or those in vectors with a near one; returns those as bits."""
    packed, begins, totals, hits = batch.packed, candidates.begins, candidates.totals, candidates.hits
    n_pairs, vectors_hit = packed.shape[0] // SEEDS, 0
    for vector in range(n_vectors):
        place = start + vector * WIDTH
        half = load(points, place + n_pairs * BLOCK)
        a = subtract(half, broadcast_element(begins, 0))
        b = subtract(half, broadcast_element(begins, 1))
        c = subtract(half, broadcast_element(begins, 2))
        d = subtract(half, broadcast_element(begins, 3))
        e = subtract(half, broadcast_element(begins, 4))
        f = subtract(half, broadcast_element(begins, 5))
        at = 0
        for _ in range(n_pairs):
            z = load(points, place)
            a = subtract_pair_products(a, z, broadcast_element(packed, at))
            b = subtract_pair_products(b, z, broadcast_element(packed, at + 1))
            c = subtract_pair_products(c, z, broadcast_element(packed, at + 2))
            d = subtract_pair_products(d, z, broadcast_element(packed, at + 3))
            e = subtract_pair_products(e, z, broadcast_element(packed, at + 4))
            f = subtract_pair_products(f, z, broadcast_element(packed, at + 5))
            at += SEEDS
            place += BLOCK
        some = bitwise_or(bitwise_or(bitwise_or(a, b), bitwise_or(c, d)), bitwise_or(e, f))
        if not all_matter and any_negative(some) == 0:
            continue
        place = vector * WIDTH
        store(totals, place, a)
        store(totals, place + BLOCK, b)
        store(totals, place + 2 * BLOCK, c)
        store(totals, place + 3 * BLOCK, d)
        store(totals, place + 4 * BLOCK, e)
        store(totals, place + 5 * BLOCK, f)
        if all_matter:
            hits[vector] = 0
            continue
        hits[vector] = any_negative(a) | any_negative(b) << 1 | any_negative(c) << 2
        hits[vector] |= any_negative(d) << 3 | any_negative(e) << 4 | any_negative(f) << 5
        vectors_hit |= 1 << vector
    return vectors_hit


@inlined
def find_near_and_far(candidates, n_vectors):
    """Find the totals of a block that are near or far, seed by seed; returns which vectors have some, as bits."""
    totals, fars, hits, vectors_hit = candidates.totals, candidates.fars, candidates.hits, 0
    for seed in range(SEEDS):
        start, far = seed * BLOCK, broadcast_element(fars, seed)
        some = load(totals, start)
        some = bitwise_or(some, subtract(far, some))
        for vector in range(1, n_vectors):
            total = load(totals, start + vector * WIDTH)
            some = bitwise_or(some, bitwise_or(total, subtract(far, total)))
        if any_negative(some) == 0:
            continue
        for vector in range(n_vectors):
            total = load(totals, start + vector * WIDTH)
            hit = any_negative(total) | any_negative(subtract(far, total)) << SEEDS
            hits[vector] |= hit << seed
            vectors_hit |= int(hit != 0) << vector
    return vectors_hit


@inner
def recheck_in_float64(candidates, side, seed, rows, blocks, batch, lists):
    """Offer the listed rows within the limit to the seed's exact list; returns the distance to beat from now on."""
    found, limit = list_of(lists, side, batch.slots[seed]), candidates.limits[side, seed]
    listed, places = candidates.listed[side, seed], candidates.places[side, seed]
    exact, records = candidates.exact, candidates.records
    kept = 0
    for i in range(candidates.n_listed[side, seed]):
        places[kept] = places[i]
        kept += listed[i] <= limit
    # All rows are looked up before any is offered: the processor fetches the next from memory while one is computed.
    sign, query = 1.0 if side == NEAR else -1.0, batch.values[seed]
    for i in range(kept):
        row = np.int64(blocks.row_at[places[i]])
        exact[i] = sign * exact_distance(rows.values, row, query, None)
        records[i] = rows.members[rows.first[row]] if rows.first[row] < rows.end[row] else NO_RECORD
    for i in range(kept):
        if comes_before(exact[i], records[i], found.distances[0], found.records[0]):
            offer_row(rows, np.int64(blocks.row_at[places[i]]), exact[i], found)
    candidates.n_listed[side, seed] = 0
    return found.distances[0]


@inlined
def list_points(candidates, side, seed, vector, blocks, block, base, lists, blur):
    """List those of sixteen points that may matter, and tighten the limit. S is a total plus ``base``."""
    totals, start = candidates.totals, seed * BLOCK
    limit = candidates.limits[side, seed]
    sixteen = load(totals, start + vector * WIDTH)
    if side == NEAR:
        mask = mask_at_most(sixteen, np.int32(limit - base))
    else:
        mask = mask_at_least(sixteen, np.int32(-limit - base))
    if mask == 0:
        return
    count, n_listed = points_in(blocks, block), candidates.n_listed[side, seed]
    room, wanted = candidates.uppers.shape[0] // (2 * SEEDS), length_of(lists, side)
    first_upper = (side * SEEDS + seed) * room + WIDTH
    keeps_uppers = wanted <= room - WIDTH
    while mask != 0:  # ends: the mask loses a bit every time
        place = vector * WIDTH + lowest_bit(mask)
        mask &= mask - 1
        if place >= count:
            break
        signed = totals[start + place] + base
        if side == FAR:
            signed = -signed
        candidates.listed[side, seed, n_listed] = signed
        candidates.places[side, seed, n_listed] = block * BLOCK + place
        n_listed += 1
        if keeps_uppers:
            keep_smallest(candidates.uppers, first_upper, room // WIDTH - 1, np.int32(signed))
    candidates.n_listed[side, seed] = n_listed
    if keeps_uppers:
        upper = candidates.uppers[first_upper + wanted - 1]
        if upper < LARGEST:
            candidates.limits[side, seed] = min(limit, limit_from_bound(np.float64(upper), side == FAR, blur))


@merged
def search_block(candidates, blocks, block, rows, batch, lists, space, blur):
    """List the rows of a block that may matter."""
    n_pairs, step = batch.packed.shape[0] // SEEDS, blocks.grid[STEP]
    largest, far_matters = blocks.norms[block] / step, False
    for seed in range(SEEDS):
        far_matters |= largest >= candidates.reaches[seed]  # blocks farther inside hold nothing far
    n_vectors = (points_in(blocks, block) + WIDTH - 1) // WIDTH
    start = block * (n_pairs + 1) * BLOCK
    vectors_hit = fill_block_totals(blocks.points, start, n_vectors, batch, candidates, far_matters)
    if far_matters:
        vectors_hit = find_near_and_far(candidates, n_vectors)
    changed = 0
    while vectors_hit != 0:  # ends, like those below: it loses a bit every time
        vector = lowest_bit(vectors_hit)
        vectors_hit &= vectors_hit - 1
        hits = candidates.hits[vector]
        while hits != 0:  # ends
            hit = lowest_bit(hits)
            hits &= hits - 1
            side, seed = hit // SEEDS, hit % SEEDS
            list_points(candidates, side, seed, vector, blocks, block, candidates.bases[seed], lists, blur)
            changed |= 1 << seed
    while changed != 0:  # ends
        seed = lowest_bit(changed)
        changed &= changed - 1
        for side in range(2):
            if candidates.n_listed[side, seed] + BLOCK > candidates.listed.shape[2]:
                beaten = recheck_in_float64(candidates, side, seed, rows, blocks, batch, lists)
                closer = limit_from_distance(beaten, side == FAR, space, step, blur)
                candidates.limits[side, seed] = min(candidates.limits[side, seed], closer)
        apply_limits(candidates, seed, batch, blur)


@merged
def answer_batch(rows, blocks, space, batch, candidates, lists):
    """Fill the lists of all seeds of the batch in one pass over all blocks."""
    blur = blur_for(rows.values.shape[1])
    n_blocks = n_blocks_left(blocks)
    begin_pass(candidates, batch, blur)
    # First the outermost block, for far rows, then the one around the last seed's neighbours: limits are tight at once.
    begin = lists.begin[0] if lists.begin[0] < n_blocks else 0
    for turn in range(n_blocks):
        block = (begin + turn) % n_blocks
        if turn == 0 or block == 0:
            block = begin - block
        search_block(candidates, blocks, block, rows, batch, lists, space, blur)
    for seed in range(batch.n_seeds[0]):
        for side in range(2):
            recheck_in_float64(candidates, side, seed, rows, blocks, batch, lists)
            sort_nearest(list_of(lists, side, batch.slots[seed]))
    lists.begin[0] = blocks.place_of[lists.rows[NEAR, batch.slots[0], 1]] // BLOCK
