"""What stands in a column and would be read wrongly without a word: numbers and dates as text, codes for missing."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from microagg.schema.schema import toml_key
from microagg.schema.written_forms import Numbers, date_formats_of, dates_in, is_missing_word, numbers_in
from microagg.tables.text.dialect import Dialect
from microagg.tables.text.written import as_numbers, number_pattern

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["Notice", "asks_how_it_is_read", "how_to_read", "notice_of_numbers", "notice_of_text", "toml_list"]

_MOSTLY = 0.8
_PARTLY = 0.3
_MOST_TEXTS = 20_000
_MOST_DATES = 300
_CODE = re.compile(r"^0\d+$|^\d{16,}$")  # digits that a number would lose
_NINES = tuple(int("9" * n) for n in range(1, 10))
_SENTINELS = frozenset(
    (*_NINES, *(-nines for nines in _NINES), -1, -7, -8, -77, -88, -97, -98, -777, -888, 77, 88, 97, 98, 777, 888)
)


_OF_READING = ("missing", "is that right?", "cannot be told apart", "different units")


def asks_how_it_is_read(question: str) -> bool:
    """Whether a question is about how values are written: neither role nor kind of a column answers it.

    Examples
    --------
    >>> asks_how_it_is_read("does '-' (3 records) stand for missing, or is it a category?")
    True
    >>> asks_how_it_is_read("are its categories ordered (ordinal)?")
    False
    """
    return any(words in question for words in _OF_READING)


@dataclass(frozen=True)
class Notice:
    """What a column's values look like, and what only a person can say about it; without values of records.

    Attributes
    ----------
    question : str
        Empty if there is none.
    is_numbers : bool
        The values are numbers or dates, so that the column must not pass for categories.
    numbers : Numbers or None
        How its numbers are written, if their form is its own.
    date_formats : tuple of str
        The formats by which all values are dates.
    missing : tuple
        Words among numbers or dates that stand for missing as far as one can see.
    maybe_missing : tuple
        Values that may stand for missing, or mean what they say.
    """

    question: str = ""
    is_numbers: bool = False
    numbers: Numbers | None = None
    date_formats: tuple[str, ...] = ()
    missing: tuple[Any, ...] = ()
    maybe_missing: tuple[Any, ...] = ()


def notice_of_text(texts: Sequence[str], counts: Sequence[int]) -> Notice:
    """Look at the distinct values of a text column, with how often each occurs."""
    words = tuple(text for text in texts if is_missing_word(text))
    rest = [(text, count) for text, count in zip(texts, counts, strict=True) if not is_missing_word(text)]
    total = sum(count for _, count in rest)
    if not total:
        return Notice(maybe_missing=_codes(words), question=_about_words(words, counts, texts) if words else "")
    formats = tuple(date_formats_of(text for text, _ in rest))
    if formats:
        return _of_dates(formats, words, total)
    some = rest[:_MOST_DATES]
    dates = set(dates_in(text for text, _ in some))
    if sum(count for text, count in some if text in dates) >= _MOSTLY * sum(count for _, count in some):
        return _of_most_dates(dates, words)
    rest = rest[:_MOST_TEXTS]
    total = sum(count for _, count in rest)
    if any(_CODE.match(text.strip()) for text, _ in rest):
        return Notice(question=_about_words(words, counts, texts) if words else "", maybe_missing=_codes(words))
    numbers = numbers_in(text for text, _ in rest)
    known = set(numbers.texts)
    share = sum(count for text, count in rest if text in known) / total
    others = len(rest) - len(known)
    if not others and len(numbers.units) == 1 and not _readable(numbers):
        share = 0.0  # as in 192.168.0.1: digits and points, but not a number
    if share < _MOSTLY:
        question = _about_words(words, counts, texts) if words else ""
        if share >= _PARTLY:
            question = f"{share:.0%} of its values are numbers and the others are not: is it one attribute?"
        return Notice(question=question, maybe_missing=_codes(words))
    return _of_numbers(numbers, words, others, total)


def _readable(numbers: Numbers) -> bool:
    """True if there is a dialect by which all the texts are numbers."""
    import pyarrow as pa

    decimal = numbers.decimal or ("," if numbers.thousands == "." else ".")
    units = tuple(unit for unit in numbers.units if unit)
    dialect = Dialect(decimal=decimal, thousands=numbers.thousands, negatives=numbers.negatives, units=units)
    return as_numbers(pa.chunked_array([pa.array(numbers.texts, pa.string())]), dialect) is not None


def _codes(words: Sequence[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(word.strip() for word in words))


def _about_words(words: Sequence[str], counts: Sequence[int], texts: Sequence[str]) -> str:
    n = sum(count for text, count in zip(texts, counts, strict=True) if text in set(words))
    named = ", ".join(repr(word) for word in _codes(words))
    return f"does {named} ({n} records) stand for missing, or is it a category?"


def _of_dates(formats: tuple[str, ...], words: Sequence[str], total: int) -> Notice:
    if len(formats) > 1:
        named = " or ".join(formats[:3])
        question = f"its {total} values are dates, but day and month cannot be told apart: {named}?"
    else:
        question = f"its {total} values are dates written as {formats[0]}: is that right?"
    return Notice(question, True, None, formats, _codes(words))


def _of_most_dates(dates: set[str], words: Sequence[str]) -> Notice:
    """Dates of several formats, or with values among them that are not dates."""
    formats = date_formats_of(dates)
    question = (
        "most of its values are dates, but no one format fits all: name those that stand for missing, or mend them"
    )
    return Notice(question, True, None, tuple(formats) if len(formats) == 1 else (), _codes(words))


def _of_numbers(numbers: Numbers, words: Sequence[str], others: int, total: int) -> Notice:
    forms = []
    if "%" in "".join(numbers.units):
        forms.append("with a percent sign (20% is read as 20)")
    elif numbers.units != {""}:
        forms.append("with a unit or currency")
    if numbers.doubtful:
        mark = "commas" if numbers.thousands == "," else "points"
        forms.append(f"with {mark} that divide thousands, or stand before three decimals")
    elif numbers.thousands is not None:
        forms.append("with thousands set apart")
    if numbers.decimal == "," and not numbers.doubtful:
        forms.append("with decimal commas")
    if numbers.negatives != "sign":
        forms.append("with (5) for -5" if numbers.negatives == "parentheses" else "with 5- for -5")
    if words:
        named = ", ".join(map(repr, _codes(words)))
        forms.append(f"among which {named} stand{'s' if len(words) == 1 else ''} for missing")
    question = f"its values are numbers as text, {', '.join(forms)}: is that right?"
    if not forms:
        question = "its values are numbers stored as text: are they amounts (numeric) or codes (nominal)?"
    if others:
        question = (
            f"most of its values are numbers, but {others} different ones are not: name those that stand for missing, "
            "or declare it nominal"
        )
    if len(numbers.units) > 1:
        question = (
            f"its {total} values are numbers with different units, or some without: bring them to one scale first"
        )
    return Notice(question, True, numbers, (), _codes(words))


def notice_of_numbers(values: Any) -> Notice:
    """Look at the numbers of a column for values like -999 that stand apart from the rest."""
    distinct, counts = np.unique(np.asarray(values)[np.isfinite(values)], return_counts=True)
    if _are_dates(distinct):
        return Notice("its numbers look like dates written as %Y%m%d: is that right?", date_formats=("%Y%m%d",))
    suspects = np.flatnonzero(np.isin(distinct, list(_SENTINELS))).tolist()
    if not suspects:
        return Notice()
    rest = np.delete(distinct, suspects)
    if len(rest) < 2:
        return Notice()
    low, high = float(rest[0]), float(rest[-1])
    apart = [
        place
        for place in suspects
        if (distinct[place] < 0 <= low)
        or distinct[place] < low - (high - low)
        or distinct[place] > high + (high - low) / 2
    ]
    if not apart:
        return Notice()
    codes = tuple(int(distinct[place]) for place in apart)
    n = int(counts[apart].sum())
    named = ", ".join(str(code) for code in codes)
    return Notice(f"does {named} ({n} records), apart from all other values, stand for missing?", maybe_missing=codes)


def _are_dates(distinct: Any) -> bool:
    """True if several whole numbers are all dates like 20240229."""
    if len(distinct) < 3 or distinct[0] < 18000101 or distinct[-1] > 21991231 or (distinct % 1).any():
        return False
    return bool(date_formats_of([str(int(value)) for value in distinct[:3000]]))


def how_to_read(name: str, column: pa.ChunkedArray, dialect: Dialect) -> str:
    """Why a column of text is not read as numbers, and the lines that would help; without values of records."""
    import pyarrow.compute as pc

    found = pc.value_counts(column.drop_null()).to_pylist()
    texts, counts = [one["values"] for one in found], [one["counts"] for one in found]
    notice = notice_of_text(texts, counts)
    if notice.numbers is not None and len(notice.numbers.units) > 1:
        return "its numbers do not all have the same unit: bring them to one scale first"
    plain = re.compile(rf"\s*[+-]?{number_pattern(dialect)}\s*")
    n_other = sum(count for text, count in zip(texts, counts, strict=True) if not plain.fullmatch(text))
    if not n_other:
        return ""
    problem = f"{n_other} of {sum(counts)} values are not numbers"
    lines = []
    if len(notice.date_formats) >= 1:
        lines.append(f'date_format = "{notice.date_formats[0]}"' + _or(notice.date_formats[1:]))
    numbers = notice.numbers
    if numbers is not None:
        lines += _number_lines(numbers, dialect)
    if notice.missing:
        lines.append(f"missing = {{ {toml_key(name)} = {toml_list(notice.missing)} }}")
    if not lines:
        return f"{problem}. If some stand for missing, name them: [input] missing = {{ {toml_key(name)} = [...] }}"
    return "".join(
        [f"{problem} as they are written. Add to the recipe:\n    [input]", *(f"\n    {line}" for line in lines)]
    )


def _or(others: Sequence[str]) -> str:
    return f"   # or {', '.join(others)}: day and month cannot be told apart" if others else ""


def _number_lines(numbers: Numbers, dialect: Dialect) -> list[str]:
    lines = []
    if numbers.decimal == "," and dialect.decimal != ",":
        lines.append('decimal = ","')
    if numbers.thousands is not None and dialect.thousands != numbers.thousands != dialect.decimal:
        lines.append(f'thousands = "{numbers.thousands}"')
    if numbers.negatives not in ("sign", dialect.negatives):
        lines.append(f'negatives = "{numbers.negatives}"')
    units = sorted(unit for unit in numbers.units if unit and unit not in dialect.units)
    if units and len(numbers.units) == 1:
        lines.append(f"units = {toml_list(units)}")
    return lines


def toml_list(values: Sequence[Any]) -> str:
    """Values as a TOML list."""
    import json

    return "[" + ", ".join(json.dumps(value, ensure_ascii=False) for value in values) + "]"
