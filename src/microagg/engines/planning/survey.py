"""The first pass over a table: what must be known of all records before any of them is put anywhere.

Everything that is added up is a count, a smallest, a largest, or a whole number: the same for any order of the records
and any batches. Every refusal of :func:`microagg.release` that such figures can decide is decided here.
"""

from __future__ import annotations

import copy
import hashlib
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from microagg._labels import label_combinations
from microagg._typing import IntArray
from microagg.engines.batches import TextAndOrder
from microagg.engines.shards import HashArray, hash_rows
from microagg.errors import InputError, TableError
from microagg.privacy.verify import values_out_of_type
from microagg.recipe.choices import MissingPolicy
from microagg.recipe.recipe import Recipe
from microagg.releases.prepare import refuse_missing, refuse_weights
from microagg.schema.attribute import Kind
from microagg.schema.encode import encode
from microagg.schema.taxonomy import category_text
from microagg.tables.columns import as_one_array
from microagg.tables.frames import Column

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["GroupKey", "HeavyRows", "RowHash", "Survey", "column_of", "group_keys", "staying"]

GroupKey = tuple[Any, ...]
"""A stratum and a pattern of missing values: the labels of the strata, and a number with a bit for each attribute."""

_LARGEST = 1e300
_MOST_CATEGORIES = 1_000_000
_MOST_GROUPS = 100_000
_STEPS = (86_400, 3_600, 60, 1)
_MISSING = np.uint64(0x6D697373696E67)


def column_of(table: pa.Table, name: str) -> Column:
    """One attribute of a batch."""
    import pyarrow as pa

    array = as_one_array(table.column(name).unify_dictionaries())
    ordered = pa.types.is_dictionary(array.type) and array.type.ordered
    return Column(name, array, tuple(array.dictionary.to_pylist()) if ordered else None)


@dataclass
class ColumnSurvey:
    """What is known of one quasi-identifier so far."""

    name: str
    kind: Kind
    n_missing: int = 0
    n_outside: int = 0
    n_infinite: int = 0
    n_huge: int = 0
    low: float | int | None = None
    high: float | int | None = None
    whole_in: tuple[bool, ...] = (True,) * len(_STEPS)
    counts: Counter[Any] = field(default_factory=Counter)
    ordered: tuple[Any, ...] | None = None
    type: Any = None

    def add(self, column: Column, recipe: Recipe) -> None:
        missing = column.missing
        self.n_missing += int(missing.sum())
        self.type = column.values.type
        if self.kind is Kind.NUMERIC:
            self._add_numbers(column, recipe)
            return
        if recipe.attributes[self.name].categories is None:
            self.ordered = column.ordered_categories
        codes, labels = column.encoded
        found = np.bincount(codes[codes >= 0], minlength=len(labels))
        self.counts.update({label: int(count) for label, count in zip(labels, found, strict=True) if count})
        self._require_few()

    def _require_few(self) -> None:
        if len(self.counts) > _MOST_CATEGORIES:
            raise TableError(
                f"column {self.name!r} has more than {_MOST_CATEGORIES:,} categories. Use a coarser attribute (a "
                "region for a postcode)"
            )

    def merge(self, other: ColumnSurvey) -> None:
        """Add what another task found."""
        self.n_missing += other.n_missing
        self.n_outside += other.n_outside
        self.n_infinite += other.n_infinite
        self.n_huge += other.n_huge
        self._reach(other.low, other.high)
        self.whole_in = tuple(one and two for one, two in zip(self.whole_in, other.whole_in, strict=True))
        self.counts.update(other.counts)
        self._require_few()
        if other.type is not None:
            self.type, self.ordered = other.type, other.ordered

    def _add_numbers(self, column: Column, recipe: Recipe) -> None:
        bounds = recipe.attributes[self.name].bounds
        if bounds is not None:
            self.n_outside += column.n_outside(*bounds)
        integers = column.integers
        present = ~column.missing
        smallest: float | int | None
        largest: float | int | None
        if integers is None:
            values = column.numbers()[present]
            self.n_infinite += int(np.isinf(values).sum())
            self.n_huge += int((np.abs(values) > _LARGEST).sum())
            smallest, largest = (float(values.min()), float(values.max())) if len(values) else (None, None)
        else:
            whole = integers[present]
            smallest, largest = (int(whole.min()), int(whole.max())) if len(whole) else (None, None)
            if column.is_temporal:
                steps = [seconds * column.unit for seconds in _STEPS]
                self.whole_in = tuple(
                    so_far and not (whole % step).any() for so_far, step in zip(self.whole_in, steps, strict=True)
                )
        self._reach(smallest, largest)

    def _reach(self, smallest: float | int | None, largest: float | int | None) -> None:
        if smallest is not None and largest is not None:
            self.low = smallest if self.low is None else min(self.low, smallest)
            self.high = largest if self.high is None else max(self.high, largest)

    def refuse(self, recipe: Recipe) -> None:
        """Raise if the column cannot be put on the scale that its declaration names."""
        import pyarrow as pa

        name = self.name
        if self.n_outside:
            raise TableError(f"column {name!r} has {self.n_outside} values outside its declared bounds")
        if self.n_infinite:
            raise TableError(f"column {name!r} holds {self.n_infinite} infinite values; a distance needs finite ones")
        if self.n_huge:
            raise TableError(
                f"column {name!r} holds {self.n_huge} values beyond {_LARGEST:g}; their mean cannot be taken"
            )
        # What else can be refused follows from the values alone, each of them once.
        values = [self.low, self.high] if self.kind is Kind.NUMERIC else list(self.counts)
        kind = pa.float64() if self.kind is Kind.NUMERIC and isinstance(self.low, float) else self.type
        if self.kind is Kind.NUMERIC and isinstance(self.low, int) and isinstance(self.high, int):
            if self.high - self.low >= 2**62:
                raise TableError(f"column {name!r} spans more than 64-bit arithmetic can average")
            return
        if self.kind is not Kind.NUMERIC:
            encode(Column(name, pa.array(values, kind), self.ordered), recipe.attributes[name])


