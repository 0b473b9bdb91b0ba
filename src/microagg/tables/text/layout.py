"""Guess from the beginning of a text file: encoding, separator, rows above the header, whether there is one."""

from __future__ import annotations

import csv
import io
import json
import re
from collections import Counter
from dataclasses import dataclass
from typing import BinaryIO

from microagg.tables.text.dialect import Dialect

__all__ = [
    "SAMPLE",
    "Layout",
    "advice",
    "fields_like_values",
    "guess_encoding",
    "joining_separator",
    "separator_name",
    "sniff_layout",
]

SAMPLE = 1 << 18
SEPARATORS = (",", ";", "\t", "|", "^", "~", "\x1f", "\x01")
_NAMES = {" ": "blanks", ",": "a comma", ";": "';'", "\t": "a tab", "|": "'|'", "^": "'^'", "~": "'~'"}
_IN_NAMES = "-_.'()%"
_RARE_IN_TEXT = (";", "\t", "|", "\x1f", "\x01")
_MOST_ROWS = 2000
_BOMS = (
    (b"\xef\xbb\xbf", "utf-8"),
    (b"\xff\xfe\0\0", "utf-32"),
    (b"\0\0\xfe\xff", "utf-32"),
    (b"\xff\xfe", "utf-16"),
    (b"\xfe\xff", "utf-16"),
)
_BLOCK = 1 << 22
_NUMBERLIKE = re.compile(r"^[^\w\s]{0,3}\s*[+-]?\s*[\d][\d.,:/'\s\u00a0\u202f-]*\s*[^\w\s]{0,2}$")


def separator_name(separator: str) -> str:
    """Name a separator in a sentence."""
    return _NAMES.get(separator, repr(separator))


# Encoding


def guess_encoding(stream: BinaryIO) -> str | None:
    """Guess the encoding from a file's bytes: by its mark, by zeros, by being UTF-8; else a Western one-byte code.

    Bytes do not tell one one-byte code from another: whoever knows the file must look whether names with accents
    come out right. None if the bytes fit none of these.
    """
    import codecs

    start = stream.read(_BLOCK)
    for mark, name in _BOMS:
        if start.startswith(mark):
            return name
    head = start[:4096]
    if b"\0" in head:
        even, odd = head[::2].count(0), head[1::2].count(0)
        return "utf-16-le" if odd > even else "utf-16-be" if even > odd else None
    decoder = codecs.getincrementaldecoder("utf-8")()
    used: set[int] = set()
    is_utf8 = True
    block = start
    while block:
        used |= {byte for byte in set(block) if 0x80 <= byte <= 0x9F}
        if is_utf8:
            try:
                decoder.decode(block)
            except UnicodeDecodeError:
                is_utf8 = False
        block = stream.read(_BLOCK)
    if is_utf8:
        try:
            decoder.decode(b"", final=True)
            return "utf-8"
        except UnicodeDecodeError:
            pass
    undefined = {0x81, 0x8D, 0x8F, 0x90, 0x9D}
    return "cp1252" if used and not used & undefined else "latin-1"


# Layout


@dataclass(frozen=True)
class Layout:
    """How the beginning of a text is laid out.

    Attributes
    ----------
    separator : str or None
        None if nothing splits the lines evenly: it is one column.
    skip_rows : int
        Lines above the header.
    first : tuple of str
        The fields of the first row below them.
    width : int
    n_like_values : int
        How many of the first row's fields look like values of records, not like names.
    is_sure : bool
        False if the rows above the header may be a header that lacks names, and nothing speaks for the one below.
    rivals : tuple of str
        Other separators that split as many rows evenly: the sample does not decide which one it is.
    """

    separator: str | None
    skip_rows: int
    first: tuple[str, ...]
    width: int
    n_like_values: int
    is_sure: bool = True
    rivals: tuple[str, ...] = ()


