"""What releases of the same table spent so far: the only thing of a ledger that a statement may carry."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

__all__ = ["SpentSoFar"]


@dataclass(frozen=True)
class SpentSoFar:
    """The sum of a table's ledger when a release was made, that release included.

    Attributes
    ----------
    epsilon : float
        The sum over releases that are epsilon-differentially private for the original records.
    releases : int
        How many those are.
    others : int
        How many releases of the table are no part of that promise.
    """

    epsilon: float
    releases: int
    others: int

    def as_dict(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def from_dict(cls, content: Mapping[str, Any]) -> SpentSoFar:
        """What :meth:`as_dict` wrote.

        Raises
        ------
        KeyError, TypeError, ValueError
            If it is something else.
        """
        counts = (content["releases"], content["others"])
        if not all(type(count) is int and count >= 0 for count in counts):
            raise ValueError("counts of releases")
        epsilon = content["epsilon"]
        if type(epsilon) is not float or not (math.isfinite(epsilon) and epsilon >= 0):
            raise ValueError("epsilon")
        return cls(epsilon, *counts)

    @property
    def sentences(self) -> tuple[str, ...]:
        """What it says, and what not."""
        exact = repr(self.epsilon).removesuffix(".0")
        if self.releases > 1:
            together = (
                f"{self.releases} releases that protect the original records were recorded, with a sum of epsilon = "
                f"{exact}: together they are differentially private for the original records with that epsilon."
            )
        elif self.releases == 1:
            together = f"One release that protects the original records was recorded, with epsilon = {exact}."
        else:
            together = "No release that protects the original records was recorded."
        others = (
            f"{'One release' if self.others == 1 else f'{self.others} releases'} "
            f"{'is' if self.others == 1 else 'are'} no part of that: whoever sees "
            f"{'it' if self.others == 1 else 'one of them'}, too, has no promise about the original records from it."
            if self.others
            else ""
        )
        known = "The data holder's ledger had these, this one included, when it was made; later ones add to them."
        return tuple(sentence for sentence in (together, others, known) if sentence)
