"""Parquet, Feather and Arrow streams, which keep types, categories and labels as Arrow has them."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from microagg.errors import TableError
from microagg.tables.columns import is_text
from microagg.tables.formats.base import ReadOptions, WritableFormat
from microagg.tables.formats.registry import register_format

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["ArrowStream", "Feather", "Parquet"]


_END_OF_STREAM = b"\xff\xff\xff\xff\x00\x00\x00\x00"


@register_format
class Parquet(WritableFormat):
    name = "parquet"
    title = "Parquet"
    keeps_labels = True
    repeats_bytes = False

    def parse(self, path: Path, options: ReadOptions) -> pa.Table:
        from pyarrow import parquet

        with parquet.ParquetFile(path) as file:
            table = file.read()
        table.validate(full=True)
        return table

    def write(self, table: pa.Table, path: Path) -> None:
        from pyarrow import parquet

        parquet.write_table(table, path)


@register_format
class Feather(WritableFormat):
    """An image of Arrow's memory: what is written is copied first, so that nothing comes along unseen."""

    name = "feather"
    title = "Feather (Arrow IPC file)"
    other_extensions = (".arrow",)
    keeps_labels = True
    repeats_bytes = False

    def parse(self, path: Path, options: ReadOptions) -> pa.Table:
        from pyarrow import feather

        table = feather.read_table(path, memory_map=False)
        table.validate(full=True)
        return table

    def write(self, table: pa.Table, path: Path) -> None:
        import pyarrow as pa
        from pyarrow import feather

        columns = [_copy_shown_values(column) for column in table.columns]
        feather.write_feather(pa.Table.from_arrays(columns, schema=table.schema), path)


@register_format
class ArrowStream(WritableFormat):
    """The same image as a stream, which programs hand to each other: the end of it tells that it is whole."""

    name = "arrows"
    title = "Arrow IPC stream"
    keeps_labels = True

    def parse(self, path: Path, options: ReadOptions) -> pa.Table:
        import pyarrow as pa

        content = path.read_bytes()
        if not content.endswith(_END_OF_STREAM):  # Arrow takes a stream that was cut between two batches for whole
            raise TableError(f"{path.name} is cut short: an Arrow stream says where it ends, and this one does not.")
        with pa.ipc.open_stream(content) as stream:
            table = stream.read_all()
        table.validate(full=True)
        return table

    def write(self, table: pa.Table, path: Path) -> None:
        import pyarrow as pa

        columns = [_copy_shown_values(column).combine_chunks() for column in table.columns]
        whole = pa.Table.from_arrays(columns, schema=table.schema)
        with path.open("wb") as file, pa.ipc.new_stream(file, whole.schema) as stream:
            stream.write_table(whole)


def _copy_shown_values(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Copy a column so that its memory holds nothing but the values it shows.

    Feather is an image of Arrow's memory. There a null is a mark beside a slot that may still hold the value
    from before it was suppressed, and a slice may share its last byte with the records that follow.
    """
    import pyarrow as pa

    if not pa.types.is_dictionary(column.type):
        return pa.chunked_array([_clean(chunk) for chunk in column.chunks], column.type)
    chunks = [
        pa.DictionaryArray.from_arrays(_clean(chunk.indices), chunk.dictionary, ordered=column.type.ordered)
        for chunk in column.chunks
    ]
    return pa.chunked_array(chunks, column.type)


def _clean(array: pa.Array) -> pa.Array:
    import numpy as np
    import pyarrow as pa
    import pyarrow.compute as pc

    if pa.types.is_null(array.type):
        return array
    blank = "" if is_text(array.type) else False if pa.types.is_boolean(array.type) else 0
    filled = pc.fill_null(array, pa.scalar(blank, array.type)).take(pa.array(np.arange(len(array))))
    is_valid = array.is_valid().to_numpy(zero_copy_only=False)
    marks = pa.py_buffer(np.packbits(is_valid, bitorder="little").tobytes()) if array.null_count else None
    return pa.Array.from_buffers(array.type, len(array), [marks, *filled.buffers()[1:]])
