"""Write a `pyarrow.Table` to a file; the extension of the file's name tells its format.

Only what the table shows is written. Left out are: metadata of other programs (pandas puts the index there),
categories that no record has, and what Arrow may still keep in memory under a missing value.
"""

from __future__ import annotations

import gzip
import os
import re
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, NamedTuple, cast

from microagg.errors import TableError
from microagg.tables.labels import (
    Labels,
    Meaning,
    labels_of,
    meaning_of_format,
    numbers_from_moments,
    only_own_metadata,
)
from microagg.tables.read import DELIMITERS, FORMATS, format_of

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["WRITABLE", "write_table"]

WRITABLE: tuple[str, ...] = ("csv", "csv.gz", "tsv", "parquet", "feather", "sav", "dta")


def write_table(table: pa.Table, path: str | os.PathLike[str]) -> None:
    """Write a table to a file, over whatever was there.

    Parameters
    ----------
    table : pyarrow.Table
        Columns of numbers, text, truth values, dates, times or categories.
    path : str or path
        Its extension tells the format, one of `WRITABLE`; ``.zsav`` is a compressed ``.sav``.

    Raises
    ------
    TableError
        If the format cannot be written or cannot hold a column's name, type or values. Nothing is written
        then.

    Notes
    -----
    *Parquet, Feather* keep types, categories (with their order) and labels.

    *Text files* (``.csv``, ``.csv.gz``, ``.tsv``) are UTF-8 with a header and line feeds. Text is in quotes,
    so an empty text or the text ``NA`` is not taken for a missing value, which is an empty field; in a table
    of one column it is ``NA``, because programs skip empty lines. Decimals have the fewest digits that give
    the same number again, dates and timestamps are as in 2024-02-29 13:45:00. Labels and types are not kept:
    1.0 is written as 1, and a time of day with a fraction is read again as text. The same table always gives
    the same bytes.

    *SPSS, Stata* keep labels of columns (cut after 256 bytes and 80 characters) and of values (SPSS: cut
    after 120 bytes; Stata: of integers only). Labels of values that are not of the column's type are left
    out, and so are missing ranges. Truth values become 0 and 1 with the labels "false" and "true", categories
    text, decimals doubles, NaN missing. An empty text cannot be told from a missing one, and SPSS ignores
    blanks at the end of a text. Both store timestamps as doubles, which is exact to the millisecond.
    """
    path = Path(path)
    file_format = format_of(path)
    if file_format not in WRITABLE:
        raise TableError(
            f"{path.name}: {FORMATS[file_format]} can only be read. Written are {', '.join(WRITABLE)}."
        )
    if not path.absolute().parent.is_dir():
        raise TableError(f"{path.name}: the directory to write to does not exist.")
    table = _publishable(table)
    if file_format in DELIMITERS:
        _write_text(table, path, file_format)
    elif file_format in ("parquet", "feather"):
        _write_arrow(table, path, file_format)
    else:
        _write_statistics(table, path, file_format)


# What may be written


def _publishable(table: pa.Table) -> pa.Table:
    """Return the table without anything that is not a value of a record or a label of a column."""
    import pyarrow as pa

    if not table.column_names:
        raise TableError("The table has no columns.")
    repeated = sorted({name for name in table.column_names if table.column_names.count(name) > 1})
    if repeated:
        raise TableError(f"More than one column is called {_listed(repeated)}.")
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
    texts_and_moments = (_is_text, _is_view, t.is_date, t.is_time, t.is_timestamp)
    if not any(is_kind(column_type) for is_kind in numbers + texts_and_moments):
        raise TableError(f"Column {name!r} has type {column_type}, which is not written to files.")


def _is_text(column_type: pa.DataType) -> bool:
    from pyarrow import types

    return bool(types.is_string(column_type) or types.is_large_string(column_type))


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
        pa.DictionaryArray.from_arrays(
            pc.index_in(chunk, value_set=used), categories, ordered=column.type.ordered
        )
        for chunk in indices.chunks
    )


def _without_dictionaries(table: pa.Table) -> pa.Table:
    import pyarrow as pa

    for position, field in enumerate(table.schema):
        if pa.types.is_dictionary(field.type):
            plain = field.with_type(field.type.value_type)
            table = table.set_column(position, plain, table.column(position).cast(plain.type))
    return table


# Text files and files of Arrow's own kind


def _write_text(table: pa.Table, path: Path, file_format: str) -> None:
    from pyarrow import csv

    table = _with_plain_times(_without_dictionaries(table))
    with _open_text(path) as stream:
        if table.num_columns == 1:
            stream.write(_lines_of_one_column(table).encode())
        else:
            csv.write_csv(table, stream, csv.WriteOptions(delimiter=DELIMITERS[file_format]))


