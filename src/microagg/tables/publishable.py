"""What of a table may be written to a file: values of records and labels of columns, and nothing else.

Left out are: metadata of other programs (pandas puts the index there), categories that no record has, and text that
Arrow may still keep in memory beside the values.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from microagg.errors import TableError
from microagg.tables.columns import is_text, listed
from microagg.tables.labels import only_own_metadata

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["make_publishable"]


def make_publishable(table: pa.Table) -> pa.Table:
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
