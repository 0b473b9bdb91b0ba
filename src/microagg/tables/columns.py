"""Small things that the writers of all formats share."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from microagg.tables.phrases import names_phrase

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["is_text", "listed", "with_columns", "without_dictionaries"]


def is_text(column_type: pa.DataType) -> bool:
    from pyarrow import types

    return bool(types.is_string(column_type) or types.is_large_string(column_type))


def without_dictionaries(table: pa.Table) -> pa.Table:
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
    return names_phrase([repr(name) for name in names])
