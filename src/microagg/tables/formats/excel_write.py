"""Write one sheet as an Excel workbook that holds nothing else: no author, no time, no formula, no style of a record.

The parts of the file are stored without compression, so the same table gives the same bytes with every library.
"""

from __future__ import annotations

import datetime as dt
import math
import re
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any
from xml.sax.saxutils import escape

from microagg.errors import TableError
from microagg.tables.columns import as_doubles, without_dictionaries

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["SHEET", "write_workbook"]

SHEET = "table"
_MOST_RECORDS, _MOST_COLUMNS, _LONGEST = 1_048_575, 16_384, 32_767
_EXACT = 2**53
_DAY_ZERO, _FIRST_DAY = dt.date(1899, 12, 30), dt.date(1900, 3, 1)  # Excel counts a 29th of February 1900
_DAY, _MOMENT, _CLOCK = 1, 2, 3  # styles, by their place in _STYLES
_UNWRITABLE = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]|_x[0-9A-Fa-f]{4}_")

_HEAD = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n'
_MAIN = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
_OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
_PACKAGE = "http://schemas.openxmlformats.org/package/2006"
_TYPE = "application/vnd.openxmlformats-officedocument.spreadsheetml"

_SHEETS, _RELATIONS = f"{_TYPE}.sheet.main+xml", "application/vnd.openxmlformats-package.relationships+xml"
_PARTS = {
    "[Content_Types].xml": (
        f'<Types xmlns="{_PACKAGE}/content-types">'
        f'<Default Extension="rels" ContentType="{_RELATIONS}"/>'
        '<Default Extension="xml" ContentType="application/xml"/>'
        f'<Override PartName="/xl/workbook.xml" ContentType="{_SHEETS}"/>'
        f'<Override PartName="/xl/worksheets/sheet1.xml" ContentType="{_TYPE}.worksheet+xml"/>'
        f'<Override PartName="/xl/styles.xml" ContentType="{_TYPE}.styles+xml"/></Types>'
    ),
    "_rels/.rels": (
        f'<Relationships xmlns="{_PACKAGE}/relationships">'
        f'<Relationship Id="rId1" Type="{_OFFICE}/officeDocument" Target="xl/workbook.xml"/></Relationships>'
    ),
    "xl/workbook.xml": (
        f'<workbook xmlns="{_MAIN}" xmlns:r="{_OFFICE}">'
        f'<sheets><sheet name="{SHEET}" sheetId="1" r:id="rId1"/></sheets></workbook>'
    ),
    "xl/_rels/workbook.xml.rels": (
        f'<Relationships xmlns="{_PACKAGE}/relationships">'
        f'<Relationship Id="rId1" Type="{_OFFICE}/worksheet" Target="worksheets/sheet1.xml"/>'
        f'<Relationship Id="rId2" Type="{_OFFICE}/styles" Target="styles.xml"/></Relationships>'
    ),
    "xl/styles.xml": (
        f'<styleSheet xmlns="{_MAIN}"><numFmts count="3"><numFmt numFmtId="164" formatCode="yyyy\\-mm\\-dd"/>'
        '<numFmt numFmtId="165" formatCode="yyyy\\-mm\\-dd\\ hh:mm:ss"/><numFmt numFmtId="166" formatCode="hh:mm:ss"/>'
        '</numFmts><fonts count="1"><font><sz val="11"/><name val="Calibri"/></font></fonts><fills count="2"><fill>'
        '<patternFill patternType="none"/></fill><fill><patternFill patternType="gray125"/></fill></fills>'
        '<borders count="1"><border/></borders><cellStyleXfs count="1"><xf/></cellStyleXfs><cellXfs count="4"><xf/>'
        '<xf numFmtId="164" applyNumberFormat="1"/><xf numFmtId="165" applyNumberFormat="1"/>'
        '<xf numFmtId="166" applyNumberFormat="1"/></cellXfs></styleSheet>'
    ),
}


def write_workbook(table: pa.Table, path: Path) -> None:
    """Write a table as the only sheet of a workbook.

    Raises
    ------
    TableError
        If a sheet cannot hold the table as it is: too many records, whole numbers that Excel would round, times finer
        than a millisecond, dates before March 1900, records at the end without any value. Nothing is written then.
    """
    table = without_dictionaries(table)
    _refuse_shape(table, path)
    columns = [_cells(column, name) for name, column in zip(table.column_names, table.columns, strict=True)]
    header = "".join(_text(name, "the header") for name in table.column_names)
    with zipfile.ZipFile(path, "w", zipfile.ZIP_STORED) as book:
        for name, content in _PARTS.items():
            book.writestr(_entry(name), f"{_HEAD}{content}")
        with book.open(_entry("xl/worksheets/sheet1.xml"), "w", force_zip64=False) as sheet:
            sheet.write(f'{_HEAD}<worksheet xmlns="{_MAIN}"><sheetData><row>{header}</row>'.encode())
            for cells in zip(*columns, strict=True):
                sheet.write(f"<row>{''.join(cells)}</row>".encode())
            sheet.write(b"</sheetData></worksheet>")


