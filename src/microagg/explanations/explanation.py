"""An explanation: what a name means, in plain words."""

from __future__ import annotations

import textwrap
from dataclasses import dataclass, fields, replace
from enum import StrEnum
from typing import Any

__all__ = ["Explained", "Explanation"]

_WIDTH = 100


class Explained(StrEnum):
    """What can be explained."""

    MEASURE = "measure"
    METHOD = "method"
    GUARANTEE = "guarantee"
    KEY = "recipe key"


@dataclass(frozen=True)
class Explanation:
    """What a name means, for whoever decides about a release.

    Attributes
    ----------
    name : str
    kind : Explained
        What it is the name of.
    summary : str
        The same in one line, for lists.
    words : str
        Two or three sentences.
    formula : str
        In plain text; empty of keys.
    range : str
        Which values there are.
    better : str
        In which direction it is better; empty where there is none.
    default : str
        Of a key, what holds where it is left out.
    needs : tuple of str
        What must be there.
    promises : str
        Of a method, the guarantee.
    misleads : str
        When a reader would draw a wrong conclusion.
    reference : str
        The paper.
    more : str
        Where to read on.
    also : tuple of Explanation
        What else has this name: a measure may be called like a key of the recipe.
    see_also : tuple of str
        Names that end with this one.

    Examples
    --------
    >>> one = Explanation("k", Explained.MEASURE, "the rarest combination", words="It counts records.", better="higher")
    >>> print(one)
    k (measure)
      It counts records.
      better: higher
    >>> one.as_dict()["better"]
    'higher'
    """

    name: str
    kind: Explained
    summary: str
    words: str
    formula: str = ""
    range: str = ""
    better: str = ""
    default: str = ""
    needs: tuple[str, ...] = ()
    promises: str = ""
    misleads: str = ""
    reference: str = ""
    more: str = ""
    also: tuple[Explanation, ...] = ()
    see_also: tuple[str, ...] = ()

    def __str__(self) -> str:
        return "\n\n".join(one._as_text() for one in (self, *self.also)) + self._other_names()

    def as_dict(self) -> dict[str, Any]:
        """The explanation as plain lists and dicts, for JSON."""
        plain = {one.name: getattr(self, one.name) for one in fields(self)}
        lists = {"needs": list(self.needs), "see_also": list(self.see_also)}
        return plain | lists | {"kind": str(self.kind), "also": [one.as_dict() for one in self.also]}

    def joined_by(self, others: tuple[Explanation, ...], see_also: tuple[str, ...]) -> Explanation:
        """This explanation with those of other things of the same name."""
        return replace(self, also=others, see_also=see_also)

    def _as_text(self) -> str:
        lines = [f"{self.name} ({self.kind})", *_wrapped(self.words)]
        parts = {
            "formula": self.formula,
            "range": self.range,
            "default": self.default,
            "better": self.better,
            "needs": "; ".join(self.needs),
            "promises": self.promises,
            "misleads": self.misleads,
            "reference": self.reference,
            "read more": self.more,
        }
        for label, text in parts.items():
            if text:
                lines += _wrapped(f"{label}: {text}")
        return "\n".join(lines)

    def _other_names(self) -> str:
        return "\n\n" + "\n".join(_wrapped(f"see also: {', '.join(self.see_also)}", "")) if self.see_also else ""


def _wrapped(text: str, indent: str = "  ") -> list[str]:
    further = indent + ("  " if ": " in text.partition(" ")[0] + " " else "")
    return textwrap.wrap(
        text, _WIDTH, initial_indent=indent, subsequent_indent=further, break_long_words=False, break_on_hyphens=False
    )
