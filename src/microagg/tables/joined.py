"""Whole rows that were read as one column, because the wrong separator was used: they must not be released."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from microagg.errors import TableError

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["refuse_joined_rows"]

_SEPARATORS = (";", "\t", "|", ",", "^", "~", "\x1f", "\x01")


def refuse_joined_rows(table: pa.Table, separator: str | None) -> None:
    """Refuse a table with a column whose values look like whole rows.

    A column is suspected if its name and most of its values hold a separator. A separator that was chosen, other than
    the one found, says that the table is right.

    Parameters
    ----------
    table : pyarrow.Table
    separator : str or None
        The separator that was chosen.

    Examples
    --------
    >>> import pyarrow as pa
    >>> refuse_joined_rows(pa.table({"a;b": ["1;2", "3;4"]}), None)
    Traceback (most recent call last):
        ...
    microagg.errors.TableError: the table's only column holds ';' in name and values, as if whole ...
    """
    alone = table.num_columns == 1
    for position, name in enumerate(table.column_names):
        for mark in _SEPARATORS:
            decided = separator is not None and mark != separator
            if mark in name and not decided and _mostly_holds(table.column(position), mark):
                raise TableError(_sentence(mark, separator, alone, position))


def _mostly_holds(column: pa.ChunkedArray, mark: str) -> bool:
    import pyarrow as pa
    import pyarrow.compute as pc

    kind: Any = column.type
    if pa.types.is_dictionary(kind):
        column, kind = column.cast(kind.value_type), kind.value_type
    if not (pa.types.is_string(kind) or pa.types.is_large_string(kind)):
        return False
    counts = pc.count_substring(column.drop_null(), mark)
    return bool(len(counts)) and bool(pc.mean(pc.greater(counts, 0)).as_py() > 0.5)


def _sentence(mark: str, separator: str | None, alone: bool, position: int) -> str:
    shown = {"\t": "a tab", ",": "a comma"}.get(mark, repr(mark))
    where = "the table's only column" if alone else f"column {position + 1} of the table"
    said = f"{where} holds {shown} in name and values, as if whole rows were one field."
    if separator == mark:
        return f"{said} The fields may be in quotes together: save the file without quotes around whole lines"
    other = ";" if mark == "," else ","
    return (
        f"{said} Read the file with this separator, [input] separator = {json.dumps(mark)}; if the column is right as "
        f"it is, add to the recipe:\n    [input]\n    separator = {json.dumps(other)}"
    )
