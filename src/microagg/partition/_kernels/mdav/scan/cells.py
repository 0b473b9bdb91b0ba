"""MDAV by scanning all remaining rows in whole numbers, with float64 deciding.

The record farthest from the centroid needs no pass over all blocks: lazy bounds (see `centroid_tracker`) leave a few to
look at. Its nearest and its farthest records come from such a pass, which also serves the seeds that will probably come
next (see `neighbour_lists`): the rows that are now farthest from the centroid, and the rows farthest from those. A
wrong guess costs time and changes nothing else.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from microagg._kernels.jit import entry, inner, merged
from microagg.partition._kernels.mdav.centroid_tracker import (
    PATH,
    RADIUS,
    certain_distance,
    key_from,
    move_centroid,
    shrink_radius,
    take_off,
)
from microagg.partition._kernels.mdav.filter_space import exact_distance, farthest_reach
from microagg.partition._kernels.mdav.nearest import offer_far
from microagg.partition._kernels.mdav.scan.blocks import (
    BLOCK,
    COARSE,
    STEP,
    distances_in,
    drop_row,
    n_blocks_left,
    n_pairs_of,
    points_in,
    slack_of,
)
from microagg.partition._kernels.mdav.scan.candidate_pass import answer_batch
from microagg.partition._kernels.mdav.scan.grid import is_on_grid, pack
from microagg.partition._kernels.mdav.scan.neighbour_lists import FAR, NEAR, SEEDS, add_seed, list_of

GUESSED_BLOCKS = 10  # enough for ninety-nine guesses in a hundred to come true


class Scratch(NamedTuple):
    """Working space of searches around the centroid."""

    packed: npt.NDArray[np.int32]
    totals: npt.NDArray[np.float32]
    guesses: npt.NDArray[np.float32]  # squared distances of guessed seeds, descending
    guessed: npt.NDArray[np.int64]  # and their rows


def allocate_scratch(dimension: int) -> Scratch:
    return Scratch(
        packed=np.empty(n_pairs_of(dimension), dtype=np.int32),
        totals=np.empty(BLOCK, dtype=np.float32),
        guesses=np.empty(SEEDS, dtype=np.float32),
        guessed=np.empty(SEEDS, dtype=np.int64),
    )


@inner
def block_with_largest_key(blocks, below):
    """The block with the largest key less than ``below``; the first of several, -1 without any."""
    best = -1
    for block in range(n_blocks_left(blocks)):
        key = blocks.keys[block]
        if key < below and (best < 0 or key > blocks.keys[best]):
            best = block
    return best


@merged
def farthest_from_centroid(rows, blocks, space, tracker, scratch):
    """The row farthest from the centroid; looks at blocks whose bound reaches the best distance so far."""
    packed, totals = scratch.packed, scratch.totals
    if not is_on_grid(tracker.centroid, space, blocks.grid[STEP]):
        return farthest_exactly(rows, blocks, tracker.centroid)
    half = pack(tracker.centroid, space, blocks.grid[STEP], packed)
    slack = slack_of(blocks, rows.values.shape[1])
    path = tracker.numbers[PATH]
    begin = 0
    for block in range(1, n_blocks_left(blocks)):
        if blocks.keys[block] > blocks.keys[begin]:
            begin = block
    farthest, distance, limit = np.int64(0), -1.0, np.float32(-1.0)
    certain = -np.inf
    for turn in range(n_blocks_left(blocks)):  # the most promising block first: it rules out most others
        block = begin if turn == 0 else (0 if turn == begin else turn)
        if blocks.keys[block] + path < certain:
            continue
        high = distances_in(blocks, block, packed, half, totals)
        blocks.keys[block] = key_from(farthest_reach(high, space, slack), tracker)
        if high >= limit:
            farthest, distance, limit = offer_far(
                totals,
                points_in(blocks, block),
                blocks.row_at,
                block * BLOCK,
                rows,
                tracker.centroid,
                farthest,
                distance,
                limit,
                space,
                slack,
            )
            certain = certain_distance(distance, space)
    shrink_radius(tracker, distance, np.sqrt(2.0 * half + 2.0) * blocks.grid[STEP] + slack, space)
    return farthest


@merged
def guess_opposite_seeds(rows, blocks, batch, lists, labels):
    """Add the opposite seeds of outer seeds with a list: the farthest row that is left, unless it has a list itself."""
    for slot in range(lists.row_in.shape[0]):
        row = lists.row_in[slot]
        if batch.n_seeds[0] == SEEDS:
            return
        if row >= 0 and lists.is_outer[slot] and rows.first[row] < rows.end[row]:
            place = first_left(list_of(lists, FAR, slot), labels)
            if place >= 0:
                opposite = lists.rows[FAR, slot, place]
                if lists.slot_of[opposite] < 0:
                    add_seed(lists, batch, rows, blocks, opposite, False)


@merged
def guess_outer_seeds(rows, blocks, space, tracker, scratch, batch, lists):
    """Add the rows farthest from the centroid that have no list yet: most likely the next seeds.

    Looks at the blocks with the largest keys, and only as long as a key reaches the guesses so far.
    """
    wanted = SEEDS - batch.n_seeds[0]
    if wanted == 0 or not is_on_grid(tracker.centroid, space, blocks.grid[STEP]):
        return
    totals, guesses, guessed = scratch.totals, scratch.guesses, scratch.guessed
    half = pack(tracker.centroid, space, blocks.grid[STEP], scratch.packed)
    guesses[:] = -1.0
    below = np.inf
    for _ in range(GUESSED_BLOCKS):
        block = block_with_largest_key(blocks, below)
        if block < 0:
            break
        below = blocks.keys[block]
        if below + tracker.numbers[PATH] < np.sqrt(max(guesses[wanted - 1], 0.0)):
            break
        distances_in(blocks, block, scratch.packed, half, totals)
        for place in range(points_in(blocks, block)):
            if totals[place] <= guesses[wanted - 1]:
                continue
            row = np.int64(blocks.row_at[block * BLOCK + place])
            if lists.slot_of[row] >= 0:
                continue
            rank = wanted - 1
            while rank > 0 and guesses[rank - 1] < totals[place]:  # ends: rank falls
                guesses[rank], guessed[rank] = guesses[rank - 1], guessed[rank - 1]
                rank -= 1
            guesses[rank], guessed[rank] = totals[place], row
    for rank in range(wanted):
        if guesses[rank] >= 0.0:
            add_seed(lists, batch, rows, blocks, guessed[rank], True)


@inner
def first_left(found, labels):
    """The place of the first record in a list that has no cell yet; -1 if none has."""
    for place in range(found.records.shape[0]):
        if found.distances[place] == np.inf:
            return -1
        if labels[found.records[place]] < 0:
            return place
    return -1


@inner
def suffices(found, labels, wanted):
    """Whether a list of the nearest still has ``wanted`` records without a cell; one that is not full has them all."""
    left = 0
    for place in range(found.records.shape[0]):
        if found.distances[place] == np.inf:
            return True
        if labels[found.records[place]] < 0:
            left += 1
            if left == wanted:
                return True
    return False


@merged
def list_neighbours_of(rows, blocks, space, tracker, scratch, batch, candidates, lists, labels, row, is_outer):
    """Make the lists of a row, and of rows that will probably be the next seeds."""
    used_up = lists.slot_of[row]
    if used_up >= 0:
        lists.row_in[used_up] = -1
    batch.n_seeds[0] = 0
    add_seed(lists, batch, rows, blocks, row, is_outer)
    guess_opposite_seeds(rows, blocks, batch, lists, labels)
    guess_outer_seeds(rows, blocks, space, tracker, scratch, batch, lists)
    answer_batch(rows, blocks, space, batch, candidates, lists)


@inner
def take_record(rows, blocks, tracker, row, label, labels):
    """Give the row's first record the label."""
    labels[rows.members[rows.first[row]]] = label
    rows.first[row] += 1
    take_off(tracker, rows.values, row, None)
    if rows.first[row] == rows.end[row]:
        drop_row(blocks, row, n_pairs_of(rows.values.shape[1]))


