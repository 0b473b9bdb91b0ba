"""Excel: a sheet of a workbook."""

from __future__ import annotations

import json
import warnings
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import date, datetime, time, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from microagg.errors import TableError
from microagg.tables.formats.base import ReadOptions, Sniffed, WritableFormat
from microagg.tables.formats.excel_write import write_workbook
from microagg.tables.formats.registry import register_format
from microagg.tables.missing_codes import code_as_text
from microagg.tables.phrases import names_phrase
from microagg.tables.refusal import check_names
from microagg.tables.text.dialect import Decision, Dialect
from microagg.tables.text.layout import fields_like_values
from microagg.tables.text.sniff import check_header, name_columns
from microagg.tables.text.written import as_dates, as_numbers

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["Excel"]

_SAVE_AS = "of the spreadsheet formats only .xlsx is read; save the sheet as .xlsx or .csv."


@register_format
class Excel(WritableFormat):
    """A workbook: its cells have types, but digits that are text may be meant as numbers."""

    name = "xlsx"
    title = "Excel"
    refused_extensions: ClassVar = {".xls": _SAVE_AS, ".xlsb": _SAVE_AS, ".ods": _SAVE_AS}
    states_types = False

    def parse(self, path: Path, options: ReadOptions) -> pa.Table:
        import pyarrow as pa

        dialect = options.dialect
        rows = _rows_of_sheet(path, dialect.sheet)[dialect.skip_rows :]
        names = _read_names(rows, dialect, path)
        check_names(names, path)
        first = dialect.skip_rows + 1
        if dialect.has_header:
            rows, first = rows[1:], first + 1
        too_long = [number for number, row in enumerate(rows, start=first) if len(row) > len(names)]
        if too_long:
            raise TableError(
                f"{path.name}: {len(too_long)} rows have values to the right of the header's {len(names)} columns; "
                f"the first is row {too_long[0]}. If the header is not in row {first - 1}, add to the recipe:\n"
                "    [input]\n    skip_rows = ...   # rows above the header"
            )
        columns = ([row[position] if position < len(row) else None for row in rows] for position in range(len(names)))
        arrays = []
        for name, cells in zip(names, columns, strict=True):
            as_text = name in options.text_columns
            own = dialect if not as_text else None
            arrays.append(_type_cells(cells, as_text, own, name, name in options.number_columns))
        return pa.Table.from_arrays(arrays, names=names)

    def write(self, table: pa.Table, path: Path) -> None:
        write_workbook(table, path)

    def guess_layout(self, path: Path, given: Dialect, fixed: Collection[str]) -> Sniffed:
        rows = _rows_of_sheet(path, given.sheet)
        decided = []
        dialect = given
        top = dialect.skip_rows
        if "skip_rows" not in fixed and dialect.has_header:
            width = max((len(row) for row in rows[:200]), default=0)
            filled = [sum(cell is not None for cell in row) for row in rows[:200]]
            top = next((i for i, n in enumerate(filled) if n > 0.6 * width and (n > 1 or width == 1)), 0)
            if top:
                decided.append(Decision("skip_rows", top, "rows above the first one with a cell for most columns"))
                dialect = replace(dialect, skip_rows=top)
        as_text = [["" if cell is None else str(cell) for cell in row] for row in rows[top : top + 2000]]
        if as_text:
            check_header(path, dialect, fixed, fields_like_values(as_text[0], as_text[1:]), len(as_text[0]))
        return Sniffed(name_columns(dialect, max((len(row) for row in as_text), default=0)), decided)


def _read_names(rows: list[list[Any]], dialect: Dialect, path: Path) -> list[str]:
    header = rows[0] if rows else []
    if not header:
        where = "the first row" if not dialect.skip_rows else f"row {dialect.skip_rows + 1}"
        raise TableError(
            f"{path.name}: {where} of the sheet is empty; it should be the header. If the header is further down, add "
            "to the recipe:\n    [input]\n    skip_rows = ...   # rows above the header"
        )
    if dialect.has_header:
        return ["" if cell is None else _cell_as_text(cell) for cell in header]
    names = list(dialect.columns or [f"column_{i + 1}" for i in range(max(len(row) for row in rows))])
    if len(header) > len(names):
        raise TableError(
            f"{path.name}: its first row has {len(header)} cells, and input.columns names {len(names)} columns."
        )
    return names


