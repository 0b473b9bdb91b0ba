"""Whole rows between two stray quotes that happen to enclose a field: well-formed, and yet records would vanish."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator
from typing import TextIO

__all__ = ["lines_of_swallowed_rows"]

_BLOCK = 1 << 23
_NUMBER = re.compile(r"\s*[+-]?[\d][\d.,'\s]*\s*")
_LOOKED_AT = 2000
_MOSTLY = 0.9


def lines_of_swallowed_rows(open_text: list[TextIO], separator: str) -> tuple[int, int] | None:
    """The first and last line, from 1, of a row whose lines would each be a row if its quotes were not there.

    Each must have a field for every column, and a number in all columns that hold numbers elsewhere, of which there
    must be one: an address of several lines has not.

    Parameters
    ----------
    open_text : list of text
        The same text, opened three times; it is well-formed.
    separator : str
    """
    first, second, third = open_text
    if not _has_line_ends_in_quotes(first):
        return None
    rows = [row for lines, row in _rows(second, separator, _LOOKED_AT) if len(lines) == 1 and row][1:]
    if not rows:
        return None
    width = len(rows[0])
    numeric = [
        place
        for place in range(width)
        if sum(len(row) == width and bool(_NUMBER.fullmatch(row[place])) for row in rows) >= _MOSTLY * len(rows)
    ]
    if not numeric:
        return None

    def is_row(line: str) -> bool:
        fields = line.replace('"', "").strip("\r\n").split(separator)
        return len(fields) == width and all(_NUMBER.fullmatch(fields[place]) for place in numeric)

    above = 0
    for lines, _ in _rows(third, separator):
        if len(lines) > 1 and all(is_row(line) for line in lines):
            return above + 1, above + len(lines)
        above += len(lines)
    return None


def _rows(text: TextIO, separator: str, most: int | None = None) -> Iterator[tuple[list[str], list[str]]]:
    """Each row with the lines it is written in; as far as the library reads, whose fields are of limited length."""
    lines: list[str] = []

    def noted() -> Iterator[str]:
        for line in text:
            lines.append(line)
            yield line

    reader = csv.reader(noted(), delimiter=separator)
    n_rows = 0
    while most is None or n_rows < most:
        try:
            row = next(reader)
        except StopIteration:
            return
        except csv.Error:  # a field longer than the library takes is text, not rows
            row = []
        yield list(lines), row
        lines.clear()
        n_rows += 1


def _has_line_ends_in_quotes(text: TextIO) -> bool:
    import numpy as np

    n_quotes = 0
    block = text.read(_BLOCK)
    while block:
        content = np.frombuffer(block.encode(), np.uint8)
        quotes = np.flatnonzero(content == ord('"'))
        ends = np.flatnonzero((content == ord("\n")) | (content == ord("\r")))
        if len(ends) and bool(((np.searchsorted(quotes, ends) + n_quotes) % 2).any()):
            return True
        n_quotes += len(quotes)
        block = text.read(_BLOCK)
    return False