@inner
def farthest_exactly(rows, blocks, query):
    """The row farthest from a point, without a filter: for the few times when there is none, or a list is used up."""
    farthest, distance = np.int64(blocks.row_at[0]), -1.0
    for place in range(blocks.n_rows[0]):
        row = np.int64(blocks.row_at[place])
        candidate = exact_distance(rows.values, row, query, None)
        if candidate > distance or (
            candidate == distance and rows.members[rows.first[row]] < rows.members[rows.first[farthest]]
        ):
            farthest, distance = row, candidate
    return farthest


@entry
def form_cells_brute(
    k, two_cells_from, rows, blocks, space, tracker, scratch, batch, candidates, lists, labels, state, work
):
    """Form cells until about ``work`` distances were computed, a new grid pays, or fewer than 2k records remain.

    ``state`` holds the number of remaining records and of cells so far.
    """
    remaining, cell = state[0], state[1]
    # Ends: k records leave with every cell.
    while remaining >= 2 * k and work > 0 and tracker.numbers[RADIUS] >= blocks.grid[COARSE]:
        move_centroid(tracker, remaining, space)
        seed = farthest_from_centroid(rows, blocks, space, tracker, scratch)
        formed = 2 if remaining >= two_cells_from else 1
        for turn in range(formed):
            slot = lists.slot_of[seed]
            if slot < 0 or not suffices(list_of(lists, NEAR, slot), labels, k):
                list_neighbours_of(
                    rows, blocks, space, tracker, scratch, batch, candidates, lists, labels, seed, turn == 0
                )
                work -= batch.n_seeds[0] * (blocks.n_rows[0] + BLOCK)
                slot = lists.slot_of[seed]
            nearest, taken, place = list_of(lists, NEAR, slot), 1, 0
            row = seed
            while True:  # ends: one more is taken every time, up to k
                take_record(rows, blocks, tracker, row, cell, labels)
                if taken == k:
                    break
                while labels[nearest.records[place]] >= 0:  # ends: the list has k records left (see `suffices`)
                    place += 1
                row = nearest.rows[place]
                taken += 1
            cell += 1
            remaining -= k
            if turn == 0 and formed == 2:
                place = first_left(list_of(lists, FAR, slot), labels)
                seed = lists.rows[FAR, slot, place] if place >= 0 else farthest_exactly(rows, blocks, rows.values[seed])
    state[0], state[1] = remaining, cell
