"""Small things that the writers of all formats share."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["is_text", "listed", "without_dictionaries"]


def is_text(column_type: pa.DataType) -> bool:
    from pyarrow import types

    return bool(types.is_string(column_type) or types.is_large_string(column_type))


def without_dictionaries(table: pa.Table) -> pa.Table:
    import pyarrow as pa

    for position, field in enumerate(table.schema):
        if pa.types.is_dictionary(field.type):
            plain = field.with_type(field.type.value_type)
            table = table.set_column(position, plain, table.column(position).cast(plain.type))
    return table


def listed(names: Iterable[str]) -> str:
    return ", ".join(repr(name) for name in names)
