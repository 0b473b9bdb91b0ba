"""Values that stand for "missing" in single columns: -999, 9, unknown."""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pyarrow as pa

    from microagg.tables.frames import Frame

__all__ = ["code_as_text", "frame_without_codes", "replace_codes", "table_without_codes"]

_BEYOND_FLOATS = 2**1023


def table_without_codes(table: pa.Table, codes: Mapping[str, Sequence[Any]]) -> pa.Table:
    """Return the table with each column's codes missing; columns that it does not have are passed over.

    Examples
    --------
    >>> import pyarrow as pa
    >>> table_without_codes(pa.table({"age": [37, -999]}), {"age": [-999]})["age"].to_pylist()
    [37, None]
    """
    import pyarrow as pa

    listed = {name: codes[name] for name in table.column_names if name in codes}
    if not listed:
        return table
    columns = [
        pa.chunked_array([replace_codes(chunk, listed[name]) for chunk in column.chunks], column.type)
        if name in listed
        else column
        for name, column in zip(table.column_names, table.columns, strict=True)
    ]
    return pa.Table.from_arrays(columns, schema=table.schema)


def frame_without_codes(frame: Frame, codes: Mapping[str, Sequence[Any]]) -> Frame:
    """Return the frame with each column's codes missing."""
    return replace(frame, table=table_without_codes(frame.table, codes))


def replace_codes(array: pa.Array, codes: Sequence[Any]) -> pa.Array:
    """Return the array, of the same type, with a null wherever a code stands.

    Numbers are compared as numbers, so that -999 is also -999.0; in text a code is what is written, blanks around it
    left out.
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    if pa.types.is_dictionary(array.type):
        categories = replace_codes(array.dictionary, codes)
        gone = pc.and_(pc.is_null(categories), pc.is_valid(array.dictionary))
        mask = pc.fill_null(pc.take(gone, array.indices), False)
        indices = pc.if_else(mask, pa.scalar(None, array.type.index_type), array.indices)
        return pa.DictionaryArray.from_arrays(indices, array.dictionary, ordered=array.type.ordered)
    mask = _stands_for_missing(array, codes)
    return array if mask is None else pc.if_else(pc.fill_null(mask, False), pa.scalar(None, array.type), array)


def _stands_for_missing(array: pa.Array, codes: Sequence[Any]) -> Any:
    """A mask of the codes; None if no code can stand in a column of this type."""
    import pyarrow as pa
    import pyarrow.compute as pc

    kind = array.type
    if pa.types.is_string(kind) or pa.types.is_large_string(kind) or str(kind) == "string_view":
        words = pa.array([code_as_text(code) for code in codes], pa.large_string())
        return pc.is_in(pc.utf8_trim_whitespace(array.cast(pa.large_string())), value_set=words)
    if pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind):
        numbers = [number for code in codes if (number := _as_number(code)) is not None]
        whole = [int(number) for number in numbers if float(number).is_integer()]
        if pa.types.is_integer(kind):
            fitting = []
            for number in whole:
                try:
                    fitting.append(pa.scalar(number, kind).as_py())
                except (pa.ArrowInvalid, OverflowError):
                    continue
            return pc.is_in(array, value_set=pa.array(fitting, kind)) if fitting else None
        values = pa.array([float(number) for number in numbers], pa.float64())
        compared = array.cast(pa.float64())
        if pa.types.is_float32(kind) or pa.types.is_float16(kind):  # 99.9 in single precision is another double
            values = pa.array([float(number) for number in numbers], pa.float32()).cast(pa.float64())
        return pc.is_in(compared, value_set=values) if numbers else None
    if pa.types.is_boolean(kind):
        truths = [code for code in codes if isinstance(code, bool)]
        return pc.is_in(array, value_set=pa.array(truths, kind)) if truths else None
    if pa.types.is_date(kind) or pa.types.is_timestamp(kind):
        moments = [moment for code in codes if (moment := _as_moment(code)) is not None]
        if not moments:
            return None
        naive = array.cast(pa.timestamp("us", kind.tz if pa.types.is_timestamp(kind) else None), safe=False)
        if pa.types.is_timestamp(kind) and kind.tz is not None:
            naive = pc.local_timestamp(naive)
        return pc.is_in(naive, value_set=pa.array(moments, pa.timestamp("us")))
    return None


def code_as_text(code: Any) -> str:
    """Write a code as a text file or a cell does."""
    if isinstance(code, bool):
        return str(code).lower()
    if isinstance(code, float) and code.is_integer():
        return str(int(code))
    return code.isoformat() if isinstance(code, dt.date) else str(code).strip()


def _as_number(code: Any) -> int | float | None:
    if isinstance(code, bool | dt.date):
        return None
    number: int | float
    try:
        number = code if isinstance(code, float) else int(code)
    except (TypeError, ValueError, OverflowError):
        try:
            number = float(code)
        except (TypeError, ValueError, OverflowError):
            return None
    return number if abs(number) < _BEYOND_FLOATS else None


def _as_moment(code: Any) -> dt.datetime | None:
    if isinstance(code, str):
        try:
            code = dt.datetime.fromisoformat(code)
        except ValueError:
            return None
    if isinstance(code, dt.datetime):
        return code.replace(tzinfo=None)
    return dt.datetime(code.year, code.month, code.day) if isinstance(code, dt.date) else None
