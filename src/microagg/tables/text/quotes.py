"""Quotes that do not enclose whole fields: between two of them a reader would take many records for one field."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, TextIO

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

__all__ = ["BadQuote", "every_line_is_a_row", "first_bad_quote"]

_QUOTE = ord('"')
_BLOCK = 1 << 23


@dataclass(frozen=True)
class BadQuote:
    """The first quote that breaks the rules of quoting.

    Attributes
    ----------
    fault : str
        ``inside`` (a quote within a field without quotes), ``after`` (text after a closing quote) or ``open`` (a
        quoted field that does not end).
    place : int
        How many bytes of UTF-8 are before it.
    previous : int
        How many are before the quote before it; `place` if that is of another field.
    """

    fault: str
    place: int
    previous: int

    def sentence(self, text: TextIO, n_above: int) -> str:
        """Say what is wrong and in which line; `text` is read again, from below the `n_above` lines skipped."""
        line, earlier = (n_above + n for n in _lines_of(text, self.place, self.previous))
        if self.fault == "open":
            return (
                f"has a quoted field that does not end; its last quote is in line {line}: "
                "the file is cut short, or a quote inside a field is not doubled."
            )
        if self.fault == "after":
            where = f"in line {line}" + (f", the quote before it is in line {earlier}" if earlier != line else "")
            return (
                f"has text after a closing quote {where}: all between the quotes would be one field. Remove the quote "
                'if it stands there by mistake; one that belongs to a quoted field is written twice: "".'
            )
        return (
            f"has a quote inside a field without quotes in line {line}, and quotes that do not enclose a field of one "
            "line elsewhere: nothing shows which of them enclose fields. Remove those that stand there by mistake; if "
            'one belongs to a value, put the field in quotes and write it twice: "".'
        )


def every_line_is_a_row(text: TextIO, separator: str) -> bool:
    """Whether quoted fields end in their line, each before a separator: then quotes inside other fields are text."""
    rows = csv.reader(text, delimiter=separator, strict=True)
    try:
        return all(rows.line_num == number for number, _ in enumerate(rows, start=1))
    except csv.Error:
        return False


def first_bad_quote(text: TextIO, separator: str) -> BadQuote | None:
    """The first quote that neither opens or closes a whole field nor is one of two inside a quoted field.

    In well-formed text the quotes take turns: every other one, from the first on, opens a field or is the second of
    two, and the others close a field or are the first of two. So it suffices to look at the neighbours of each.
    """
    import numpy as np

    may_be_beside = np.zeros(256, dtype=bool)
    may_be_beside[list(f'\r\n"{separator}'.encode())] = True
    place, n_quotes, last_quote, before = 0, 0, 0, ord("\n")
    for block, after in _blocks(text):
        at = np.flatnonzero(block == _QUOTE)
        if len(at):
            left = np.where(at > 0, block[at - 1], before)
            following = np.append(block, np.uint8(after))[at + 1]
            opens = (np.arange(len(at)) + n_quotes) % 2 == 0
            # An opening quote right after another one is the second of two: the one before was a closing one.
            good = np.where(opens, may_be_beside[left], may_be_beside[following])
            if not good.all():
                first = int(np.argmin(good))
                found = place + int(at[first])
                if opens[first]:
                    return BadQuote("inside", found, found)
                return BadQuote("after", found, place + int(at[first - 1]) if first else last_quote)
            n_quotes += len(at)
            last_quote = place + int(at[-1])
        place += len(block)
        before = int(block[-1])
    return BadQuote("open", last_quote, last_quote) if n_quotes % 2 else None


def _blocks(text: TextIO) -> Iterator[tuple[npt.NDArray[np.uint8], int]]:
    """The text as blocks of UTF-8, each with the byte that follows it; behind the last a line end."""
    import numpy as np

    block = text.read(_BLOCK).removeprefix("\ufeff")
    while block:
        following = text.read(_BLOCK)
        after = following[:1].encode()[:1]
        yield np.frombuffer(block.encode(), np.uint8), after[0] if after else ord("\n")
        block = following


def _lines_of(text: TextIO, *places: int) -> list[int]:
    """The number of the line, from 1, that holds each place."""
    content = b"".join(block.tobytes() for block, _ in _blocks(text))
    mark = b"\n" if b"\n" in content else b"\r"
    return [content.count(mark, 0, place) + 1 for place in places]
