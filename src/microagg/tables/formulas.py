"""Text that a spreadsheet takes for a formula: cells of a text file that begin with = + - @, a tab or a return.

A program that opens a CSV may compute such a cell, or fetch what it names, instead of showing it [1]_. Quotes of the
file do not help: they are gone before the cell is looked at.

References
----------
.. [1] OWASP, CSV Injection. https://owasp.org/www-community/attacks/CSV_Injection
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from microagg.tables._columns import is_text

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["STARTS", "escaped", "formula_cells", "unescaped"]

STARTS = "= + - @"
_MARK = "'"
# A quote before such a cell counts as one more: then escaping can be undone, whatever the text was.
_FORMULA = r"^[=+\-@\t\r＝＋－＠]"
_ESCAPABLE = r"^('*[=+\-@\t\r＝＋－＠])"
_ESCAPED = r"^'('*[=+\-@\t\r＝＋－＠])"


def formula_cells(table: pa.Table) -> dict[str, int]:
    """How many cells of each text column begin like a formula; its header counts as one.

    Examples
    --------
    >>> import pyarrow as pa
    >>> formula_cells(pa.table({"said": ["=1+1", "no", None], "x": [-1, 2, 3]}))
    {'said': 1}
    """
    import re

    import pyarrow as pa
    import pyarrow.compute as pc

    found = {}
    for name, column in zip(table.column_names, table.columns, strict=True):
        count = int(re.match(_FORMULA, name) is not None)
        if _holds_text(column.type):
            texts = column.cast(pa.large_string())
            count += pc.sum(pc.match_substring_regex(texts, _FORMULA)).as_py() or 0
        if count:
            found[name] = count
    return found


def escaped(table: pa.Table) -> pa.Table:
    """The table with a ' before every text, of cells and headers, that begins like a formula; see `unescaped`.

    Examples
    --------
    >>> import pyarrow as pa
    >>> escaped(pa.table({"said": ["=1+1", "'=x", "no"]}))["said"].to_pylist()
    ["'=1+1", "''=x", 'no']
    """
    return _replaced(table, _ESCAPABLE, _MARK + r"\1")


def unescaped(table: pa.Table) -> pa.Table:
    """The table as it was before `escaped`."""
    return _replaced(table, _ESCAPED, r"\1")


def _holds_text(kind: pa.DataType) -> bool:
    import pyarrow as pa

    return bool(is_text(kind.value_type if pa.types.is_dictionary(kind) else kind))


def _replaced(table: pa.Table, pattern: str, replacement: str) -> pa.Table:
    import re

    import pyarrow as pa
    import pyarrow.compute as pc

    columns, fields = [], []
    for field, column in zip(table.schema, table.columns, strict=True):
        kind = field.type
        if _holds_text(kind):
            texts = column.cast(pa.large_string())
            # Only where there is something to replace: a category that needs nothing stays a category.
            if pc.any(pc.match_substring_regex(texts, pattern)).as_py():
                column = pc.replace_substring_regex(texts, pattern, replacement)
                kind = column.type
        columns.append(column)
        fields.append(pa.field(re.sub(pattern, replacement, field.name), kind, metadata=field.metadata))
    return pa.Table.from_arrays(columns, schema=pa.schema(fields))
