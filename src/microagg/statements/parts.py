"""Count on a table that lies in several files, all of them together, without holding it in memory.

Each file is read once. Its classes of equal quasi-identifiers, and its values where single ones are looked for, are put
on heaps by a hash. Equal ones are on the same heap, so that every class is counted whole, wherever its records lie.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from microagg._progress import report
from microagg.errors import TableError
from microagg.privacy.verify import Recount
from microagg.schema.attribute import Kind, Role
from microagg.statements.exposure import Agreement, Exposure, Singles
from microagg.tables.parts.files import hash_values, plain_values, read_part, rows_of_parts
from microagg.tables.parts.heaps import Heaps

if TYPE_CHECKING:
    import pyarrow as pa

    from microagg.recipe.recipe import Recipe

__all__ = ["COUNTING", "PartsCount", "PartsQuestion", "count_parts", "joint_exposure", "question_of"]

COUNTING = "counting on the written files"
_AT_ONCE = 4_000_000  # rows of one heap


@dataclass(frozen=True)
class PartsCount:
    """What was counted on all files together, or on some heaps of their rows.

    Attributes
    ----------
    recount : Recount
        Of all quasi-identifiers together.
    agreeing : dict of name to int
        Records of classes whose confidential values all agree.
    singles : dict of name to int
        Values that occur once, of attributes that are not protected.
    categories : dict of name to dict
        Records of each category of the nominal and ordinal quasi-identifiers.
    n_missing : dict of name to int
        Missing values of each quasi-identifier.
    """

    recount: Recount
    agreeing: dict[str, int]
    singles: dict[str, int]
    categories: dict[str, dict[str, int]]
    n_missing: dict[str, int]

    @property
    def exposure(self) -> Exposure:
        """What k does not hide, without what became of the original's categories."""
        names = self.recount.attributes
        agreements = [Agreement(name, names, records) for name, records in self.agreeing.items()]
        singles = [Singles(name, values) for name, values in self.singles.items()]
        return Exposure(
            self.recount.k,
            self.recount.n_records,
            tuple(sorted(agreements, key=lambda one: -one.records)),
            tuple(sorted(singles, key=lambda one: -one.values)),
            (),
            (names,),
        )


def joint_exposure(counts: Sequence[PartsCount]) -> Exposure:
    """What k does not hide where attributes have cells of their own: of each confidential one the worst."""
    worst: dict[str, Agreement] = {}
    for one in counts:
        for agreement in one.exposure.agreements:
            if agreement.attribute not in worst or agreement.records > worst[agreement.attribute].records:
                worst[agreement.attribute] = agreement
    return replace(
        counts[0].exposure,
        agreements=tuple(sorted(worst.values(), key=lambda one: -one.records)),
        blocks=tuple(one.recount.attributes for one in counts),
    )


