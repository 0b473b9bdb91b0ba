"""How a file writes a table: what stands between fields, in numbers and dates, and for missing values."""

from __future__ import annotations

import codecs
import datetime as dt
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

__all__ = [
    "DEFAULT_MISSING",
    "NEGATIVES",
    "STANDARD",
    "THOUSANDS",
    "Decision",
    "Dialect",
    "check_date_format",
    "check_encoding",
    "encoding_name",
]

DEFAULT_MISSING = ("", "NA", "NaN")
THOUSANDS = (",", ".", " ", "'", "_", "\u00a0", "\u202f", "\u2009", "\u2019")
NEGATIVES = ("sign", "parentheses", "trailing")


@dataclass(frozen=True)
class Dialect:
    """How a file writes a table; what is left out is as in a plain UTF-8 CSV.

    Attributes
    ----------
    separator : str, optional
        One character between fields; default: that of the extension. A separator that was chosen is not doubted.
    decimal : {".", ","}
    thousands : str, optional
        What stands between groups of three digits.
    negatives : {"sign", "parentheses", "trailing"}
        How numbers below zero are written beside -5: as (5), or as 5-.
    units : tuple of str
        Marks beside numbers, such as ``%`` or ``EUR``. A column's numbers all have the same one, or it stays text.
    encoding : str, optional
        Default: UTF-8.
    sheet : str or int, optional
        Name or number, from 1, of a sheet of a workbook.
    skip_rows : int
        Lines of text, or rows of a sheet, above the header.
    header : bool, optional
        False: the file starts with a record, and `columns` names the columns.
    columns : tuple of str, optional
    date_format : str, optional
        How dates are written, as in ``%d/%m/%Y``, in every column that can be read so.
    date_formats : mapping of str to str
        The same for single columns.
    missing_values : tuple of str
        Fields without quotes of a text file that stand for missing.
    missing : mapping of str to tuple
        Values that stand for missing in single columns.
    """

    separator: str | None = None
    decimal: str = "."
    thousands: str | None = None
    negatives: str = "sign"
    units: tuple[str, ...] = ()
    encoding: str | None = None
    sheet: str | int | None = None
    skip_rows: int = 0
    header: bool | None = None
    columns: tuple[str, ...] | None = None
    date_format: str | None = None
    date_formats: Mapping[str, str] = field(default_factory=dict)
    missing_values: tuple[str, ...] = DEFAULT_MISSING
    missing: Mapping[str, tuple[Any, ...]] = field(default_factory=dict)

    @property
    def has_header(self) -> bool:
        return self.header is not False

    @property
    def reads_numbers_its_own_way(self) -> bool:
        """True if text that is not a plain number may stand for one."""
        return self.decimal != "." or self.thousands is not None or bool(self.units) or self.negatives != NEGATIVES[0]

    @property
    def reads_dates(self) -> bool:
        return self.date_format is not None or bool(self.date_formats)


STANDARD = Dialect()


@dataclass(frozen=True)
class Decision:
    """A key of ``[input]`` that was decided by looking at the file, or asked for.

    Attributes
    ----------
    key : str
    value : object
    reason : str
        Why; without values of records.
    asks : bool
        True if only a person can tell.
    """

    key: str
    value: Any
    reason: str
    asks: bool = False


def encoding_name(encoding: str | None) -> str:
    """The codec's own name, so that two spellings compare equal; UTF-8 with and without a mark are one.

    Examples
    --------
    >>> encoding_name("Latin-1"), encoding_name("UTF-8-SIG"), encoding_name(None)
    ('iso8859-1', 'utf-8', 'utf-8')
    """
    name = codecs.lookup(encoding or "utf-8").name
    return "utf-8" if name == "utf-8-sig" else name


def check_encoding(encoding: str) -> None:
    """Refuse a word that does not name a codec for text."""
    try:
        info = codecs.lookup(encoding)
        known = getattr(info, "_is_text_encoding", True) and info.incrementaldecoder is not None
        known = known and isinstance("".encode(encoding), bytes)
    except (LookupError, ValueError, UnicodeError):
        known = False
    if not known or codecs.lookup(encoding).name in ("undefined", "idna", "punycode", "unicode_escape"):
        raise ValueError(
            f'{encoding!r} is not an encoding of text files. Usual ones are "utf-8", "latin-1", "cp1252" and "utf-16"'
        )


def check_date_format(pattern: str) -> None:
    """Refuse a pattern that gives no whole date."""
    directives = set(re.findall(r"%(.)", pattern.replace("%%", "")))
    whole = directives & {"c", "x"} or (
        directives & set("Yy") and ("j" in directives or ("d" in directives and directives & set("mbB")))
    )
    what = f'{pattern!r} is not a format of dates with day, month and year, like "%d/%m/%Y" or "%Y-%m-%d %H:%M"'
    if not whole or directives & {"c", "x", "X", "Z"}:
        raise ValueError(what)
    try:
        example = dt.datetime(2001, 12, 28, 13, 14, 15, tzinfo=dt.UTC)
        dt.datetime.strptime(example.strftime(pattern), pattern)
    except (ValueError, re.error):  # a directive that stands twice makes no regular expression
        raise ValueError(what) from None