class RowHash:
    """A number of 64 bits for the quasi-identifiers of each record, from their values and a key alone."""

    def __init__(self, recipe: Recipe, key: int) -> None:
        self.recipe, self.key = recipe, key
        self._of_labels: dict[str, np.uint64] = {}

    def of(self, columns: dict[str, Column], n_records: int) -> HashArray:
        hashes = [self._of_column(columns[name]) for name in sorted(columns)]
        lacking = np.zeros(n_records, dtype=np.uint64)
        for name in sorted(columns):
            lacking = lacking * np.uint64(3) + columns[name].missing
        return hash_rows([*hashes, lacking], n_records, self.key)

    def _of_column(self, column: Column) -> HashArray:
        if self.recipe.attributes[column.name].kind is Kind.NUMERIC:
            integers = column.integers
            plain = column.numbers() + 0.0 if integers is None else integers
            found: HashArray = np.where(column.missing, _MISSING, plain.view(np.uint64))
            return found
        codes, labels = column.encoded
        table = np.array([*(self._of_label(category_text(label)) for label in labels), _MISSING], dtype=np.uint64)
        return table[codes]

    def _of_label(self, text: str) -> np.uint64:
        if text not in self._of_labels:
            digest = hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).digest()
            self._of_labels[text] = np.uint64(int.from_bytes(digest, "little"))
        return self._of_labels[text]


class HeavyRows:
    """Rows that may be more frequent than one in `capacity` (Misra & Gries 1982): none of those is missed."""

    def __init__(self, capacity: int = 4_096) -> None:
        self.capacity = capacity
        self.hashes: HashArray = np.empty(0, dtype=np.uint64)
        self.counts: IntArray = np.empty(0, dtype=np.int64)

    def add(self, hashes: HashArray) -> None:
        found, counts = np.unique(hashes, return_counts=True)
        if len(found) > self.capacity and counts.max() == 1 and not len(self.hashes):
            return  # all differ: each would be dropped again
        self._join(found, counts)

    def merge(self, other: HeavyRows) -> None:
        """Add what another task found (Agarwal et al. 2013: the sum misses no more than one pass over all would)."""
        self._join(other.hashes, other.counts)

    def _join(self, found: HashArray, counts: IntArray) -> None:
        joined, places = np.unique(np.concatenate([self.hashes, found]), return_inverse=True)
        total = np.bincount(places, np.concatenate([self.counts, counts])).astype(np.int64)
        if len(joined) > self.capacity:
            total -= np.partition(total, -self.capacity - 1)[-self.capacity - 1]
        kept = total > 0
        self.hashes, self.counts = joined[kept], total[kept]


def group_keys(columns: dict[str, Column], recipe: Recipe, n_records: int) -> tuple[IntArray, list[GroupKey]]:
    """For each record of a batch its group, and the groups: strata and patterns of missing values."""
    by = recipe.strata.by
    codes = [columns[name].codes for name in by]
    if recipe.missing.policy is MissingPolicy.OWN_CELL:
        codes += [columns[name].missing.astype(np.int64) for name in sorted(columns)]
    if not codes:
        return np.zeros(n_records, dtype=np.int64), [(0,)]
    labels = label_combinations(codes, n_records)
    first = np.unique(labels, return_index=True)[1]
    keys: list[GroupKey] = []
    for row in first:
        strata = [columns[name].encoded[1][code] if (code := columns[name].codes[row]) >= 0 else None for name in by]
        lacking = sum(1 << place for place, one in enumerate(codes[len(by) :]) if one[row])
        keys.append((*map(_plain, strata), lacking))
    return labels, keys


