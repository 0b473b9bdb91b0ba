"""Read the first sheet of an Excel file."""

from __future__ import annotations

import warnings
from collections.abc import Collection
from datetime import datetime, time, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

from microagg.errors import TableError
from microagg.tables._formats import check_names, refusing

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["read_excel"]


def read_excel(path: Path, text_columns: Collection[str]) -> pa.Table:
    import pyarrow as pa

    with refusing(path, "xlsx"):
        header, *rows = _cells_of_first_sheet(path) or [[]]
    if not header:
        raise TableError(f"{path.name}: the first row of the first sheet is empty; it should be the header.")
    names = ["" if cell is None else _cell_as_text(cell) for cell in header]
    check_names(names, path)
    too_long = [number for number, row in enumerate(rows, start=2) if len(row) > len(names)]
    if too_long:
        raise TableError(
            f"{path.name}: {len(too_long)} rows have values to the right of the header's {len(names)} "
            f"columns; the first is row {too_long[0]}."
        )
    columns = ([row[position] if position < len(row) else None for row in rows] for position in range(len(names)))
    with refusing(path, "xlsx"):
        arrays = [_typed_cells(cells, name in text_columns) for name, cells in zip(names, columns, strict=True)]
        return pa.Table.from_arrays(arrays, names=names)


def _cells_of_first_sheet(path: Path) -> list[list[Any]]:
    """Return the values row by row, without empty cells at the end of a row and empty rows at the end."""
    import openpyxl

    with path.open("rb") as stream, warnings.catch_warnings():
        warnings.simplefilter("ignore")  # openpyxl's warnings may quote cells
        book = openpyxl.load_workbook(stream, read_only=True, data_only=True)
        sheet = book.worksheets[0]
        sheet.reset_dimensions()  # what a file says about its extent may be wrong
        rows = [[None if cell.data_type == "e" else cell.value for cell in row] for row in sheet.iter_rows()]
        book.close()
    for row in rows:
        _drop_trailing(row, None)
    _drop_trailing(rows, [])
    return rows


def _drop_trailing(items: list[Any], empty: object) -> None:
    while items and items[-1] == empty:
        items.pop()


def _typed_cells(cells: list[Any], as_text: bool) -> pa.Array:
    import pyarrow as pa

    kinds = {type(cell) for cell in cells if cell is not None}
    if not kinds:
        return pa.array(cells, pa.string() if as_text else pa.null())
    if not as_text:
        if kinds == {int} and all(cell is None or -(2**63) <= cell < 2**63 for cell in cells):
            return pa.array(cells, pa.int64())
        if kinds <= {int, float}:
            return pa.array([None if cell is None else float(cell) for cell in cells], pa.float64())
        if kinds == {bool}:
            return pa.array(cells, pa.bool_())
        if kinds == {datetime}:
            return pa.array(cells, pa.timestamp("us"))
        if kinds == {time}:
            return pa.array(cells, pa.time64("us"))
    return pa.array([None if cell is None else _cell_as_text(cell) for cell in cells], pa.string())


def _cell_as_text(cell: Any) -> str:
    if isinstance(cell, bool):
        return str(cell).lower()
    if isinstance(cell, float) and cell.is_integer():
        return str(int(cell))
    if isinstance(cell, timedelta):
        return _duration_as_text(cell)
    return cell.isoformat() if isinstance(cell, datetime | time) else str(cell)


def _duration_as_text(cell: timedelta) -> str:
    """Hours, minutes and seconds, as Excel shows it and as the time of day that it may be: 24:00:00, not 1 day."""
    seconds, micros = divmod(abs(cell) // timedelta(microseconds=1), 10**6)
    sign, fraction = "-" if cell < timedelta(0) else "", f".{micros:06}" if micros else ""
    return f"{sign}{seconds // 3600:02}:{seconds // 60 % 60:02}:{seconds % 60:02}{fraction}"
