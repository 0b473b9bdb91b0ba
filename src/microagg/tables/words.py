"""Words about one thing for people who decide: what it is, when it misleads, and where it comes from."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["NO_WORDS", "OUR_OWN", "Words"]

OUR_OWN = "microagg's own definition"
"""The reference of what no paper defines."""


@dataclass(frozen=True)
class Words:
    """What is said of a measure, a method or a guarantee wherever it is explained. It stands beside what it is about.

    Attributes
    ----------
    plain : str
        Two or three sentences that a data steward understands.
    misleads : str
        When a reader would draw a wrong conclusion.
    reference : str
        The paper.
    formula : str
        In plain text, where what is explained has no formula of its own already.
    more : str
        The page to read on, as a path of the repository.
    short : str
        Of a measure, what it is in a few words: a picture's axis, a list.
    """

    plain: str
    misleads: str
    reference: str = ""
    formula: str = ""
    more: str = ""
    short: str = ""


NO_WORDS = Words("", "")