def _has_values(sheet: Any) -> bool:
    sheet.reset_dimensions()  # what a file says about its extent may be wrong
    return any(cell is not None for row in sheet.iter_rows(values_only=True) for cell in row)


@contextmanager
def _open_book(path: Path) -> Iterator[Any]:
    import openpyxl

    with path.open("rb") as stream, warnings.catch_warnings():
        warnings.simplefilter("ignore")  # openpyxl's warnings may quote cells
        book = openpyxl.load_workbook(stream, read_only=True, data_only=True)
        yield book
        book.close()


def _choose_sheet(book: Any, sheet: str | int | None, path: Path) -> Any:
    sheets = book.worksheets
    names = [one.title for one in sheets]
    if isinstance(sheet, int):
        if not 1 <= sheet <= len(sheets):
            raise TableError(f"{path.name} has {len(sheets)} sheets; there is no sheet number {sheet} (input.sheet).")
        return sheets[sheet - 1]
    if sheet is not None:
        if sheet not in names:
            raise TableError(f"{path.name} has no sheet {sheet!r}. It has: {names_phrase([*map(repr, names)])}.")
        return sheets[names.index(sheet)]
    filled = [one for one in sheets if _has_values(one)] if len(sheets) > 1 else sheets
    if len(filled) > 1:
        titles = [one.title for one in filled]
        raise TableError(
            f"{path.name} has {len(filled)} sheets with values: {names_phrase([repr(title) for title in titles])}. Add "
            "the one to read to the recipe (or pass --sheet):\n    [input]\n"
            f"    sheet = {json.dumps(titles[0], ensure_ascii=False)}"
        )
    return (filled or sheets)[0]


def _rows_of_sheet(path: Path, choice: str | int | None) -> list[list[Any]]:
    """Return the values row by row, without empty cells at the end of a row and empty rows at the end."""
    with _open_book(path) as book:
        sheet = _choose_sheet(book, choice, path)
        sheet.reset_dimensions()
        rows = [[None if cell.data_type == "e" else cell.value for cell in row] for row in sheet.iter_rows()]
    for row in rows:
        _drop_trailing(row, None)
    _drop_trailing(rows, [])
    return rows


def _drop_trailing(items: list[Any], empty: object) -> None:
    while items and items[-1] == empty:
        items.pop()


def _type_cells(cells: list[Any], as_text: bool, dialect: Dialect | None, name: str, is_number: bool) -> pa.Array:
    """Cells as an array of the one type they have; text is read as the dialect says, if there is one."""
    import pyarrow as pa

    if dialect is not None:
        cells = _read_cells(cells, dialect, name, is_number)
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
        if kinds == {date}:
            return pa.array(cells, pa.date32())
        if kinds == {datetime}:
            return pa.array(cells, pa.timestamp("us"))
        if kinds == {time}:
            return pa.array(cells, pa.time64("us"))
    return pa.array([None if cell is None else _cell_as_text(cell) for cell in cells], pa.string())


def _read_cells(cells: list[Any], dialect: Dialect, name: str, is_number: bool) -> list[Any]:
    """Cells with their text read as numbers or dates, if all of it can be; numbers among them stay as they are."""
    import pyarrow as pa

    codes = dialect.missing.get(name)
    if codes:
        gone = {code_as_text(code) for code in codes}
        cells = [None if isinstance(cell, str) and cell.strip() in gone else cell for cell in cells]
    kinds = {type(cell) for cell in cells if cell is not None}
    if str not in kinds:
        return cells
    places = [place for place, cell in enumerate(cells) if isinstance(cell, str)]
    text = pa.chunked_array([pa.array([cells[place] for place in places], pa.string())])
    pattern = dialect.date_formats.get(name, dialect.date_format)
    new = None
    if pattern is not None and kinds <= {str, datetime}:
        new = as_dates(text, pattern)
        if new is not None and datetime in kinds:
            new = new.cast(pa.timestamp("us"))
    own_way = dialect.reads_numbers_its_own_way or is_number or bool(codes)
    if new is None and own_way and kinds <= {str, int, float}:
        new = as_numbers(text, dialect)
    if new is None:
        return cells
    cells = list(cells)
    for place, value in zip(places, new.to_pylist(), strict=True):
        cells[place] = value
    return cells


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
