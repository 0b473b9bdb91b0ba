"""Text as the values that it plainly writes: numbers with points, dates as 2024-02-29, times as 12:30."""

from __future__ import annotations

from typing import TYPE_CHECKING

from microagg.tables.columns import is_text, with_columns
from microagg.tables.text.dialect import STANDARD
from microagg.tables.text.written import as_numbers

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["as_plain", "parse_text_like"]


def as_plain(text: pa.ChunkedArray, kind: pa.DataType) -> pa.ChunkedArray | None:
    """Return the values of a type that a column of text plainly writes; None if some text writes no such value."""
    import pyarrow as pa
    import pyarrow.compute as pc

    try:
        if pa.types.is_integer(kind) or pa.types.is_floating(kind):
            numbers = as_numbers(text, STANDARD)
            return None if numbers is None else numbers.cast(kind)
        if pa.types.is_time(kind):
            moments = pc.binary_join_element_wise("1970-01-01", text.cast(pa.string()), " ").cast(pa.timestamp("us"))
            return moments.cast(pa.time64("us")).cast(kind)
        return text.cast(kind)
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
        return None


def parse_text_like(table: pa.Table, other: pa.Table) -> pa.Table:
    """Return the table with text as what it plainly writes, in columns that the other table does not have as text."""
    kinds = {field.name: field.type for field in other.schema}
    found = {}
    for place, field in enumerate(table.schema):
        kind = kinds.get(field.name, field.type)
        if is_text(field.type) and not is_text(kind):
            values = as_plain(table.column(place), _wide(kind))
            if values is not None:
                found[place] = values
    return with_columns(table, found)


def _wide(kind: pa.DataType) -> pa.DataType:
    """Return a type that also holds numbers which the other table need not have."""
    import pyarrow as pa

    return pa.float64() if pa.types.is_integer(kind) or pa.types.is_floating(kind) else kind
