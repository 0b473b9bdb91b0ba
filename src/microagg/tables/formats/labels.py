"""Labels of columns and values, and the files of statistics packages (SPSS, Stata, SAS) that come with them.

Labels travel with a table as metadata of its Arrow fields, so Parquet and Feather keep them as they are, and
SPSS and Stata files get them back. CSV and Excel have no place for them.

=============================  ==========================================================================
key of the field's metadata    holds
=============================  ==========================================================================
``microagg.label``             the column's label
``microagg.value_labels``      JSON list of ``[value, label]``, so that a numeric value stays a number
``microagg.format``            display format with the kind of file it is written for, ``"sav:F8.2"``
``microagg.measure``           SPSS measure: ``nominal``, ``ordinal`` or ``scale``
``microagg.missing_ranges``    JSON list of ``{"lo": ..., "hi": ...}``: values that SPSS counts as missing
=============================  ==========================================================================

Integers and dates are plain numbers in these files, and only the display format tells them apart;
`typed_numbers` and `numbers_from_moments` translate between such numbers and Arrow's types.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from microagg.errors import TableError

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt
    import pyarrow as pa

__all__ = [
    "Labels",
    "Meaning",
    "labels_of",
    "meaning_of_format",
    "microseconds_from_numbers",
    "numbers_from_moments",
    "only_own_metadata",
    "read_labelled",
    "typed_numbers",
    "with_labels",
    "with_needed_labels",
]

Meaning = Literal["whole", "date", "datetime", "time", "text", "other"]

_PREFIX = b"microagg."
_MICROSECONDS_PER_DAY = 86_400_000_000


@dataclass(frozen=True)
class Labels:
    """The labels of one column; every part may be absent.

    Parameters
    ----------
    label : str, default ""
        What the column holds, in words.
    value_labels : tuple of (value, label), default ()
        What single values mean, such as ``(1, "yes")``.
    format : str, default ""
        Display format after the kind of file it belongs to, such as ``"sav:F8.2"`` or ``"dta:%td"``.
    measure : str, default ""
        ``"nominal"``, ``"ordinal"`` or ``"scale"``.
    missing_ranges : tuple of dict, default ()
        Ranges ``{"lo": ..., "hi": ...}`` of values that stand for "missing". The table has them as nulls
        already; they are kept for information and are not written back, because a value that is computed
        later (a mean, say) may fall into such a range.
    """

    label: str = ""
    value_labels: tuple[tuple[float | int | str, str], ...] = ()
    format: str = ""
    measure: str = ""
    missing_ranges: tuple[dict[str, Any], ...] = ()

    def with_values_as_integers(self) -> Labels:
        """Return the same labels for a column whose numbers are integers: ``1.0`` becomes ``1``."""
        as_integers = (
            (int(value) if isinstance(value, float) and value.is_integer() else value, label)
            for value, label in self.value_labels
        )
        return replace(self, value_labels=tuple(as_integers))


def labels_of(field: pa.Field) -> Labels:
    """Return the labels that a field's metadata holds.

    Examples
    --------
    >>> import pyarrow as pa
    >>> field = with_labels(pa.field("sex", pa.int64()), Labels("Sex", ((1, "female"), (2, "male"))))
    >>> labels_of(field).value_labels
    ((1, 'female'), (2, 'male'))
    """
    stored = {key.removeprefix(_PREFIX): text.decode() for key, text in only_own_metadata(field).items()}
    pairs = json.loads(stored.get(b"value_labels", "[]"))
    return Labels(
        label=stored.get(b"label", ""),
        value_labels=tuple((value, label) for value, label in pairs),
        format=stored.get(b"format", ""),
        measure=stored.get(b"measure", ""),
        missing_ranges=tuple(json.loads(stored.get(b"missing_ranges", "[]"))),
    )


def has_labels(table: pa.Table) -> bool:
    """Return whether any column has a label or value labels."""
    return any(labels_of(field).label or labels_of(field).value_labels for field in table.schema)


def with_labels(field: pa.Field, labels: Labels) -> pa.Field:
    """Return the field with these labels in place of whatever metadata it had."""
    parts = {
        "label": labels.label,
        "value_labels": json.dumps(labels.value_labels) if labels.value_labels else "",
        "format": labels.format,
        "measure": labels.measure,
        "missing_ranges": json.dumps(labels.missing_ranges) if labels.missing_ranges else "",
    }
    present = {_PREFIX + key.encode(): text.encode() for key, text in parts.items() if text}
    return field.with_metadata(present or None)


def only_own_metadata(field: pa.Field) -> dict[bytes, bytes]:
    """Return the entries of the field's metadata that microagg knows, without those of other programs."""
    return {key: text for key, text in (field.metadata or {}).items() if key.startswith(_PREFIX)}


