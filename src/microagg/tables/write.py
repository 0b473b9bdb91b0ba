"""Write a `pyarrow.Table` to a file; the extension of the file's name tells its format.

Only what the table shows is written. Left out are: metadata of other programs (pandas puts the index there),
categories that no record has, and what Arrow may still keep in memory under a missing value.
"""

from __future__ import annotations

import gzip
import os
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, cast

from microagg.errors import TableError
from microagg.tables.columns import is_text, listed, with_columns, without_dictionaries
from microagg.tables.formats.labels import (
    only_own_metadata,
)
from microagg.tables.formats.stat_files import write_statistics
from microagg.tables.read import DELIMITERS, FORMATS, format_of

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["WRITABLE", "write_table"]

WRITABLE: tuple[str, ...] = ("csv", "csv.gz", "tsv", "parquet", "feather", "sav", "dta")


def write_table(table: pa.Table, path: str | os.PathLike[str]) -> None:
    """Write a table to a file, over whatever was there.

    Parameters
    ----------
    table : pyarrow.Table
        Columns of numbers, text, truth values, dates, times or categories.
    path : str or path
        Its extension tells the format, one of `WRITABLE`; ``.zsav`` is a compressed ``.sav``.

    Raises
    ------
    TableError
        If the format cannot be written or cannot hold a column's name, type or values. Nothing is written
        then.

    Notes
    -----
    *Parquet, Feather* keep types, categories (with their order) and labels.

    *Text files* (``.csv``, ``.csv.gz``, ``.tsv``) are UTF-8 with a header and line feeds. Text is in quotes,
    so an empty text or the text ``NA`` is not taken for a missing value, which is an empty field; in a table
    of one column it is ``NA``, because programs skip empty lines. Decimals have the fewest digits that give
    the same number again, dates and timestamps are as in 2024-02-29 13:45:00. Labels and types are not kept:
    1.0 is written as 1, and a time of day with a fraction is read again as text. The same table always gives
    the same bytes.

    *SPSS, Stata* keep labels of columns (cut after 256 bytes and 80 characters) and of values (SPSS: cut
    after 120 bytes; Stata: of integers only). Labels of values that are not of the column's type are left
    out, and so are missing ranges. Truth values become 0 and 1 with the labels "false" and "true", categories
    text, decimals doubles, NaN missing. An empty text cannot be told from a missing one, and SPSS ignores
    blanks at the end of a text. Both store timestamps as doubles, which is exact to the millisecond. When the
    file was written is not in it.
    """
    path = Path(path)
    file_format = format_of(path)
    if file_format not in WRITABLE:
        raise TableError(f"{path.name}: {FORMATS[file_format]} can only be read. Written are {', '.join(WRITABLE)}.")
    if not path.absolute().parent.is_dir():
        raise TableError(f"{path.name}: the directory to write to does not exist.")
    table = _publishable(table)
    if file_format in DELIMITERS:
        _write_text(table, path, file_format)
    elif file_format in ("parquet", "feather"):
        _write_arrow(table, path, file_format)
    else:
        write_statistics(table, path, file_format)


# What may be written


def _publishable(table: pa.Table) -> pa.Table:
    """Return the table without anything that is not a value of a record or a label of a column."""
    import pyarrow as pa

    if not table.column_names:
        raise TableError("The table has no columns.")
    repeated = sorted(name for name, count in Counter(table.column_names).items() if count > 1)
    if repeated:
        raise TableError(f"More than one column is called {listed(repeated)}.")
    columns = [_publishable_column(table.column(i), field.name) for i, field in enumerate(table.schema)]
    fields = [
        pa.field(field.name, column.type, metadata=only_own_metadata(field) or None)
        for field, column in zip(table.schema, columns, strict=True)
    ]
    return pa.Table.from_arrays(columns, schema=pa.schema(fields))


def _publishable_column(column: pa.ChunkedArray, name: str) -> pa.ChunkedArray:
    import pyarrow as pa

    if pa.types.is_dictionary(column.type):
        _check_is_flat(column.type.value_type, name)
        return _with_used_categories(column)
    _check_is_flat(column.type, name)
    return column.cast(pa.large_string()) if _is_view(column.type) else column


def _check_is_flat(column_type: pa.DataType, name: str) -> None:
    """Refuse nested and binary types, whose parts could hide more than the table shows."""
    from pyarrow import types as t

    numbers = (t.is_integer, t.is_float32, t.is_float64, t.is_decimal, t.is_boolean, t.is_null)
    texts_and_moments = (is_text, _is_view, t.is_date, t.is_time, t.is_timestamp)
    if not any(is_kind(column_type) for is_kind in numbers + texts_and_moments):
        raise TableError(f"Column {name!r} has type {column_type}, which is not written to files.")


def _is_view(column_type: pa.DataType) -> bool:
    """Tell a string view, whose memory may hold text that no record has; Arrow before version 16 has none."""
    return str(column_type) == "string_view"


