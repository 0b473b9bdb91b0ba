"""The registry of file formats, and how they are found: by the extension of a file's name, or by ``--format``.

A new format is one file and one line: a class that derives from :class:`~microagg.tables.formats.base.FileFormat`,
marked with ``@register_format``, and the name of its module in ``microagg/tables/formats/__init__.py``. A format of
another package is there once its module is imported. ``docs/file_formats.md`` has a complete example.
"""

from __future__ import annotations

import inspect
import os
import re
from pathlib import Path
from typing import TypeVar

from microagg.errors import ParameterError, TableError, did_you_mean
from microagg.tables.formats.base import FileFormat, WritableFormat

__all__ = [
    "format_of",
    "register_format",
    "registered_formats",
    "unregister_format",
    "writable_format",
    "writable_names",
]

AnyFormat = TypeVar("AnyFormat", bound=type[FileFormat])

_formats: dict[str, FileFormat] = {}


def register_format(kind: AnyFormat) -> AnyFormat:
    """Let files of a format be read and, if it is writable, releases be saved in it: a decorator of its class.

    Registering a class again changes nothing.

    Parameters
    ----------
    kind : subclass of FileFormat
        All its abstract methods must be written.

    Raises
    ------
    ParameterError
        If the class is not complete, or another format has one of its extensions.
    """
    fault = _find_fault(kind)
    if fault:
        raise ParameterError(f"the file format {kind.__name__} cannot be registered: {fault}")
    if type(_formats.get(kind.name)) is not kind:
        _formats[kind.name] = kind()
    return kind


def unregister_format(kind: type[FileFormat]) -> None:
    """Take a format out of the registry; its files are of an unknown extension then."""
    if type(_formats.get(kind.name)) is kind:
        del _formats[kind.name]


def _find_fault(kind: type[FileFormat]) -> str:
    """Find why a class cannot be a format beside those that are registered; empty if it can."""
    if inspect.isabstract(kind):
        return f"it lacks {', '.join(sorted(kind.__abstractmethods__))}"
    for key in ("name", "title"):
        if not isinstance(getattr(kind, key, None), str):
            return f"it has no {key}"
    extensions = kind().extensions
    if f".{kind.name}" not in extensions:  # releases are saved under it
        return f"its extensions are without .{kind.name}"
    odd = [extension for extension in extensions if not re.fullmatch(r"(\.[a-z0-9_]+)+", extension)]
    if odd:
        return f"{odd[0]!r} is not an extension of letters and digits in lower case, with its dot"
    taken = {extension for one in _formats.values() if type(one) is not kind for extension in one.extensions}
    shared = [extension for extension in extensions if extension in taken]
    return f"another one has the extension {shared[0]}" if shared else ""


def registered_formats() -> tuple[FileFormat, ...]:
    """Return every format that is read."""
    return tuple(_formats.values())


def writable_names(*, keeping_labels: bool = False) -> tuple[str, ...]:
    """Return the names of the formats that releases are saved in, if wanted only of those that keep labels."""
    return tuple(
        one.name
        for one in registered_formats()
        if isinstance(one, WritableFormat) and (one.keeps_labels or not keeping_labels)
    )


def writable_format(name: str) -> WritableFormat:
    """Return the format of this name, in which a release can be saved.

    Raises
    ------
    ParameterError
        If there is none.
    """
    found = _formats.get(name)
    if not isinstance(found, WritableFormat):
        names = writable_names()
        hint = did_you_mean(name, names)
        raise ParameterError(f"format must be one of {', '.join(names)}. Got {name!r} instead.{hint}")
    return found


def format_of(path: str | os.PathLike[str]) -> FileFormat:
    """Return the format of a file, from the extension of its name.

    Parameters
    ----------
    path : str or path
        The file need not exist. Upper and lower case are the same.

    Raises
    ------
    TableError
        If no format has this extension.

    Examples
    --------
    >>> format_of("survey.CSV.gz").name
    'csv.gz'
    """
    name = Path(path).name
    by_extension = {extension: one for one in registered_formats() for extension in one.extensions}
    for extension in sorted(by_extension, key=len, reverse=True):
        if name.lower().endswith(extension):
            return by_extension[extension]
    suffix = Path(path).suffix.lower()
    for one in registered_formats():
        if suffix in one.refused_extensions:
            raise TableError(f"{name}: {one.refused_extensions[suffix]}")
    known = ", ".join(by_extension)
    raise TableError(f"{name}: unknown extension. Known are {known}.{did_you_mean(suffix, by_extension)}")
