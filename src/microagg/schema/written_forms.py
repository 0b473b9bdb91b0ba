"""Forms in which people write numbers, dates and missing values as text, found in the distinct values of a column."""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

__all__ = ["MISSING_WORDS", "Numbers", "date_formats_of", "dates_in", "is_missing_word", "numbers_in"]

MISSING_WORDS = frozenset(
    word
    for line in (
        "unknown|unk|unkn|null|none|nil|n/a|na|nan|n.a.|n.a|n / a|#n/a|#na|#null!|#value!|#div/0!|<na>|(null)|\\n|nd",
        "missing|-|--|---|\u2013|\u2014|.|..|...|?|??|refused|undefined|void|empty|blank|k.a.|keine angabe|unbekannt",
        "desconocido|desconocida|inconnu|inconnue|sconosciuto|onbekend|not available|not applicable|not known",
        "n.d.|no answer|no data|don't know|",
    )
    for word in line.split("|")
)

_CURRENCIES = r"EUR|USD|GBP|CHF|JPY|SEK|NOK|DKK|PLN|CZK|INR|CNY|AUD|CAD|[€$£¥₹₽₩₺]"
_TOKEN = re.compile(
    rf"^(?P<open>\(?)\s*(?P<sign>[+\-\u2212]?)\s*(?P<before>{_CURRENCIES})?\s*(?P<sign2>[+\-\u2212]?)\s*"
    r"(?P<body>\d[\d.,'\u2019_ \u00a0\u202f\u2009]*\d|\d[.,]?|[.,]\d+)(?P<power>[eE][+-]?\d+)?"
    r"\s*(?P<after>[%‰°]?[^\W\d_]{0,6}[²³/]?[^\W\d_]{0,4}|[€$£¥₹₽₩₺])?(?P<close>[)\-]?)$"
)
_BLANKS = "\u00a0\u202f\u2009 "
_GROUPED = re.compile(r"^[1-9]\d{0,2}(?:,\d{3})+$|^[1-9]\d?(?:,\d{2})+,\d{3}$")
_GROUPED_BY_POINTS = re.compile(r"^[1-9]\d{0,2}(?:\.\d{3})+$")

_DAYS = ("%d{0}%m{0}%Y", "%m{0}%d{0}%Y", "%Y{0}%m{0}%d", "%d{0}%m{0}%y", "%m{0}%d{0}%y", "%y{0}%m{0}%d")
_NAMED = ("%d{0}%b{0}%Y", "%d{0}%B{0}%Y", "%d{0}%b{0}%y", "%b{0}%d{0}%Y", "%B{0}%d{0}%Y", "%Y{0}%b{0}%d")
_MARKS = ("/", ".", "-", " ", "")
_COMMAS = ("%b %d, %Y", "%B %d, %Y")
_CLOCKS = ("", " %H:%M", " %H:%M:%S", "T%H:%M:%S", " %I:%M %p", " %I:%M:%S %p", " %H:%M:%S.%f")
_DATELIKE = re.compile(
    r"^(?=.{6,32}$)(?:\d{1,4}[/.\- ]\d{1,2}[/.\- ]\d{1,4}|\d{1,4}[/.\- ]?[^\W\d_]{3,9}[/.\- ]?\d{1,4}"
    r"|[^\W\d_]{3,9}[ .\-/]\d{1,2},? ?[ .\-/]?\d{4}|(?:19|20)\d{6})(?:[T ]\d{1,2}:\d\d.*)?$"
)


def is_missing_word(text: str) -> bool:
    """True for text that people write where a value is missing."""
    return text.strip().lower() in MISSING_WORDS


# Dates


def date_formats_of(texts: Iterable[str], *, most: int = 3000) -> list[str]:
    """Every usual format by which all the texts are dates; several if day and month cannot be told apart."""
    sample = [text.strip() for _, text in zip(range(most), texts, strict=False)]
    if not sample or not all(_DATELIKE.match(text) for text in sample):
        return []
    clocks = [clock for clock in _CLOCKS if bool(clock) is (":" in sample[0])]
    days = [form.format(mark) for mark in _MARKS if mark in sample[0] for form in (*_DAYS, *_NAMED)]
    found: list[str] = []
    for pattern in [day + clock for day in (*days, *_COMMAS) for clock in clocks]:
        if any("%y" in pattern and pattern.replace("%y", "%Y") == one for one in found):
            continue
        if _all_dates(sample, pattern):
            found.append(pattern)
    return found


