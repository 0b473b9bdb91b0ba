"""Values that a reader of a file may take for one: they count as one where a promise is about different values."""

from __future__ import annotations

import re
import unicodedata
from typing import Any

from microagg.schema.taxonomy import category_text

__all__ = ["MISSING_WORDS", "key_as_read", "plain_text"]

MISSING_WORDS = frozenset(
    ("", ".", "-", "?", "na", "n/a", "nan", "-nan", "null", "nil", "none", "<na>", "#n/a", "#na", "#n/a n/a", "missing")
)
"""What programs read as a missing value, in small letters."""


_WITHOUT_SHAPE = re.compile(
    "[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u2065\u2800\u3164\ufe00-\ufe0f\uffa0\ufff0-\ufff8"
    "\U000e0000-\U000e0fff]"
)
"""What Unicode says to show nothing of, beside controls and marks of format; and the empty pattern of Braille."""


def plain_text(text: str) -> str:
    """A text as it is read: small letters, one form of Unicode, and nothing that nobody sees.

    That is blanks around it, and anywhere marks of byte order and direction, joiners, fillers, selectors of variants,
    and controls.

    Examples
    --------
    >>> plain_text("\\ufeffFlu\\u200d ")
    'flu'
    """
    plain = unicodedata.normalize("NFKC", text if text.isascii() else _WITHOUT_SHAPE.sub("", text))
    if not plain.isprintable():
        plain = "".join(one for one in plain if one.isspace() or unicodedata.category(one) not in ("Cc", "Cf"))
    return plain.strip().casefold()


def key_as_read(label: Any) -> str | float | None:
    """What tells a category from others for the least exact reader; None if it may be read as missing.

    Numbers are told by their value (01, 1.0 and 1e0 are one), words without blanks around them, in small letters (TRUE
    and true are one), and in one form of Unicode.

    Examples
    --------
    >>> [key_as_read(label) for label in ("01", "1.0", " Flu", "NA", True)]
    [1.0, 1.0, 'flu', None, 'true']
    """
    text = plain_text(category_text(label))
    if text in MISSING_WORDS:
        return None
    try:
        number = float(text)
    except ValueError:
        return text
    return number if number == number else None
