"""Lists of the nearest and the farthest records, for rows that are or may become seeds.

A scan waits for memory more than for arithmetic, so a pass that reads every block once serves up to six seeds: the one
that is needed now and five that will probably be needed next. Each gets a list of the nearest records, longer than a
cell, and a short one of the farthest, both in their exact order. Records only ever leave, so what is left of a list is
exact for as long as enough of it is left. `candidate_pass` finds them.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from microagg._kernels.jit import inner
from microagg.partition._kernels.mdav.nearest import Nearest, forget
from microagg.partition._kernels.mdav.scan.blocks import BLOCK, address_of, n_pairs_of

SEEDS = 6  # with two vector registers each they fill the registers of the commonest processors
SLOTS = 40 * SEEDS  # with fewer, lists would be given up before they are needed, and made again, ...
ROOM = 2_000_000  # ... but all lists together hold no more than about so many records
NEAR, FAR = np.int64(0), np.int64(1)  # typed: for bare literals, functions would be compiled twice
FARTHEST = 8  # length of the list of the farthest


class NeighbourLists(NamedTuple):
    """Lists for rows that are or may become seeds. Each side (near, far) has room for ``width`` records per slot."""

    slot_of: npt.NDArray[np.int64]  # of each row; -1 without
    row_in: npt.NDArray[np.int64]  # of each slot; -1 if free
    is_outer: npt.NDArray[np.bool_]  # guessed to be the farthest from a centroid, not from another seed
    next_slot: npt.NDArray[np.int64]
    begin: npt.NDArray[np.int64]  # the block that a pass looks at first
    distances: npt.NDArray[np.float64]  # [side][slot][place]: signed squared distances, ascending
    records: npt.NDArray[np.int64]
    rows: npt.NDArray[np.int64]


class Batch(NamedTuple):
    """The seeds of one pass."""

    slots: npt.NDArray[np.int64]
    n_seeds: npt.NDArray[np.int64]
    values: npt.NDArray[np.float64]  # [seed][attribute]
    packed: npt.NDArray[np.int32]  # [pair of attributes][seed], flat: their whole numbers
    halves: npt.NDArray[np.int64]  # half of each squared norm of these


def length_of_near_lists(k: int) -> int:
    """The seed itself, its cell, and some to spare for records that other cells take first."""
    return max(k + k // 4 + 4, FARTHEST)


def allocate_neighbour_lists(n_rows: int, k: int) -> NeighbourLists:
    width = length_of_near_lists(k)
    n_slots = max(min(SLOTS, ROOM // width), 2 * SEEDS)
    shape = (2, n_slots, width)
    return NeighbourLists(
        slot_of=np.full(n_rows, -1, dtype=np.int64),
        row_in=np.full(n_slots, -1, dtype=np.int64),
        is_outer=np.zeros(n_slots, dtype=np.bool_),
        next_slot=np.zeros(1, dtype=np.int64),
        begin=np.zeros(1, dtype=np.int64),
        distances=np.empty(shape),
        records=np.empty(shape, dtype=np.int64),
        rows=np.empty(shape, dtype=np.int64),
    )


def allocate_batch(dimension: int) -> Batch:
    return Batch(
        slots=np.empty(SEEDS, dtype=np.int64),
        n_seeds=np.zeros(1, dtype=np.int64),
        values=np.empty((SEEDS, dimension)),
        packed=np.zeros(n_pairs_of(dimension) * SEEDS, dtype=np.int32),
        halves=np.zeros(SEEDS, dtype=np.int64),
    )


@inner
def length_of(lists, side):
    return FARTHEST if side == FAR else lists.distances.shape[2]


@inner
def list_of(lists, side, slot):
    """A slot's list of one side."""
    width = length_of(lists, side)
    return Nearest(
        lists.distances[side, slot, :width], lists.records[side, slot, :width], lists.rows[side, slot, :width]
    )


@inner
def add_seed(lists, batch, rows, blocks, row, is_outer):
    """Put a row into the batch and give it the oldest slot."""
    seed = batch.n_seeds[0]
    slot = lists.next_slot[0]
    lists.next_slot[0] = (slot + 1) % lists.row_in.shape[0]
    if lists.row_in[slot] >= 0:
        lists.slot_of[lists.row_in[slot]] = -1
    lists.row_in[slot] = row
    lists.slot_of[row] = slot
    lists.is_outer[slot] = is_outer
    for j in range(rows.values.shape[1]):
        batch.values[seed, j] = rows.values[row, j]
    n_pairs = batch.packed.shape[0] // SEEDS
    at = address_of(blocks.place_of[row], n_pairs)
    for pair in range(n_pairs):
        batch.packed[pair * SEEDS + seed] = blocks.points[at + pair * BLOCK]
    batch.halves[seed] = blocks.points[at + n_pairs * BLOCK]
    batch.slots[seed] = slot
    batch.n_seeds[0] = seed + 1
    forget(list_of(lists, NEAR, slot))
    forget(list_of(lists, FAR, slot))
