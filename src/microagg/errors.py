"""What can go wrong, in the user's words.

::

    MicroaggError
    |-- InputError            the table, the recipe or a parameter cannot be used as it is (CLI exit code 2)
    |   |-- RecipeError       ... because of a key of the recipe
    |   |-- TableError        ... because of a column or a file
    |   `-- ParameterError    ... because of an argument of a function or an estimator
    `-- GuaranteeError        a promised guarantee does not hold; nothing was written (CLI exit code 1)

Messages name columns, keys and counts, never a record's values.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable

__all__ = [
    "GuaranteeError",
    "InputError",
    "MicroaggError",
    "ParameterError",
    "RecipeError",
    "TableError",
    "did_you_mean",
    "shown",
]


class MicroaggError(Exception):
    """Root of every error that microagg raises on purpose."""


class InputError(MicroaggError, ValueError):
    """The input cannot be used as it is; nothing was computed or written."""


class RecipeError(InputError):
    """A key of the recipe is missing, unknown or has a value that is not allowed."""


class TableError(InputError):
    """A column or a file cannot be used as it is."""


class ParameterError(InputError):
    """An argument is outside its allowed range."""


class GuaranteeError(MicroaggError):
    """A guarantee was counted, on cells or on the table as it would be written, and does not hold."""


def shown(value: object, limit: int = 60) -> str:
    """What came instead of what is allowed, in few words; a number of thousands of digits cannot even be printed.

    Examples
    --------
    >>> shown("1"), shown(10**6000), len(shown(10**400))
    ("'1'", 'a number of thousands of digits', 64)
    """
    try:
        text = repr(value)
    except ValueError:
        return "a number of thousands of digits"
    except RecursionError:
        return "something that nests without end"
    return text if len(text) <= limit else f"{text[:limit]} ..."


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """Return ``" Did you mean 'x'?"`` with the nearest known word, or an empty string if none is near.

    Examples
    --------
    >>> did_you_mean("stadardize", ["standardize", "weights"])
    " Did you mean 'standardize'?"
    """
    close = difflib.get_close_matches(word, list(known), n=1, cutoff=0.6)
    return f" Did you mean {close[0]!r}?" if close else ""
