"""The records of a table in pieces as the strict private methods ask for them: counts, pass by pass."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from microagg._typing import FloatArray, IntArray
from microagg.engines.counts.passes import Passes, files_changed, gather_merged
from microagg.engines.planning.survey import column_of
from microagg.private.public_column import PublicColumn
from microagg.private.public_values import values_as_numbers
from microagg.private.strict.records import Records
from microagg.private.strict.scales import Scale
from microagg.schema.attribute import Kind
from microagg.schema.encode import ranks_of
from microagg.tables.frames import Column

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["CountedRecords", "PointsOf"]


@dataclass(frozen=True)
class PointsOf:
    """How the records of a batch become points of public scales: each by itself, as on one machine.

    Attributes
    ----------
    columns : tuple of PublicColumn
        What the whole table's are; their values are not looked at.
    scales : tuple of Scale
    formats : tuple of str
        Display formats that files of statistics packages declare.
    """

    columns: tuple[PublicColumn, ...]
    scales: tuple[Scale, ...]
    formats: tuple[str, ...]

    def __call__(self, table: pa.Table) -> list[IntArray]:
        return [
            scale.points_of(_values_on(column_of(table, column.name), column, stored_format))
            for column, scale, stored_format in zip(self.columns, self.scales, self.formats, strict=True)
        ]


def _values_on(column: Column, known: PublicColumn, stored_format: str) -> FloatArray:
    """Values of some records on the public scale of the whole column."""
    if column.missing.any():
        raise files_changed()
    if known.kind is Kind.NUMERIC:
        return np.clip(values_as_numbers(column, known.type, stored_format), known.low, known.high)
    codes, found = column.encoded
    if known.kind is Kind.ORDINAL:
        return ranks_of(column, codes, found, known.labels)
    allowed = [known.labels[code] for code in known.domain]
    places = ranks_of(column, codes, found, allowed).astype(np.int64)
    return np.asarray(known.domain, dtype=np.float64)[places]


@dataclass
class CountTally:
    """Counts of records, one array for each question, and of how many records they are."""

    counts: list[IntArray]
    n_records: int = 0

    def merge(self, other: CountTally) -> None:
        self.counts = [one + more for one, more in zip(self.counts, other.counts, strict=True)]
        self.n_records += other.n_records


@dataclass(frozen=True)
class CountSameSides:
    """The task of a pass: for each pair of attributes, how many records lie on the same side of both cuts."""

    points_of: PointsOf
    attributes: tuple[int, ...]
    cuts: tuple[int, ...]

    def __call__(self, batches: Iterator[pa.Table]) -> CountTally:
        n_pairs = len(self.cuts) * (len(self.cuts) - 1) // 2
        tally = CountTally([np.zeros(n_pairs, dtype=np.int64)])
        for table in batches:
            if not table.num_rows:
                continue
            counted = Records(self.points_of(table)).count_same_sides(self.attributes, self.cuts)
            tally.merge(CountTally([counted], table.num_rows))
        return tally


@dataclass(frozen=True)
class CountTables:
    """The task of a pass: the tables of all pairs of attributes, in groups of points."""

    points_of: PointsOf
    edges: tuple[IntArray, ...]
    groups: tuple[IntArray, ...]

    @property
    def sizes(self) -> list[int]:
        return [int(one.max()) + 1 for one in self.groups]

    @property
    def pairs(self) -> list[tuple[int, int]]:
        return list(itertools.combinations(range(len(self.groups)), 2))

    def __call__(self, batches: Iterator[pa.Table]) -> CountTally:
        sizes = self.sizes
        tally = CountTally([np.zeros((sizes[one], sizes[other]), dtype=np.int64) for one, other in self.pairs])
        for table in batches:
            if not table.num_rows:
                continue
            records = Records(self.points_of(table))
            records.group(self.edges, self.groups)
            counted = [records.count_table(one, other, (sizes[one], sizes[other])) for one, other in self.pairs]
            tally.merge(CountTally(counted, table.num_rows))
        return tally


@dataclass
class _PointCounts:
    """The points of one attribute that records have, ascending, and how many records lie up to each."""

    points: IntArray
    up_to: IntArray = field(repr=False)

    @classmethod
    def of(cls, points: IntArray, counts: IntArray) -> _PointCounts:
        found, places = np.unique(points, return_inverse=True)
        totals = np.zeros(len(found), dtype=np.int64)
        np.add.at(totals, places, counts)
        return cls(found, np.concatenate([[0], np.cumsum(totals)]).astype(np.int64))


class CountedRecords(Records):
    """:class:`~microagg.private.strict.records.Records` that lie in pieces elsewhere: the same answers.

    Counts of one attribute come from the frequencies of the first pass; those of pairs from one pass for all of them,
    once cuts or groups are known.

    Parameters
    ----------
    passes : Passes
    points_of : PointsOf
    frequencies : sequence of (values, counts)
        For each attribute, values on its public scale and how many records have each.
    """

    def __init__(self, passes: Passes, points_of: PointsOf, frequencies: Sequence[tuple[FloatArray, IntArray]]) -> None:
        super().__init__([])
        self._passes, self._points_of = passes, points_of
        self._counted = [
            _PointCounts.of(scale.points_of(values), counts)
            for scale, (values, counts) in zip(points_of.scales, frequencies, strict=True)
        ]
        self._n_records = int(self._counted[0].up_to[-1])
        self._by_group: CountTables | None = None

    def count_runs(self, attribute: int, edges: IntArray) -> IntArray:
        """As of records."""
        counted = self._counted[attribute]
        return np.diff(counted.up_to[np.searchsorted(counted.points, edges)]).astype(np.int64)

    def count_points(self, attribute: int, size: int) -> IntArray:
        """As of records."""
        counted = self._counted[attribute]
        found = np.zeros(size, dtype=np.int64)
        found[counted.points] = np.diff(counted.up_to)
        return found

    def count_same_sides(self, attributes: Sequence[int], cuts: Sequence[int]) -> IntArray:
        """As of records, by one pass."""
        task = CountSameSides(self._points_of, tuple(attributes), tuple(int(cut) for cut in cuts))
        return self._checked(gather_merged(self._passes, task))[0]

    def group(self, edges: Sequence[IntArray], group_of_leaf: Sequence[IntArray]) -> None:
        """As of records; nothing is read yet."""
        self._by_group = CountTables(self._points_of, tuple(edges), tuple(group_of_leaf))
        self._tables.clear()

    def count_table(self, one: int, other: int, shape: tuple[int, int]) -> IntArray:
        """As of records; the first time by one pass, for the tables of all pairs."""
        assert self._by_group is not None
        if not self._tables:
            tables = self._checked(gather_merged(self._passes, self._by_group))
            self._tables = dict(zip(self._by_group.pairs, tables, strict=True))
        return self._tables[one, other].reshape(shape).copy()

    def _checked(self, tally: CountTally) -> list[IntArray]:
        if tally.n_records != self._n_records:
            raise files_changed()
        return tally.counts
