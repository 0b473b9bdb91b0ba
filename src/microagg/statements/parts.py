"""Count on a table that lies in several files, all of them together, without holding it in memory.

Rows are counted in rounds: each takes those whose quasi-identifiers hash to one of so many numbers, from all files.
Equal rows are in the same round, so that every class is counted whole, wherever its records lie.
"""

from __future__ import annotations

import hashlib
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

_AT_ONCE = 3_000_000  # rows of one round
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
    except (OSError, pa.ArrowException):  # what the library says may quote records
        raise TableError(f"{path.name} is not there, or is damaged") from None
    return table


def rows_of_parts(paths: Sequence[Path]) -> int:
    """How many rows the files have together, by what their headers say."""
    from pyarrow import parquet

    total = 0
    for path in paths:
        with parquet.ParquetFile(path) as file:
            total += int(file.metadata.num_rows)
    return total


def count_parts(paths: Sequence[Path], attributes: Sequence[str], recipe: Recipe) -> PartsCount:
    """Count combinations of quasi-identifiers, and what k does not hide, on all files together."""
    n_rows = rows_of_parts(paths)
    n_rounds = max(1, -(-n_rows // _AT_ONCE))
    schema = recipe.schema
    confidential = list(schema.of_role(Role.CONFIDENTIAL))
    untouched = [name for name in recipe.attributes if name in schema.of_role(Role.CONFIDENTIAL, Role.NON_CONFIDENTIAL)]
    n_combinations, smallest, below = 0, n_rows, 0
    agreeing = dict.fromkeys(confidential, 0)
    for number in range(n_rounds):
        sizes, agrees = _classes(paths, attributes, confidential, number, n_rounds)
        report("counting on the written files", 0.8 * (number + 1) / n_rounds)
        n_combinations += len(sizes)
        smallest = min(smallest, int(sizes.min(initial=n_rows)))
        below += int(sizes[sizes < recipe.k].sum())
        for name, found in agrees.items():
            agreeing[name] += int(sizes[found].sum())
    recount = Recount(tuple(attributes), n_rows, n_combinations, smallest, below, recipe.k)
    singles = [Singles(name, _singles(paths, name, n_rounds)) for name in untouched]
    agreements = [Agreement(name, tuple(attributes), agreeing[name]) for name in confidential]
    exposure = Exposure(
        recipe.k,
        n_rows,
        tuple(sorted(agreements, key=lambda one: -one.records)),
        tuple(sorted(singles, key=lambda one: -one.values)),
        (),
        (tuple(attributes),),
    )
    named = [name for name in attributes if schema[name].kind in (Kind.NOMINAL, Kind.ORDINAL)]
    categories: dict[str, dict[str, int]] = {name: {} for name in named}
    n_missing = dict.fromkeys(attributes, 0)
    for path in paths:
        table = read_part(path, list(attributes))
        for name in attributes:
            n_missing[name] += table.column(name).null_count
        for name in named:
            for label, count in _value_counts(table.column(name)):
                categories[name][str(label)] = categories[name].get(str(label), 0) + count
    report("counting on the written files", 1.0)
    return PartsCount(recount, exposure, categories, n_missing)


def _classes(
    paths: Sequence[Path], attributes: Sequence[str], confidential: Sequence[str], number: int, n_rounds: int
) -> tuple[npt.NDArray[np.int64], dict[str, npt.NDArray[np.bool_]]]:
    """Sizes of the classes of one round, and for each confidential attribute which of them agree in it."""
    import pyarrow as pa

    rows = [_round_of(read_part(path, [*attributes, *confidential]), attributes, number, n_rounds) for path in paths]
    keys = {str(place): name for place, name in enumerate(attributes)}
    values = {f"c{place}": name for place, name in enumerate(confidential)}
    together = pa.concat_tables(
        [
            pa.table({short: _plain(table.column(name)) for short, name in (keys | values).items()})
            for table in rows
            if table.num_rows or table is rows[0]
        ],
        promote_options="permissive",
    )
    del rows
    wanted: list[Any] = [([], "count_all")]
    import pyarrow.compute as pc

    wanted += [(short, "count_distinct", pc.CountOptions(mode="all")) for short in values]
    try:
        found = together.group_by(list(keys)).aggregate(wanted)
    except pa.ArrowNotImplementedError:
        raise TableError("a column holds values of a type that cannot be counted") from None
    sizes = found.column("count_all").to_numpy().astype(np.int64)
    agrees = {name: found.column(f"{short}_count_distinct").to_numpy() == 1 for short, name in values.items()}
    return sizes, agrees


def _round_of(table: pa.Table, names: Sequence[str], number: int, n_rounds: int) -> pa.Table:
    import pyarrow as pa

    if n_rounds == 1:
        return table
    state = np.zeros(table.num_rows, dtype=np.uint64)
    for name in names:
        state = (state ^ hash_values(table.column(name))) * np.uint64(0x9E3779B97F4A7C15)
        state ^= state >> np.uint64(29)
    return table.filter(pa.array((state >> np.uint64(11)) % np.uint64(n_rounds) == number))


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


def _singles(paths: Sequence[Path], name: str, n_rounds: int) -> int:
    """How many values of a column occur once in all files together."""
    import pyarrow as pa
    import pyarrow.compute as pc

    total = 0
    for number in range(n_rounds):
        some = [_round_of(read_part(path, [name]), [name], number, n_rounds).column(name) for path in paths]
        chunks = [chunk for column in some for chunk in _plain(column).drop_null().chunks]
        if not chunks:
            continue
        column = pa.chunked_array(chunks)
        if pa.types.is_floating(column.type):
            values = np.sort(column.to_numpy())
            new = np.concatenate([[True], values[1:] != values[:-1], [True]])
            total += int((new[1:] & new[:-1]).sum()) if len(values) else 0
            continue
        counts = pc.struct_field(pc.value_counts(column), "counts")
        total += int(pc.sum(pc.equal(counts, 1)).as_py() or 0)
    return total


def _value_counts(column: pa.ChunkedArray) -> Iterator[tuple[Any, int]]:
    import pyarrow.compute as pc

    for one in pc.value_counts(_plain(column).drop_null()).to_pylist():
        yield one["values"], int(one["counts"])
