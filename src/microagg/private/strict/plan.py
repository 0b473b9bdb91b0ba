"""How a budget is divided, from public numbers alone: records, epsilon, and how many attributes of which kind."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any

__all__ = ["PARTS", "Plan", "make_plan"]

PARTS = ("marginals", "pairs", "choices", "tables")

_RICH = 3000.0  # records x epsilon / attributes, from which tables beat the copula of numbers
_NUMBERS_FEW = (0.8, 0.2, 0.0, 0.0)
_NUMBERS_MANY = (0.75, 0.25, 0.0, 0.0)
_NUMBERS_RICH = (0.6, 0.08, 0.08, 0.24)
_MIXED = (0.5, 0.07, 0.09, 0.34)
_NUMBERS_COUNT = 2.5  # times what categories do, in the share of the marginals: a tree needs more than a short list
_FEW = 8


@dataclass(frozen=True)
class Plan:
    """Shares of the budget, and how many tables it is spent on.

    Attributes
    ----------
    marginals, pairs, choices, tables : float
        Shares of epsilon; they sum to 1.
    n_tree : int
        Tables that join the nominal attributes to the others.
    n_more : int
        Further tables, where the model is furthest off.
    all_pairs : bool
        Whether every pair of attributes gets a table, so that nothing is chosen.
    ordered_weight : float
        How much more of the marginals' share an ordered attribute gets than a nominal one.
    """

    marginals: float
    pairs: float
    choices: float
    tables: float
    n_tree: int
    n_more: int
    all_pairs: bool
    ordered_weight: float = _NUMBERS_COUNT

    @property
    def n_tables(self) -> int:
        return self.n_tree + self.n_more

    @property
    def n_choices(self) -> int:
        return self.n_tree + (0 if self.all_pairs else self.n_more)

    def weights_of(self, ordered: Mapping[str, bool]) -> dict[str, float]:
        """How the marginals' share is divided: for each attribute its part, given whether it is ordered."""
        parts = {name: self.ordered_weight if is_ordered else 1.0 for name, is_ordered in ordered.items()}
        whole = sum(parts.values())
        return {name: part / whole for name, part in parts.items()}

    def as_dict(self) -> dict[str, Any]:
        return asdict(self)


def make_plan(
    n_records: int,
    epsilon: float,
    n_ordered: int,
    n_nominal: int,
    *,
    shares: Mapping[str, float] | None = None,
    n_more: int | None = None,
    with_tables: bool = True,
) -> Plan:
    """Divide a budget.

    Parameters
    ----------
    n_records, epsilon, n_ordered, n_nominal
        Public numbers.
    shares : dict, optional
        Shares of the four parts that a recipe sets; they sum to 1.
    n_more : int, optional
        Further tables that a recipe asks for.
    with_tables : bool, default True
        False leaves tables out altogether.
    """
    n_attributes = n_ordered + n_nominal
    n_pairs = n_attributes * (n_attributes - 1) // 2
    n_tree = max(n_nominal if n_ordered else n_nominal - 1, 0) if with_tables else 0
    rich = n_records * epsilon / n_attributes >= _RICH
    if n_more is None:
        n_more = n_attributes * 5 // 8 if n_tree else n_attributes if rich else 0
    n_more = min(n_more, n_pairs - n_tree) if with_tables else 0
    if n_tree:
        parts = _MIXED
    elif n_more:
        parts = _NUMBERS_RICH
    else:
        parts = _NUMBERS_FEW if n_attributes <= _FEW else _NUMBERS_MANY
    marginals, pairs, choices, tables = parts if shares is None else (shares[part] for part in PARTS)
    all_pairs = n_tree == 0 and n_more == n_pairs
    plan = Plan(marginals, pairs, choices, tables, n_tree, n_more, all_pairs)
    return _without_idle_parts(plan, n_ordered, n_records * epsilon)


def _without_idle_parts(plan: Plan, n_ordered: int, records_times_epsilon: float) -> Plan:
    """Give what has nothing to be spent on to what has."""
    n_same_sides = n_ordered * (n_ordered - 1) // 2
    # Noise of the size of the table says nothing: its share is better spent elsewhere.
    hopeless = plan.pairs * records_times_epsilon < n_same_sides
    if n_same_sides == 0 or hopeless:
        plan = _without(plan, "pairs")
    if plan.n_choices == 0:
        plan = _without(plan, "choices")
    if plan.n_tables == 0:
        plan = _without(plan, "tables")
    return plan


def _without(plan: Plan, part: str) -> Plan:
    """The share of a part goes to the tables, or where there are none to the marginals."""
    heir = "tables" if plan.n_tables else "marginals"
    return replace(plan, **{heir: getattr(plan, heir) + getattr(plan, part), part: 0.0})