def _with_plain_times(table: pa.Table) -> pa.Table:
    """Write times of day without a fraction if none has one: only those are read as times again."""
    import pyarrow as pa
    import pyarrow.compute as pc

    seconds = pa.time32("s")
    for position, field in enumerate(table.schema):
        if pa.types.is_time(field.type):
            whole = table.column(position).cast(seconds, safe=False)
            if pc.all(pc.equal(whole.cast(field.type), table.column(position)), min_count=0).as_py():
                table = table.set_column(position, field.with_type(seconds), whole)
    return table


@contextmanager
def _open_text(path: Path) -> Iterator[BinaryIO]:
    """Open a file for writing; of a compressed one, neither the name nor the time is written into it."""
    with path.open("wb") as file:
        if path.suffix.lower() != ".gz":
            yield file
            return
        with gzip.GzipFile(filename="", mode="wb", compresslevel=6, fileobj=file, mtime=0) as compressed:
            yield cast(BinaryIO, compressed)


def _lines_of_one_column(table: pa.Table) -> str:
    import pyarrow as pa

    column = table.column(0)
    is_text = _is_text(column.type)
    values = column.cast(pa.large_string()).to_pylist()
    lines = ("NA" if value is None else _quoted(value) if is_text else value for value in values)
    return "".join(f"{line}\n" for line in (_quoted(table.column_names[0]), *lines))


def _quoted(text: str) -> str:
    return '"' + text.replace('"', '""') + '"'


def _write_arrow(table: pa.Table, path: Path, file_format: str) -> None:
    import pyarrow as pa
    from pyarrow import feather, parquet

    if file_format == "parquet":
        parquet.write_table(table, path)
    else:
        columns = [_in_clean_memory(column) for column in table.columns]
        feather.write_feather(pa.Table.from_arrays(columns, schema=table.schema), path)


