"""File formats: each a class in a file that is listed here, found by the registry."""

from importlib import import_module

from microagg.tables.formats.base import FileFormat, ReadOptions, Sniffed, WritableFormat
from microagg.tables.formats.registry import (
    format_of,
    register_format,
    registered_formats,
    unregister_format,
    writable_format,
    writable_names,
)

__all__ = [
    "FileFormat",
    "ReadOptions",
    "Sniffed",
    "WritableFormat",
    "format_of",
    "register_format",
    "registered_formats",
    "unregister_format",
    "writable_format",
    "writable_names",
]

for _module in (  # one line per file, in the order of lists in messages and help texts
    "text",
    "json_lines",
    "arrow",
    "spss",
    "stata",
    "sas",
    "excel",
):
    import_module(f"{__name__}.{_module}")
