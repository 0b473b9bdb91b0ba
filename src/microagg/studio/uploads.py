"""A file that a browser sends, written as it comes into a folder of its owner alone, up to a limit."""

from __future__ import annotations

import hashlib
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

from microagg.errors import InputError
from microagg.studio.places import safe_name

if TYPE_CHECKING:
    from starlette.requests import Request

__all__ = ["Upload", "bytes_of", "bytes_phrase", "receive_file"]

_UNITS = {"": 1, "KB": 10**3, "MB": 10**6, "GB": 10**9, "KIB": 2**10, "MIB": 2**20, "GIB": 2**30, "TIB": 2**40}
_MOST_OF_HEADERS = 16_384


def bytes_of(text: str) -> int:
    """How many bytes a size is.

    Examples
    --------
    >>> bytes_of("2GiB"), bytes_of("10 MB"), bytes_of("4096")
    (2147483648, 10000000, 4096)
    """
    match = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*([A-Za-z]*)\s*", text)
    if match is None or match[2].upper() not in _UNITS:
        raise InputError(f"a size is a number with a unit, as in 2GiB or 500MB. Got {text!r} instead")
    return int(float(match[1]) * _UNITS[match[2].upper()])


def bytes_phrase(count: int) -> str:
    """A size for people.

    Examples
    --------
    >>> bytes_phrase(2147483648), bytes_phrase(1536), bytes_phrase(12)
    ('2 GiB', '1.5 KiB', '12 bytes')
    """
    for unit in ("GiB", "MiB", "KiB"):
        if count >= _UNITS[unit.upper()]:
            return f"{count / _UNITS[unit.upper()]:.3g} {unit}"
    return f"{count} bytes"


class Upload:
    """The one file of a form, and its short fields.

    Attributes
    ----------
    path : Path or None
        Where the file is; None if the form held none.
    fields : dict of str to str
    """

    def __init__(self, folder: Path, most: int) -> None:
        self.path: Path | None = None
        self.fields: dict[str, str] = {}
        self.is_too_large = False
        self._folder, self._most, self._written = folder, most, 0
        self._hash = hashlib.sha256()
        self._file: Any = None
        self._name = self._value = b""
        self._headers: dict[bytes, bytes] = {}
        self._field, self._text = "", b""

    @property
    def sha256(self) -> str:
        """Of the file."""
        return self._hash.hexdigest()

    def callbacks(self) -> dict[str, Any]:
        """What the parser calls, piece by piece."""
        return {
            "on_part_begin": self._begin,
            "on_header_field": self._header_name,
            "on_header_value": self._header_value,
            "on_header_end": self._header_end,
            "on_headers_finished": self._headers_end,
            "on_part_data": self._data,
            "on_part_end": self._end,
        }

    def close(self) -> None:
        """Close the file; one that is not whole or too large is removed."""
        if self._file is not None:
            self._file.close()
            self._file = None
            if self.path is not None:
                self.path.unlink(missing_ok=True)
                self.path = None

    def _begin(self) -> None:
        self._headers, self._name, self._value, self._text = {}, b"", b"", b""

    def _header_name(self, data: bytes, start: int, end: int) -> None:
        self._name += data[start:end]
        if len(self._name) > _MOST_OF_HEADERS:
            raise InputError("the browser sent a form that cannot be read")

    def _header_value(self, data: bytes, start: int, end: int) -> None:
        self._value += data[start:end]
        if len(self._value) > _MOST_OF_HEADERS:
            raise InputError("the browser sent a form that cannot be read")

    def _header_end(self) -> None:
        self._headers[self._name.lower()] = self._value
        self._name = self._value = b""

    def _headers_end(self) -> None:
        from python_multipart.multipart import parse_options_header

        _, options = parse_options_header(self._headers.get(b"content-disposition", b""))
        self._field = options.get(b"name", b"").decode("utf-8", "replace")
        filename = options.get(b"filename")
        if filename and self.path is None:
            self.path = self._folder / safe_name(filename.decode("utf-8", "replace"))
            self._file = self.path.open("xb")
            self.path.chmod(0o600)

    def _data(self, data: bytes, start: int, end: int) -> None:
        if self._file is None:
            self._text += data[start:end]
            if len(self._text) > _MOST_OF_HEADERS:
                raise InputError("the browser sent a form that cannot be read")
            return
        self._written += end - start
        if self._written > self._most:
            self.is_too_large = True
        if not self.is_too_large:
            self._file.write(memoryview(data)[start:end])
            self._hash.update(memoryview(data)[start:end])

    def _end(self) -> None:
        if self._file is None:
            self.fields[self._field] = self._text.decode("utf-8", "replace")
        elif not self.is_too_large:
            self._file.close()
            self._file = None


async def receive_file(request: Request, folder: Path, most: int) -> Upload:
    """Take the file of a form, in as much memory as a piece of it.

    A file that is too large is read to its end, and not kept: a browser shows an answer only when it has sent all.

    Raises
    ------
    InputError
        If the file is larger than `most`, or the form is no such form.
    """
    from python_multipart.exceptions import MultipartParseError
    from python_multipart.multipart import MultipartParser, parse_options_header

    kind, options = parse_options_header(request.headers.get("content-type", ""))
    if kind != b"multipart/form-data" or b"boundary" not in options:
        raise InputError("the browser sent a form without a file")
    upload = Upload(folder, most)
    parser = MultipartParser(options[b"boundary"], upload.callbacks())  # type: ignore[arg-type]
    try:
        async for piece in request.stream():
            parser.write(piece)
        parser.finalize()
    except MultipartParseError:
        raise InputError("the browser sent a form that cannot be read") from None
    finally:
        upload.close()
    if upload.is_too_large:
        raise InputError(
            f"the file is larger than {bytes_phrase(most)}, which is the most that may be sent. Name it when the "
            "studio starts, and it is read where it is: microagg studio FILE. Or allow more: --max-upload 8GiB"
        )
    return upload
