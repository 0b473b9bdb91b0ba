"""Whether a text file is written as `write_text` writes: nothing in it but what its table shows, and no record marked.

Quotes around one number, a blank line or another line end change no value, and can tell which record is whose.
"""

from __future__ import annotations

import gzip
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

from microagg.tables.text.compression import holds_only_its_text, is_compressed
from microagg.tables.text.formulas import quoted_columns

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["find_fault_of_text"]

_MOMENT_OR_DECIMAL = re.compile(  # as Arrow writes what it does not read: all of a column with as many digits
    r"((-?\d{4,6}-\d\d-\d\d )?\d\d:\d\d:\d\d|-?(0|[1-9]\d*)|-?\d)(\.(?P<digits>\d+))?"
    r"([+-]\d{4}|Z|E(?P<exponent>[+-]\d+))?"
)


def find_fault_of_text(path: Path, table: pa.Table, separator: str) -> str:
    """Find how a text file is written otherwise than `write_text` would write it; empty if it is not.

    Parameters
    ----------
    path : Path
    table : pyarrow.Table
        As it is read from the file with every field as text, nothing undone.
    separator : str
    """
    compressed = is_compressed(path)
    content = path.read_bytes()
    if compressed and not holds_only_its_text(content):
        return "its compressed form holds more than the text"
    places = [place for place, column in enumerate(table.columns) if column.null_count < table.num_rows]
    quoted = quoted_columns(path, places, separator) if places else set()
    odd = [place for place in places if place not in quoted and not _are_plain(table.column(place))]
    if odd:
        return f"{len(odd)} columns are written in another way than microagg writes numbers and dates"
    again = _write_lines(table, quoted, separator)
    same = again == (gzip.decompress(content) if compressed else content)
    return "" if same else "some of its quotes, blanks or line ends are not those that microagg writes"


def _write_lines(table: pa.Table, quoted: set[int], separator: str) -> bytes:
    """The text of a table whose fields are text, with quotes around the fields of some columns."""
    import pyarrow as pa
    import pyarrow.compute as pc

    kind = pa.large_string()
    quote, nothing = pa.scalar('"', kind), pa.scalar("", kind)

    def in_quotes(texts: Any) -> Any:
        doubled = pc.replace_substring(texts.cast(kind), '"', '""')
        return pc.binary_join_element_wise(quote, doubled, quote, nothing)

    missing = pa.scalar("NA" if table.num_columns == 1 else "", kind)
    fields = [
        pc.fill_null(in_quotes(column) if place in quoted else column.cast(kind), missing)
        for place, column in enumerate(table.columns)
    ]
    header = separator.join(in_quotes(pa.array(table.column_names)).to_pylist())
    lines = pc.binary_join_element_wise(*fields, pa.scalar(separator, kind)).to_pylist()
    return "".join(f"{line}\n" for line in (header, *lines)).encode()


def _are_plain(column: pa.ChunkedArray) -> bool:
    """Whether fields without quotes are as one type of numbers or moments writes all of them."""
    import pyarrow as pa

    for kind in (pa.int64(), pa.float64(), pa.bool_(), pa.date32(), pa.uint64(), pa.float32()):
        try:
            if column.cast(kind).cast(column.type).equals(column):
                return True
        except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
            continue
    found = [_MOMENT_OR_DECIMAL.fullmatch(text) for text in column.unique().drop_null().to_pylist()]
    scales = {len(one["digits"] or "") - int(one["exponent"] or 0) for one in found if one is not None}
    return all(found) and len(scales) == 1