def _in_clean_memory(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Copy a column so that its memory holds nothing but the values it shows.

    Feather is an image of Arrow's memory. There a null is a mark beside a slot that may still hold the value
    from before it was suppressed, and a slice may share its last byte with the records that follow.
    """
    import pyarrow as pa

    if not pa.types.is_dictionary(column.type):
        return pa.chunked_array([_clean(chunk) for chunk in column.chunks], column.type)
    chunks = [
        pa.DictionaryArray.from_arrays(_clean(chunk.indices), chunk.dictionary, ordered=column.type.ordered)
        for chunk in column.chunks
    ]
    return pa.chunked_array(chunks, column.type)


def _clean(array: pa.Array) -> pa.Array:
    import numpy as np
    import pyarrow as pa
    import pyarrow.compute as pc

    if pa.types.is_null(array.type):
        return array
    blank = "" if _is_text(array.type) else False if pa.types.is_boolean(array.type) else 0
    filled = pc.fill_null(array, pa.scalar(blank, array.type)).take(pa.array(np.arange(len(array))))
    is_valid = array.is_valid().to_numpy(zero_copy_only=False)
    marks = pa.py_buffer(np.packbits(is_valid, bitorder="little").tobytes()) if array.null_count else None
    return pa.Array.from_buffers(array.type, len(array), [marks, *filled.buffers()[1:]])


# Files of statistics packages


class _Limits(NamedTuple):
    """What a kind of file can hold."""

    name: re.Pattern[str]
    n_bytes_of_name: int
    reserved: set[str]
    rule_for_names: str
    n_bytes_of_text: int
    largest_double: float


_SPSS_RESERVED = {"all", "and", "by", "eq", "ge", "gt", "le", "lt", "ne", "not", "or", "to", "with"}
_STATA_RESERVED = {"_all", "_b", "_coef", "_cons", "_n", "_pi", "_pred", "_rc", "_skip", "byte", "double"} | {
    *("float", "if", "in", "int", "long", "strl", "using", "with")
}
_LIMITS = {
    "sav": _Limits(
        name=re.compile(r"[^\W\d_][\w.$#@]*(?<!\.)"),
        n_bytes_of_name=64,
        reserved=_SPSS_RESERVED,
        rule_for_names="at most 64 bytes; a letter first, then letters, digits and . _ $ # @; "
        "no full stop at the end; no reserved word such as AND",
        n_bytes_of_text=32_767,
        largest_double=sys.float_info.max,
    ),
    "dta": _Limits(
        name=re.compile(r"(?!str\d+$)[^\W\d]\w{0,31}"),
        n_bytes_of_name=128,
        reserved=_STATA_RESERVED,
        rule_for_names="at most 32 letters, digits and underscores; no digit first; "
        "no reserved word such as int",
        n_bytes_of_text=2_000_000_000,
        largest_double=2.0**1023,
    ),
}
_STATA_LONG = (-2_147_483_647, 2_147_483_620)
_DEFAULT_FORMATS = {
    "sav": {"date": "DATE11", "datetime": "DATETIME23.2", "time": "TIME8"},
    "dta": {"date": "%td", "datetime": "%tc", "time": "%tcHH:MM:SS", "whole": "%20.0f"},
}


def _write_statistics(table: pa.Table, path: Path, file_format: str) -> None:
    import pyarrow as pa
    import pyreadstat

    _check_names(table.column_names, file_format)
    table = _without_dictionaries(table)
    stored = {
        field.name: _stored(table.column(i), field, file_format) for i, field in enumerate(table.schema)
    }
    _check_names_of_labelled(stored, file_format)
    frame = _frame_for_pyreadstat(pa.table({name: column.values for name, column in stored.items()}))
    about = {
        "column_labels": {name: column.label for name, column in stored.items()},
        "variable_value_labels": {name: c.value_labels for name, c in stored.items() if c.value_labels},
        "variable_format": {name: column.format for name, column in stored.items() if column.format},
    }
    target = str(path.absolute())
    try:
        if file_format == "sav":
            measures = {field.name: labels_of(field).measure for field in table.schema}
            compress = path.suffix.lower() == ".zsav"
            pyreadstat.write_sav(frame, target, variable_measure=measures, compress=compress, **about)
        else:
            # Every Stata since 14 opens this version; pyreadstat's default is for more than 32,767 columns.
            pyreadstat.write_dta(frame, target, version=14, **about)
    except Exception:  # what the library says may quote records
        raise TableError(f"{path.name} could not be written as {FORMATS[file_format]}.") from None


def _frame_for_pyreadstat(table: pa.Table) -> Any:
    """Wrap a table so that pyreadstat takes it, without pandas or polars.

    pyreadstat reads frames through narwhals, which knows Arrow tables as well; but it first looks at the name
    of the library and lets only pandas and polars pass. In polars as in Arrow a missing value is None.
    """
    import narwhals.stable.v2 as nw

    class ArrowFrame(nw.DataFrame[Any]):
        implementation = nw.Implementation.POLARS

    return ArrowFrame(nw.from_native(table, eager_only=True)._compliant_frame, level="full")


def _check_names(names: list[str], file_format: str) -> None:
    limits = _LIMITS[file_format]
    bad = [
        name
        for name in names
        if not limits.name.fullmatch(name)
        or len(name.encode()) > limits.n_bytes_of_name
        or name.lower() in limits.reserved
    ]
    if bad:
        raise TableError(
            f"{FORMATS[file_format]} cannot hold columns called {_listed(bad)}. "
            f"Its names have {limits.rule_for_names}."
        )
    in_lower_case = [name.lower() for name in names]
    alike = [name for name in names if in_lower_case.count(name.lower()) > 1]
    if alike and file_format == "sav":
        raise TableError(f"SPSS ignores upper and lower case, so these columns collide: {_listed(alike)}.")


def _check_names_of_labelled(stored: dict[str, _Stored], file_format: str) -> None:
    """Refuse names that leave no room for the number which pyreadstat appends to name a set of labels."""
    labelled = [name for name, column in stored.items() if column.value_labels]
    room = 32 - len(str(len(labelled)))
    too_long = [name for name in labelled if len(name) > room]
    if too_long and file_format == "dta":
        raise TableError(
            f"In this Stata file the name of a column with value labels has at most {room} characters, and "
            f"truth values get labels: {_listed(too_long)}."
        )


class _Stored(NamedTuple):
    """A column as SPSS and Stata store it: text, doubles or 32-bit integers, and how it is shown."""

    values: pa.ChunkedArray
    label: str | None
    value_labels: dict[float | str, str]
    format: str


def _stored(column: pa.ChunkedArray, field: pa.Field, file_format: str) -> _Stored:
    import pyarrow as pa

    labels = labels_of(field)
    if pa.types.is_boolean(column.type) and not labels.value_labels:
        labels = replace(labels, value_labels=((0, "false"), (1, "true")))
    values, meaning = _storable_values(column, field.name, file_format)
    label = _cut(labels.label, 256) if file_format == "sav" else labels.label[:80]
    value_labels = _storable_value_labels(labels, meaning, values, file_format)
    display_format = _display_format(labels.format, meaning, values, file_format)
    return _Stored(values, label or None, value_labels, display_format)


def _storable_values(column: pa.ChunkedArray, name: str, file_format: str) -> tuple[pa.ChunkedArray, Meaning]:
    """Return text, doubles or 32-bit integers in place of the column, and what they mean."""
    import pyarrow as pa
    import pyarrow.compute as pc

    limits = _LIMITS[file_format]
    if _is_text(column.type):
        has_nul = pc.match_substring(column, "\0")
        _refuse(has_nul, name, f"with a NUL character, which ends a text in {file_format}")
        too_long = pc.greater(pc.binary_length(column), limits.n_bytes_of_text)
        _refuse(too_long, name, f"of more than {limits.n_bytes_of_text} bytes, too many for {file_format}")
        return pc.fill_null(column, ""), "text"
    if pa.types.is_temporal(column.type):
        if pa.types.is_timestamp(column.type) and column.type.tz is not None:
            raise TableError(f"Column {name!r} has a time zone, which {file_format} cannot hold.")
        is_time, is_date = pa.types.is_time(column.type), pa.types.is_date(column.type)
        meaning: Meaning = "time" if is_time else "date" if is_date else "datetime"
        return numbers_from_moments(column, file_format), meaning
    if pa.types.is_integer(column.type) or pa.types.is_boolean(column.type):
        low, high = _range_of_integers(column)
        if low < -(2**53) or high > 2**53:
            raise TableError(f"Column {name!r} has integers beyond 2^53, which {file_format} would round.")
        as_long = file_format == "dta" and _STATA_LONG[0] <= low and high <= _STATA_LONG[1]
        return column.cast(pa.int32() if as_long else pa.float64()), "whole"
    doubles = column.cast(pa.float64())
    doubles = pc.if_else(pc.is_nan(doubles), None, doubles)
    too_large = pc.greater_equal(pc.abs(doubles), limits.largest_double)
    _refuse(too_large, name, f"that are infinite or too large for {file_format}")
    return doubles, "other"


def _refuse(is_refused: pa.ChunkedArray, name: str, reason: str) -> None:
    import pyarrow.compute as pc

    n_refused = pc.sum(is_refused).as_py()
    if n_refused:
        raise TableError(f"Column {name!r} has {n_refused} values {reason}.")


def _range_of_integers(column: pa.ChunkedArray) -> tuple[int, int]:
    import pyarrow.compute as pc

    extremes = pc.min_max(column).as_py()
    return int(extremes["min"] or 0), int(extremes["max"] or 0)


def _storable_value_labels(
    labels: Labels, meaning: Meaning, values: pa.ChunkedArray, file_format: str
) -> dict[float | str, str]:
    import pyarrow.compute as pc

    texts = [(value, _cut(label, 120)) for value, label in labels.value_labels if isinstance(value, str)]
    if meaning == "text" and file_format == "sav":
        # pyreadstat makes a column wide enough for the characters of labelled texts, not for their bytes.
        width = pc.max(pc.binary_length(values)).as_py() or 0
        return {value: label for value, label in texts if value.isascii() or len(value.encode()) <= width}
    if meaning not in ("whole", "other"):
        return {}
    numeric = [(value, label) for value, label in labels.value_labels if not isinstance(value, str)]
    if file_format == "sav":
        return {float(value): _cut(label, 120) for value, label in numeric}
    whole = {int(value): label for value, label in numeric if float(value).is_integer()}
    return {value: label for value, label in whole.items() if _STATA_LONG[0] <= value <= _STATA_LONG[1]}


def _display_format(given: str, meaning: Meaning, values: pa.ChunkedArray, file_format: str) -> str:
    """Return the column's own format if it still says what the values are, else one that does."""
    import pyarrow as pa

    is_long = pa.types.is_int32(values.type)
    kind_of_file, _, shown_as = given.partition(":")
    fitting = {meaning, "other"} if is_long else {meaning}
    if meaning == "text" or (kind_of_file == file_format and meaning_of_format(given) in fitting):
        return "" if meaning == "text" else shown_as
    if meaning == "whole" and file_format == "sav":
        return f"F{max(8, *(len(str(end)) for end in _range_of_integers(values)))}.0"
    return "" if is_long else _DEFAULT_FORMATS[file_format].get(meaning, "")


def _cut(text: str, n_bytes: int) -> str:
    return text.encode()[:n_bytes].decode(errors="ignore")


def _listed(names: Iterable[str]) -> str:
    return ", ".join(repr(name) for name in names)