def sniff_layout(sample: str, *, separator: str | None = None, skip_rows: int | None = None) -> Layout:
    """Guess the layout from a sample; what is given is not doubted."""
    lines_above = skip_rows or 0
    text = _without_lines(sample, lines_above)
    rivals: list[str] = []
    if separator is None:
        separator, rivals = _even_separators(text)
    rows = _rows(text, separator or ",")
    if not rows:
        return Layout(separator, lines_above, (), 0, 0)
    width = _usual_width([row for _, row in rows]) if separator is not None else 1
    at, is_sure = (0, True) if skip_rows is not None else _place_of_header([row for _, row in rows], width)
    line, first = rows[at]
    like_values = fields_like_values(first, [row for _, row in rows[at + 1 :]])
    above = lines_above + (line if at else 0)
    return Layout(separator, above, tuple(first), width, like_values, is_sure, tuple(rivals))


def _even_separators(text: str) -> tuple[str | None, list[str]]:
    """The separator that splits most rows evenly, and others that split as many."""
    scores = {one: score for one in SEPARATORS if (score := _evenness(text, one)) is not None}
    if not scores:
        return None, []
    best = max(share for share, _ in scores.values())
    even = sorted((one for one, (share, _) in scores.items() if share == best), key=lambda one: -scores[one][1])
    if "," in even and any(_commas_are_in_numbers(text, one) for one in even if one != ","):
        even.remove(",")
    return even[0], even[1:]


def _commas_are_in_numbers(text: str, separator: str) -> bool:
    """Whether all fields with a comma are numbers, as where commas stand before decimals."""
    found = [field for _, row in _rows(text, separator) for field in row if "," in field]
    return all(_NUMBERLIKE.match(field.strip()) for field in found)


def _place_of_header(rows: list[list[str]], width: int) -> tuple[int, bool]:
    """Which row is the header, and whether that is sure.

    A row that begins with # may be a comment with a separator in it, or a header whose first name does: it is the
    header if the row below looks like a record.
    """
    at = next((i for i, row in enumerate(rows) if _may_be_header(row, width)), 0)
    below = next((i for i, row in enumerate(rows) if i >= at and _may_be_header(row, width) and not _is_note(row)), at)
    if below > at and not fields_like_values(rows[below], rows[below + 1 :]):
        return below, _names_above_numbers(rows[below], rows[below + 1 :]) > 0
    sure = _names_above_numbers(rows[at], rows[at + 1 :]) > 0 or all(_is_title(row) for row in rows[:at])
    return at, sure


def _without_lines(sample: str, n_lines: int) -> str:
    text = io.StringIO(sample, newline="")
    for _ in range(n_lines):
        if not text.readline():
            break
    return text.read()


def _rows(text: str, separator: str) -> list[tuple[int, list[str]]]:
    """The rows that are not blank, each with the number of lines above it."""
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=separator)
    rows: list[tuple[int, list[str]]] = []
    above = 0
    try:
        for row in reader:
            if row:
                rows.append((above, row))
            above = reader.line_num
            if len(rows) >= _MOST_ROWS:
                break
    except csv.Error:  # a field longer than the library takes: what was seen so far must do
        pass
    return rows


def _usual_width(rows: list[list[str]]) -> int:
    return Counter(len(row) for row in rows).most_common(1)[0][0]


def _evenness(text: str, separator: str) -> tuple[float, int] | None:
    """The share of rows with the usual number of fields, and that number; None if the separator splits hardly any."""
    rows = [row for _, row in _rows(text, separator)]
    if not rows:
        return None
    width = _usual_width(rows)
    share = sum(len(row) == width for row in rows) / len(rows)
    return None if width < 2 or share < 0.6 else (share, width)


def _is_note(row: list[str]) -> bool:
    return row[0].strip().startswith("#")


def _is_title(row: list[str]) -> bool:
    """A comment, the line by which Excel tells the separator, or one field beside empty ones: never a header."""
    start = row[0].strip().lower()
    return start.startswith(("#", "sep=")) or (len(row) > 1 and sum(bool(field.strip()) for field in row) <= 1)


def _may_be_header(row: list[str], width: int) -> bool:
    """A title above a table has another number of fields, or all but one of them are empty."""
    return len(row) == width and (width == 1 or sum(bool(field.strip()) for field in row) > 1)


