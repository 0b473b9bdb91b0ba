"""Guess how a text file is laid out: encoding, separator, rows above the header; each with its reason."""

from __future__ import annotations

import json
from collections.abc import Collection
from dataclasses import replace
from pathlib import Path

from microagg.errors import TableError
from microagg.tables.text.compression import open_bytes
from microagg.tables.text.dialect import Decision, Dialect
from microagg.tables.text.layout import guess_encoding, separator_name, sniff_layout
from microagg.tables.text.read import TextFile

__all__ = ["check_header", "name_columns", "sniff_text"]


def sniff_text(
    path: Path, given: Dialect, fixed: Collection[str], *, separator: str | None
) -> tuple[Dialect, list[Decision]]:
    """Complete a dialect by what a text file looks like.

    Parameters
    ----------
    path : Path
    given : Dialect
    fixed : collection of str
        The keys of `given` that were chosen; they are not doubted.
    separator : str or None
        The one that the file's extension stands for.

    Raises
    ------
    TableError
        If the first row looks like a record and nobody chose whether it is one, or if several separators fit.
    """
    decided = []
    dialect = given
    if "encoding" not in fixed:
        with open_bytes(path) as stream:
            encoding = guess_encoding(stream)
        if encoding is not None and encoding != "utf-8":
            decided.append(_decide_encoding(encoding))
            dialect = replace(dialect, encoding=encoding)
    sample = TextFile(path, ",", dialect).sample()
    layout = sniff_layout(
        sample, separator=dialect.separator, skip_rows=dialect.skip_rows if "skip_rows" in fixed else None
    )
    if "separator" not in fixed:
        if layout.rivals:
            _refuse_rivals(path, [layout.separator or ",", *layout.rivals])
        if layout.separator is not None and layout.separator != separator:
            reason = f"{separator_name(layout.separator)} splits the rows evenly, into {layout.width} columns"
            decided.append(Decision("separator", layout.separator, reason))
            dialect = replace(dialect, separator=layout.separator)
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
    check_header(path, dialect, fixed, layout.n_like_values, len(layout.first))
    return name_columns(dialect, len(layout.first)), decided


def _refuse_rivals(path: Path, separators: list[str]) -> None:
    named = " and ".join(separator_name(one) for one in separators)
    flags = " or ".join(f"--separator {json.dumps(one)}" for one in separators)
    raise TableError(f"{path.name}: {named} split its rows alike. Say what stands between its fields: {flags}")


def _decide_encoding(encoding: str) -> Decision:
    if encoding in ("latin-1", "cp1252"):
        reason = "not UTF-8, so a one-byte code: look whether names with accents come out right"
        return Decision("encoding", encoding, reason, asks=True)
    return Decision("encoding", encoding, "by its byte order mark" if encoding[-1].isdigit() else "by its zero bytes")


def check_header(path: Path, dialect: Dialect, fixed: Collection[str], n_like_values: int, width: int) -> None:
    """Refuse a first row that looks like a record, unless someone chose whether it is the header."""
    if "header" in fixed or not n_like_values or not dialect.has_header:
        return
    raise TableError(
        f"{path.name}: {n_like_values} of {width} fields of the first row look like values of a record, not like "
        'names. If the file has no header, name its columns: --no-header --columns "age,sex,..."; if that row is the '
        "header: --header"
    )


def name_columns(dialect: Dialect, width: int) -> Dialect:
    """Name all columns of a file without a header, unless they have names already."""
    if dialect.has_header or dialect.columns is not None:
        return dialect
    return replace(dialect, columns=tuple(f"column_{i + 1}" for i in range(width)))