@dataclass(frozen=True)
class PartsQuestion:
    """What is counted on all files together, as work on one file at a time and on one heap of rows at a time.

    Rows of a file go to heaps by a hash of what is counted: equal ones meet on one heap, whichever files they are in.
    Heaps are numbered: first those of classes, then those of the values of each attribute that is not protected, and
    last one for figures of whole files.

    Attributes
    ----------
    attributes : tuple of str
        The quasi-identifiers.
    recipe : Recipe
    n_rows : int
        Of all files together.
    singles : bool
        Whether values that occur once are counted, too.
    """

    attributes: tuple[str, ...]
    recipe: Recipe
    n_rows: int
    singles: bool = True

    @property
    def confidential(self) -> tuple[str, ...]:
        return tuple(self.recipe.schema.of_role(Role.CONFIDENTIAL))

    @property
    def untouched(self) -> tuple[str, ...]:
        if not self.singles:
            return ()
        kept = self.recipe.schema.of_role(Role.CONFIDENTIAL, Role.NON_CONFIDENTIAL)
        return tuple(name for name in self.recipe.attributes if name in kept)

    @property
    def named(self) -> tuple[str, ...]:
        schema = self.recipe.schema
        return tuple(name for name in self.attributes if schema[name].kind in (Kind.NOMINAL, Kind.ORDINAL))

    @property
    def columns(self) -> tuple[str, ...]:
        """What is read of each file."""
        return tuple(dict.fromkeys((*self.attributes, *self.untouched, *self.confidential)))

    @property
    def n_class_heaps(self) -> int:
        return max(1, -(-4 * (self.n_rows // self.recipe.k) // _AT_ONCE))  # each takes as much as four values

    @property
    def n_value_heaps(self) -> int:
        return max(1, -(-self.n_rows // _AT_ONCE))

    @property
    def n_heaps(self) -> int:
        return self.n_class_heaps + len(self.untouched) * self.n_value_heaps + 1

    def scatter(self, table: pa.Table) -> Iterator[tuple[int, pa.Table]]:
        """What of one file goes to which heap."""
        yield from _spread(*_classes_of(table, self.attributes, self.confidential), self.n_class_heaps)
        for place, name in enumerate(self.untouched):
            first = self.n_class_heaps + place * self.n_value_heaps
            for number, rows in _spread(*_values_of(table, name), self.n_value_heaps):
                yield first + number, rows
        yield self.n_heaps - 1, self._figures_of(table)

    def _figures_of(self, table: pa.Table) -> pa.Table:
        """Missing values of each quasi-identifier (no label), and records of each category."""
        import pyarrow as pa

        found: list[tuple[str, str | None, int]] = [
            (name, None, table.column(name).null_count) for name in self.attributes
        ]
        for name in self.named:
            found += [(name, str(label), count) for label, count in _value_counts(table.column(name))]
        columns = list(zip(*found, strict=True))
        kinds = (pa.string(), pa.string(), pa.int64())
        arrays = [pa.array(values, kind) for values, kind in zip(columns, kinds, strict=True)]
        return pa.table(arrays, names=["column", "label", "count"])

    def count(self, number: int, rows: Sequence[pa.Table]) -> PartsCount:
        """What the rows of one heap show."""
        import pyarrow as pa

        found = self._nothing()
        if not rows:
            return found
        table = pa.concat_tables(rows, promote_options="permissive")
        if number < self.n_class_heaps:
            recount, agreeing = _count_classes(table, self.attributes, self.confidential, self.n_rows, self.recipe.k)
            return replace(found, recount=recount, agreeing=agreeing)
        if number < self.n_heaps - 1:
            name = self.untouched[(number - self.n_class_heaps) // self.n_value_heaps]
            return replace(found, singles=found.singles | {name: _count_singles(table)})
        summed = table.group_by(["column", "label"]).aggregate([("count", "sum")])
        for one in summed.to_pylist():
            if one["label"] is None:
                found.n_missing[one["column"]] = one["count_sum"]
            else:
                found.categories[one["column"]][one["label"]] = one["count_sum"]
        return found

    def _nothing(self) -> PartsCount:
        return PartsCount(
            Recount(self.attributes, self.n_rows, 0, self.n_rows, 0, self.recipe.k),
            dict.fromkeys(self.confidential, 0),
            dict.fromkeys(self.untouched, 0),
            {name: {} for name in self.named},
            dict.fromkeys(self.attributes, 0),
        )

    def join(self, counts: Iterable[PartsCount]) -> PartsCount:
        """What all heaps show together."""
        total = self._nothing()
        for one in counts:
            recount = replace(
                total.recount,
                n_combinations=total.recount.n_combinations + one.recount.n_combinations,
                smallest=min(total.recount.smallest, one.recount.smallest),
                records_below=total.recount.records_below + one.recount.records_below,
            )
            total = PartsCount(
                recount,
                {name: n + one.agreeing[name] for name, n in total.agreeing.items()},
                {name: n + one.singles[name] for name, n in total.singles.items()},
                {name: labels | one.categories[name] for name, labels in total.categories.items()},
                {name: n + one.n_missing[name] for name, n in total.n_missing.items()},
            )
        return total


def question_of(
    paths: Sequence[Path], attributes: Sequence[str], recipe: Recipe, *, singles: bool = True
) -> PartsQuestion:
    """What is to be counted on files.

    Raises
    ------
    TableError
        If one is not there or damaged, or they do not all have the columns, of the same types.
    """
    question = PartsQuestion(tuple(attributes), recipe, 0, singles)
    return replace(question, n_rows=rows_of_parts(paths, question.columns))


def count_parts(
    paths: Sequence[Path], attributes: Sequence[str], recipe: Recipe, *, singles: bool = True
) -> PartsCount:
    """Count combinations of quasi-identifiers, and what k does not hide, on all files together."""
    question = question_of(paths, attributes, recipe, singles=singles)
    with tempfile.TemporaryDirectory() as folder:
        heaps = Heaps(Path(folder) / "heaps")
        for place, path in enumerate(paths):
            for number, rows in question.scatter(read_part(path, question.columns)):
                heaps.add(number, rows)
            report(COUNTING, 0.7 * (place + 1) / len(paths))
        found = question.join(question.count(number, heaps.take(number)) for number in range(question.n_heaps))
    report(COUNTING, 1.0)
    return found


def _spread(table: pa.Table, keys: Sequence[str], n_heaps: int) -> Iterator[tuple[int, pa.Table]]:
    """Rows by a hash of the columns that decide which are equal."""
    import pyarrow as pa

    if n_heaps == 1:
        yield 0, table
        return
    state = np.zeros(table.num_rows, dtype=np.uint64)
    for name in keys:
        state = (state ^ hash_values(table.column(name))) * np.uint64(0x9E3779B97F4A7C15)
        state ^= state >> np.uint64(29)
    heap = (state >> np.uint64(11)) % np.uint64(n_heaps)
    order = np.argsort(heap, kind="stable")
    ends = np.searchsorted(heap[order], np.arange(n_heaps + 1))
    arranged = table.take(pa.array(order))
    for number in range(n_heaps):
        yield number, arranged.slice(ends[number], ends[number + 1] - ends[number])


def _classes_of(
    table: pa.Table, attributes: Sequence[str], confidential: Sequence[str]
) -> tuple[pa.Table, Sequence[str]]:
    """The classes of one file: how many records each has, how many confidential values, and one of them."""
    import pyarrow as pa
    import pyarrow.compute as pc

    keys = {f"k{place}": name for place, name in enumerate(attributes)}
    values = {f"c{place}": name for place, name in enumerate(confidential)}
    plain = pa.table(
        {short: plain_values(table.column(name), nan_is_missing=False) for short, name in keys.items()}
        | {short: plain_values(table.column(name)) for short, name in values.items()}
    )
    wanted: list[Any] = [([], "count_all")]
    for short in values:
        wanted += [(short, "count_distinct", pc.CountOptions(mode="all")), (short, "one")]
    try:
        return plain.group_by(list(keys)).aggregate(wanted), list(keys)
    except pa.ArrowNotImplementedError:
        raise TableError("a column holds values of a type that cannot be counted") from None


def _count_classes(
    table: pa.Table, attributes: Sequence[str], confidential: Sequence[str], n_rows: int, k: int
) -> tuple[Recount, dict[str, int]]:
    """Combinations of all files together, and for each confidential attribute the records of classes that agree."""
    import pyarrow.compute as pc

    wanted: list[Any] = [("count_all", "sum")]
    for place in range(len(confidential)):
        wanted += [
            (f"c{place}_count_distinct", "max"),
            (f"c{place}_one", "count_distinct", pc.CountOptions(mode="all")),
        ]
    found = table.group_by([f"k{place}" for place in range(len(attributes))]).aggregate(wanted)
    sizes = found.column("count_all_sum").to_numpy().astype(np.int64)
    agreeing = {}
    for place, name in enumerate(confidential):
        within = found.column(f"c{place}_count_distinct_max").to_numpy() == 1
        across = found.column(f"c{place}_one_count_distinct").to_numpy() == 1
        agreeing[name] = int(sizes[within & across].sum())
    smallest, below = int(sizes.min(initial=n_rows)), int(sizes[sizes < k].sum())
    return Recount(tuple(attributes), n_rows, len(sizes), smallest, below, k), agreeing


def _values_of(table: pa.Table, name: str) -> tuple[pa.Table, Sequence[str]]:
    """The values of one file that may be single: each once, and marked if it is there more often."""
    import pyarrow as pa

    column = plain_values(table.column(name)).drop_null()
    if pa.types.is_floating(column.type):
        return pa.table({"v": column}), ["v"]
    counted = pa.table({"v": column}).group_by("v").aggregate([([], "count_all")])
    return counted, ["v"]


def _count_singles(table: pa.Table) -> int:
    """How many values occur once."""
    if "count_all" in table.column_names:
        counts = table.group_by("v").aggregate([("count_all", "sum")]).column("count_all_sum").to_numpy()
        return int((counts == 1).sum())
    values = table.column("v").to_numpy()
    values = np.sort(values.view(f"u{values.itemsize}"))  # by their bits: 0.0 and -0.0 are published as they are
    new = np.concatenate([[True], values[1:] != values[:-1], [True]])
    return int((new[1:] & new[:-1]).sum()) if len(values) else 0


def _value_counts(column: pa.ChunkedArray) -> Iterator[tuple[Any, int]]:
    import pyarrow.compute as pc

    for one in pc.value_counts(plain_values(column).drop_null()).to_pylist():
        yield one["values"], int(one["counts"])
