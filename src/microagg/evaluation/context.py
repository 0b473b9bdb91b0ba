"""All that measures may ask of an evaluation: the two tables, what is known of them, and work done once for many."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, TypeVar

import numpy as np

from microagg._typing import IntArray
from microagg.errors import TableError
from microagg.evaluation.alignment import Rows
from microagg.evaluation.definition import Need
from microagg.evaluation.pairs import Pair, combinations, pair
from microagg.schema.attribute import Kind, Role
from microagg.schema.encode import EncodedColumn, encode
from microagg.schema.schema import Schema
from microagg.tables.frames import Frame
from microagg.tables.phrases import columns_phrase

__all__ = ["Context"]

T = TypeVar("T")


@dataclass
class Context:
    """What is being judged.

    Attributes
    ----------
    before, after : Frame
        The original and the released table.
    schema : Schema
    pairs : tuple of Pair
        The quasi-identifiers, each measured on one scale in both tables.
    rows : Rows
        Which original record each released one came from, if that is known, and whether rows are records at all. A
        release may lack records of the original.
    holdout : Frame or None
        Records that had no part in the release.
    options : mapping
        ``lambda_``, ``target``, ``model`` ... as the caller gave them; formulas name them.
    per_record : bool
        Whether values for single records were asked for.
    seed : int
    """

    before: Frame
    after: Frame
    schema: Schema
    pairs: tuple[Pair, ...]
    rows: Rows
    holdout: Frame | None = None
    options: Mapping[str, Any] = field(default_factory=dict)
    per_record: bool = False
    seed: int = 0
    _done: dict[str, Any] = field(default_factory=dict, repr=False)

    def cached(self, what: str, compute: Callable[[], T]) -> T:
        """Work that several measures share: done when it is first asked for, under a name of its own."""
        if what not in self._done:
            self._done[what] = compute()
        found: T = self._done[what]
        return found

    def rng(self, what: str) -> np.random.Generator:
        """Chance for one purpose; measures do not disturb each other's draws."""
        return np.random.default_rng([self.seed, zlib.crc32(what.encode())])

    @property
    def aligned_rows(self) -> IntArray:
        """For each released record its place in the original, for measures that need it."""
        assert self.rows.origins is not None, "a measure that uses aligned rows must name Need.ROWS"
        return self.rows.origins

    @cached_property
    def cells(self) -> IntArray:
        """The cells of the released table, 0 to n_cells - 1: records with equal released quasi-identifiers."""
        return combinations(self.after, self.schema.quasi_identifiers)

    @cached_property
    def cell_sizes(self) -> IntArray:
        return np.bincount(self.cells).astype(np.int64)

    @property
    def largest_cell(self) -> float:
        return float(self.cell_sizes.max(initial=0))

    @cached_property
    def numbers(self) -> tuple[Pair, ...]:
        """Numeric and ordinal quasi-identifiers."""
        return tuple(one for one in self.pairs if one.joint.kind is not Kind.NOMINAL)

    @cached_property
    def categories(self) -> tuple[Pair, ...]:
        """Nominal quasi-identifiers."""
        return tuple(one for one in self.pairs if one.joint.kind is Kind.NOMINAL)

    @cached_property
    def published(self) -> tuple[Pair, ...]:
        """All attributes with a kind that both tables have: the quasi-identifiers, then the others."""
        others = self.schema.of_role(Role.CONFIDENTIAL, Role.NON_CONFIDENTIAL)
        shared = [name for name in others if name in self.before.names and name in self.after.names]
        with_kind = [name for name in shared if self.schema[name].kind is not None]
        # One column that is published as it is, and cannot be measured, does not keep the others from being measured.
        found = []
        for name in with_kind:
            with suppress(TableError):
                reads = bool(self.options.get("bounds_from_data"))
                found.append(pair(self.before, self.after, name, self.schema[name], bounds_from_data=reads))
        return (*self.pairs, *found)

    @cached_property
    def confidential(self) -> tuple[EncodedColumn, ...]:
        """The released confidential attributes that can be measured: those with a kind that fits them."""
        return tuple(one for one in self._measured_or_not if not isinstance(one, TableError))

    @cached_property
    def _measured_or_not(self) -> tuple[EncodedColumn | TableError, ...]:
        names = [name for name in self.schema.of_role(Role.CONFIDENTIAL) if name in self.after.names]
        with_kind = [name for name in names if self.schema[name].kind is not None]
        found: list[EncodedColumn | TableError] = []
        for name in with_kind:
            try:
                found.append(encode(self.after.column(name), self.schema[name]))
            except TableError as error:
                found.append(error)
        return tuple(found)

    @cached_property
    def unmeasured(self) -> str:
        """A note on the confidential attributes that have no kind, or cannot be measured; empty if all can."""
        names = [name for name in self.schema.of_role(Role.CONFIDENTIAL) if name in self.after.names]
        without = [name for name in names if self.schema[name].kind is None]
        notes = [str(one) for one in self._measured_or_not if isinstance(one, TableError)]
        if without:
            notes.insert(0, f"without {columns_phrase(without)}: no kind is declared (one of {', '.join(Kind)})")
        return "; ".join(notes)

    def lacks(self, need: Need) -> str:
        """What a measure with this need is to say; empty if the need is met."""
        if need is Need.ROWS:
            return self.rows.why_not if self.rows.origins is None else ""
        if need is Need.CONFIDENTIAL or (need is Need.CELLS and not self.confidential):
            if self.confidential:
                return ""
            return f"no confidential attribute to measure{f', {self.unmeasured}' if self.unmeasured else ''}"
        if need is Need.CELLS:
            return self._no_cells()
        met = {
            Need.NUMBERS: bool(self.numbers),
            Need.CATEGORIES: bool(self.categories),
            Need.HOLDOUT: self.holdout is not None,
            Need.TARGET: self.options.get("target") is not None,
            Need.WEIGHTS: self.options.get("sampling_weight") is not None,
        }
        return "" if met[need] else f"needs {need}"

    def _no_cells(self) -> str:
        """Why there are no cells to measure confidential attributes in; empty if there are."""
        alone = int((self.cell_sizes == 1).sum())
        if alone > len(self.cells) / 2:
            return (
                f"no cells can be recognised in the release: {alone} of {len(self.cells)} records have a combination "
                "of "
                "quasi-identifiers of their own"
            )
        return ""
