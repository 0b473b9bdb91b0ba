"""Whole rows that were read as one column, because the wrong separator was used: they must not be released."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from microagg.errors import TableError
from microagg.tables.columns import is_text

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["refuse_joined_rows"]

_SEPARATORS = (";", "\t", "|", ",", "^", "~", "\x1f", "\x01")


def refuse_joined_rows(table: pa.Table, separator: str | None) -> None:
    """Refuse a table with a column whose values look like whole rows.

    A column is suspected if its name and most of its values hold a separator. Whoever chose a separator,
    other than the one found, has decided that the table is right.

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
                raise TableError(_explain(mark, separator, alone, position))


def _mostly_holds(column: pa.ChunkedArray, mark: str) -> bool:
    import pyarrow as pa
    import pyarrow.compute as pc

    kind: Any = column.type
    if pa.types.is_dictionary(kind):
        column, kind = column.cast(kind.value_type), kind.value_type
    if not is_text(kind):
        return False
    counts = pc.count_substring(column.drop_null(), mark)
    return bool(len(counts)) and bool(pc.mean(pc.greater(counts, 0)).as_py() > 0.5)


def _explain(mark: str, separator: str | None, alone: bool, position: int) -> str:
    shown = {"\t": "a tab", ",": "a comma"}.get(mark, repr(mark))
    where = "the table's only column" if alone else f"column {position + 1} of the table"
    message = f"{where} holds {shown} in name and values, as if whole rows were one field."
    if separator == mark:
        return f"{message} The fields may be in quotes together: save the file without quotes around whole lines"
    other = ";" if mark == "," else ","
    return (
        f"{message} Read the file with this separator, [input] separator = {json.dumps(mark)}; if the column is right "
        f"as it is, add to the recipe:\n    [input]\n    separator = {json.dumps(other)}"
    )
