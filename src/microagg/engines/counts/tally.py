"""The first pass: how often each value of each protected attribute occurs.

Values are counted as they are stored, so that whatever is measured of them later (dates, integers beyond 2^53, text) is
measured as on one machine. Everything is a whole number: no order of records, batches or merges changes it.

Memory: one row for each distinct value of each attribute that is counted, some 24 bytes for a number.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from microagg._typing import BoolArray, IntArray
from microagg.engines.batches import TextAndOrder
from microagg.engines.counts.frequencies import Frequencies
from microagg.engines.counts.passes import Passes, gather_merged
from microagg.engines.planning.survey import column_of
from microagg.errors import InputError, TableError
from microagg.privacy.verify import finding_out_of_type
from microagg.recipe.choices import MissingPolicy
from microagg.recipe.recipe import Recipe
from microagg.schema.attribute import Attribute, Kind
from microagg.schema.taxonomy import category_text
from microagg.tables.columns import as_one_array
from microagg.tables.frames import Column
from microagg.tables.type_ranges import values_out_of_range

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["CountValues", "FrequencyTally", "count_values", "records_that_stay", "strata_texts"]

_SETTLED_AT = 1_000_000


@dataclass
class ValueCounts:
    """How often each value of one attribute occurs so far, in each stratum.

    Attributes
    ----------
    attribute : Attribute
    name : str
    declared : Arrow field or None
        None before the first batch.
    ordered : tuple or None
        Categories in the order of the column's type; None if it has none, or not the same in all batches.
    """

    name: str
    attribute: Attribute
    n_strata: int = 0
    declared: Any = None
    ordered: tuple[Any, ...] | None = None
    is_mixed: bool = False
    tables: list[pa.Table] = field(default_factory=list)
    n_waiting: int = 0
    n_settled: int = 0

    def add(self, column: Column, kind: pa.Field, strata: Sequence[pa.Array], stays: BoolArray | None) -> None:
        """Count one batch; `stays` says which records take part, None that all do."""
        import pyarrow as pa
        import pyarrow.compute as pc

        self._meet(kind, column.ordered_categories)
        values = column.values
        if pa.types.is_floating(values.type):
            values = pc.add(values, pa.scalar(0.0, values.type))  # -0.0 is 0.0
        ones = np.ones(len(values), dtype=np.int64)
        staying = ones if stays is None else stays.astype(np.int64)
        columns = {"v": values, **{f"s{place}": one for place, one in enumerate(strata)}, "n": ones, "m": staying}
        try:
            counted = self._grouped(pa.table(columns))
        except (pa.ArrowNotImplementedError, pa.ArrowInvalid):
            reason = (
                f"is declared numeric but holds {values.type} values"
                if self.attribute.kind is Kind.NUMERIC
                else f"holds {values.type} values, which cannot be compared as categories"
            )
            raise TableError(f"column {self.name!r} {reason}") from None
        self._take(counted)

    def merge(self, other: ValueCounts) -> None:
        if other.declared is None:
            return
        self._meet(other.declared, other.ordered)
        self.is_mixed |= other.is_mixed
        for table in other.tables:
            self._take(table)

    def _meet(self, kind: pa.Field, ordered: tuple[Any, ...] | None) -> None:
        """Take in what a batch declares of the column; the same for any order of batches."""
        if self.declared is None:
            self.declared, self.ordered = kind, ordered
            return
        if kind.type != self.declared.type:
            found = " and ".join(sorted([str(kind.type), str(self.declared.type)]))
            raise TableError(
                f"column {self.name!r} is not of the same type in all parts of the table, but {found}. Write all files "
                "with the same types"
            )
        self.declared = min(self.declared, kind, key=lambda one: str(one.metadata))
        self.is_mixed |= ordered != self.ordered

    def _take(self, counted: pa.Table) -> None:
        self.tables.append(counted)
        self.n_waiting += counted.num_rows
        if self.n_waiting > max(self.n_settled, _SETTLED_AT):
            self._settle()

    def _settle(self) -> pa.Table:
        import pyarrow as pa

        table = self._grouped(pa.concat_tables(self.tables))
        self.tables, self.n_waiting, self.n_settled = [table], 0, table.num_rows
        return table

    def _grouped(self, table: pa.Table) -> pa.Table:
        bits = None if self.n_strata else _bits_of(table.column("v"))
        if bits is not None:
            return _grouped_by_bits(table, bits)
        keys = ["v", *(f"s{place}" for place in range(self.n_strata))]
        counted = table.group_by(keys, use_threads=False).aggregate([("n", "sum"), ("m", "sum")])
        return counted.select([*keys, "n_sum", "m_sum"]).rename_columns([*keys, "n", "m"])

    def finish(self) -> Frequencies:
        """The merged table, in an order that the values alone decide.

        Raises
        ------
        TableError
            If the column's categories are ordered by its type, and not in the same order everywhere.
        """
        import pyarrow.compute as pc

        if self.is_mixed and self.attribute.categories is None and self.attribute.kind is not Kind.NUMERIC:
            raise TableError(
                f"the ordered categories of column {self.name!r} are not the same in all files. Add to its "
                "declaration: categories = [first, ..., last]"
            )
        table = self._settle()
        keys = [(name, "ascending") for name in table.column_names if name not in ("n", "m")]
        try:
            table = table.take(pc.sort_indices(table, sort_keys=keys))
        except NotImplementedError:  # a column of nothing but missing values has no order, and needs none
            table = table.sort_by(keys[1:]) if keys[1:] else table
        strata = tuple(table.column(name).combine_chunks() for name, _ in keys[1:])
        values = table.column("v").combine_chunks()
        counts, staying = (table.column(name).to_numpy().astype(np.int64) for name in ("n", "m"))
        ordered = None if self.is_mixed else self.ordered
        return Frequencies(self.name, self.declared, values, counts, staying, strata, ordered)


def _bits_of(column: pa.ChunkedArray) -> IntArray | None:
    """Numbers and moments as integers of the same bits, missing as 0; None of other types."""
    import pyarrow as pa
    import pyarrow.compute as pc

    kind = column.type
    if not (pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_temporal(kind)):
        return None
    whole = {8: pa.int8(), 16: pa.int16(), 32: pa.int32(), 64: pa.int64()}.get(kind.bit_width)
    if whole is None:
        return None
    bits: IntArray = pc.fill_null(as_one_array(column).view(whole), 0).to_numpy(zero_copy_only=False)
    return bits


def _grouped_by_bits(table: pa.Table, bits: IntArray) -> pa.Table:
    """Equal values with their counts added up, by bits, missing ones last: sorting takes less time than hashing."""
    import pyarrow as pa

    column = as_one_array(table.column("v"))
    missing = column.is_null().to_numpy(zero_copy_only=False)
    order = np.argsort(bits)
    if column.null_count:
        order = np.concatenate([order[~missing[order]], np.flatnonzero(missing)])
    new = np.ones(len(order), dtype=bool)
    new[1:] = (bits[order][1:] != bits[order][:-1]) | (missing[order][1:] != missing[order][:-1])
    firsts = np.flatnonzero(new)
    if not len(firsts):
        return table
    counts = {name: np.add.reduceat(table.column(name).to_numpy()[order], firsts) for name in ("n", "m")}
    return pa.table({"v": column.take(pa.array(order[firsts])), **counts})


@dataclass
class FrequencyTally:
    """What one pass counted.

    Attributes
    ----------
    counts : dict of name to ValueCounts
        In the order of the table.
    n_input, n_records : int
        Records, and those that take part.
    n_missing : dict of name to int
        Of all protected attributes, counted or not.
    beyond : dict of name to int
        Values of published columns that no file can show.
    """

    recipe: Recipe
    names: tuple[str, ...]
    counts: dict[str, ValueCounts] = field(default_factory=dict)
    columns: tuple[str, ...] = ()
    n_input: int = 0
    n_records: int = 0
    n_missing: Counter[str] = field(default_factory=Counter)
    beyond: Counter[str] = field(default_factory=Counter)
    words: TextAndOrder | None = None

    def add(self, table: pa.Table) -> None:
        """Count a batch: the published columns, codes that stand for missing replaced."""
        recipe = self.recipe
        self.words = self.words or TextAndOrder(recipe)
        self.words.look_at(table)
        self.columns = self.columns or tuple(table.column_names)
        published = set(recipe.schema.published)
        for name in table.column_names:
            if name in published:
                self.beyond[name] += values_out_of_range(table.column(name), written=False)
        for name in recipe.schema.quasi_identifiers:
            self.n_missing[name] += int(column_of(table, name).missing.sum())
        stays = records_that_stay(table, recipe)
        strata = strata_texts(table, recipe)
        for name in self._counted():
            if name not in self.counts:
                self.counts[name] = ValueCounts(name, recipe.attributes[name], len(strata))
            self.counts[name].add(column_of(table, name), table.schema.field(name), strata, stays)
        self.n_input += table.num_rows
        self.n_records += table.num_rows if stays is None else int(stays.sum())

    def _counted(self) -> list[str]:
        asked_for = set(self.names)
        return [name for name in self.columns if name in asked_for]

    def merge(self, other: FrequencyTally) -> None:
        self.columns = self.columns or other.columns
        if self.words is not None and other.words is not None:
            self.words.merge(other.words)
        self.words = self.words or other.words
        for name, counts in other.counts.items():
            if name in self.counts:
                self.counts[name].merge(counts)
            else:
                self.counts[name] = counts
        self.n_input += other.n_input
        self.n_records += other.n_records
        self.n_missing.update(other.n_missing)
        self.beyond.update(other.beyond)

    def refuse(self) -> None:
        """Raise what :func:`microagg.release` does of a table before it measures anything."""
        for finding in finding_out_of_type({name: self.beyond[name] for name in self.columns}):
            raise TableError(f"{finding.detail}: no file can show them. Mend them before, or drop the column")
        k = self.recipe.k
        if self.n_input < k:
            raise InputError(f"k = {k} needs at least {k} records; the table has {self.n_input}")


@dataclass(frozen=True)
class CountValues:
    """The task of a first pass: count the values of some attributes of a piece."""

    recipe: Recipe
    names: tuple[str, ...]

    def __call__(self, batches: Iterator[pa.Table]) -> FrequencyTally:
        tally = FrequencyTally(self.recipe, self.names)
        for table in batches:
            if table.num_rows:
                tally.add(table)
        return tally


def count_values(passes: Passes, recipe: Recipe, names: Sequence[str] | None = None) -> FrequencyTally:
    """How often each value of the protected attributes, or of some of them, occurs.

    Raises
    ------
    InputError
        There are fewer records than k.
    TableError
        Columns hold values that no file can show, or are not of the same type everywhere.
    """
    asked_for = recipe.schema.quasi_identifiers if names is None else names
    tally = gather_merged(passes, CountValues(recipe, tuple(asked_for)))
    tally.refuse()
    return tally


def records_that_stay(table: pa.Table, recipe: Recipe) -> BoolArray | None:
    """Which records of a batch take part; None if all do."""
    if recipe.entry.is_private or recipe.missing.policy is not MissingPolicy.SUPPRESS:
        return None
    missing = np.any([column_of(table, name).missing for name in recipe.schema.quasi_identifiers], axis=0)
    return ~missing if missing.any() else None


def strata_texts(table: pa.Table, recipe: Recipe) -> list[pa.Array]:
    """For each attribute that makes strata, the category of each record as text."""
    import pyarrow as pa

    found = []
    for name in recipe.strata.by:
        codes, labels = column_of(table, name).encoded
        texts = pa.array([category_text(label) for label in labels], pa.string())
        found.append(texts.take(pa.array(codes, mask=codes < 0)))
    return found
