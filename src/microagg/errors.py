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


def did_you_mean(word: str, known: Iterable[str], *, most: int = 1, any_case: bool = False) -> str:
    """Return ``" Did you mean 'x'?"`` with the nearest known words, or an empty string if none is near.

    Parameters
    ----------
    word : str
    known : iterable of str
    most : int, default 1
        How many words are named at most.
    any_case : bool, default False
        Whether large and small letters count as the same.

    Examples
    --------
    >>> did_you_mean("stadardize", ["standardize", "weights"])
    " Did you mean 'standardize'?"
    >>> did_you_mean("sse_st", ["SSE_SST", "SSE", "KS"], most=2, any_case=True)
    " Did you mean 'SSE_SST' or 'SSE'?"
    """
    spelled = {one.lower() if any_case else one: one for one in reversed(list(known))}
    close = difflib.get_close_matches(word.lower() if any_case else word, list(spelled)[::-1], n=most, cutoff=0.6)
    return f" Did you mean {' or '.join(repr(spelled[one]) for one in close)}?" if close else ""
