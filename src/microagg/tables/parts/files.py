"""The files of a table that lies in several: read one, count their rows, hash their values."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from microagg.errors import TableError

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["hash_values", "plain_values", "read_part", "rows_of_parts"]

HashArray = npt.NDArray[np.uint64]

_MISSING = np.uint64(0x6D697373696E67)


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
                n_rows = int(file.metadata.num_rows)
        except (OSError, pa.ArrowException):
            raise TableError(f"{path.name} is not there, or is damaged") from None
        if not n_rows or path.is_symlink():
            raise TableError(f"{path.name} is empty, or stands for another file, as no part of a release is or does")
        total += n_rows
        types = types or {name: found.get(name) for name in names}
        if None in types.values() or any(found.get(name) != kind for name, kind in types.items()):
            raise TableError(f"{path.name} does not have the columns of the table, or has them of other types")
    return total


def plain_values(column: pa.ChunkedArray, *, nan_is_missing: bool = True) -> pa.ChunkedArray:
    """Values without a dictionary; NaN is missing, unless it is to be told from that."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if pa.types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    if nan_is_missing and pa.types.is_floating(column.type):
        column = pc.if_else(pc.is_nan(column), pa.scalar(None, column.type), column)
    return column


def hash_values(column: pa.ChunkedArray) -> HashArray:
    """A number for each value, the same for equal ones."""
    import pyarrow as pa
    import pyarrow.compute as pc

    values = plain_values(column).combine_chunks()
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
