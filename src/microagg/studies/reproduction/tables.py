"""The one writer of the reproduction's tables: Markdown to read, Parquet to compute with."""

from __future__ import annotations

import io
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from microagg.studies.markdown import markdown_table
from microagg.studies.reproduction.comparison import Row
from microagg.studies.reproduction.experiment import Point
from microagg.studies.reproduction.kept import write_whole
from microagg.studies.reproduction.running import Result

__all__ = ["as_markdown", "as_records", "conventions", "write_tables"]

_COLUMNS = ("", "published", "ours", "difference", "verdict", "convention")


def _shown(value: float | str | None, digits: int) -> str:
    if value is None:
        return "-"
    return value if isinstance(value, str) else f"{value:.{max(digits, 0)}f}"


def conventions(rows: Sequence[Row]) -> list[str]:
    """The conventions of a table, in the order in which they are met; each is told once, below the table."""
    return list(dict.fromkeys(text for row in rows for text in (row.convention, row.why) if text))


def as_markdown(rows: Sequence[Row]) -> str:
    """The table, with conventions and reasons as numbered notes below it."""
    notes = conventions(rows)
    number = {text: place for place, text in enumerate(notes, start=1)}
    lines = []
    for row in rows:
        marks = ", ".join(str(number[text]) for text in (row.convention, row.why) if text)
        digits = max(row.digits, 2)
        spread = f" +- {row.error:.{digits}f}" if row.error else ""
        if row.interval:  # it tells which digits are sure
            digits, spread = row.digits, f" ({row.interval})"
        difference = "" if row.difference is None else f"{row.difference:+.{digits}f}"
        values = (_shown(row.published, row.digits), _shown(row.ours, digits) + spread)
        lines.append([row.quantity, *values, difference, row.verdict.value, marks])
    below = "".join(f"\n{place}. {text}" for text, place in number.items())
    return markdown_table(_COLUMNS, lines) + (f"{below}\n" if below else "")


def as_records(rows: Sequence[Row]) -> list[dict[str, Any]]:
    """The rows for a program: numbers and texts in columns of their own."""
    return [
        {
            "quantity": row.quantity,
            "published": row.published if isinstance(row.published, float | int) else None,
            "said": row.published if isinstance(row.published, str) else None,
            "ours": row.ours if isinstance(row.ours, float | int) else None,
            "found": row.ours if isinstance(row.ours, str) else None,
            "difference": row.difference,
            "standard_error": row.error or None,
            "interval": row.interval,
            "verdict": row.verdict.value,
            "convention": row.convention,
            "why": row.why,
        }
        for row in rows
    ]


def write_tables(result: Result, folder: Path) -> None:
    """``table.md``, ``table.parquet`` and ``points.parquet`` of an experiment."""
    import pyarrow as pa

    experiment = result.experiment
    heading = f"# {experiment.name}: {experiment.title}\n\n{experiment.place}.\n\n"
    write_whole(folder / "table.md", (heading + as_markdown(result.rows)).encode())
    texts = ("quantity", "said", "found", "interval", "verdict", "convention", "why")
    names = (
        "quantity",
        "published",
        "said",
        "ours",
        "found",
        "difference",
        "standard_error",
        "interval",
        "verdict",
        "convention",
        "why",
    )
    schema = pa.schema([(name, pa.string() if name in texts else pa.float64()) for name in names])
    write_whole(folder / "table.parquet", _parquet(pa.Table.from_pylist(as_records(result.rows), schema)))
    write_whole(folder / "points.parquet", _parquet(_points_table(result.points)))


def _points_table(points: Sequence[Point]) -> Any:
    import pyarrow as pa

    names = list(dict.fromkeys(name for point in points for name in point))
    flat = [
        {name: json.dumps(value) if isinstance(value, list | dict) else value for name, value in point.items()}
        for point in points
    ]
    columns = {}
    for name in names:
        values = [point.get(name) for point in flat]
        numbers = all(value is None or isinstance(value, int | float) for value in values)
        columns[name] = pa.array(
            [None if value is None else float(value) if numbers else str(value) for value in values],
            pa.float64() if numbers else pa.string(),
        )
    return pa.table(columns)


def _parquet(table: Any) -> bytes:
    import pyarrow.parquet as pq

    buffer = io.BytesIO()
    pq.write_table(table, buffer)
    return buffer.getvalue()
