"""Text files that are compressed with gzip: opened, written without a name or a time, and checked for more."""

from __future__ import annotations

import gzip
import io
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO, cast

__all__ = ["holds_only_its_text", "is_compressed", "open_bytes", "open_to_write"]


def is_compressed(path: Path) -> bool:
    """Tell a compressed file by its name."""
    return path.suffix.lower() == ".gz"


@contextmanager
def open_bytes(path: Path) -> Iterator[BinaryIO]:
    """Open a text file, compressed or not, to read its bytes."""
    with (gzip.open if is_compressed(path) else open)(path, "rb") as stream:
        yield cast(BinaryIO, stream)


@contextmanager
def open_to_write(path: Path) -> Iterator[BinaryIO]:
    """Open a file for writing; neither the name nor the time is written into a compressed one."""
    with path.open("wb") as file:
        if not is_compressed(path):
            yield file
            return
        with _compressing(file) as compressed:
            yield cast(BinaryIO, compressed)


def _compressing(file: BinaryIO) -> gzip.GzipFile:
    return gzip.GzipFile(filename="", mode="wb", compresslevel=6, fileobj=file, mtime=0)


def holds_only_its_text(content: bytes) -> bool:
    """Whether compressed content is one member, without name, time, comment or anything behind it."""
    empty = io.BytesIO()
    with _compressing(empty):
        pass
    if content[:9] != empty.getvalue()[:9]:  # the tenth byte names the system
        return False
    reader = zlib.decompressobj(wbits=31)
    reader.decompress(content)
    return reader.eof and not reader.unused_data
