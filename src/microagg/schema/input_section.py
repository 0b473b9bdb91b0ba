"""The ``[input]`` table of a drafted recipe: what was decided about the file, and what is asked."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from microagg.schema.notices import Notice, toml_list
from microagg.schema.schema import toml_key
from microagg.tables.text.dialect import STANDARD, Decision, Dialect

__all__ = ["input_lines"]

_KEYS = (
    *("separator", "decimal", "thousands", "negatives", "units", "encoding", "sheet", "skip_rows", "header", "columns"),
    *("date_format", "missing_values"),
)
_WIDTH = 28


def input_lines(dialect: Dialect, decisions: Sequence[Decision], notices: Mapping[str, Notice]) -> list[str]:
    """Lines of TOML, with the reason of each; none if the file is plain and nothing is asked."""
    decided = {one.key: one for one in decisions}
    lines = []
    for key in _KEYS:
        one = decided.get(key)
        if one is not None and one.value is None:
            lines.append(f"# DECIDE: {one.reason}")
        elif getattr(dialect, key) != getattr(STANDARD, key):
            reason = "as you said" if one is None else f"DECIDE: {one.reason}" if one.asks else one.reason
            lines.append(_line(key, getattr(dialect, key), reason))
    for name, pattern in dialect.date_formats.items():
        lines.append(_line(f"date_format.{toml_key(name)}", pattern, "all its values fit"))
    lines += _doubtful_dates(notices, dialect)
    lines += _missing_lines(dialect, notices)
    return ["[input]", *lines, ""] if lines else []


def _line(key: str, value: Any, comment: str) -> str:
    return f"{key} = {_toml(value)}".ljust(_WIDTH) + f" # {comment}"


def _toml(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    return toml_list(list(value)) if isinstance(value, tuple | list) else toml_list([value])[1:-1]


def _doubtful_dates(notices: Mapping[str, Notice], dialect: Dialect) -> list[str]:
    """Dates whose day and month cannot be told apart: a line for each to uncomment."""
    lines = []
    for name, notice in notices.items():
        undecided = name not in dialect.date_formats and dialect.date_format is None
        if len(notice.date_formats) > 1 and undecided:
            comment = f"or {_toml(notice.date_formats[1])}; uncomment the right one, see below"
            lines.append(_line(f"# date_format.{toml_key(name)}", notice.date_formats[0], comment))
    return lines


def _missing_lines(dialect: Dialect, notices: Mapping[str, Notice]) -> list[str]:
    """Codes for missing: those that are surely none of the column's numbers, and, to uncomment, those that may be."""
    lines = [
        _line(f"missing.{toml_key(name)}", list(codes), "stands for missing") for name, codes in dialect.missing.items()
    ]
    for name, notice in notices.items():
        if notice.maybe_missing and name not in dialect.missing:
            codes = list(notice.maybe_missing)
            lines.append(_line(f"# missing.{toml_key(name)}", codes, "uncomment if it stands for missing"))
    return lines
