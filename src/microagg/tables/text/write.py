"""Write text files: UTF-8, text in quotes, and the same table always as the same bytes."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from microagg.errors import TableError
from microagg.tables.columns import is_text, refuse_offsets_in_seconds, with_columns, without_dictionaries
from microagg.tables.text.compression import open_to_write

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["write_text"]


def write_text(table: pa.Table, path: Path, separator: str, format_name: str) -> None:
    """Write a table as text; a file whose name ends in ``.gz`` is compressed."""
    from pyarrow import csv

    table = _with_plain_times(without_dictionaries(table))
    _refuse_nul(table, format_name)
    refuse_offsets_in_seconds(table, format_name)
    with open_to_write(path) as stream:
        if table.num_columns == 1:
            stream.write(_lines_of_one_column(table).encode())
        else:
            csv.write_csv(table, stream, csv.WriteOptions(delimiter=separator))


def _refuse_nul(table: pa.Table, format_name: str) -> None:
    """Refuse text that no reader of a text file would take for text."""
    import pyarrow.compute as pc

    for name, column in zip(table.column_names, table.columns, strict=True):
        count = int(pc.sum(pc.match_substring(column, "\0")).as_py() or 0) if is_text(column.type) else 0
        if count:
            raise TableError(
                f"Column {name!r} has {count} texts with a NUL character, which {format_name} cannot hold."
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


def _lines_of_one_column(table: pa.Table) -> str:
    import pyarrow as pa

    column = table.column(0)
    quoting = is_text(column.type)
    values = column.cast(pa.large_string()).to_pylist()
    lines = ("NA" if value is None else _quoted(value) if quoting else value for value in values)
    return "".join(f"{line}\n" for line in (_quoted(table.column_names[0]), *lines))


def _quoted(text: str) -> str:
    return '"' + text.replace('"', '""') + '"'
