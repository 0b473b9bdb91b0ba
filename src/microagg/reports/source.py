"""What a report is asked for and written from: tables, finished results, and how much of them may be shown."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from functools import cached_property
from typing import Any

import numpy as np

from microagg._typing import IntArray
from microagg.evaluation.result import RowKind
from microagg.methods.output import Block
from microagg.recipe.choices import AggregateForm
from microagg.recipe.recipe import Recipe
from microagg.reports.disclosure import least_of
from microagg.reports.results import ReportResults
from microagg.schema.schema import Schema
from microagg.tables.frames import Frame

__all__ = ["DESCRIBED", "ReportRequest", "ReportSource", "random_rows"]

DESCRIBED = 100_000
"""Distributions of larger tables are those of a random sample of this size."""


@dataclass(frozen=True)
class ReportRequest:
    """What a report shall be about, and for whom.

    Attributes
    ----------
    released : Frame
    recipe : Recipe
    original : Frame or None
    origins : ndarray or None
        For each released record the place of its original; None if that is not known, or rows are not records.
    statement, manifest : mapping or None
        As the files of a release hold them; None for a table that another tool made.
    blocks : tuple of Block
        Cells of the input records, where they are known.
    files : mapping of name to SHA-256
    internal : bool
        Whether the report is for the data holder only.
    full : bool
        Whether all default measures are taken on all records.
    why_not_aligned : str
        Why `origins` is None, if it is.
    n_in_parts : int or None
        Of a table in parts that does not fit in memory, how many records it has; `released` and `original` are samples.
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
    n_in_parts: int | None = None

    @property
    def schema(self) -> Schema:
        return self.recipe.schema

    @property
    def is_private(self) -> bool:
        """Whether the release is differentially private: then a public report shows nothing of the original."""
        return self.recipe.entry.is_private

    @property
    def rows_are_records(self) -> bool:
        """Whether a row stands for a record."""
        return self.row_kind is RowKind.RECORDS

    @property
    def row_kind(self) -> RowKind:
        return RowKind(self.recipe.rows)

    @property
    def can_guess(self) -> bool:
        """Whether so many records alike mean a chance of one in so many: one record each, neither drawn nor noisy."""
        entry, form = self.recipe.entry, self.recipe.aggregate.form
        changed = entry.is_private or entry.mixes_values or form is AggregateForm.SAMPLED
        return self.recipe.unit is None and not changed

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
        """Released columns that are not attributes of the recipe: of a table of moments, or another tool's own."""
        return tuple(name for name in self.released.names if name not in self.schema.attributes)

    @property
    def partition_blocks(self) -> list[Mapping[str, Any]]:
        """Blocks of the partition that the manifest describes."""
        if self.manifest is None:
            return []
        stages = [stage for stage in self.manifest["stages"] if stage["stage"] == "partition"]
        return [block for stage in stages for block in stage.get("blocks", ())]

    @cached_property
    def described(self) -> tuple[Frame, Frame | None]:
        """The released and the original table, or a random sample of each if they are large."""
        return _sample(self.released), None if self.original is None else _sample(self.original)

    @property
    def n_records(self) -> int:
        """Records of the released table, whether or not all are at hand."""
        return self.released.n_records if self.n_in_parts is None else self.n_in_parts

    @property
    def describes_sample(self) -> bool:
        return self.n_records > self.described[0].n_records


@dataclass(frozen=True)
class ReportSource(ReportRequest):
    """All that a report reads: what was asked for, and the finished results."""

    results: ReportResults = field(kw_only=True)

    @classmethod
    def answer(cls, request: ReportRequest, results: ReportResults) -> ReportSource:
        """The request together with its results."""
        return cls(**{one.name: getattr(request, one.name) for one in fields(request)}, results=results)


def _sample(frame: Frame) -> Frame:
    return frame if frame.n_records <= DESCRIBED else frame.take(random_rows(frame.n_records, DESCRIBED))


def random_rows(n_records: int, wanted: int) -> IntArray:
    """The same records in every report of a table: a report shows nothing that a second one would not."""
    return np.sort(np.random.default_rng(0).choice(n_records, wanted, replace=False))
