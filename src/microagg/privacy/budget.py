"""A privacy budget: divided, spent and recorded, and never overspent."""

from __future__ import annotations

import math
import numbers
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from fractions import Fraction
from typing import Any

from microagg._validation import as_float
from microagg.errors import GuaranteeError, ParameterError, RecipeError, shown

__all__ = ["LARGEST_EPSILON", "Budget", "Expense", "check_epsilon", "check_weights", "float_above", "float_below"]

LARGEST_EPSILON = 1e6
_SUMS_TO_ONE = 1e-9


@dataclass(frozen=True)
class Expense:
    """What one mechanism spent.

    Attributes
    ----------
    mechanism : str
    on : str
        What was noised: an attribute, or attributes and a statistic.
    epsilon : float
    sensitivity, scale : float
        How far one replaced record can move what was noised, and the scale of the noise, in the unit of `on`.
    draws : int
        Independent draws of noise; 1 where noisy answers decide how many there are.
    attributes : tuple of str
        Those that the budget was for, so that it can be seen whether each was paid for.
    """

    mechanism: str
    on: str
    epsilon: float
    sensitivity: float
    scale: float
    draws: int
    attributes: tuple[str, ...] = ()

    def as_dict(self) -> dict[str, Any]:
        return asdict(self)

    def __str__(self) -> str:
        return (
            f"{self.mechanism} on {self.on}: epsilon {self.epsilon:.6g}, sensitivity {self.sensitivity:.6g}, scale "
            f"{self.scale:.6g}, {self.draws} draws"
        )


class Budget:
    """An epsilon that can be spent once.

    Amounts are kept as exact fractions: shares of a third add up to the whole and not to a little more. What a
    mechanism gets to see is a float that is never above its share.

    Parameters
    ----------
    epsilon : float
        Above 0 and at most 1e6.
    attributes : sequence of str
        What it is to be spent on; a share by the name of one of them is for that one alone.

    Notes
    -----
    *Sequential composition*: mechanisms on the same records cost the sum of their epsilons, so :meth:`divide` gives
    shares that add up to what is divided. Parallel composition, for disjoint groups of records, is not offered: no
    method uses it.

    References
    ----------
    .. [1] McSherry, F. (2009). Privacy integrated queries. SIGMOD, 19-30. doi:10.1145/1559845.1559850

    Examples
    --------
    >>> budget = Budget(1.0)
    >>> shares = budget.divide({"age": 0.75, "income": 0.25})
    >>> _ = shares["age"].spend("laplace", on="age")
    >>> [(one.on, one.epsilon) for one in budget.ledger], float(budget.spent)
    ([('age', 0.75)], 0.75)
    """

    def __init__(self, epsilon: float | Fraction, attributes: Iterable[str] = ()) -> None:
        self._total = epsilon if isinstance(epsilon, Fraction) else Fraction(check_epsilon(epsilon))
        self._attributes = tuple(attributes)
        self._own = Fraction(0)
        self._expenses: list[Expense | list[Budget]] = []
        self._shares: list[Budget] = []

    @property
    def epsilon(self) -> float:
        """The whole of it, as a float that is not above it."""
        return float_below(self._total)

    @property
    def spent(self) -> Fraction:
        """What was spent so far, here and by all shares: epsilons add up."""
        return self._own + sum((share.spent for share in self._shares), Fraction(0))

    @property
    def remaining(self) -> Fraction:
        """What is neither spent nor given to shares."""
        return self._total - self._own - sum((share._total for share in self._shares), Fraction(0))

    @property
    def ledger(self) -> tuple[Expense, ...]:
        """Every expense, in the order the shares were made."""
        found: list[Expense] = []
        for entry in self._expenses:
            if isinstance(entry, Expense):
                found.append(entry)
            else:
                found += [expense for part in entry for expense in part.ledger]
        return tuple(found)

    def spend(
        self,
        mechanism: str,
        *,
        on: str,
        epsilon: float | None = None,
        sensitivity: float = math.nan,
        scale: float = math.nan,
        draws: int = 1,
    ) -> float:
        """Spend `epsilon` (by default all that is left) and return it.

        Raises
        ------
        GuaranteeError
            If less is left. Nothing is recorded then.
        """
        amount = float_below(self.remaining) if epsilon is None else check_epsilon(epsilon)
        if amount <= 0 or Fraction(amount) > self.remaining:
            raise GuaranteeError(
                f"{mechanism} on {on} would spend epsilon = {amount:.6g}, but only {float(self.remaining):.6g} of "
                f"{float(self._total):.6g} is left. Nothing was written"
            )
        self._own += Fraction(amount)
        expense = Expense(mechanism, on, amount, float(sensitivity), float(scale), draws, self._attributes)
        self._expenses.append(expense)
        return amount

    def divide(
        self, among: Iterable[str] | Mapping[str, float], *, attributes: Mapping[str, Sequence[str]] | None = None
    ) -> dict[str, Budget]:
        """Divide what is left into shares by name: evenly, or by weights that sum to 1.

        `attributes` says which of the budget's attributes a share is for. Without it that is the one of its name, and
        for a share with another name all of them.
        """
        if isinstance(among, Mapping):
            check_weights(among)
            weights = {name: Fraction(weight) for name, weight in among.items()}
        else:
            weights = dict.fromkeys(among, Fraction(1))
        whole, left = sum(weights.values()), self.remaining
        if left <= 0:
            raise GuaranteeError(f"nothing is left of epsilon = {float(self._total):.6g} to divide")
        shares = {
            name: Budget(left * weight / whole, self._of_share(name) if attributes is None else attributes[name])
            for name, weight in weights.items()
        }
        if not shares:
            raise ParameterError("a budget is divided among at least one")
        self._shares += shares.values()
        self._expenses.append(list(shares.values()))
        return shares

    def split(self, among: Sequence[str] | Mapping[str, float]) -> dict[str, Budget]:
        """:meth:`divide` into steps, each of which is for all of the budget's attributes, whatever its name."""
        return self.divide(among, attributes=dict.fromkeys(among, self._attributes))

    def _of_share(self, name: str) -> tuple[str, ...]:
        return (name,) if name in self._attributes else self._attributes

    def as_dict(self) -> dict[str, Any]:
        """The budget and what was spent of it, for statements."""
        return {
            "epsilon": self.epsilon,
            "spent": float_above(self.spent),
            "expenses": [expense.as_dict() for expense in self.ledger],
        }


