"""Columns of digits that are codes: written with leading zeros, which a number would lose."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from microagg.tables.formats.registry import format_of
from microagg.tables.read import read_table
from microagg.tables.text.dialect import STANDARD, Dialect

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["columns_with_leading_zeros"]


def columns_with_leading_zeros(path: str | Path, table: pa.Table, dialect: Dialect = STANDARD) -> list[str]:
    """Find columns of a text file that have a field of digits which starts with a zero, like a postcode 08001.

    Parameters
    ----------
    path : str or path
    table : pyarrow.Table
        The file as it was read.
    dialect : Dialect, optional
        How it was read.
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    numbers = [field.name for field in table.schema if pa.types.is_integer(field.type)]
    if not numbers or not format_of(path).is_text:
        return []
    text = read_table(path, text_columns=numbers, dialect=dialect)
    return [name for name in numbers if pc.any(pc.match_substring_regex(text[name], r"^0\d")).as_py()]
