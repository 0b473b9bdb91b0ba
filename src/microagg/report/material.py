"""What a report is written from: results of a release or of another tool, and how much of them may be shown."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from microagg.releases.catalogue import method_named
from microagg.releases.private import form_of
from microagg.releases.protected import Block
from microagg.releases.recipe import Recipe
from microagg.report.disclosure import least_of
from microagg.schema.schema import Schema
from microagg.tables.frames import Frame

__all__ = ["COMPARED", "DESCRIBED", "Material", "Sample"]

IntArray = npt.NDArray[np.int64]

DESCRIBED = 100_000
"""Of larger tables distributions are those of a random sample of this size."""
COMPARED = 10_000
"""Of larger tables original and release are compared on about so many records: whole cells, chosen at random."""
_FEWEST, _VALUES = 1_000, 400_000


@dataclass(frozen=True)
class Sample:
    """Records of both tables that are compared.

    Attributes
    ----------
    before, after : Frame
    aligned : bool
        Whether row i of both is the same record.
    is_whole : bool
        False if records were chosen.
    places : ndarray
        Of each compared released record its place in the original, if aligned, else in the release.
    labels : ndarray or None
        The cell of each compared record, in the first block of cells.
    """

    before: Frame
    after: Frame
    aligned: bool
    is_whole: bool
    places: IntArray
    labels: IntArray | None


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

    @property
    def schema(self) -> Schema:
        return self.recipe.schema

    @property
    def is_private(self) -> bool:
        """Whether the release is differentially private: then a public report shows nothing of the original."""
        return method_named(self.recipe.method).is_private

    @property
    def rows_are_records(self) -> bool:
        """Whether values in one row belong to each other."""
        if not self.is_private:
            return True
        return form_of(self.recipe) in method_named(self.recipe.method).private.linked_forms

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
        """On how many records tables are compared at most: fewer if there are many attributes."""
        if self.full:
            return max(self.released.n_records, self.original.n_records if self.original is not None else 0)
        return min(COMPARED, max(_FEWEST, _VALUES // max(len(self.published), 1)))

    @cached_property
    def compared(self) -> Sample:
        """The records on which original and release are compared."""
        assert self.original is not None
        original, released = self.original, self.released
        chosen, labels = self._chosen()
        is_whole = chosen is None
        after = released if chosen is None else released.take(chosen)
        rows = np.arange(released.n_records) if chosen is None else chosen
        if self.origins is None:
            before = original
            if original.n_records > self.n_compared:
                before, is_whole = original.take(_random_rows(original.n_records, self.n_compared)), False
            return Sample(before, after, False, is_whole, rows, None)
        places = self.origins[rows]
        return Sample(original.take(places), after, True, is_whole, places, labels)

    def _chosen(self) -> tuple[IntArray | None, IntArray | None]:
        """Rows of the release to compare (None: all), and their cells."""
        n_records = self.released.n_records
        everything = n_records <= self.n_compared
        if self.origins is None or not self.blocks:
            return (None if everything else _random_rows(n_records, self.n_compared)), None
        labels = self.blocks[0].labels[self.origins]
        if everything:
            return None, labels
        sizes = np.bincount(labels)
        order = np.random.default_rng(0).permutation(len(sizes))
        cells = order[: max(1, int(np.searchsorted(np.cumsum(sizes[order]), self.n_compared, side="right")))]
        wanted = np.zeros(len(sizes), dtype=bool)
        wanted[cells] = True
        rows = np.flatnonzero(wanted[labels])
        return rows, labels[rows]


def _sampled(frame: Frame) -> Frame:
    return frame if frame.n_records <= DESCRIBED else frame.take(_random_rows(frame.n_records, DESCRIBED))


def _random_rows(n_records: int, wanted: int) -> IntArray:
    """The same records in every report of a table: a report shows nothing that a second one would not."""
    return np.sort(np.random.default_rng(0).choice(n_records, wanted, replace=False))