def with_needed_labels(table: pa.Table) -> pa.Table:
    """Return the table with no metadata but labels, and of these only what its records need.

    A label of a value that no record has would tell of records that were left out or changed; ranges of missing codes
    tell of codes that are nulls by now; other keys are other programs'.

    Examples
    --------
    >>> import pyarrow as pa
    >>> field = with_labels(pa.field("sex", pa.int64()), Labels("Sex", ((1, "female"), (2, "male"))))
    >>> table = with_needed_labels(pa.table([[1, 1]], schema=pa.schema([field], metadata={"pandas": "{}"})))
    >>> labels_of(table.schema.field("sex")).value_labels, table.schema.metadata
    (((1, 'female'),), None)
    """
    import pyarrow as pa

    fields = [_with_needed_labels(field, table.column(place)) for place, field in enumerate(table.schema)]
    return pa.Table.from_arrays(table.columns, schema=pa.schema(fields))


def _with_needed_labels(field: pa.Field, column: pa.ChunkedArray) -> pa.Field:
    labels = labels_of(field)
    if labels.value_labels:
        values = set(column.unique().to_pylist())  # 1, 1.0 and true are equal, as they are to a reader
        needed = tuple((value, label) for value, label in labels.value_labels if value in values)
        labels = replace(labels, value_labels=needed)
    return with_labels(field, replace(labels, missing_ranges=()))


class _Clock(NamedTuple):
    """How a kind of file counts time: from which day, and in which units."""

    days_before_1970: int
    units_per_day_of_date: int
    units_per_second: int


_CLOCKS = {
    "sav": _Clock(141_428, 86_400, 1),  # SPSS: seconds since 1582-10-14, for dates too
    "dta": _Clock(3_653, 1, 1_000),  # Stata: days, or milliseconds, since 1960-01-01
    "sas": _Clock(3_653, 1, 1),  # SAS: days, or seconds, since 1960-01-01
}

_FORMAT_NAMES: dict[str, dict[Meaning, set[str]]] = {
    "sav": {
        "whole": {"F", "N", "COMMA", "DOT", "DOLLAR"},
        "date": {"DATE", "ADATE", "EDATE", "JDATE", "SDATE", "MOYR", "QYR", "WKYR"},
        "datetime": {"DATETIME", "YMDHMS"},
        "time": {"TIME", "DTIME", "MTIME"},
        "text": {"A", "AHEX"},
    },
    "sas": {
        "whole": {"", "F", "Z", "COMMA", "COMMAX", "DOLLAR"},
        "date": {"DATE", "WEEKDATE", "WEEKDATX", "IS8601DA", "E8601DA", "B8601DA"}
        | {order + mark for order in ("DDMMYY", "MMDDYY", "YYMMDD") for mark in ("", *"BCDNPS")},
        "datetime": {
            "DATETIME",
            "DATEAMPM",
            "MDYAMPM",
            "IS8601DT",
            "E8601DT",
            "B8601DT",
            "B8601DN",
            "DTDATE",
        },
        "time": {"TIME", "HHMM", "TOD", "TIMEAMPM", "IS8601TM", "E8601TM", "B8601TM"},
    },
}
_NAME_WIDTH_DECIMALS = re.compile(r"(?P<name>[A-Z][A-Z0-9]*[A-Z]|[A-Z]|)(?P<width>\d*)\.?(?P<decimals>\d*)")
_STATA_FORMATS: dict[Meaning, re.Pattern[str]] = {
    "whole": re.compile(r"%[-~]?\d+[.,]0fc?"),
    "date": re.compile(r"%-?t?d.*"),
    "time": re.compile(r"%-?tc(HH|Hh|hH|hh):MM(:SS)?(\.s+)?"),
    "datetime": re.compile(r"%-?tc.*"),
    "text": re.compile(r"%[-~]?\d*s"),
}


