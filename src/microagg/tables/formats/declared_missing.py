"""Count the values that a file of a statistics package declares as missing: a refusal to answer is not a gap."""

from __future__ import annotations

import os
from pathlib import Path

from microagg.tables.formats.registry import format_of
from microagg.tables.refusal import refusing

__all__ = ["count_declared_missing", "declared_missing_phrase"]


def count_declared_missing(path: str | os.PathLike[str]) -> dict[str, int]:
    """Count, column by column, the values that `read_table` reads as missing because the file declares them so.

    Those are SPSS's user-missing codes and ranges, and ``.a`` to ``.z`` of Stata and SAS; not the plain missing value.
    Columns without any are left out, and so are files of other formats. None are counted in SAS transport files, whose
    reader does not report them.

    Parameters
    ----------
    path : str or path
        A file that `read_table` reads.
    """
    path = Path(path)
    file_format = format_of(path)
    with refusing(path, file_format.title):
        return file_format.count_declared_missing(path)


def declared_missing_phrase(path: str | os.PathLike[str]) -> str:
    """Return the counts in a sentence for the data holder; empty if the file declares none."""
    found = count_declared_missing(path)
    if not found:
        return ""
    counts = ", ".join(f"{name!r} ({count})" for name, count in found.items())
    return f"values that the file declares as missing codes were read as missing: {counts}"
