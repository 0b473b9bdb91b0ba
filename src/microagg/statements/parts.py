"""Count on a table that lies in several files, all of them together, without holding it in memory.

Each file is read once. Its classes of equal quasi-identifiers, and its values where single ones are looked for, are put
into buckets by a hash, on disk if there are several. Equal ones are in the same bucket, so that every class is counted
whole, wherever its records lie.
"""

from __future__ import annotations

import hashlib
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from microagg._progress import report
from microagg.errors import TableError
from microagg.privacy.verify import Recount
from microagg.schema.attribute import Kind, Role
from microagg.statements.exposure import Agreement, Exposure, Singles

if TYPE_CHECKING:
    import pyarrow as pa

    from microagg.recipe.recipe import Recipe

__all__ = ["PartsCount", "count_parts", "hash_values", "read_part", "rows_of_parts"]

HashArray = npt.NDArray[np.uint64]

_AT_ONCE = 4_000_000  # rows of one bucket
_MISSING = np.uint64(0x6D697373696E67)


@dataclass(frozen=True)
class PartsCount:
    """What was counted on all files together.

    Attributes
    ----------
    recount : Recount
        Of all quasi-identifiers together.
    exposure : Exposure
        Without what became of the original's categories.
    categories : dict of name to dict
        Records of each category of the nominal and ordinal quasi-identifiers.
    n_missing : dict of name to int
        Missing values of each quasi-identifier.
    """

    recount: Recount
    exposure: Exposure
    categories: dict[str, dict[str, int]]
    n_missing: dict[str, int]


def read_part(path: Path, names: Sequence[str] | None = None) -> pa.Table:
    """One file of a table, or some of its columns.

    Raises
    ------
    TableError
        If it is not there or cannot be read.
    """
    import pyarrow as pa
    from pyarrow import parquet

    try:
        with parquet.ParquetFile(path) as file:
            table = file.read(columns=None if names is None else list(names))
        table.validate(full=True)
    except MemoryError:
        raise
    except (OSError, pa.ArrowException):  # what the library says may quote records
        raise TableError(f"{path.name} is not there, or is damaged") from None
    return table


def rows_of_parts(paths: Sequence[Path], names: Sequence[str]) -> int:
    """How many rows the files have together, by what their headers say.

    Raises
    ------
    TableError
        If one is not there or damaged, or they do not all have the columns, of the same types.
    """
    import pyarrow as pa
    from pyarrow import parquet

    total = 0
    types: dict[str, Any] = {}
    for path in paths:
        try:
            with parquet.ParquetFile(path) as file:
                found = {field.name: field.type for field in file.schema_arrow}
                total += int(file.metadata.num_rows)
        except (OSError, pa.ArrowException):
            raise TableError(f"{path.name} is not there, or is damaged") from None
        types = types or {name: found.get(name) for name in names}
        if None in types.values() or any(found.get(name) != kind for name, kind in types.items()):
            raise TableError(f"{path.name} does not have the columns of the table, or has them of other types")
    return total