def meaning_of_format(stored_format: str) -> Meaning:
    """Return what the numbers under a display format are.

    Stata's ``%tC`` (with leap seconds), ``%tw``, ``%tm``, ``%tq``, ``%th`` and ``%ty`` count in units of
    their own; such columns stay numbers.

    Parameters
    ----------
    stored_format : str
        As in `Labels.format`.

    Returns
    -------
    {"whole", "date", "datetime", "time", "text", "other"}
        ``"whole"`` is a number shown without decimals, ``"other"`` any other number.

    Examples
    --------
    >>> [meaning_of_format(text) for text in ("sav:F8.0", "sav:F8.2", "dta:%tdDD/NN/CCYY", "sas:DATETIME19")]
    ['whole', 'other', 'date', 'datetime']
    """
    kind_of_file, _, text = stored_format.partition(":")
    if kind_of_file == "dta":
        return next((meaning for meaning, form in _STATA_FORMATS.items() if form.fullmatch(text)), "other")
    parts = _NAME_WIDTH_DECIMALS.fullmatch(text)
    if parts is None or kind_of_file not in _FORMAT_NAMES:
        return "other"
    names = _FORMAT_NAMES[kind_of_file]
    meaning: Meaning = next((known for known, group in names.items() if parts["name"] in group), "other")
    if meaning == "whole" and (not parts["width"] or int(parts["decimals"] or 0) > 0):
        return "other"
    return meaning


