"""Write SPSS and Stata files through pyreadstat, within what each kind of file can hold."""

from __future__ import annotations

import re
import sys
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from microagg.errors import TableError
from microagg.tables.columns import is_text, listed, without_dictionaries
from microagg.tables.formats.labels import Labels, Meaning, labels_of, meaning_of_format, numbers_from_moments
from microagg.tables.read import FORMATS

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["fault_of_header", "write_statistics"]


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
        rule_for_names="at most 32 letters, digits and underscores; no digit first; no reserved word such as int",
        n_bytes_of_text=2_000_000_000,
        largest_double=2.0**1023,
    ),
}
_HEADER = 1_024  # bytes; both kinds of file say within these when they were written
_CLOCKS_IN_HEADERS = (
    (re.compile(rb"\A\$FL[23].{88}(\d\d \w{3} \d\d\d\d:\d\d:\d\d)", re.DOTALL), b"01 Jan 7000:00:00"),
    (re.compile(rb"<timestamp>\x11(\d\d \w{3} \d{4} \d\d:\d\d)</timestamp>"), b"01 Jan 1970 00:00"),
)
_STATA_LONG = (-2_147_483_647, 2_147_483_620)
_DEFAULT_FORMATS = {
    "sav": {"date": "DATE11", "datetime": "DATETIME23.2", "time": "TIME8"},
    "dta": {"date": "%td", "datetime": "%tc", "time": "%tcHH:MM:SS", "whole": "%20.0f"},
}


def write_statistics(table: pa.Table, path: Path, file_format: str) -> None:
    import pyarrow as pa
    import pyreadstat

    _check_names(table.column_names, file_format)
    table = without_dictionaries(table)
    stored = {field.name: _stored(table.column(i), field, file_format) for i, field in enumerate(table.schema)}
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
    _forget_the_clock(path)


def _forget_the_clock(path: Path) -> None:
    """Put a fixed moment in the place of when the file was written: the same table gives the same bytes."""
    with path.open("r+b") as file:
        for clock, instead in _CLOCKS_IN_HEADERS:
            file.seek(0)
            found = clock.search(file.read(_HEADER))
            if found is not None:
                file.seek(found.start(1))
                file.write(instead)


def fault_of_header(path: Path, file_format: str) -> str:
    """What a file says beside its columns that `write_statistics` does not write; empty if nothing."""
    import pyreadstat

    with path.open("rb") as file:
        header = file.read(_HEADER)
    clocks = [(found[1], instead) for clock, instead in _CLOCKS_IN_HEADERS if (found := clock.search(header))]
    if any(told != instead for told, instead in clocks) or not clocks:
        return "it tells when it was written"
    reader = pyreadstat.read_sav if file_format == "sav" else pyreadstat.read_dta
    _, about = reader(str(path.absolute()), metadataonly=True, output_format="dict")
    if about.file_label or about.notes or getattr(about, "mr_sets", None):
        return "it has a label, notes or sets of its own"
    return ""


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
            f"{FORMATS[file_format]} cannot hold columns called {listed(bad)}. Its names have {limits.rule_for_names}."
        )
    in_lower_case = Counter(name.lower() for name in names)
    alike = [name for name in names if in_lower_case[name.lower()] > 1]
    if alike and file_format == "sav":
        raise TableError(f"SPSS ignores upper and lower case, so these columns collide: {listed(alike)}.")


def _check_names_of_labelled(stored: dict[str, _Stored], file_format: str) -> None:
    """Refuse names that leave no room for the number which pyreadstat appends to name a set of labels."""
    labelled = [name for name, column in stored.items() if column.value_labels]
    room = 32 - len(str(len(labelled)))
    too_long = [name for name in labelled if len(name) > room]
    if too_long and file_format == "dta":
        raise TableError(
            f"In this Stata file the name of a column with value labels has at most {room} characters, and "
            f"truth values get labels: {listed(too_long)}."
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
    if is_text(column.type):
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
