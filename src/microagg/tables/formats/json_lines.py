"""JSON Lines: a JSON object per record, each in a line of its own."""

from __future__ import annotations

import json
import math
from collections.abc import Collection
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

from microagg.errors import TableError
from microagg.tables.columns import (
    as_doubles,
    is_text,
    refuse_offsets_in_seconds,
    with_columns,
    without_dictionaries,
)
from microagg.tables.formats.base import ReadOptions, WritableFormat
from microagg.tables.formats.form import FormFinding, is_same_when_rewritten
from microagg.tables.formats.registry import register_format
from microagg.tables.plain import as_plain

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["JsonLines"]

_MOMENTS = {
    r"^\d{4}-\d\d-\d\d$": "date32",
    r"^\d{4}-\d\d-\d\d[ T]\d\d:\d\d:\d\d(\.\d{1,6})?$": "timestamp",
    r"^\d\d:\d\d:\d\d(\.\d{1,6})?$": "time64",
}


@register_format
class JsonLines(WritableFormat):
    """Numbers, text and truth values have types; dates and times are text that is written as in 2024-02-29."""

    name = "jsonl"
    title = "JSON Lines"
    other_extensions = (".ndjson",)

    def parse(self, path: Path, options: ReadOptions) -> pa.Table:
        import pyarrow as pa

        columns: dict[str, list[Any]] = {}
        n_records = 0
        with path.open(encoding="utf-8-sig", newline="\n") as lines:
            for line in lines:
                if not line.strip():
                    continue
                record = json.loads(line, object_pairs_hook=_without_repeats, parse_constant=_refuse_constant)
                if not isinstance(record, dict):
                    raise TableError(f"{path.name}: its line {n_records + 1} is not an object: {{...}} with names.")
                for name, value in record.items():
                    column = columns.setdefault(name, [])
                    column.extend([None] * (n_records - len(column)))  # a record without a key lacks the value
                    column.append(value)
                n_records += 1
        if not columns:
            raise TableError(f"{path.name} has no records, and JSON Lines name columns in records alone.")
        for column in columns.values():
            column.extend([None] * (n_records - len(column)))
        arrays = {name: _typed(name, values, path) for name, values in columns.items()}
        return _with_moments(pa.table(arrays), options.text_columns)

    def write(self, table: pa.Table, path: Path) -> None:
        if not table.num_rows:
            raise TableError(f"{path.name}: JSON Lines name columns in records, and the table has none.")
        refuse_offsets_in_seconds(without_dictionaries(table), self.title)
        written = [_written(column, name) for name, column in zip(table.column_names, table.columns, strict=True)]
        names = [json.dumps(name, ensure_ascii=False) for name in table.column_names]
        with path.open("w", encoding="utf-8", newline="\n") as file:
            for values in zip(*written, strict=True):
                pairs = ", ".join(f"{name}: {value}" for name, value in zip(names, values, strict=True))
                file.write(f"{{{pairs}}}\n")

    def compare_form(self, path: Path, *, same_libraries: bool) -> FormFinding:
        """As of other formats; but text that reads as times is compared as text, which it may have been."""
        import pyarrow.compute as pc

        read = self.read(path)
        spelled = self.read(path, ReadOptions(text_columns=tuple(read.column_names)))
        for one, text in zip(read.columns, spelled.columns, strict=True):
            if one.type != text.type and pc.count_distinct(one).as_py() < pc.count_distinct(text).as_py():
                return FormFinding("it spells equal times in several ways", False)
        same = is_same_when_rewritten(self, spelled, path)
        return FormFinding("" if same else "some of its bytes are not those that microagg writes", same)


def _without_repeats(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    record = dict(pairs)
    if len(record) < len(pairs):
        raise TableError("a record of the JSON Lines has the same key more than once.")
    return record


def _refuse_constant(word: str) -> NoReturn:
    raise TableError(f"the JSON Lines hold {word}, which JSON does not know: write null for a missing value.")


def _typed(name: str, values: list[Any], path: Path) -> pa.Array:
    """Values of one column as an array of the one type they have; of several, as text."""
    import pyarrow as pa

    kinds = {type(value) for value in values if value is not None}
    nested = sum(isinstance(value, dict | list) for value in values)
    if nested:
        raise TableError(f"{path.name}: {nested} values of column {name!r} are lists or objects: flatten them before.")
    if not kinds:
        return pa.nulls(len(values))
    if kinds == {bool}:
        return pa.array(values, pa.bool_())
    if kinds == {int}:
        for kind, least, end in ((pa.int64(), -(2**63), 2**63), (pa.uint64(), 0, 2**64)):
            if all(value is None or least <= value < end for value in values):
                return pa.array(values, kind)
    if kinds <= {int, float} and float in kinds:
        return _as_doubles(name, values, path)
    return pa.array([None if value is None else _as_text(value) for value in values], pa.string())


def _as_doubles(name: str, values: list[Any], path: Path) -> pa.Array:
    """Whole numbers among others as doubles, if they are the same then."""
    import pyarrow as pa

    changed = sum(
        abs(value) > 2**1023 or int(float(value)) != value if isinstance(value, int) else not math.isfinite(value)
        for value in values
        if value is not None
    )
    if changed:
        raise TableError(
            f"{path.name}: {changed} numbers of column {name!r} are longer or larger than it can hold beside "
            "fractions: write all of its numbers as text, or as whole ones."
        )
    return pa.array([None if value is None else float(value) for value in values], pa.float64())


def _as_text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value)


def _with_moments(table: pa.Table, text_columns: Collection[str]) -> pa.Table:
    """The table with text that is written as dates or times throughout as what it says."""
    import pyarrow as pa
    import pyarrow.compute as pc

    kinds = {"date32": pa.date32(), "timestamp": pa.timestamp("us"), "time64": pa.time64("us")}
    found = {}
    for place, field in enumerate(table.schema):
        if not is_text(field.type) or field.name in text_columns:
            continue
        column = table.column(place)
        for pattern, kind in _MOMENTS.items():
            if pc.all(pc.match_substring_regex(column, pattern), min_count=1).as_py():
                moments = as_plain(column, kinds[kind])
                if moments is not None:
                    found[place] = moments
    return with_columns(table, found)


def _written(column: pa.ChunkedArray, name: str) -> list[str]:
    """The values of a column as JSON writes them."""
    import pyarrow as pa
    import pyarrow.compute as pc
    from pyarrow import types as t

    column = without_dictionaries(pa.table({name: column})).column(0)
    kind = column.type
    try:
        if t.is_decimal(kind):
            column = as_doubles(column, name, "a reader of JSON")
        elif t.is_date(kind):
            column = column.cast(pa.date32()).cast(pa.string())
        elif t.is_time(kind):
            column = column.cast(pa.time64("us")).cast(pa.string())
        elif t.is_timestamp(kind):
            column = column.cast(pa.timestamp("us", kind.tz)).cast(pa.string())
    except pa.ArrowInvalid:
        raise TableError(f"Column {name!r} has times finer than a microsecond, which JSON Lines do not keep.") from None
    if t.is_floating(column.type):
        infinite = int(pc.sum(pc.is_inf(column)).as_py() or 0)
        if infinite:
            raise TableError(f"Column {name!r} has {infinite} infinite numbers, which JSON Lines cannot hold.")
        column = pc.if_else(pc.is_nan(column), None, column)
    return [json.dumps(value, ensure_ascii=False) for value in column.to_pylist()]