def _with_used_categories(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Drop the categories that no record has; the others keep their order."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if column.num_chunks == 0:
        return column
    column = column.unify_dictionaries()
    indices = pa.chunked_array([chunk.indices for chunk in column.chunks])
    used = pc.unique(indices.drop_null())
    used = used.take(pc.sort_indices(used))
    categories = column.chunk(0).dictionary.take(used)
    if _is_view(categories.type):
        categories = categories.cast(pa.large_string())
    return pa.chunked_array(
        pa.DictionaryArray.from_arrays(pc.index_in(chunk, value_set=used), categories, ordered=column.type.ordered)
        for chunk in indices.chunks
    )


# Text files and files of Arrow's own kind


def _write_text(table: pa.Table, path: Path, file_format: str) -> None:
    from pyarrow import csv

    table = _with_plain_times(without_dictionaries(table))
    _refuse_nul(table, file_format)
    with _open_text(path) as stream:
        if table.num_columns == 1:
            stream.write(_lines_of_one_column(table).encode())
        else:
            csv.write_csv(table, stream, csv.WriteOptions(delimiter=DELIMITERS[file_format]))


def _refuse_nul(table: pa.Table, file_format: str) -> None:
    """Refuse text that no reader of a text file would take for text."""
    import pyarrow.compute as pc

    for name, column in zip(table.column_names, table.columns, strict=True):
        count = int(pc.sum(pc.match_substring(column, "\0")).as_py() or 0) if is_text(column.type) else 0
        if count:
            raise TableError(
                f"Column {name!r} has {count} texts with a NUL character, which {file_format} cannot hold."
            )


def _with_plain_times(table: pa.Table) -> pa.Table:
    """Write times of day without a fraction if none has one: only those are read as times again."""
    import pyarrow as pa
    import pyarrow.compute as pc

    seconds = pa.time32("s")
    times = {}
    for position, field in enumerate(table.schema):
        if pa.types.is_time(field.type):
            whole = table.column(position).cast(seconds, safe=False)
            if pc.all(pc.equal(whole.cast(field.type), table.column(position)), min_count=0).as_py():
                times[position] = whole
    return with_columns(table, times)


@contextmanager
def _open_text(path: Path) -> Iterator[BinaryIO]:
    """Open a file for writing; of a compressed one, neither the name nor the time is written into it."""
    with path.open("wb") as file:
        if path.suffix.lower() != ".gz":
            yield file
            return
        with gzip.GzipFile(filename="", mode="wb", compresslevel=6, fileobj=file, mtime=0) as compressed:
            yield cast(BinaryIO, compressed)


def _lines_of_one_column(table: pa.Table) -> str:
    import pyarrow as pa

    column = table.column(0)
    quoting = is_text(column.type)
    values = column.cast(pa.large_string()).to_pylist()
    lines = ("NA" if value is None else _quoted(value) if quoting else value for value in values)
    return "".join(f"{line}\n" for line in (_quoted(table.column_names[0]), *lines))


def _quoted(text: str) -> str:
    return '"' + text.replace('"', '""') + '"'


def _write_arrow(table: pa.Table, path: Path, file_format: str) -> None:
    import pyarrow as pa
    from pyarrow import feather, parquet

    if file_format == "parquet":
        parquet.write_table(table, path)
    else:
        columns = [_in_clean_memory(column) for column in table.columns]
        feather.write_feather(pa.Table.from_arrays(columns, schema=table.schema), path)


def _in_clean_memory(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Copy a column so that its memory holds nothing but the values it shows.

    Feather is an image of Arrow's memory. There a null is a mark beside a slot that may still hold the value
    from before it was suppressed, and a slice may share its last byte with the records that follow.
    """
    import pyarrow as pa

    if not pa.types.is_dictionary(column.type):
        return pa.chunked_array([_clean(chunk) for chunk in column.chunks], column.type)
    chunks = [
        pa.DictionaryArray.from_arrays(_clean(chunk.indices), chunk.dictionary, ordered=column.type.ordered)
        for chunk in column.chunks
    ]
    return pa.chunked_array(chunks, column.type)


def _clean(array: pa.Array) -> pa.Array:
    import numpy as np
    import pyarrow as pa
    import pyarrow.compute as pc

    if pa.types.is_null(array.type):
        return array
    blank = "" if is_text(array.type) else False if pa.types.is_boolean(array.type) else 0
    filled = pc.fill_null(array, pa.scalar(blank, array.type)).take(pa.array(np.arange(len(array))))
    is_valid = array.is_valid().to_numpy(zero_copy_only=False)
    marks = pa.py_buffer(np.packbits(is_valid, bitorder="little").tobytes()) if array.null_count else None
    return pa.Array.from_buffers(array.type, len(array), [marks, *filled.buffers()[1:]])
