"""What can go wrong, in the user's words.

::

    MicroaggError
    |-- InputError            the table, the recipe or a parameter cannot be used as it is (CLI exit code 2)
    |   |-- RecipeError       ... because of a key of the recipe
    |   |-- TableError        ... because of a column or a file
    |   `-- ParameterError    ... because of an argument of a function or an estimator
    `-- GuaranteeError        a promised guarantee does not hold; nothing was written (CLI exit code 1)

    ReportWarning             a release was written, whole, but its report could not be made (CLI exit code 3)

Messages name columns, keys and counts, never a record's values.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from pathlib import Path

__all__ = [
    "GuaranteeError",
    "InputError",
    "MicroaggError",
    "ParameterError",
    "RecipeError",
    "ReportWarning",
    "SafeNote",
    "TableError",
    "did_you_mean",
    "place_of",
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


class ReportWarning(UserWarning):
    """A release was written without the report that was asked for: making it failed in an unforeseen way."""


class SafeNote(str):
    """A note on an error (``error.add_note``) that holds no value of a record, whatever the error's message does."""


def place_of(error: BaseException) -> str:
    """What went wrong where, without the message of the error, which might hold values of records."""
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    where = f" at {Path(trace.tb_frame.f_code.co_filename).name}:{trace.tb_lineno}" if trace else ""
    return f"unforeseen {type(error).__name__}{where}"


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