def typed_numbers(numbers: pa.Array, stored_format: str) -> pa.Array:
    """Give the numbers of a file the Arrow type that their display format stands for.

    Doubles shown without decimals become int64 if they are whole. Durations of a day or more under a format
    for times are not times of day, and stay numbers.
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    meaning = meaning_of_format(stored_format)
    if meaning in ("other", "text") or (meaning == "whole" and pa.types.is_integer(numbers.type)):
        return numbers
    numbers = numbers.cast(pa.float64())
    if meaning == "whole":
        is_exact = pc.and_(pc.equal(pc.floor(numbers), numbers), pc.less_equal(pc.abs(numbers), 2.0**53))
        return numbers.cast(pa.int64()) if pc.all(is_exact, min_count=0).as_py() else numbers
    clock = _CLOCKS[stored_format.partition(":")[0]]
    if meaning == "date":
        days = pc.subtract(pc.floor(pc.divide(numbers, clock.units_per_day_of_date)), clock.days_before_1970)
        return days.cast(pa.int32()).cast(pa.date32())
    microseconds = pc.round(pc.multiply(numbers, 1_000_000 // clock.units_per_second)).cast(pa.int64())
    if meaning == "datetime":
        since_1970 = pc.subtract(microseconds, clock.days_before_1970 * _MICROSECONDS_PER_DAY)
        return since_1970.cast(pa.timestamp("us"))
    is_within_a_day = pc.and_(pc.greater_equal(microseconds, 0), pc.less(microseconds, _MICROSECONDS_PER_DAY))
    if not pc.all(is_within_a_day, min_count=0).as_py():
        return numbers
    return microseconds.cast(pa.time64("us"))


def microseconds_from_numbers(numbers: npt.NDArray[np.float64], stored_format: str) -> npt.NDArray[np.float64]:
    """Turn the numbers of a file under a format for times into microseconds, also those that are no time of day."""
    import numpy as np

    clock = _CLOCKS[stored_format.partition(":")[0]]
    return np.rint(np.clip(numbers, -1e300, 1e300) * float(1_000_000 // clock.units_per_second))


def numbers_from_moments(moments: pa.ChunkedArray, kind_of_file: str) -> pa.ChunkedArray:
    """Turn dates, timestamps or times of day into the numbers that a kind of file stores."""
    import pyarrow as pa
    import pyarrow.compute as pc

    clock = _CLOCKS[kind_of_file]
    if pa.types.is_date(moments.type):
        days = pc.add(moments.cast(pa.date32(), safe=False).cast(pa.int32()).cast(pa.float64()), clock.days_before_1970)
        return pc.multiply(days, clock.units_per_day_of_date)
    since_start = 0
    if pa.types.is_timestamp(moments.type):
        # Down to what both can hold exactly: rounded up, the last moment of the last year would be one that is not.
        moments = pc.floor_temporal(moments.cast(pa.timestamp("us"), safe=False), unit="millisecond")
        since_start = clock.days_before_1970 * 86_400 * clock.units_per_second
    else:
        moments = moments.cast(pa.time64("us"), safe=False)
    # Not "safe": beyond 2^53 microseconds, in the year 2255, a double still tells milliseconds.
    units = pc.divide(moments.cast(pa.int64()).cast(pa.float64(), safe=False), 1_000_000 // clock.units_per_second)
    return pc.add(units, since_start)


def read_labelled(path: Path, file_format: str) -> pa.Table:
    """Read a file of a statistics package; an error of pyreadstat is passed on as it is.

    Parameters
    ----------
    path : pathlib.Path
    file_format : {"sav", "dta", "sas7bdat", "xpt"}
    """
    import pyarrow as pa
    import pyreadstat

    _check_has_its_end(path, file_format)
    readers = {
        "sav": pyreadstat.read_sav,
        "dta": pyreadstat.read_dta,
        "sas7bdat": pyreadstat.read_sas7bdat,
        "xpt": pyreadstat.read_xport,
    }
    source = str(path.absolute())  # of a relative path, pyreadstat would expand a leading "~"
    columns, about = readers[file_format](source, output_format="dict", disable_datetime_conversion=True)
    missing_ranges = _declared_missing_ranges(source) if file_format == "sav" else {}
    kind_of_file = file_format if file_format in ("sav", "dta") else "sas"
    fields, arrays = [], []
    for name, values in columns.items():
        labels = _stored_labels(about, name, kind_of_file, missing_ranges.get(name, ()))
        array = _typed_column(values, about.readstat_variable_types[name], labels.format)
        if pa.types.is_integer(array.type):
            labels = labels.with_values_as_integers()
        fields.append(with_labels(pa.field(name, array.type), labels))
        arrays.append(array)
    return pa.Table.from_arrays(arrays, schema=pa.schema(fields))


def _check_has_its_end(path: Path, file_format: str) -> None:
    """Refuse files that lack their last bytes, where the library does not miss them."""
    size = path.stat().st_size
    with path.open("rb") as stream:
        start = stream.read(11)
        stream.seek(max(size - 12, 0))
        end = stream.read()
    is_cut_stata = file_format == "dta" and start == b"<stata_dta>" and end != b"</stata_dta>"
    is_cut_transport = file_format == "xpt" and size % 80 != 0
    if is_cut_stata or is_cut_transport:
        raise TableError(f"{path.name} is cut short: its end is not that of a .{file_format} file.")


def _declared_missing_ranges(source: str) -> dict[str, Any]:
    """Return SPSS's missing ranges, which pyreadstat tells only to those who want such values delivered."""
    import pyreadstat

    _, about = pyreadstat.read_sav(
        source, output_format="dict", metadataonly=True, user_missing=True, disable_datetime_conversion=True
    )
    ranges: dict[str, Any] = about.missing_ranges
    return ranges


def _stored_labels(about: Any, name: str, kind_of_file: str, missing_ranges: Sequence[dict[str, Any]]) -> Labels:
    display_format = about.original_variable_types[name]
    measure = about.variable_measure[name]
    return Labels(
        label=about.column_names_to_labels[name] or "",
        value_labels=tuple(about.variable_value_labels.get(name, {}).items()),
        format=f"{kind_of_file}:{display_format}" if display_format else "",
        measure=measure if measure in ("nominal", "ordinal", "scale") else "",
        missing_ranges=tuple(missing_ranges),
    )


def _typed_column(values: list[Any], stored_type: str, stored_format: str) -> pa.Array:
    import pyarrow as pa

    if stored_type == "string":
        return pa.array([value or None for value in values], pa.string())
    numbers = pa.array(values, pa.int64() if stored_type.startswith("int") else pa.float64())
    return typed_numbers(numbers, stored_format)
