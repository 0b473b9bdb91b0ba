"""Columns of digits that are codes: written with leading zeros, which a number would lose."""

from __future__ import annotations

from pathlib import Path

from microagg.tables.read import format_of, read_table

__all__ = ["columns_with_leading_zeros"]


def columns_with_leading_zeros(path: str | Path) -> list[str]:
    """Columns of a text file of which some field is all digits and starts with a zero, like a postcode 08001."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if format_of(path) not in ("csv", "csv.gz", "tsv"):
        return []
    numbers = [field.name for field in read_table(path).schema if pa.types.is_integer(field.type)]
    table = read_table(path, text_columns=numbers)
    return [name for name in numbers if pc.any(pc.match_substring_regex(table[name], r"^0\d")).as_py()]
