"""Of what, and given what, a promise of differential privacy holds: one wording wherever a report speaks of it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from microagg.privacy.guarantee import EPSILON_IDP, MICROAGGREGATED
from microagg.privacy.unit_clauses import WHOLE_UNIT

__all__ = ["conditions_of", "premise_of", "what_says"]


def what_says(promise: Mapping[str, Any]) -> str:
    """Whose values may change, as the promise counts them, and in which columns.

    Examples
    --------
    >>> what_says({"unit": "replace one record"})
    'one record says'
    >>> what_says({"unit": "replace the protected attributes of one record"})
    'one record says in the protected columns'
    """
    says = f"{WHOLE_UNIT} say" if WHOLE_UNIT in promise["unit"] else "one record says"
    return f"{says} in the protected columns" if "protected attributes" in promise["unit"] else says


def premise_of(promise: Mapping[str, Any]) -> str:
    """What may be otherwise while the release stays nearly as likely; never more than the promise says.

    Examples
    --------
    >>> premise_of({"unit": "replace one record", "target": "the original records"})
    'Whatever one record says'
    """
    if MICROAGGREGATED in promise["target"]:
        given = "Given which records were put together, which is not protected"
        return f"{given}, whatever {what_says(promise)} within its cell"
    return f"Whatever {what_says(promise)}"


def conditions_of(promise: Mapping[str, Any]) -> str:
    """Sentences that narrow the promise, each after a blank; empty for one that holds of every table."""
    said = ""
    if promise["model"] == EPSILON_IDP:
        said += " This holds for the table at hand and noise of one scale, not for every possible table."
    if "bounds" in promise["target"]:
        said += " It holds given bounds that were read from the data."
    return said
