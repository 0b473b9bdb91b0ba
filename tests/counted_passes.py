"""Tables in memory that are passed over in pieces, as an engine does with files."""

from __future__ import annotations

import itertools
import pickle
from collections import Counter
from collections.abc import Iterator

import numpy as np
import pyarrow as pa

from microagg._notebook.values import shown_values
from microagg.engines.counts.ranking import Ranking

LAYOUTS = ((1, 10**6, None), (3, 97, 1), (7, 10**6, 2), (2, 1, 3))
"""Pieces, records of a batch, and a seed that changes the order of records."""


class PiecesInMemory:
    """A table cut into pieces and batches; everything that goes to a piece and comes back is pickled."""

    def __init__(self, table: pa.Table, n_pieces: int = 1, batch: int = 10**6, seed: int | None = None) -> None:
        if seed is not None:
            table = table.take(np.random.default_rng(seed).permutation(table.num_rows))
        ends = np.linspace(0, table.num_rows, n_pieces + 1).astype(int)
        self.pieces = [
            [table.slice(start, min(batch, stop - start)) for start in range(first, stop, batch)]
            for first, stop in itertools.pairwise(ends)
        ]
        self.n_passes = 0

    def gather(self, task) -> Iterator:
        self.n_passes += 1
        for piece in reversed(self.pieces):
            yield pickle.loads(pickle.dumps(pickle.loads(pickle.dumps(task))(iter(piece))))


def parts_of(passes: PiecesInMemory, ranking: Ranking, n_parts: int = 3) -> list[pa.Table]:
    """The parts of a ranked release, as an engine would write them."""
    ranking = pickle.loads(pickle.dumps(ranking))
    gathered: list[list[pa.Table]] = [[] for _ in range(n_parts)]
    for batch in (batch for piece in passes.pieces for batch in piece):
        part = ranking.part_of(batch, n_parts)
        for number, tables in enumerate(gathered):
            tables.append(batch.filter(pa.array(part == number)))
    joined = [pa.concat_tables(tables).unify_dictionaries() for tables in gathered]
    return [ranking.release_part(table, number) for number, table in enumerate(joined) if table.num_rows]


def columns_of(table: pa.Table) -> dict[str, Counter]:
    """The values of each column, as often as they occur, to the last digit."""
    return {name: Counter(map(repr, shown_values(table[name]))) for name in table.column_names}


def rows_of(table: pa.Table) -> Counter:
    """The rows, as often as they occur, to the last digit."""
    return Counter(map(repr, zip(*map(shown_values, table.columns), strict=True)))
