"""How a file seems to be laid out: encoding, separator, sheet, rows above the header; each with its reason."""

from __future__ import annotations

import json
from collections.abc import Collection
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from microagg.errors import TableError
from microagg.tables.formats.excel import rows_of_sheet
from microagg.tables.formats.names import DELIMITERS, refusing
from microagg.tables.read import check_is_file, format_of
from microagg.tables.text.beginning import advised_encoding, fields_like_values, separator_name, sniffed_layout
from microagg.tables.text.dialect import Dialect
from microagg.tables.text.read import TextFile

__all__ = ["Decision", "sniffed_dialect"]


@dataclass(frozen=True)
class Decision:
    """A key of ``[input]`` that was decided by looking at the file, or asked for.

    Attributes
    ----------
    key : str
    value : object
    reason : str
        Why; without values of records.
    asks : bool
        True if only a person can tell.
    """

    key: str
    value: Any
    reason: str
    asks: bool = False


def sniffed_dialect(path: Path, given: Dialect, fixed: Collection[str]) -> tuple[Dialect, list[Decision]]:
    """Complete a dialect by what the file looks like.

    Parameters
    ----------
    path : Path
    given : Dialect
    fixed : collection of str
        The keys of `given` that were chosen; they are not doubted.

    Raises
    ------
    TableError
        If the first row looks like a record, and nobody said whether it is, or if several separators fit; the message
        quotes nothing of the file.
    """
    check_is_file(path)
    file_format = format_of(path)
    if file_format in DELIMITERS:
        return _sniffed_text(path, file_format, given, fixed)
    if file_format == "xlsx":
        return _sniffed_sheet(path, given, fixed)
    return given, []


def _sniffed_text(
    path: Path, file_format: str, given: Dialect, fixed: Collection[str]
) -> tuple[Dialect, list[Decision]]:
    decided = []
    dialect = given
    file = TextFile(path, ",", dialect)
    with refusing(path, file_format):
        if "encoding" not in fixed:
            with file.bytes() as stream:
                encoding = advised_encoding(stream)
            if encoding is not None and encoding != "utf-8":
                decided.append(_about_encoding(encoding))
                dialect = replace(dialect, encoding=encoding)
        sample = TextFile(path, ",", dialect).sample()
        layout = sniffed_layout(
            sample, separator=dialect.separator, skip_rows=dialect.skip_rows if "skip_rows" in fixed else None
        )
    if "separator" not in fixed and layout.rivals:
        _refuse_rivals(path, [layout.separator or ",", *layout.rivals])
    if "separator" not in fixed and layout.separator != DELIMITERS[file_format]:
        separator = layout.separator or DELIMITERS[file_format] or ","
        if layout.separator is not None:
            reason = f"{separator_name(separator)} splits the rows evenly, into {layout.width} columns"
            decided.append(Decision("separator", separator, reason))
        elif file_format == "txt":
            decided.append(Decision("separator", separator, "nothing splits the rows evenly: one column"))
        dialect = replace(dialect, separator=separator if decided and decided[-1].key == "separator" else None)
    if "skip_rows" not in fixed and layout.skip_rows and dialect.has_header:
        if not layout.is_sure:
            raise TableError(
                f"{path.name}: the first {layout.skip_rows} lines have another number of fields than the rows below, "
                f"or begin with #. If they are titles above the header: --skip-rows {layout.skip_rows}; if they are "
                "the header: --skip-rows 0, or another --separator"
            )
        reason = "lines above the first row with a field for every column"
        decided.append(Decision("skip_rows", layout.skip_rows, reason))
        dialect = replace(dialect, skip_rows=layout.skip_rows)
    _check_header(path, dialect, fixed, layout.n_like_values, len(layout.first))
    return _with_columns(dialect, len(layout.first)), decided


def _refuse_rivals(path: Path, separators: list[str]) -> None:
    named = " and ".join(separator_name(one) for one in separators)
    flags = " or ".join(f"--separator {json.dumps(one)}" for one in separators)
    raise TableError(f"{path.name}: {named} split its rows alike. Say what stands between its fields: {flags}")


def _about_encoding(encoding: str) -> Decision:
    if encoding in ("latin-1", "cp1252"):
        reason = "not UTF-8, so a one-byte code: look whether names with accents come out right"
        return Decision("encoding", encoding, reason, asks=True)
    return Decision("encoding", encoding, "by its byte order mark" if encoding[-1].isdigit() else "by its zero bytes")


def _check_header(path: Path, dialect: Dialect, fixed: Collection[str], n_like_values: int, width: int) -> None:
    if "header" in fixed or not n_like_values or not dialect.has_header:
        return
    raise TableError(
        f"{path.name}: {n_like_values} of {width} fields of the first row look like values of a record, not like "
        'names. If the file has no header, name its columns: --no-header --columns "age,sex,..."; if that row is the '
        "header: --header"
    )


def _with_columns(dialect: Dialect, width: int) -> Dialect:
    """Of a file without a header, names for all its columns."""
    if dialect.has_header or dialect.columns is not None:
        return dialect
    return replace(dialect, columns=tuple(f"column_{i + 1}" for i in range(width)))


def _sniffed_sheet(path: Path, given: Dialect, fixed: Collection[str]) -> tuple[Dialect, list[Decision]]:
    with refusing(path, "xlsx"):
        rows = rows_of_sheet(path, given.sheet)
    decided = []
    dialect = given
    top = dialect.skip_rows
    if "skip_rows" not in fixed and dialect.has_header:
        width = max((len(row) for row in rows[:200]), default=0)
        filled = [sum(cell is not None for cell in row) for row in rows[:200]]
        top = next((i for i, n in enumerate(filled) if n > 0.6 * width and (n > 1 or width == 1)), 0)
        if top:
            decided.append(Decision("skip_rows", top, "rows above the first one with a cell for most columns"))
            dialect = replace(dialect, skip_rows=top)
    as_text = [["" if cell is None else str(cell) for cell in row] for row in rows[top : top + 2000]]
    if as_text:
        _check_header(path, dialect, fixed, fields_like_values(as_text[0], as_text[1:]), len(as_text[0]))
    return _with_columns(dialect, max((len(row) for row in as_text), default=0)), decided
