"""All file formats, and how they are found: by the extension of a file's name, or by the word for ``--format``."""

from __future__ import annotations

import os
from pathlib import Path

from microagg.errors import ParameterError, TableError, did_you_mean
from microagg.tables.formats.arrow import Feather, Parquet
from microagg.tables.formats.base import FileFormat, WritableFormat
from microagg.tables.formats.excel import Excel
from microagg.tables.formats.sas import Sas, SasTransport
from microagg.tables.formats.spss import Spss
from microagg.tables.formats.stata import Stata
from microagg.tables.formats.text import CommaSeparated, CompressedCommaSeparated, PlainText, TabSeparated

__all__ = [
    "all_formats",
    "format_of",
    "register",
    "unregister",
    "writable_format",
    "writable_names",
]

_registered: dict[str, FileFormat] = {}


def register(file_format: FileFormat) -> FileFormat:
    """Add a format; from then on its files are read and, if it is writable, releases are saved in it.

    Raises
    ------
    ParameterError
        If a format of this name or with one of these extensions is there already.
    """
    taken = {extension for one in _registered.values() for extension in one.extensions}
    for extension in file_format.extensions:
        if extension in taken:
            raise ParameterError(f"another file format has the extension {extension}")
    _registered[file_format.name] = file_format
    return file_format


def unregister(name: str) -> None:
    """Remove the format of this name."""
    del _registered[name]


# The order is that of lists in messages and help texts.
for _kind in (
    CommaSeparated,
    CompressedCommaSeparated,
    TabSeparated,
    PlainText,
    Parquet,
    Feather,
    Spss,
    Stata,
    Sas,
    SasTransport,
    Excel,
):
    register(_kind())


def all_formats() -> tuple[FileFormat, ...]:
    """Return every format that is read."""
    return tuple(_registered.values())


def writable_names(*, keeping_labels: bool = False) -> tuple[str, ...]:
    """Return the names of the formats that releases are saved in, if wanted only of those that keep labels."""
    return tuple(
        one.name
        for one in all_formats()
        if isinstance(one, WritableFormat) and (one.keeps_labels or not keeping_labels)
    )


def writable_format(name: str) -> WritableFormat:
    """Return the format of this name, in which a release can be saved.

    Raises
    ------
    ParameterError
        If there is none.
    """
    found = _registered.get(name)
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
    by_extension = {extension: one for one in all_formats() for extension in one.extensions}
    for extension in sorted(by_extension, key=len, reverse=True):
        if name.lower().endswith(extension):
            return by_extension[extension]
    suffix = Path(path).suffix.lower()
    for one in all_formats():
        if suffix in one.refused_extensions:
            raise TableError(f"{name}: {one.refused_extensions[suffix]}")
    known = ", ".join(by_extension)
    raise TableError(f"{name}: unknown extension. Known are {known}.{did_you_mean(suffix, by_extension)}")