def _entry(name: str) -> zipfile.ZipInfo:
    entry = zipfile.ZipInfo(name, date_time=(1980, 1, 1, 0, 0, 0))
    entry.create_system = 0
    return entry


def _refuse_shape(table: pa.Table, path: Path) -> None:
    if table.num_rows > _MOST_RECORDS or table.num_columns > _MOST_COLUMNS:
        raise TableError(
            f"{path.name}: a sheet holds {_MOST_RECORDS:,} records of {_MOST_COLUMNS:,} columns; the table has "
            f"{table.num_rows:,} of {table.num_columns:,}. Choose another format"
        )
    if table.num_rows and all(not column[-1].is_valid for column in table.columns):
        raise TableError(
            f"{path.name}: the last record has no value at all, and an empty row at the end of a sheet is no record. "
            "Choose another format"
        )


def _cells(column: pa.ChunkedArray, name: str) -> Iterator[str]:
    """The cells of a column, once all of them are known to be writable."""
    from pyarrow import types as t

    kind = column.type
    if t.is_null(kind):
        return iter(["<c/>"] * len(column))
    where = f"column {name!r}"
    write: Callable[[Any], str]
    if t.is_decimal(kind) or t.is_floating(kind):
        values, write = as_doubles(column, name, "Excel").to_pylist(), _number(where)
    elif t.is_integer(kind):
        values, write = column.to_pylist(), _whole
        beyond = sum(value is not None and abs(value) > _EXACT for value in values)
        if beyond:
            raise TableError(
                f"Column {name!r} has {beyond} whole numbers beyond 2**53, which Excel would round. Choose another "
                "format"
            )
    elif t.is_boolean(kind):
        values, write = column.to_pylist(), _truth
    elif t.is_temporal(kind):
        values, write = _serials(column, name)
    else:
        values, write = column.to_pylist(), lambda value: _text(value, where)
    return iter(["<c/>" if value is None else write(value) for value in values])


def _whole(value: int) -> str:
    return f"<c><v>{value}</v></c>"


def _truth(value: bool) -> str:
    return f'<c t="b"><v>{int(value)}</v></c>'


def _number(where: str) -> Callable[[float], str]:
    def write(value: float) -> str:
        if math.isnan(value):
            return "<c/>"
        if math.isinf(value):
            raise TableError(f"{where} has infinite numbers, which Excel cannot hold.")
        return f"<c><v>{value!r}</v></c>"

    return write


def _text(value: str, where: str) -> str:
    if len(value) > _LONGEST or _UNWRITABLE.search(value):
        raise TableError(
            f"{where} has text that Excel cannot hold as it is: control characters, escapes such as _x0041_, or more "
            f"than {_LONGEST:,} characters. Choose another format"
        )
    plain = escape(value, {"\r": "&#13;"})
    return f'<c t="inlineStr"><is><t xml:space="preserve">{plain}</t></is></c>'


def _serials(column: pa.ChunkedArray, name: str) -> tuple[list[Any], Callable[[Any], str]]:
    """Moments as the days that Excel counts, and how they are written."""
    import pyarrow as pa
    from pyarrow import types as t

    kind = column.type
    if t.is_timestamp(kind) and kind.tz is not None:
        raise TableError(f"Column {name!r} has a time zone, which Excel cannot hold. Choose another format")
    if not (t.is_timestamp(kind) or t.is_date(kind) or t.is_time(kind)):
        raise TableError(f"Column {name!r} has type {kind}, which Excel cannot hold.")
    try:
        if t.is_time(kind):
            thousandths = column.cast(pa.time32("ms")).cast(pa.int32()).to_pylist()
        else:
            thousandths = column.cast(pa.timestamp("ms")).cast(pa.int64()).to_pylist()
    except pa.ArrowInvalid:
        raise TableError(
            f"Column {name!r} has times finer than a millisecond, which Excel would round. Choose another format"
        ) from None
    day = 86_400_000
    if t.is_time(kind):
        return thousandths, lambda value: f'<c s="{_CLOCK}"><v>{value / day!r}</v></c>'
    zero, first = ((one - dt.date(1970, 1, 1)).days * day for one in (_DAY_ZERO, _FIRST_DAY))
    early = sum(value is not None and value < first for value in thousandths)
    if early:
        raise TableError(f"Column {name!r} has {early} dates before March 1900, which Excel cannot hold.")
    if all(value is None or value % day == 0 for value in thousandths):
        return thousandths, lambda value: f'<c s="{_DAY}"><v>{(value - zero) // day}</v></c>'
    return thousandths, lambda value: f'<c s="{_MOMENT}"><v>{(value - zero) / day!r}</v></c>'
