"""Text that a spreadsheet takes for a formula: cells of a text file that begin with = + - @, a tab or a return.

A program that opens a CSV may compute such a cell, or fetch what it names, instead of showing it [1]_. Quotes of the
file do not help: they are gone before the cell is looked at.

References
----------
.. [1] OWASP, CSV Injection. https://owasp.org/www-community/attacks/CSV_Injection
"""

from __future__ import annotations

import io
import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from microagg.tables.columns import is_text
from microagg.tables.text.compression import open_bytes

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["STARTS", "escape_formulas", "formula_cells", "formula_cells_of_file", "quoted_columns", "unescape_formulas"]

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
    >>> formula_cells(pa.table({"note": ["=1+1", "no", None], "x": [-1, 2, 3]}))
    {'note': 1}
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    found = {}
    for name, column in zip(table.column_names, table.columns, strict=True):
        count = int(_begins_like_formula(name))
        if _holds_text(column.type):
            texts = column.cast(pa.large_string())
            count += pc.sum(pc.match_substring_regex(texts, _FORMULA)).as_py() or 0
        if count:
            found[name] = count
    return found


def formula_cells_of_file(path: Path, table: pa.Table, separator: str) -> dict[str, int]:
    """As `formula_cells`, of a text file that was written here and read as text throughout.

    In it text is in quotes and numbers are not, which tells a text from a negative number.
    """
    found = formula_cells(table)
    by_place = {table.column_names.index(name): name for name in found}
    quoted = quoted_columns(path, list(by_place), separator) if found else set()
    headers = {name for name in found if _begins_like_formula(name)}
    counted = {name: found[name] if place in quoted else 1 for place, name in by_place.items()}
    return {name: counted[name] for place, name in by_place.items() if place in quoted or name in headers}


def quoted_columns(path: Path, places: Sequence[int], separator: str) -> set[int]:
    """Those of the columns whose first cell with anything in it is in quotes."""
    inside = r"(?:[^\"]|\"\")*"
    cell = re.compile(f'(?P<text>"{inside}")|(?P<bare>[^{separator}\n]*)')
    undecided, quoted = set(places), set()
    with open_bytes(path) as stream, io.TextIOWrapper(stream, encoding="utf-8", newline="") as file:
        for number, record in enumerate(_records(file)):
            if number == 0:
                continue  # headers are always in quotes
            position = 0
            for place in range(max(places) + 1):
                match = cell.match(record, position)
                assert match is not None  # both kinds of cells may be empty
                if place in undecided and match["text"] is not None:
                    quoted.add(place)
                if match[0] and match["bare"] != "NA":  # which stands for a missing value where there is one column
                    undecided.discard(place)
                position = match.end() + 1
            if not undecided:
                break
    return quoted


def _records(file: Iterable[str]) -> Iterator[str]:
    """Lines of a text file, with those joined that a quoted cell goes on in."""
    begun = ""
    for line in file:
        begun += line
        if begun.count('"') % 2 == 0:
            yield begun.rstrip("\n")
            begun = ""


def escape_formulas(table: pa.Table) -> pa.Table:
    """The table with a ' before every text, of cells and headers, that begins like a formula; see `unescape_formulas`.

    Examples
    --------
    >>> import pyarrow as pa
    >>> escape_formulas(pa.table({"note": ["=1+1", "'=x", "no"]}))["note"].to_pylist()
    ["'=1+1", "''=x", 'no']
    """
    return _replace_text(table, _ESCAPABLE, _MARK + r"\1")


def unescape_formulas(table: pa.Table) -> pa.Table:
    """The table as it was before `escape_formulas`."""
    return _replace_text(table, _ESCAPED, r"\1")


def _begins_like_formula(text: str) -> bool:
    return re.match(_FORMULA, text) is not None


def _holds_text(kind: pa.DataType) -> bool:
    import pyarrow as pa

    return bool(is_text(kind.value_type if pa.types.is_dictionary(kind) else kind))


def _replace_text(table: pa.Table, pattern: str, replacement: str) -> pa.Table:
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