def count_parts(
    paths: Sequence[Path], attributes: Sequence[str], recipe: Recipe, *, scratch: Path | None = None
) -> PartsCount:
    """Count combinations of quasi-identifiers, and what k does not hide, on all files together.

    Parameters
    ----------
    paths : sequence of Path
    attributes : sequence of str
        The quasi-identifiers.
    recipe : Recipe
    scratch : Path, optional
        Where a folder for buckets may be made; default: where the system keeps such.
    """
    schema = recipe.schema
    confidential = list(schema.of_role(Role.CONFIDENTIAL))
    untouched = [name for name in recipe.attributes if name in schema.of_role(Role.CONFIDENTIAL, Role.NON_CONFIDENTIAL)]
    n_rows = rows_of_parts(paths, [*attributes, *untouched])
    named = [name for name in attributes if schema[name].kind in (Kind.NOMINAL, Kind.ORDINAL)]
    categories: dict[str, dict[str, int]] = {name: {} for name in named}
    n_missing = dict.fromkeys(attributes, 0)
    with tempfile.TemporaryDirectory(dir=scratch) as folder:
        classes = _Buckets(Path(folder) / "classes", 4 * (n_rows // recipe.k))  # each takes as much as four values
        values = {name: _Buckets(Path(folder) / f"values-{place}", n_rows) for place, name in enumerate(untouched)}
        for number, path in enumerate(paths):
            table = read_part(path, [*attributes, *untouched])
            classes.add(_classes_of(table, attributes, confidential))
            for name, buckets in values.items():
                buckets.add(_values_of(table, name))
            for name in attributes:
                n_missing[name] += table.column(name).null_count
            for name in named:
                for label, count in _value_counts(table.column(name)):
                    categories[name][str(label)] = categories[name].get(str(label), 0) + count
            report("counting on the written files", 0.7 * (number + 1) / len(paths))
        recount, agreeing = _count_classes(classes, attributes, confidential, n_rows, recipe.k)
        singles = [Singles(name, sum(map(_count_singles, buckets.tables()))) for name, buckets in values.items()]
    agreements = [Agreement(name, tuple(attributes), agreeing[name]) for name in confidential]
    exposure = Exposure(
        recipe.k,
        n_rows,
        tuple(sorted(agreements, key=lambda one: -one.records)),
        tuple(sorted(singles, key=lambda one: -one.values)),
        (),
        (tuple(attributes),),
    )
    report("counting on the written files", 1.0)
    return PartsCount(recount, exposure, categories, n_missing)


class _Buckets:
    """Rows by a hash of their keys: in memory if one bucket holds them all, otherwise on disk."""

    def __init__(self, folder: Path, n_rows: int) -> None:
        self.folder, self.n_buckets = folder, max(1, -(-n_rows // _AT_ONCE))
        self._kept: list[pa.Table] = []
        self._number = 0
        folder.mkdir()

    def add(self, rows: tuple[pa.Table, Sequence[str]]) -> None:
        """Add rows, with the names of the columns that decide which are equal."""
        import pyarrow as pa
        from pyarrow import feather

        table, keys = rows
        if self.n_buckets == 1:
            self._kept.append(table)
            return
        state = np.zeros(table.num_rows, dtype=np.uint64)
        for name in keys:
            state = (state ^ hash_values(table.column(name))) * np.uint64(0x9E3779B97F4A7C15)
            state ^= state >> np.uint64(29)
        bucket = (state >> np.uint64(11)) % np.uint64(self.n_buckets)
        order = np.argsort(bucket, kind="stable")
        ends = np.searchsorted(bucket[order], np.arange(self.n_buckets + 1))
        arranged = table.take(pa.array(order))
        for number in range(self.n_buckets):
            some = arranged.slice(ends[number], ends[number + 1] - ends[number])
            feather.write_feather(some, self.folder / f"{number}-{self._number}", compression="uncompressed")
        self._number += 1

    def tables(self) -> Iterator[pa.Table]:
        """The rows, bucket by bucket."""
        import pyarrow as pa
        from pyarrow import feather

        if self.n_buckets == 1:
            yield pa.concat_tables(self._kept, promote_options="permissive")
            return
        for number in range(self.n_buckets):
            paths = [self.folder / f"{number}-{place}" for place in range(self._number)]
            some = [feather.read_table(path, memory_map=False) for path in paths]
            yield pa.concat_tables(some, promote_options="permissive")


def _classes_of(
    table: pa.Table, attributes: Sequence[str], confidential: Sequence[str]
) -> tuple[pa.Table, Sequence[str]]:
    """The classes of one file: how many records each has, how many confidential values, and one of them."""
    import pyarrow as pa
    import pyarrow.compute as pc

    keys = {f"k{place}": name for place, name in enumerate(attributes)}
    values = {f"c{place}": name for place, name in enumerate(confidential)}
    plain = pa.table({short: _plain(table.column(name)) for short, name in (keys | values).items()})
    wanted: list[Any] = [([], "count_all")]
    for short in values:
        wanted += [(short, "count_distinct", pc.CountOptions(mode="all")), (short, "one")]
    try:
        return plain.group_by(list(keys)).aggregate(wanted), list(keys)
    except pa.ArrowNotImplementedError:
        raise TableError("a column holds values of a type that cannot be counted") from None


def _count_classes(
    classes: _Buckets, attributes: Sequence[str], confidential: Sequence[str], n_rows: int, k: int
) -> tuple[Recount, dict[str, int]]:
    """Combinations of all files together, and for each confidential attribute the records of classes that agree."""
    import pyarrow.compute as pc

    n_combinations, smallest, below = 0, n_rows, 0
    agreeing = dict.fromkeys(confidential, 0)
    everything = pc.CountOptions(mode="all")
    for table in classes.tables():
        wanted: list[Any] = [("count_all", "sum")]
        for place in range(len(confidential)):
            wanted += [(f"c{place}_count_distinct", "max"), (f"c{place}_one", "count_distinct", everything)]
        found = table.group_by([f"k{place}" for place in range(len(attributes))]).aggregate(wanted)
        sizes = found.column("count_all_sum").to_numpy().astype(np.int64)
        n_combinations += len(sizes)
        smallest = min(smallest, int(sizes.min(initial=n_rows)))
        below += int(sizes[sizes < k].sum())
        for place, name in enumerate(confidential):
            within = found.column(f"c{place}_count_distinct_max").to_numpy() == 1
            across = found.column(f"c{place}_one_count_distinct").to_numpy() == 1
            agreeing[name] += int(sizes[within & across].sum())
    return Recount(tuple(attributes), n_rows, n_combinations, smallest, below, k), agreeing


def _values_of(table: pa.Table, name: str) -> tuple[pa.Table, Sequence[str]]:
    """The values of one file that may be single: each once, and marked if it is there more often."""
    import pyarrow as pa

    column = _plain(table.column(name)).drop_null()
    if pa.types.is_floating(column.type):
        return pa.table({"v": column}), ["v"]
    counted = pa.table({"v": column}).group_by("v").aggregate([([], "count_all")])
    return counted, ["v"]


def _count_singles(table: pa.Table) -> int:
    """How many values occur once."""
    if "count_all" in table.column_names:
        counts = table.group_by("v").aggregate([("count_all", "sum")]).column("count_all_sum").to_numpy()
        return int((counts == 1).sum())
    values = np.sort(table.column("v").to_numpy())
    new = np.concatenate([[True], values[1:] != values[:-1], [True]])
    return int((new[1:] & new[:-1]).sum()) if len(values) else 0


def _plain(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Values without a dictionary; NaN is missing."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if pa.types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    if pa.types.is_floating(column.type):
        column = pc.if_else(pc.is_nan(column), pa.scalar(None, column.type), column)
    return column


def hash_values(column: pa.ChunkedArray) -> HashArray:
    """A number for each value, the same for equal ones."""
    import pyarrow as pa
    import pyarrow.compute as pc

    values = _plain(column).combine_chunks()
    kind = values.type
    if pa.types.is_floating(kind):
        numbers = pc.fill_null(values.cast(pa.float64()), 0.0).to_numpy(zero_copy_only=False) + 0.0
        found: HashArray = numbers.view(np.uint64)
    elif pa.types.is_integer(kind) or pa.types.is_temporal(kind):
        narrow = kind.bit_width == 32 and not pa.types.is_integer(kind)
        whole = values.cast(pa.int32()).cast(pa.int64()) if narrow else values.cast(pa.int64(), safe=False)
        found = pc.fill_null(whole, 0).to_numpy(zero_copy_only=False).view(np.uint64)
    else:
        coded = pc.dictionary_encode(values)
        labels = [_of_text(str(one)) for one in coded.dictionary.to_pylist()]
        table: HashArray = np.array([*labels, _MISSING], dtype=np.uint64)
        codes: npt.NDArray[np.int64] = pc.fill_null(coded.indices, -1).to_numpy(zero_copy_only=False)
        return table[codes]
    if not values.null_count:
        return found
    filled: HashArray = np.where(values.is_null().to_numpy(zero_copy_only=False), _MISSING, found)
    return filled


def _of_text(text: str) -> np.uint64:
    digest = hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).digest()
    return np.uint64(int.from_bytes(digest, "little"))


def _value_counts(column: pa.ChunkedArray) -> Iterator[tuple[Any, int]]:
    import pyarrow.compute as pc

    for one in pc.value_counts(_plain(column).drop_null()).to_pylist():
        yield one["values"], int(one["counts"])
