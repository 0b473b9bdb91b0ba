"""Tables in the types that databases have, and whether two tables hold the same records."""

from __future__ import annotations

from typing import TYPE_CHECKING

from microagg.errors import TableError
from microagg.tables.columns import is_text, with_columns, without_dictionaries

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["in_common_types", "same_records"]


def in_common_types(table: pa.Table) -> pa.Table:
    """The table without categories and labels, with one width of texts, dates and times; refuse what would change."""
    import pyarrow as pa

    table = without_dictionaries(table).replace_schema_metadata(None)
    found = {}
    for place, field in enumerate(table.schema):
        wanted = _common_type(field.type)
        try:
            found[place] = table.column(place).cast(wanted)
        except pa.ArrowInvalid:
            raise TableError(
                f"column {field.name!r} of type {field.type} holds values that databases do not keep as they are: "
                "whole numbers beyond 64 bits, or times finer than a microsecond"
            ) from None
    return pa.table(with_columns(table, found).columns, names=table.column_names)


def _common_type(kind: pa.DataType) -> pa.DataType:
    import pyarrow as pa
    from pyarrow import types as t

    if t.is_null(kind) or is_text(kind):
        return pa.string()
    if t.is_unsigned_integer(kind):
        return {8: pa.int16(), 16: pa.int32()}.get(kind.bit_width, pa.int64())
    if t.is_int8(kind):
        return pa.int16()
    if t.is_date(kind):
        return pa.date32()
    if t.is_time(kind):
        return pa.time64("us")
    if t.is_timestamp(kind):
        return pa.timestamp("us", None if kind.tz is None else "UTC")
    return kind


def same_records(one: pa.Table, other: pa.Table) -> bool:
    """Whether two tables have the same columns and the same records, in any order, each as often."""
    if one.column_names != other.column_names or one.num_rows != other.num_rows:
        return False
    try:
        cast = other.cast(one.schema)
    except Exception:
        return False
    return bool(_in_order(one).equals(_in_order(cast)))


def _in_order(table: pa.Table) -> pa.Table:
    """The records sorted, with what is not a number told from what is missing, and no sign of a zero."""
    import pyarrow as pa
    import pyarrow.compute as pc

    columns = []
    for column in table.columns:
        if pa.types.is_floating(column.type):
            columns.append(pc.fill_null(pc.is_nan(column), False))
            zero = pa.scalar(0.0, column.type)
            column = pc.if_else(pc.is_nan(column), None, pc.add(column, zero))
        columns.append(column)
    plain = pa.table(columns, names=[str(place) for place in range(len(columns))])
    return plain.sort_by([(name, "ascending") for name in plain.column_names]).combine_chunks()
