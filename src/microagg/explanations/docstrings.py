"""What docstrings say of parameters: the text of a recipe's key stands in that of its table, and only there."""

from __future__ import annotations

import inspect
import re
from dataclasses import dataclass

__all__ = ["Described", "first_sentence", "parameters_of", "plain_text", "summary_of"]

_CARE = "Take care: "
_SECTIONS = ("Parameters", "Other Parameters")


@dataclass(frozen=True)
class Described:
    """One parameter.

    Attributes
    ----------
    values : str
        What it may be.
    default : str
    words : str
    care : str
        What follows *Take care:* in the docstring.
    """

    values: str
    default: str
    words: str
    care: str


def parameters_of(described: type) -> dict[str, Described]:
    """The parameters that the docstrings of a class and of those it is made from describe (NumPy style)."""
    found: dict[str, Described] = {}
    for one in reversed(described.__mro__):
        found |= _parameters_in(inspect.cleandoc(one.__doc__ or ""))
    return found


def summary_of(described: type) -> str:
    """The sentences of a docstring before its sections, without the table that they begin with."""
    before = re.split(r"\n[A-Z][\w ]*\n-{3,}\n", "\n" + inspect.cleandoc(described.__doc__ or ""))[0]
    text = plain_text(before)
    text = re.sub(r"^\[[\w.<>]+\]: ", "", text)
    return _capital(text)


def first_sentence(text: str) -> str:
    """For lists: up to the first full stop that ends a sentence."""
    return re.split(r"(?<=[.?!]) (?=[A-Z\"'])", text, maxsplit=1)[0]


def plain_text(text: str) -> str:
    """Text of a docstring without markup, on one line.

    Examples
    --------
    >>> plain_text("See ``[missing]`` and\\n:class:`~microagg.Recipe`.")
    'See [missing] and Recipe.'
    """
    text = re.sub(r":\w+:`~?(?:[\w.]*\.)?(\w+)`", r"\1", text)
    text = re.sub(r"\*(\w[^*]*\w)\*", r"\1", text.replace("**", ""))
    return " ".join(text.replace("``", "").replace("`", "").split())


def _parameters_in(text: str) -> dict[str, Described]:
    found: dict[str, Described] = {}
    parts = re.split(r"(?:^|\n)([A-Z][\w ]*)\n-{3,}\n", text)
    for title, body in zip(parts[1::2], parts[2::2], strict=True):
        if title not in _SECTIONS:
            continue
        for entry in re.split(r"\n(?=\S)", body.strip("\n")):
            head, _, said = entry.partition("\n")
            names, _, values = head.partition(" : ")
            words, _, care = plain_text(said).partition(_CARE)
            for name in names.split(", "):
                found[name] = Described(*_values_and_default(values), words.strip(), _capital(care.strip()))
    return found


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]


def _values_and_default(written: str) -> tuple[str, str]:
    """What may be given and what holds otherwise, in words.

    Examples
    --------
    >>> _values_and_default('{"a", "b"}, default "a"')
    ('one of "a", "b"', '"a"')
    >>> _values_and_default("int >= 2, optional")
    ('a whole number of at least 2', 'none')
    """
    values, _, default = plain_text(written).partition(", default ")
    if values.endswith(", optional"):
        values, default = values.removesuffix(", optional"), "none"
    for pattern, words in (
        (r"^\{(.*?)\}", r"one of \1"),
        (r"^\[float > 0, int >= 2\]$", "two numbers, like [2.0, 3]"),
        (r"\bint >= (\d+)", r"a whole number of at least \1"),
        (r"\bint\b", "a whole number"),
        (r"\bfloat >= (\d+)", r"a number of at least \1"),
        (r"\bfloat > (\d+)", r"a number above \1"),
        (r"\bfloat in [\[(](\d+), (\d+)[\])]", r"a number between \1 and \2"),
        (r"\blist of a whole number", "a list of whole numbers"),
        (r"\blist of float", "a list of numbers"),
        (r"\bfloat\b", "a number"),
        (r"\blist of str", "a list of names"),
        (r"\bstr\b", "a text"),
        (r"\bbool\b", "true or false"),
        (r"\bdict of", "a table of"),
    ):
        values = re.sub(pattern, words, values)
    return values, default
