"""What a report is written from: results of a release or of another tool, and how much of them may be shown."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from microagg._typing import IntArray
from microagg.errors import TableError
from microagg.evaluation.alignment import RowKind, Rows, rows_of_kind
from microagg.evaluation.pairs import combinations
from microagg.methods.catalogue import method_named
from microagg.methods.output import Block
from microagg.recipe.recipe import Recipe
from microagg.report.disclosure import least_of
from microagg.schema.schema import Schema
from microagg.tables.frames import Frame

__all__ = ["COMPARED", "DESCRIBED", "Material", "Sample", "whole_groups"]


DESCRIBED = 100_000
"""Of larger tables distributions are those of a random sample of this size."""
COMPARED = 100_000
"""Of larger tables costly measures are taken on about so many records: whole classes, chosen at random."""
_FEWEST, _VALUES = 1_000, 2_000_000


@dataclass(frozen=True)
class Sample:
    """Records of both tables that are compared.

    Attributes
    ----------
    before, after : Frame
    rows : Rows
        What is known of the released ones.
    is_whole : bool
        False if records were chosen.
    places : ndarray
        Of each compared released record its place in the original, if that is known, else in the release.
    """

    before: Frame
    after: Frame
    rows: Rows
    is_whole: bool
    places: IntArray


@dataclass(frozen=True)
class Material:
    """All that a report may read.

    Attributes
    ----------
    released : Frame
    recipe : Recipe
    original : Frame or None
    origins : ndarray or None
        For each released record the place of its original; None if that is not known, or rows are no records.
    statement, manifest : mapping or None
        As the files of a release hold them; None of a table that another tool made.
    blocks : tuple of Block
        Cells of the input records, where they are known.
    files : mapping of name to SHA-256
    internal : bool
        Whether the report is for the data holder only.
    full : bool
        Whether all default measures are taken on all records.
    why_not_aligned : str
        Why `origins` is None, if it is.
    """

    released: Frame
    recipe: Recipe
    original: Frame | None = None
    origins: IntArray | None = field(default=None, repr=False)
    statement: Mapping[str, Any] | None = None
    manifest: Mapping[str, Any] | None = None
    blocks: tuple[Block, ...] = ()
    files: Mapping[str, str] = field(default_factory=dict)
    internal: bool = False
    full: bool = False
    why_not_aligned: str = ""

    @property
    def schema(self) -> Schema:
        return self.recipe.schema

    @property
    def is_private(self) -> bool:
        """Whether the release is differentially private: then a public report shows nothing of the original."""
        return method_named(self.recipe.method).is_private

    @property
    def rows_are_records(self) -> bool:
        """Whether a row stands for a record."""
        return self.row_kind is RowKind.RECORDS

    @property
    def row_kind(self) -> RowKind:
        return RowKind(self.recipe.rows)

    @property
    def may_compare(self) -> bool:
        """Whether anything that is computed from the original may be shown."""
        return self.original is not None and (self.internal or not self.is_private)

    @property
    def least(self) -> int:
        """The fewest records that a figure may be about."""
        return 1 if self.internal else least_of(self.recipe.k)

    @property
    def published(self) -> tuple[str, ...]:
        """Declared attributes that the released table has."""
        return tuple(name for name in self.released.names if name in self.schema.published)

    @property
    def undeclared(self) -> tuple[str, ...]:
        """Released columns that are no attributes of the recipe: of a table of moments, or another tool's own."""
        return tuple(name for name in self.released.names if name not in self.schema.attributes)

    @cached_property
    def described(self) -> tuple[Frame, Frame | None]:
        """The released and the original table, or a random sample of each if they are large."""
        return _sampled(self.released), None if self.original is None else _sampled(self.original)

    @property
    def describes_sample(self) -> bool:
        return self.released.n_records > DESCRIBED

    @property
    def n_compared(self) -> int:
        """On how many records costly measures are taken at most: fewer if there are many attributes."""
        if self.full:
            return max(self.released.n_records, self.original.n_records if self.original is not None else 0)
        return min(COMPARED, max(_FEWEST, _VALUES // max(len(self.published), 1)))

    @cached_property
    def whole(self) -> Sample:
        """All records of both tables."""
        assert self.original is not None
        everything = np.arange(self.released.n_records)
        before, rows = self.original, self._rows(everything)
        return Sample(before, self.released, rows, True, everything if self.origins is None else self.origins)

    @cached_property
    def compared(self) -> Sample:
        """The records on which costly measures are taken."""
        assert self.original is not None
        if max(self.released.n_records, self.original.n_records) <= self.n_compared:
            return self.whole
        before = self.original
        chosen = whole_groups(self.classes, self.n_compared)
        if self.origins is not None:
            places = self.origins[chosen]
            rows = Rows(np.arange(len(chosen), dtype=np.int64))
            # Records that were left out are records of the original, too: as large a share of them.
            left_out = np.flatnonzero(np.bincount(self.origins, minlength=before.n_records) == 0)
            others = left_out[_random_rows(len(left_out), len(left_out) * len(chosen) // len(self.origins))]
            beside = before.take(np.concatenate([places, others]))
            return Sample(beside, self.released.take(chosen), rows, False, places)
        if before.n_records > self.n_compared:
            before = before.take(_random_rows(before.n_records, self.n_compared))
        return Sample(before, self.released.take(chosen), self._rows(chosen), False, chosen)

    def _rows(self, chosen: IntArray) -> Rows:
        if not self.rows_are_records:
            return rows_of_kind(self.row_kind)
        if self.origins is None:
            return Rows(None, self.why_not_aligned or Rows().why_not)
        return Rows(self.origins[chosen])

    @cached_property
    def classes(self) -> IntArray:
        """Released rows with equal quasi-identifiers, by label; every row its own if they cannot be compared."""
        names = self.schema.quasi_identifiers
        if any(name not in self.released.names for name in names):
            return np.arange(self.released.n_records)
        try:
            return combinations(self.released, names)
        except TableError:  # the section on measures says which column cannot be compared
            return np.arange(self.released.n_records)


def whole_groups(labels: IntArray, wanted: int) -> IntArray:
    """Rows of whole groups, chosen at random, until `wanted` are reached; all if there are no more, at least one group.

    Examples
    --------
    >>> whole_groups(np.array([0, 1, 0, 1, 2, 2]), 4).tolist()
    [0, 2, 4, 5]
    """
    sizes = np.bincount(labels)
    if len(labels) <= wanted:
        return np.arange(len(labels))
    order = np.random.default_rng(0).permutation(len(sizes))
    groups = order[: max(1, int(np.searchsorted(np.cumsum(sizes[order]), wanted, side="right")))]
    chosen = np.zeros(len(sizes), dtype=bool)
    chosen[groups] = True
    return np.flatnonzero(chosen[labels])


def _sampled(frame: Frame) -> Frame:
    return frame if frame.n_records <= DESCRIBED else frame.take(_random_rows(frame.n_records, DESCRIBED))


def _random_rows(n_records: int, wanted: int) -> IntArray:
    """The same records in every report of a table: a report shows nothing that a second one would not."""
    return np.sort(np.random.default_rng(0).choice(n_records, wanted, replace=False))
