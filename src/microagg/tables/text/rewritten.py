"""Whether a file is written as `write_table` writes: nothing in it but what its table shows, and no record marked.

Quotes around one number, a blank line, another line end or a comment in a header change no value, and can tell which
record is whose.
"""

from __future__ import annotations

import gzip
import io
import re
import tempfile
import zlib
from pathlib import Path
from typing import TYPE_CHECKING, Any

from microagg.tables.columns import is_text
from microagg.tables.formats.labels import labels_of, with_needed_labels
from microagg.tables.formats.stat_files import fault_of_header
from microagg.tables.read import DELIMITERS, format_of, read_table
from microagg.tables.text.formulas import quoted_columns
from microagg.tables.write import write_table

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["fault_of_form", "fault_of_text"]

_TRUTH = ((0, "false"), (1, "true"))
_MOMENT_OR_DECIMAL = re.compile(  # as Arrow writes what it does not read: all of a column with as many digits
    r"((-?\d{4,6}-\d\d-\d\d )?\d\d:\d\d:\d\d|-?(0|[1-9]\d*)|-?\d)(\.(?P<digits>\d+))?"
    r"([+-]\d{4}|Z|E(?P<exponent>[+-]\d+))?"
)


def fault_of_text(path: Path, table: pa.Table) -> str:
    """How a text file is written otherwise than `write_table` would write it; empty if it is not.

    Parameters
    ----------
    path : Path
    table : Arrow table
        As it is read from the file with every field as text, nothing undone.
    """
    compressed = path.suffix.lower() == ".gz"
    content = path.read_bytes()
    if compressed and not _is_plain_gzip(content):
        return "its compressed form holds more than the text"
    places = [place for place, column in enumerate(table.columns) if column.null_count < table.num_rows]
    quoted = quoted_columns(path, places) if places else set()
    odd = [place for place in places if place not in quoted and not _are_plain(table.column(place))]
    if odd:
        return f"{len(odd)} columns are written in another way than microagg writes numbers and dates"
    delimiter = DELIMITERS[format_of(path)]
    assert delimiter is not None  # of the formats that are written, all have one
    again = _lines(table, quoted, delimiter)
    same = again == (gzip.decompress(content) if compressed else content)
    return "" if same else "some of its quotes, blanks or line ends are not those that microagg writes"


def _lines(table: pa.Table, quoted: set[int], delimiter: str) -> bytes:
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
    header = delimiter.join(in_quotes(pa.array(table.column_names)).to_pylist())
    lines = pc.binary_join_element_wise(*fields, pa.scalar(delimiter, kind)).to_pylist()
    return "".join(f"{line}\n" for line in (header, *lines)).encode()


def _is_plain_gzip(content: bytes) -> bool:
    """Whether there is one member, without name, time, comment or anything behind it."""
    empty = io.BytesIO()
    with gzip.GzipFile(filename="", mode="wb", compresslevel=6, fileobj=empty, mtime=0):
        pass
    if content[:9] != empty.getvalue()[:9]:  # the tenth byte names the system
        return False
    reader = zlib.decompressobj(wbits=31)
    reader.decompress(content)
    return reader.eof and not reader.unused_data


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


def fault_of_form(path: Path, *, same_libraries: bool) -> tuple[str, bool]:
    """How a file of Arrow or of a statistics package is written otherwise than `write_table` would.

    Parameters
    ----------
    path : Path
    same_libraries : bool
        Whether these versions of the libraries wrote the file, so that the same table gives the same bytes.

    Returns
    -------
    fault : str
        Empty if there is none.
    to_the_byte : bool
        Whether every byte was compared; of types that a file does not give back as they were, only what it holds.
    """
    file_format = format_of(path)
    fault = fault_of_header(path, file_format) if file_format in ("sav", "dta") else ""
    if fault:
        return fault, False
    table = read_table(path)
    if _has_needless_labels(table, of_truth=file_format in ("sav", "dta")):
        return "it carries labels or metadata that no record needs", False
    if any(_has_needless_categories(column) for column in table.columns):
        return "it carries categories that no record has", False
    if not (same_libraries and all(_is_given_back(field.type) for field in table.schema)):
        return "", False
    with tempfile.TemporaryDirectory() as folder:
        again = Path(folder) / path.name
        write_table(table, again)
        same = again.read_bytes() == path.read_bytes()
    # Other bytes are no fault: a type that is read back as another, or statistics of it, may make them, too.
    return "", same


def _is_given_back(kind: pa.DataType) -> bool:
    """Whether a file gives values of a type back as they were, and in that type."""
    from pyarrow import types as t

    return bool(t.is_integer(kind) or t.is_floating(kind) or t.is_boolean(kind) or is_text(kind) or t.is_date32(kind))


def _has_needless_labels(table: pa.Table, *, of_truth: bool) -> bool:
    if table.schema.metadata:
        return True
    for mine, needed in zip(table.schema, with_needed_labels(table).schema, strict=True):
        if mine.equals(needed, check_metadata=True):
            continue
        labels: Any = labels_of(mine).value_labels
        if not (of_truth and tuple(labels) == _TRUTH and not labels_of(mine).missing_ranges):
            return True
    return False


def _has_needless_categories(column: pa.ChunkedArray) -> bool:
    import pyarrow as pa

    if not pa.types.is_dictionary(column.type):
        return False
    used = set(column.drop_null().cast(column.type.value_type).unique().to_pylist())
    return any(set(chunk.dictionary.to_pylist()) - used for chunk in column.chunks)