def fields_like_values(first: list[str], body: list[list[str]]) -> int:
    """How many fields of a first row look like values: numbers, dates, or words that stand in the rows below too.

    A word above numbers speaks for a header; then a few names that stand below as well do not count.
    """
    found = 0
    for position, field in enumerate(first):
        below = [row[position].strip() for row in body if position < len(row)]
        if _NUMBERLIKE.match(field.strip()):
            found += _are_numbers(below) or not below
        else:
            found += bool(field.strip()) and field.strip() in below
    return 0 if 3 * found <= len(first) and _names_above_numbers(first, body) else found


def _names_above_numbers(first: list[str], body: list[list[str]]) -> int:
    """How many fields are words above a column of numbers."""
    found = 0
    for position, field in enumerate(first):
        below = [row[position].strip() for row in body if position < len(row)]
        word = len(field.strip()) > 1 and not _NUMBERLIKE.match(field.strip())
        found += word and _are_numbers(below)
    return found


def _are_numbers(texts: list[str]) -> bool:
    return sum(bool(_NUMBERLIKE.match(text)) for text in texts) > len(texts) / 2


def joining_separator(
    sample: str, names: list[str], separator: str, skip_rows: int, *, has_header: bool = True
) -> str | None:
    """A separator that joins whole rows in one field, as far as one can see; None if there is none.

    Of one column a name without quotes suffices, or rows that are all split by it into as many fields. Among several
    columns, names may hold any sign: there the values below must hold it as well.
    """
    rows = [row for _, row in _rows(_without_lines(sample, skip_rows), separator)][has_header:]
    for other in SEPARATORS:
        if other == separator:
            continue
        for position, name in enumerate(names if has_header else ()):
            count = name.count(other)
            if not count:
                continue
            if len(names) == 1 and _width_of_first(sample, other, skip_rows) > 1:
                return other
            below = [row[position] for row in rows if position < len(row) and row[position].strip()]
            if below and sum(field.count(other) > 0 for field in below) > 0.5 * len(below):
                return other
        if len(names) == 1 and other in _RARE_IN_TEXT and len(rows) > 1:
            widths = {len(row) for _, row in _rows(_without_lines(sample, skip_rows), other)[has_header:]}
            if len(widths) == 1 and widths != {1}:
                return other
    return _rare_separator(names[0], [row[0] for row in rows]) if len(names) == 1 and has_header else None


def _rare_separator(name: str, values: list[str]) -> str | None:
    """A blank or another sign by which the only name and all values fall into as many parts, some of them numbers."""
    for sign in dict.fromkeys(char for char in name.strip() if not char.isalnum() and char not in _IN_NAMES):
        parts = [value.split() if sign == " " else value.split(sign) for value in values if value.strip()]
        wanted = len(name.split() if sign == " " else name.split(sign))
        if len(parts) < 2 or wanted < 2 or any(len(one) != wanted for one in parts):
            continue
        if any(all(_NUMBERLIKE.match(one[place].strip()) for one in parts) for place in range(wanted)):
            return sign
    return None


def _width_of_first(sample: str, separator: str, skip_rows: int) -> int:
    rows = _rows(_without_lines(sample, skip_rows), separator)
    return len(rows[0][1]) if rows else 0


# Words


def advice(sample: str, dialect: Dialect, separator: str | None) -> str:
    """The lines that a recipe should have by what the sample looks like; empty if it says nothing else."""
    found = sniff_layout(sample, separator=dialect.separator)
    lines = []
    if dialect.separator is None and found.separator is not None and found.separator != separator:
        others = "".join(f", or {json.dumps(one)}" for one in found.rivals if one != separator)
        lines.append(f"separator = {json.dumps(found.separator)}" + (f"   #{others[1:]}" if others else ""))
    if dialect.has_header and found.skip_rows != dialect.skip_rows:
        lines.append(f"skip_rows = {found.skip_rows}")
    return "".join([" Perhaps the recipe lacks:\n    [input]", *(f"\n    {line}" for line in lines)]) if lines else ""
