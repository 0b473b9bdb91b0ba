"""Small operations on Arrow columns that readers, writers and frames share."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from microagg.errors import TableError
from microagg.tables.phrases import names_phrase

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = [
    "as_doubles",
    "as_one_array",
    "is_text",
    "listed",
    "refuse_offsets_in_seconds",
    "with_columns",
    "without_dictionaries",
]


def is_text(column_type: pa.DataType) -> bool:
    """Whether a type is text of the usual kinds; a string view is not."""
    from pyarrow import types

    return bool(types.is_string(column_type) or types.is_large_string(column_type))


def as_one_array(column: pa.ChunkedArray) -> pa.Array:
    """Return all chunks of a column as one array."""
    import pyarrow as pa

    if column.num_chunks == 1:
        return column.chunk(0)
    return pa.concat_arrays(column.chunks) if column.num_chunks else pa.array([], type=column.type)


def as_doubles(column: pa.ChunkedArray, name: str, reader: str) -> pa.ChunkedArray:
    """Return a column of decimals or floats as doubles, or refuse decimals of which doubles would lose digits.

    Parameters
    ----------
    column : pyarrow.ChunkedArray
    name : str
    reader : str
        Who keeps doubles alone, for the message.

    Examples
    --------
    >>> import pyarrow as pa
    >>> as_doubles(pa.chunked_array([pa.array([Decimal("1.50"), None])]), "pay", "Excel").to_pylist()
    [1.5, None]
    """
    import pyarrow as pa

    if pa.types.is_decimal(column.type):
        lost = sum(Decimal(repr(float(one))) != one for one in column.drop_null().to_pylist())
        if lost:
            raise TableError(
                f"Column {name!r} has {lost} decimals of more digits than {reader} keeps. Choose another format: csv "
                "and parquet keep all"
            )
    return column.cast(pa.float64())


def refuse_offsets_in_seconds(table: pa.Table, writer: str) -> None:
    """Refuse moments whose zone was apart from UTC by seconds, too: text has hours and minutes of it alone.

    Local times before the zones of today are such, as in Madrid before 1901: 14 minutes and 44 seconds behind.

    Examples
    --------
    >>> import pyarrow as pa
    >>> early = pa.array([-3_000_000_000], pa.timestamp("s", "Europe/Madrid"))
    >>> refuse_offsets_in_seconds(pa.table({"born": early}), "CSV")
    Traceback (most recent call last):
    microagg.errors.TableError: Column 'born' has 1 times whose zone was apart from UTC by seconds, too, which CSV ...
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    for name, column in zip(table.column_names, table.columns, strict=True):
        if not pa.types.is_timestamp(column.type) or column.type.tz is None:
            continue
        seconds = pa.timestamp("s")
        shown = pc.local_timestamp(column).cast(seconds, safe=False).cast(pa.int64())
        meant = column.cast(pa.timestamp(column.type.unit)).cast(seconds, safe=False).cast(pa.int64())
        apart = pc.subtract(shown, meant)
        lost = pc.not_equal(apart, pc.multiply(pc.divide(apart, 60), 60))
        count = int(pc.sum(lost).as_py() or 0)
        if count:
            raise TableError(
                f"Column {name!r} has {count} times whose zone was apart from UTC by seconds, too, which {writer} does "
                "not keep. Convert the column to UTC before, or choose another format: parquet keeps them"
            )


def without_dictionaries(table: pa.Table) -> pa.Table:
    """Return the table with categories as plain values."""
    import pyarrow as pa

    coded = {i: field.type.value_type for i, field in enumerate(table.schema) if pa.types.is_dictionary(field.type)}
    return with_columns(table, {i: table.column(i).cast(kind) for i, kind in coded.items()})


def with_columns(table: pa.Table, columns: Mapping[int, Any]) -> pa.Table:
    """Replace columns by position, all at once: one by one would copy the list of columns each time."""
    import pyarrow as pa

    if not columns:
        return table
    new = [columns.get(position, column) for position, column in enumerate(table.columns)]
    fields = [field.with_type(column.type) for field, column in zip(table.schema, new, strict=True)]
    return pa.Table.from_arrays(new, schema=pa.schema(fields, metadata=table.schema.metadata))


def listed(names: Iterable[str]) -> str:
    """Name columns in a message, each in quotes."""
    return names_phrase([repr(name) for name in names])