def _plain(label: Any) -> str | None:
    return None if label is None else category_text(label)


class Survey:
    """The first pass, batch by batch."""

    def __init__(self, recipe: Recipe, key: int) -> None:
        self.recipe = recipe
        names = recipe.schema.quasi_identifiers
        self.columns = {name: ColumnSurvey(name, kind) for name in names if (kind := recipe.attributes[name].kind)}
        self.leaves_out = recipe.missing.policy is MissingPolicy.SUPPRESS
        # What is left out may be refused, and is counted in the statement; nothing else may depend on it.
        self.of_all = copy.deepcopy(self.columns) if self.leaves_out else self.columns
        self.words = TextAndOrder(recipe)
        self.hash, self.heavy = RowHash(recipe, key), HeavyRows()
        self.groups: Counter[GroupKey] = Counter()
        self.n_input = self.n_records = 0
        self.n_unusable, self.smallest_weight, self.largest_weight = 0, np.inf, 0.0

    def add(self, table: pa.Table) -> None:
        """Add a batch; codes that stand for missing must have been replaced."""
        recipe = self.recipe
        for finding in values_out_of_type(table.select(list(recipe.schema.published)), written=False):
            raise TableError(f"{finding.detail}: no file can show them. Mend them before, or drop the column")
        self.words.look_at(table)
        columns = {name: column_of(table, name) for name in self.columns}
        for name, column in columns.items():
            self.of_all[name].add(column, recipe)
        self.n_input += table.num_rows
        if recipe.sampling_weight is not None:
            weights = column_of(table, recipe.sampling_weight).absolute()
            usable = np.isfinite(weights) & (weights > 0)
            self.n_unusable += int((~usable).sum())
            self.smallest_weight = min(self.smallest_weight, float(weights[usable].min(initial=np.inf)))
            self.largest_weight = max(self.largest_weight, float(weights[usable].max(initial=0.0)))
        stays = staying(columns, recipe)
        if stays is not None:
            columns = {name: column_of(table.filter(stays), name) for name in self.columns}
        if self.leaves_out:
            for name, column in columns.items():
                self.columns[name].add(column, recipe)
        n_records = len(next(iter(columns.values())).array)
        self.n_records += n_records
        if not n_records:
            return
        self.heavy.add(self.hash.of(columns, n_records))
        labels, keys = group_keys(columns, recipe, n_records)
        self.groups.update(dict(zip(keys, np.bincount(labels).tolist(), strict=True)))
        self._require_few_groups()

    def _require_few_groups(self) -> None:
        if len(self.groups) > _MOST_GROUPS:
            raise TableError(
                f"there are more than {_MOST_GROUPS:,} strata or patterns of missing values. Choose coarser strata"
            )

    def merge(self, other: Survey) -> None:
        """Add what another task found."""
        for name, column in self.columns.items():
            column.merge(other.columns[name])
            if self.leaves_out:
                self.of_all[name].merge(other.of_all[name])
        self.words.merge(other.words)
        self.heavy.merge(other.heavy)
        self.groups.update(other.groups)
        self._require_few_groups()
        self.n_input += other.n_input
        self.n_records += other.n_records
        self.n_unusable += other.n_unusable
        self.smallest_weight = min(self.smallest_weight, other.smallest_weight)
        self.largest_weight = max(self.largest_weight, other.largest_weight)

    def refuse(self) -> None:
        """Raise what :func:`microagg.release` would."""
        recipe = self.recipe
        if self.n_input < recipe.k:
            raise InputError(f"k = {recipe.k} needs at least {recipe.k} records; the table has {self.n_input}")
        for column in self.of_all.values():
            column.refuse(recipe)
        if recipe.sampling_weight is not None:
            refuse_weights(recipe, self.n_input, self.n_unusable, self.smallest_weight, self.largest_weight)
        missing = {name: column.n_missing for name, column in self.of_all.items() if column.n_missing}
        if recipe.missing.policy is MissingPolicy.ERROR:
            refuse_missing("quasi-identifiers", missing)
        if self.n_records < recipe.k:
            raise TableError(f"only {self.n_records} records are complete; k = {recipe.k} needs at least {recipe.k}")


def staying(columns: dict[str, Column], recipe: Recipe) -> pa.Array | None:
    """Which records of a batch take part; None if all do."""
    import pyarrow as pa

    if recipe.missing.policy is not MissingPolicy.SUPPRESS:
        return None
    missing = np.any([column.missing for column in columns.values()], axis=0)
    return pa.array(~missing) if missing.any() else None
