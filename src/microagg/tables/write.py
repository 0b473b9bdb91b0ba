"""Write a `pyarrow.Table` to a file; the extension of the file's name tells its format.

Only what the table shows is written. Left out are: metadata of other programs (pandas puts the index there),
categories that no record has, and what Arrow may still keep in memory under a missing value.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from microagg.errors import TableError
from microagg.tables.formats.base import WritableFormat
from microagg.tables.formats.registry import format_of, writable_names
from microagg.tables.publishable import make_publishable

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["write_table"]


def write_table(table: pa.Table, path: str | os.PathLike[str]) -> None:
    """Write a table to a file, over whatever was there.

    Parameters
    ----------
    table : pyarrow.Table
        Columns of numbers, text, truth values, dates, times or categories.
    path : str or path
        Its extension tells the format, one of `writable_names`; ``.zsav`` is a compressed ``.sav``.

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
    text, decimals doubles, NaN missing. Both read an empty text as a missing one, and SPSS ignores
    blanks at the end of a text. Both store timestamps as doubles, which is exact to the millisecond. When the
    file was written is not in it.
    """
    path = Path(path)
    file_format = format_of(path)
    if not isinstance(file_format, WritableFormat):
        written = ", ".join(writable_names())
        raise TableError(f"{path.name}: {file_format.title} can only be read. Written are {written}.")
    if not path.absolute().parent.is_dir():
        raise TableError(f"{path.name}: the directory to write to does not exist.")
    table = make_publishable(table)
    try:
        file_format.write(table, path)
    except (TableError, OSError, MemoryError):
        raise
    except Exception:  # what a library says may quote records
        raise TableError(f"{path.name} could not be written as {file_format.title}.") from None