def dates_in(texts: Iterable[str]) -> list[str]:
    """The texts that are dates by some usual format, each by its own."""
    return [text for text in texts if _DATELIKE.match(text.strip()) and date_formats_of([text])]


def _all_dates(texts: Sequence[str], pattern: str) -> bool:
    try:
        years = {dt.datetime.strptime(text, pattern).year for text in texts}
    except ValueError:
        return False
    return all(1800 <= year <= 2200 for year in years)


# Numbers


@dataclass(frozen=True)
class Numbers:
    """How the numbers among the texts of a column are written.

    Attributes
    ----------
    texts : tuple of str
        Those that are numbers.
    decimal : str or None
        None if no number shows it.
    thousands : str or None
    doubtful : bool
        True if every comma (or point) may divide thousands or stand before decimals, as in 20,000.
    negatives : str
    units : frozenset of str
        Marks beside numbers; the empty text stands for numbers without one.
    """

    texts: tuple[str, ...]
    decimal: str | None
    thousands: str | None
    doubtful: bool
    negatives: str
    units: frozenset[str]

    @property
    def is_plain(self) -> bool:
        """True if nothing but digits, signs and decimal points was found."""
        return self.decimal != "," and self.thousands is None and self.negatives == "sign" and self.units <= {""}


def numbers_in(texts: Iterable[str]) -> Numbers:
    """The texts that are numbers of some form, and the form."""
    tokens = [(text, token) for text in texts if (token := _TOKEN.match(text.strip())) is not None and _one_sign(token)]
    if len({_unit(token) for _, token in tokens}) > 1:  # a letter that only some have is not a unit: 12, 12a, 14
        tokens = [(text, token) for text, token in tokens if not (len(_unit(token)) == 1 and _unit(token).isalpha())]
    bodies = [token["body"] for _, token in tokens]
    blank = next((mark for mark in _BLANKS if any(mark in body for body in bodies)), None)
    apart = blank or next((mark for mark in "'\u2019_" if any(mark in body for body in bodies)), None)
    decimal, thousands, doubtful = _points([re.sub(rf"['\u2019_{_BLANKS}]", "", body) for body in bodies])
    closed = [token["close"] for _, token in tokens if token["close"]]
    units = frozenset(_unit(token) for _, token in tokens)
    return Numbers(
        tuple(text for text, _ in tokens),
        decimal,
        apart or thousands,
        doubtful,
        "parentheses" if ")" in closed else "trailing" if closed else "sign",
        units,
    )


def _unit(token: re.Match[str]) -> str:
    return (token["before"] or "") + (token["after"] or "")


def _one_sign(token: re.Match[str]) -> bool:
    """Brackets in pairs, one sign, one unit."""
    paired = bool(token["open"]) is (token["close"] == ")")
    signs = sum(bool(token[name]) for name in ("sign", "sign2", "close"))
    return paired and signs <= 1 and not (token["before"] and token["after"])


def _points(bodies: list[str]) -> tuple[str | None, str | None, bool]:
    """What points and commas mean: decimal, thousands, and whether it is in doubt."""
    commas = [body for body in bodies if "," in body]
    points = [body for body in bodies if "." in body]
    if any("," in body and body.rfind(".") < body.rfind(",") for body in points):
        return ",", ".", False
    if any("," in body for body in points):
        return ".", ",", False
    if any(body.count(".") > 1 for body in points):
        return ("," if commas else None), ".", False
    if any(body.count(",") > 1 for body in commas):
        return ("." if points else None), ",", False
    if commas and points:  # no number has both: one of them divides thousands
        if all(_GROUPED.match(body) for body in commas):
            return ".", ",", False
        return ",", ".", not all(_GROUPED_BY_POINTS.match(body) for body in points)
    if commas:
        return (None, ",", True) if all(_GROUPED.match(body) for body in commas) else (",", None, False)
    if points:
        return (None, ".", True) if all(_GROUPED_BY_POINTS.match(body) for body in points) else (".", None, False)
    return None, None, False
