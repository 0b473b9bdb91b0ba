"""What has no file of its own, a stream or a table of a database, as one: in memory, gone when it is closed."""

from __future__ import annotations

import os
import re
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, TYPE_CHECKING

from microagg.errors import TableError
from microagg.tables.databases.address import Address
from microagg.tables.databases.database import connected
from microagg.tables.formats.registry import format_of

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["fetched", "kind_of_bytes", "spooled_stream", "spooled_table"]

_BEGINNINGS = {
    b"PAR1": "parquet",
    b"ARROW1": "feather",
    b"\xff\xff\xff\xff": "arrows",
    b"PK\x03\x04": "xlsx",
    b"\x1f\x8b": "csv.gz",
    b"$FL2": "sav",
    b"$FL3": "zsav",
    b"<stata_dta>": "dta",
}
"""How files of each format begin; anything else is text."""
_OBJECT = re.compile(
    rb"(\xef\xbb\xbf)?\s*(\[\s*)?\{"
)  # a list of objects is refused by who reads JSON Lines, in its words


def kind_of_bytes(head: bytes) -> str:
    """The format of a stream, from its first bytes.

    Examples
    --------
    >>> kind_of_bytes(b"PAR1..."), kind_of_bytes(b"age,sex")
    ('parquet', 'csv')
    """
    of_text = "jsonl" if _OBJECT.match(head) else "csv"
    return next((name for start, name in _BEGINNINGS.items() if head.startswith(start)), of_text)


@contextmanager
def _in_memory(name: str) -> Iterator[Path]:
    """A path of this name whose bytes are in memory, where the system can; else in a folder for its owner only."""
    with tempfile.TemporaryDirectory(prefix="microagg-") as folder:
        path = Path(folder) / name
        if not hasattr(os, "memfd_create"):
            yield path
            return
        handle = os.memfd_create("microagg")
        try:
            path.symlink_to(f"/proc/{os.getpid()}/fd/{handle}")
            yield path
        finally:
            os.close(handle)


@contextmanager
def spooled_stream(stream: IO[bytes], kind: str | None = None) -> Iterator[Path]:
    """A stream as a file whose name tells its format; if `kind` does not say which, its first bytes do."""
    head = stream.read(16)
    if not head:
        raise TableError("standard input is empty: nothing was written to it")
    name = f"standard-input.{kind or kind_of_bytes(head)}"
    format_of(name)  # one that nobody knows is refused before the rest is read
    with _in_memory(name) as path:
        with path.open("wb") as file:
            file.write(head)
            shutil.copyfileobj(stream, file, 1 << 20)
        yield path


@contextmanager
def fetched(text: str) -> Iterator[Path]:
    """The table at an address as a file; the transaction that reads it ends at once."""
    address = Address.parse(text)
    with connected(address) as database:
        table = database.read(address)
    with spooled_table(table, address.file_name) as path:
        yield path


@contextmanager
def spooled_table(table: pa.Table, name: str) -> Iterator[Path]:
    """A table as a file of this name that keeps its types."""
    from pyarrow import feather

    with _in_memory(f"{name}.feather") as path:
        feather.write_feather(table, str(path))
        yield path
