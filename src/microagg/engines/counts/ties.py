"""Which records of a value that lies across the border of runs are on which side: those with the smallest numbers.

Equal values must be told apart by something. On one machine that is the place of a record in the table; in pieces there
is no such place. Here it is a number of 64 bits that a key and everything that is published of the record decide. The
runs of a border take few records of one value, so the few smallest and largest numbers of such values are all that has
to be known of them. Records that have the same number are alike in all columns: which of them goes where makes no
difference to what is published, only how many do.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from microagg._typing import BoolArray, IntArray
from microagg.engines.counts.passes import Passes, files_changed
from microagg.engines.counts.ranked import RankedAttribute
from microagg.engines.counts.tally import records_that_stay, strata_texts
from microagg.engines.planning.survey import column_of
from microagg.engines.shards import HashArray, hash_rows
from microagg.recipe.recipe import Recipe
from microagg.tables.parts.files import hash_values

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["Borders", "FindBorders", "find_borders", "numbers_of_rows", "staying_records"]

_SETTLED_AT = 1_000_000


def numbers_of_rows(table: pa.Table, key: int) -> HashArray:
    """A number for each row, from the key and its values in all columns."""
    names = sorted(table.column_names)
    return hash_rows([hash_values(table.column(name)) for name in names], table.num_rows, key)


def staying_records(table: pa.Table, recipe: Recipe) -> pa.Table:
    """The records of a batch that take part."""
    import pyarrow as pa

    stays = records_that_stay(table, recipe)
    return table if stays is None else table.filter(pa.array(stays))


@dataclass(frozen=True)
class Borders:
    """Up to which number the records of split values are on the lower, and from which on the upper side.

    Attributes
    ----------
    low, high : ndarray of uint64
        The last number that is on the lower side, and the first that is on the upper.
    low_copies, high_copies : ndarray of int64
        How many of the records with that very number are.
    """

    low: HashArray
    low_copies: IntArray
    high: HashArray
    high_copies: IntArray

    def sides(self, split: IntArray, numbers: HashArray) -> tuple[BoolArray, BoolArray]:
        """Which records publish what the first ones do, and which what the last ones do.

        Parameters
        ----------
        split : ndarray of int64
            The place of each record's value among those that are split. All records that have one of them and the same
            number must be there.
        numbers : ndarray of uint64
        """
        order = np.lexsort((numbers, split))
        new = np.ones(len(order), dtype=bool)
        new[1:] = (split[order][1:] != split[order][:-1]) | (numbers[order][1:] != numbers[order][:-1])
        firsts = np.flatnonzero(new)
        sizes = np.diff(np.append(firsts, len(order)))
        copy, copies = np.empty(len(order), dtype=np.int64), np.empty(len(order), dtype=np.int64)
        copy[order] = np.arange(len(order)) - np.repeat(firsts, sizes)
        copies[order] = np.repeat(sizes, sizes)
        low, high = self.low[split], self.high[split]
        is_low = (numbers < low) | ((numbers == low) & (copy < self.low_copies[split]))
        is_high = (numbers > high) | ((numbers == high) & (copy >= copies - self.high_copies[split]))
        return is_low, is_high


@dataclass
class Smallest:
    """The smallest numbers of each of several values, as many as a limit says.

    Attributes
    ----------
    limits : ndarray of int64
    """

    limits: IntArray
    places: list[IntArray] = field(default_factory=list)
    numbers: list[HashArray] = field(default_factory=list)
    n_waiting: int = 0

    def add(self, places: IntArray, numbers: HashArray) -> None:
        self.places.append(places)
        self.numbers.append(numbers)
        self.n_waiting += len(places)
        if self.n_waiting > _SETTLED_AT:
            self.settle()
            self.n_waiting = 0

    def settle(self) -> tuple[IntArray, HashArray]:
        places = np.concatenate([np.empty(0, dtype=np.int64), *self.places])
        numbers = np.concatenate([np.empty(0, dtype=np.uint64), *self.numbers])
        order = np.lexsort((numbers, places))
        places, numbers = places[order], numbers[order]
        rank = np.arange(len(places)) - np.searchsorted(places, places)
        kept = rank < self.limits[places]
        self.places, self.numbers = [places[kept]], [numbers[kept]]
        return self.places[0], self.numbers[0]

    def last(self) -> tuple[HashArray, IntArray]:
        """The largest of the kept numbers of each value, and how often it was kept; 0 and 0 where none is wanted.

        Raises
        ------
        InputError
            If there are fewer than the limit: the files changed.
        """
        places, numbers = self.settle()
        found = np.bincount(places, minlength=len(self.limits))
        if (found != self.limits).any():
            raise files_changed()
        last = np.zeros(len(self.limits), dtype=np.uint64)
        last[places] = numbers  # ascending: the last of several assignments stays
        copies = np.bincount(places[numbers == last[places]], minlength=len(self.limits))
        return last, copies.astype(np.int64)


@dataclass(frozen=True)
class FindBorders:
    """The task of a second pass: the smallest and largest numbers of the records of split values, of one piece."""

    recipe: Recipe
    attributes: tuple[RankedAttribute, ...]
    key: int

    def __call__(self, batches: Iterator[pa.Table]) -> list[tuple[IntArray, HashArray]]:
        ends = _ends_of(self.attributes)
        for batch in batches:
            table = staying_records(batch, self.recipe)
            if not table.num_rows:
                continue
            numbers, strata = numbers_of_rows(table, self.key), strata_texts(table, self.recipe)
            for attribute, (low, high) in zip(self.attributes, ends, strict=True):
                if not len(attribute.split):
                    continue
                split = attribute.split_of(attribute.segments_of(column_of(table, attribute.name), strata))
                rows = np.flatnonzero(split >= 0)
                low.add(split[rows], numbers[rows])
                high.add(split[rows], ~numbers[rows])
        return [one.settle() for pair in ends for one in pair]


def find_borders(passes: Passes, recipe: Recipe, attributes: Sequence[RankedAttribute], key: int) -> list[Borders]:
    """One more pass, if any value lies across the border of runs: where its records part."""
    ends = _ends_of(attributes)
    if any(len(one.split) for one in attributes):
        for found in passes.gather(FindBorders(recipe, tuple(attributes), key)):
            for total, (places, numbers) in zip([one for pair in ends for one in pair], found, strict=True):
                total.add(places, numbers)
    borders = []
    for low, high in ends:
        (last, copies), (first, of_first) = low.last(), high.last()
        borders.append(Borders(last, copies, ~first, of_first))
    return borders


def _ends_of(attributes: Sequence[RankedAttribute]) -> list[tuple[Smallest, Smallest]]:
    return [(Smallest(one.n_low), Smallest(one.n_high)) for one in attributes]
