"""Whether a private method paid for what it publishes: a promise of noise that was never drawn is no promise."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from microagg._typing import IntArray
from microagg.errors import GuaranteeError
from microagg.privacy.noise import Noise, NoisyCounts
from microagg.recipe.unit import epsilon_of_record

if TYPE_CHECKING:
    from microagg.recipe.recipe import Recipe

__all__ = ["CountedNoise", "fault_of_ledger", "require_spent"]


class CountedNoise:
    """A source of noise that remembers what was drawn from it: how many draws at which epsilon."""

    def __init__(self, noise: Noise) -> None:
        self._noise = noise
        self._drawn: list[tuple[float, int]] = []

    @property
    def drawn(self) -> tuple[tuple[float, int], ...]:
        return tuple(self._drawn)

    def laplace(self, counts: IntArray, *, scale: float, sensitivity: int, epsilon: float) -> IntArray:
        self._note(epsilon, len(counts), scale, sensitivity)
        return self._noise.laplace(counts, scale=scale, sensitivity=sensitivity, epsilon=epsilon)

    def laplace_source(self, *, scale: float, sensitivity: int, epsilon: float) -> NoisyCounts:
        self._note(epsilon, 1, scale, sensitivity)
        return self._noise.laplace_source(scale=scale, sensitivity=sensitivity, epsilon=epsilon)

    def max_norm(self, counts: IntArray, *, scale: float, sensitivity: int, epsilon: float) -> IntArray:
        self._note(epsilon, len(counts), scale, sensitivity)
        return self._noise.max_norm(counts, scale=scale, sensitivity=sensitivity, epsilon=epsilon)

    def histograms(
        self, counts: IntArray, *, lengths: tuple[int, ...], scale: float, sensitivity: int, epsilon: float
    ) -> IntArray:
        self._note(epsilon, 1, scale, sensitivity)
        return self._noise.histograms(counts, lengths=lengths, scale=scale, sensitivity=sensitivity, epsilon=epsilon)

    def noisy_max(self, scores: IntArray, *, scale: float, sensitivity: int, epsilon: float) -> IntArray:
        self._note(epsilon, len(scores), scale, sensitivity)
        return self._noise.noisy_max(scores, scale=scale, sensitivity=sensitivity, epsilon=epsilon)

    def _note(self, epsilon: float, draws: int, scale: float, sensitivity: int) -> None:
        if not (sensitivity >= 1 and scale > 0):
            raise GuaranteeError("noise was asked for something that no record changes: it would protect nothing")
        self._drawn.append((float(epsilon), draws))

    def uniforms(self, count: int) -> npt.NDArray[np.float64]:
        return self._noise.uniforms(count)


def fault_of_ledger(budget: Mapping[str, Any] | None, recipe: Recipe) -> str:
    """What is wrong with the spending that a statement tells; empty if nothing is.

    Every mechanism spent something, all together no more than what is stated as spent and no more than epsilon, and
    every protected attribute was spent on.

    Parameters
    ----------
    budget : dict or None
        As :meth:`microagg.privacy.budget.Budget.as_dict` tells it, perhaps read from a file.
    recipe : Recipe
        Of a private release.
    """
    assert recipe.privacy is not None
    if not isinstance(budget, Mapping) or not budget.get("expenses"):
        return "nothing was spent of its budget"
    try:
        spent, expenses = float(budget["spent"]), [float(one["epsilon"]) for one in budget["expenses"]]
        draws = [int(one["draws"]) for one in budget["expenses"]]
        paid_for = {str(name) for one in budget["expenses"] for name in one["attributes"]}
    except (KeyError, TypeError, ValueError):
        return "its ledger is damaged"
    if not all(map(math.isfinite, (spent, *expenses))) or min(expenses) <= 0 or min(draws) <= 0:
        return "its ledger has expenses of nothing"
    # Every method composes sequentially: what mechanisms spent adds up, exactly, to at most what is stated as spent.
    if not sum(map(Fraction, expenses)) <= spent <= epsilon_of_record(recipe) == budget.get("epsilon"):
        return "its ledger does not fit the budget"
    unpaid = [name for name in recipe.schema.quasi_identifiers if name not in paid_for]
    return f"nothing was spent on {', '.join(map(repr, unpaid))}" if unpaid else ""


def require_spent(
    recipe: Recipe, budget: Mapping[str, Any] | None, *, drawn: Sequence[tuple[float, int]] | None = None
) -> None:
    """Refuse a release that was not paid for, or whose ledger states other noise than was drawn.

    Raises
    ------
    GuaranteeError
    """
    fault = fault_of_ledger(budget, recipe)
    if not fault and drawn is not None and budget is not None:
        stated = sorted((float(one["epsilon"]), int(one["draws"])) for one in budget["expenses"])
        fault = "" if stated == sorted(drawn) else "its ledger states other noise than was drawn"
    if fault:
        raise GuaranteeError(f"{recipe.method} does not keep its promise: {fault}. Nothing was written")
