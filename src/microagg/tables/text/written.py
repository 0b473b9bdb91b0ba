"""Numbers and dates that a file writes in its own way, read from text; columns at a time."""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from microagg.tables.columns import as_one_array, is_text
from microagg.tables.text.dialect import Dialect

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["as_dates", "as_numbers", "number_pattern", "retype"]

_BLANKS = " \u00a0\u202f\u2009"


def retype(table: pa.Table, dialect: Dialect, text_columns: Iterable[str], number_columns: Iterable[str]) -> pa.Table:
    """Read text columns as dates or numbers where the dialect says how and every value can be read so.

    A column of `text_columns` stays text. One of `number_columns` is tried as a number whatever the dialect says.
    """
    import pyarrow as pa

    left_alone, numbers = set(text_columns), set(number_columns)
    fields, columns = list(table.schema), list(table.columns)
    for position, field in enumerate(fields):
        name = field.name
        if not is_text(field.type) or name in left_alone:
            continue
        column = columns[position]
        new = None
        pattern = dialect.date_formats.get(name, dialect.date_format)
        if pattern is not None:
            new = as_dates(column, pattern)
        if new is None and (dialect.reads_numbers_its_own_way or name in numbers or name in dialect.missing):
            new = as_numbers(column, dialect)
        if new is not None:
            fields[position], columns[position] = field.with_type(new.type), new
    return pa.Table.from_arrays(columns, schema=pa.schema(fields, table.schema.metadata))


def number_pattern(dialect: Dialect) -> str:
    """A regular expression, without anchors, of an unsigned number as the dialect writes it."""
    point = re.escape(dialect.decimal)
    whole = r"\d+"
    if dialect.thousands is not None:
        mark = f"[{_BLANKS}]" if dialect.thousands in _BLANKS else f"[{re.escape(dialect.thousands)}]"
        lakhs = f"|\\d{{1,2}}(?:{mark}\\d{{2}})+{mark}\\d{{3}}" if dialect.thousands == "," else ""
        whole = f"(?:\\d{{1,3}}(?:{mark}\\d{{3}})+{lakhs}|\\d+)"
    return f"(?:{whole}(?:{point}\\d*)?|{point}\\d+)(?:[eE][+-]?\\d+)?"


def as_numbers(column: pa.ChunkedArray, dialect: Dialect) -> pa.ChunkedArray | None:
    """Return the numbers that a column of text writes, whole ones as int64; None if some value is not a number.

    Blank text, as in a file with quotes around every field, is missing. Either every value has the same unit or none
    has one: 20 % beside 0.2, or EUR beside USD, is not one scale.
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    encoded = _encode_distinct(column)
    if not len(encoded.dictionary):
        return None
    numbers = _parse_numbers(encoded.dictionary.cast(pa.large_string()), dialect)
    return None if numbers is None else pa.chunked_array([pc.take(numbers, encoded.indices)])


def _encode_distinct(column: pa.ChunkedArray) -> pa.DictionaryArray:
    """Return the distinct texts of a column, without blank ones, and where they stand."""
    import pyarrow as pa
    import pyarrow.compute as pc

    array = as_one_array(column)
    blank = pc.fill_null(pc.equal(pc.utf8_length(pc.utf8_trim_whitespace(array)), 0), False)
    return pc.if_else(blank, pa.scalar(None, array.type), array).dictionary_encode()


def _parse_numbers(text: pa.Array, dialect: Dialect) -> pa.Array | None:
    import pyarrow as pa
    import pyarrow.compute as pc

    text = pc.utf8_trim_whitespace(pc.replace_substring(text, "\u2212", "-"))
    text = _without_unit(text, dialect)
    if text is None:
        return None
    number = number_pattern(dialect)
    forms = [f"[+-]?{number}"]
    if dialect.negatives == "parentheses":
        forms.append(f"\\({number}\\)")
    elif dialect.negatives == "trailing":
        forms.append(f"{number}-")
    if not pc.all(pc.match_substring_regex(text, f"^(?:{'|'.join(forms)})$")).as_py():
        return None
    if dialect.negatives == "parentheses":
        text = pc.replace_substring_regex(text, r"^\((.*)\)$", r"-\1")
    elif dialect.negatives == "trailing":
        text = pc.replace_substring_regex(text, r"^(.*\d.?)-$", r"-\1")
    if dialect.thousands is not None:
        marks = f"[{_BLANKS}]" if dialect.thousands in _BLANKS else re.escape(dialect.thousands)
        text = pc.replace_substring_regex(text, marks, "")
    text = pc.replace_substring_regex(pc.replace_substring(text, dialect.decimal, "."), r"^\+", "")
    whole = pc.all(pc.match_substring_regex(text, r"^-?\d+$")).as_py()
    try:
        if whole:  # too long for 64 bits: as doubles different ones would be equal
            return text.cast(pa.int64())
        return text.cast(pa.float64())
    except pa.ArrowInvalid:
        return None


def _without_unit(text: pa.Array, dialect: Dialect) -> pa.Array | None:
    """Return the text without the unit that all of it has; as it is if none has one, None if only some have."""
    import pyarrow as pa
    import pyarrow.compute as pc

    for unit in sorted(dialect.units, key=len, reverse=True):
        mark = re.escape(unit)
        before = f"^(\\(?[+-]?)\\s*{mark}\\s*([+-]?)"
        after = f"\\s*{mark}([)-]?)$"
        has = pc.or_(pc.match_substring_regex(text, before), pc.match_substring_regex(text, after))
        share = pc.sum(has.cast(pa.int64())).as_py()
        if share == len(text):
            bare = pc.replace_substring_regex(text, after, r"\1")
            return pc.utf8_trim_whitespace(pc.replace_substring_regex(bare, before, r"\1\2"))
        if share:
            return None
    return text


def as_dates(column: pa.ChunkedArray, pattern: str) -> pa.ChunkedArray | None:
    """Return the dates (moments, if the pattern has a time of day) that a column of text writes; None if one is not."""
    import pyarrow as pa
    import pyarrow.compute as pc

    encoded = _encode_distinct(column)
    if not len(encoded.dictionary):
        return None
    try:
        moments = [dt.datetime.strptime(text.strip(), pattern) for text in encoded.dictionary.to_pylist()]
    except (ValueError, OverflowError):
        return None
    timed = bool(set(re.findall(r"%(.)", pattern.replace("%%", ""))) & set("HIMSfpzcX"))
    kind: Any
    values: Sequence[dt.date]
    if not timed:
        kind, values = pa.date32(), [moment.date() for moment in moments]
    elif any(moment.tzinfo is not None for moment in moments):
        kind, values = pa.timestamp("us", "UTC"), [moment.astimezone(dt.UTC) for moment in moments]
    else:
        kind, values = pa.timestamp("us"), moments
    return pa.chunked_array([pc.take(pa.array(values, kind), encoded.indices)])
