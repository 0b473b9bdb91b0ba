"""Small operations on Arrow columns that readers, writers and frames share."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from microagg.errors import TableError
from microagg.tables.phrases import names_phrase

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["as_doubles", "as_one_array", "is_text", "listed", "with_columns", "without_dictionaries"]


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
