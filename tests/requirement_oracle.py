"""What classes of records must satisfy of a confidential attribute, written down plainly from the literature.

Distinct, entropy and recursive (c, l)-diversity: Machanavajjhala et al. (2007), definitions 4.1 to 4.3. t-closeness:
Li, Li and Venkatasubramanian (2007), with the earth mover's distance solved as the transport problem that defines it.
Counts are whole, shares are fractions, and bounds are the decimal numbers that a recipe shows. A missing value is None,
and is one value of its own. Nothing here is taken from the package.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from scipy.optimize import linprog
from scipy.sparse import coo_array

Value = Any  # a number, a text, or None where it is missing


@dataclass(frozen=True)
class Scale:
    """How far two values of an attribute are apart.

    Parameters
    ----------
    kind : {"numeric", "ordinal", "nominal"}
    order : sequence, optional
        The categories of an ordinal attribute, lowest first.
    parents : mapping, optional
        Parent of each node of a taxonomy but its root.
    """

    kind: str
    order: tuple[Value, ...] = ()
    parents: Mapping[str, str] | None = None

    def distance(self, one: Value, two: Value, table: Iterable[Value]) -> Fraction:
        """The ground distance of the earth mover; `table` has the values of all records."""
        if one == two:
            return Fraction(0)
        if one is None or two is None:
            return Fraction(1)
        if self.kind == "nominal":
            return Fraction(1) if self.parents is None else _hierarchical_distance(one, two, self.parents)
        present = {value for value in table if value is not None}
        ranked = sorted(present, key=self.order.index if self.kind == "ordinal" else None)
        return Fraction(abs(ranked.index(one) - ranked.index(two)), len(ranked) - 1)


def _hierarchical_distance(one: str, two: str, parents: Mapping[str, str]) -> Fraction:
    (root,) = set(parents.values()) - set(parents)
    above = _way_up(two, parents)
    lowest_common = next(node for node in _way_up(one, parents) if node in above)
    return Fraction(_height(lowest_common, parents), _height(root, parents))


def _way_up(node: str, parents: Mapping[str, str]) -> list[str]:
    way = [node]
    while way[-1] in parents:
        way.append(parents[way[-1]])
    return way


def _height(node: str, parents: Mapping[str, str]) -> int:
    return max((1 + _height(child, parents) for child, parent in parents.items() if parent == node), default=0)


# What one class has


def counts_of(values: Sequence[Value]) -> list[int]:
    """How often each value occurs, the most frequent first."""
    return sorted(Counter(values).values(), reverse=True)


def entropy_of(values: Sequence[Value]) -> float:
    """Of the distribution of the values, in natural logarithms."""
    return -math.fsum(count / len(values) * math.log(count / len(values)) for count in counts_of(values))


def recursive_ratio(values: Sequence[Value], rarest: int) -> Fraction | None:
    """r_1 / (r_l + ... + r_m); None if there are fewer than l values."""
    counts = counts_of(values)
    rest = sum(counts[rarest - 1 :])
    return Fraction(counts[0], rest) if rest else None


def range_of(values: Sequence[Value]) -> Fraction:
    """From the smallest number to the largest; 0 if there are fewer than two."""
    present = [Fraction(value) for value in values if value is not None]
    return max(present) - min(present) if present else Fraction(0)


def earth_movers_distance(values: Sequence[Value], table: Sequence[Value], scale: Scale) -> float:
    """The least work that turns the distribution of a class into that of the table, as a linear program."""
    have, want = Counter(values), Counter(table)
    ground = {(one, two): float(scale.distance(one, two, want)) for one in have for two in want}
    return _cheapest_plan(
        [count / len(values) for count in have.values()],
        [count / len(table) for count in want.values()],
        np.array([[ground[one, two] for two in want] for one in have]),
    )


def cost_of_the_stated_plan(values: Sequence[Value], table: Sequence[Value], scale: Scale) -> float:
    """What a plan costs that settles missing values first: never less than the earth mover's distance.

    The shares of missing values are made equal at distance 1; what is present in both moves along the order, in
    proportion. Where nothing is missing, this is the earth mover's distance.
    """
    have, want = ([value for value in some if value is not None] for some in (values, table))
    here, everywhere = len(have) / len(values), len(want) / len(table)
    along = earth_movers_distance(have, want, scale) if have and want else 0.0
    return abs(here - everywhere) + min(here, everywhere) * along


def _cheapest_plan(have: Sequence[float], want: Sequence[float], costs: np.ndarray) -> float:
    n, m = costs.shape
    flows = np.arange(n * m)
    leaves = coo_array((np.ones(n * m), (flows // m, flows)), shape=(n, n * m))
    arrives = coo_array((np.ones(n * m), (flows % m, flows)), shape=(m, n * m))
    # What the last place receives follows from the rest: stated twice, rounded shares could contradict each other.
    constraints = np.vstack([leaves.toarray(), arrives.toarray()[:-1]])
    solved = linprog(costs.ravel(), A_eq=constraints, b_eq=[*have, *want[:-1]], method="highs")
    assert solved.status == 0, solved.message
    return float(solved.fun)


# What is asked of every class


@dataclass(frozen=True)
class Asked:
    """One requirement as a recipe has it: ``[protect.<attribute>] <key> = <bound>``."""

    attribute: str
    key: str
    bound: Any
    scale: Scale = Scale("nominal")

    def found(self, values: Sequence[Value], table: Sequence[Value]) -> float:
        """What the requirement bounds, of one class; infinite where no bound could hold."""
        if self.key in ("distinct_l", "p_sensitive"):
            return len(set(values))
        if self.key == "entropy_l":
            return math.exp(entropy_of(values))
        if self.key == "recursive_c_l":
            ratio = recursive_ratio(values, self.bound[1])
            return math.inf if ratio is None else float(ratio)
        if self.key == "max_share":
            return float(Fraction(counts_of(values)[0], len(values)))
        if self.key == "min_range":
            return float(range_of(values))
        assert self.key == "t_closeness"
        return earth_movers_distance(values, table, self.scale)

    def holds(self, values: Sequence[Value], table: Sequence[Value], slack: float = 1e-9) -> bool:
        """Whether a class satisfies it. `slack` is for what is rounded; whole numbers need none."""
        if self.key in ("distinct_l", "p_sensitive"):
            return len(set(values)) >= self.bound
        if self.key == "entropy_l":
            return entropy_of(values) >= math.log(self.bound) - slack
        if self.key == "recursive_c_l":
            c, rarest = self.bound
            counts = counts_of(values)
            return counts[0] < decimal(c) * sum(counts[rarest - 1 :])
        if self.key == "max_share":
            return Fraction(counts_of(values)[0], len(values)) <= decimal(self.bound) + Fraction(slack)
        if self.key == "min_range":
            return range_of(values) >= decimal(self.bound) - Fraction(slack)
        assert self.key == "t_closeness"
        return earth_movers_distance(values, table, self.scale) <= self.bound + slack


def decimal(bound: float) -> Fraction:
    """The number that a recipe shows: 0.1 is a tenth."""
    return Fraction(repr(float(bound)))


# What a table has


def classes_of(columns: Mapping[str, Sequence[Value]], names: Sequence[str]) -> list[list[int]]:
    """The records of each class: those with equal values of the named columns, missing being equal to missing."""
    found: dict[tuple[Value, ...], list[int]] = {}
    n_records = len(next(iter(columns.values())))
    for record in range(n_records):
        found.setdefault(tuple(columns[name][record] for name in names), []).append(record)
    return list(found.values())


def classes_that_miss(
    asked: Asked, columns: Mapping[str, Sequence[Value]], classes: Sequence[Sequence[int]], slack: float = 1e-9
) -> list[Sequence[int]]:
    """The classes of a table that do not satisfy a requirement."""
    table = columns[asked.attribute]
    return [records for records in classes if not asked.holds([table[i] for i in records], table, slack)]
