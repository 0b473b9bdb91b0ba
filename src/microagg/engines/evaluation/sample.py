"""Choose records of a table that does not fit in memory, by a keyed hash of their values.

Whether a record is chosen depends on its values, the seed and how many records there are: not on files, batches or the
order of records. Of a release, whole classes of equal quasi-identifiers are chosen: a chosen class is what it is in the
table. Classes that are so large that one of them would be much of the sample are chosen record by record, each
with its share of them; and so are equal records, which no hash can tell apart: as many of them as is their share.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from microagg._progress import report
from microagg._typing import BoolArray, IntArray
from microagg.engines.shards import HashArray, hash_rows, key_of
from microagg.tables.parts.files import hash_values

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["Chosen", "choose_records", "large_group", "read_up_to"]

Batches = Callable[[], Iterator["pa.Table"]]

_SHARE = 100  # a group is large if so many of its size would fill the sample
_FEWEST = 100
_BITS = 22


@dataclass(frozen=True)
class Chosen:
    """Records that were chosen of a table.

    Attributes
    ----------
    table : Arrow table
        In an order that depends on their values alone.
    n_records : int
        Records of the whole table.
    n_in_part : int
        Large classes of which a part of the records was chosen.
    """

    table: pa.Table = field(repr=False)
    n_records: int
    n_in_part: int = 0


def large_group(wanted: int) -> int:
    """More equal records than this are not chosen together."""
    return max(_FEWEST, wanted // _SHARE)


def read_up_to(batches: Iterator[pa.Table], most: int) -> pa.Table | None:
    """A table of at most so many records; None if it has more."""
    import pyarrow as pa

    kept: list[pa.Table] = []
    n_records = 0
    for batch in batches:
        n_records += batch.num_rows
        if n_records > most:
            return None
        kept.append(batch)
    return pa.concat_tables(kept) if kept else None


def choose_records(
    batches: Batches, wanted: int, seed: int, *, classes: Sequence[str] = (), what: str = "records"
) -> Chosen:
    """Choose about `wanted` records, in two or three passes.

    Parameters
    ----------
    batches : callable
        Reads the table again from its beginning, some records at a time.
    wanted : int
        About so many are chosen; all if there are no more.
    seed : int
    classes : sequence of str
        Attributes whose classes are chosen whole; none chooses records.
    what : str
        What the records are, for messages on progress.
    """
    hasher = _Hasher(tuple(classes), seed)
    counts = {of: _Counts() for of in hasher.kinds}
    n_records = 0
    for batch in batches():
        for of, hashes in hasher.of(batch).items():
            counts[of].add(hashes)
        n_records += batch.num_rows
        report(f"choosing {what}: {n_records:,} seen", 0.0)
    if n_records <= wanted:
        return Chosen(_put_together(list(batches())), n_records)
    most = large_group(wanted)
    large = {of: _Large.empty() for of in hasher.kinds}
    if any(count.has_above(most) for count in counts.values()):
        for batch in batches():
            for of, hashes in hasher.of(batch).items():
                large[of].add(hashes[counts[of].above(hashes, most)])
        large = {of: one.above(most) for of, one in large.items()}
    kept, copies = [], _Copies(large["row"])
    share = wanted / n_records
    n_seen = 0
    for batch in batches():
        keys = hasher.of(batch)
        is_equal = large["row"].has(keys["row"])
        is_chosen = _below(keys["row"], share)
        if classes:
            in_large = large["class"].has(keys["class"])
            is_chosen = np.where(in_large, is_chosen, _below(keys["class"], share))
        kept.append(_filtered(batch, is_chosen & ~is_equal))
        copies.add(batch, keys["row"], is_equal)
        n_seen += batch.num_rows
        report(f"choosing {what}", n_seen / n_records)
    table = _put_together([*kept, *copies.tables(share)])
    order = np.argsort(hasher.of(table)["row"], kind="stable")
    return Chosen(table.take(order), n_records, len(large["class"].hashes) if classes else 0)


def _put_together(tables: Sequence[pa.Table]) -> pa.Table:
    import pyarrow as pa

    return pa.concat_tables(tables, promote_options="permissive")


def _filtered(table: pa.Table, mask: BoolArray) -> pa.Table:
    import pyarrow as pa

    return table.filter(pa.array(mask))


def _below(hashes: HashArray, share: float) -> BoolArray:
    """A share of all hashes, and of all records with different ones."""
    chosen: BoolArray = hashes < np.uint64(min(int(share * 2.0**64), 2**64 - 1))
    return chosen


class _Hasher:
    """Hashes of whole records and of their classes, each with a key of its own."""

    def __init__(self, classes: tuple[str, ...], seed: int) -> None:
        self.classes = classes
        secret = seed.to_bytes(max(8, -(-seed.bit_length() // 8)), "little")
        self.keys = {of: key_of(secret, "evaluation", of) for of in ("row", "class")}

    @property
    def kinds(self) -> tuple[str, ...]:
        return ("row", "class") if self.classes else ("row",)

    def of(self, table: pa.Table) -> dict[str, HashArray]:
        columns = {name: hash_values(table.column(name)) for name in sorted(table.column_names)}
        found = {"row": hash_rows(list(columns.values()), table.num_rows, self.keys["row"])}
        if self.classes:
            some = [columns[name] for name in sorted(self.classes)]
            found["class"] = hash_rows(some, table.num_rows, self.keys["class"])
        return found


class _Counts:
    """How many records have hashes that begin alike: at least as many as those that are equal."""

    def __init__(self) -> None:
        self._shift = np.uint64(64 - _BITS)
        self._counts = np.zeros(1 << _BITS, dtype=np.int64)

    def add(self, hashes: HashArray) -> None:
        found, counts = np.unique(hashes >> self._shift, return_counts=True)
        self._counts[found.astype(np.int64)] += counts

    def has_above(self, most: int) -> bool:
        return bool((self._counts > most).any())

    def above(self, hashes: HashArray, most: int) -> BoolArray:
        above: BoolArray = self._counts[(hashes >> self._shift).astype(np.int64)] > most
        return above


@dataclass
class _Large:
    """Hashes that many records have, sorted, and how many have each."""

    hashes: HashArray
    counts: IntArray

    @classmethod
    def empty(cls) -> _Large:
        return cls(np.empty(0, dtype=np.uint64), np.empty(0, dtype=np.int64))

    def add(self, hashes: HashArray) -> None:
        found, counts = np.unique(hashes, return_counts=True)
        self.hashes, places = np.unique(np.concatenate([self.hashes, found]), return_inverse=True)
        self.counts = np.bincount(places, np.concatenate([self.counts, counts])).astype(np.int64)

    def above(self, most: int) -> _Large:
        return _Large(self.hashes[self.counts > most], self.counts[self.counts > most])

    def has(self, hashes: HashArray) -> BoolArray:
        return np.isin(hashes, self.hashes) if len(self.hashes) else np.zeros(len(hashes), dtype=bool)


class _Copies:
    """Records that are equal in all columns: one of each is kept, to be repeated."""

    def __init__(self, large: _Large) -> None:
        self.large = large
        self._kept: dict[int, pa.Table] = {}

    def add(self, batch: pa.Table, hashes: HashArray, is_equal: BoolArray) -> None:
        rows = np.flatnonzero(is_equal)
        found, first = np.unique(hashes[rows], return_index=True)
        for one, place in zip(found.tolist(), rows[first].tolist(), strict=True):
            if one not in self._kept:
                self._kept[one] = batch.slice(place, 1)

    def tables(self, share: float) -> Iterator[pa.Table]:
        """As many copies of each as is their share; what is left over one decides by the record's hash."""
        for one, count in zip(self.large.hashes.tolist(), self.large.counts.tolist(), strict=True):
            n_copies = int(share * count + one / 2.0**64)
            yield self._kept[one].take(np.zeros(n_copies, dtype=np.int64))