def check_epsilon(epsilon: Any) -> float:
    """An epsilon that can be promised: a finite number above 0, and at most 1e6.

    Examples
    --------
    >>> check_epsilon(0)
    Traceback (most recent call last):
        ...
    microagg.errors.ParameterError: epsilon must be a finite number above 0 and at most 1e+06. Got 0 instead.
    """
    is_number = isinstance(epsilon, numbers.Real) and not isinstance(epsilon, bool)
    if not is_number or not 0 < as_float(epsilon) <= LARGEST_EPSILON:
        raise ParameterError(
            f"epsilon must be a finite number above 0 and at most {LARGEST_EPSILON:g}. Got {shown(epsilon)} instead."
        )
    return float(epsilon)


def check_weights(weights: Mapping[str, float]) -> None:
    """Refuse weights of a budget that are not above 0 or do not sum to 1."""
    bad = [name for name, weight in weights.items() if not (math.isfinite(weight) and weight > 0)]
    if bad:
        raise RecipeError(f"budget weights must be above 0: look at {', '.join(repr(name) for name in bad)}")
    total = math.fsum(weights.values())
    if abs(total - 1.0) > _SUMS_TO_ONE:
        raise RecipeError(f"budget weights must sum to 1; these sum to {total:.9g}")


def float_below(exact: Fraction) -> float:
    """The largest float that is not above `exact`."""
    near = float(exact)
    return near if Fraction(near) <= exact else math.nextafter(near, -math.inf)


def float_above(exact: Fraction) -> float:
    """The smallest float that is not below `exact`; infinity beyond all floats."""
    try:
        near = float(exact)
    except OverflowError:
        return math.inf
    return near if Fraction(near) >= exact else math.nextafter(near, math.inf)
