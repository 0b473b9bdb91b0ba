"""Requirements as kernels take them, and which of them no partition can satisfy."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from microagg._typing import BoolArray, FloatArray, IntArray
from microagg.errors import InputError
from microagg.privacy.requirement import (
    DISTINCT_L,
    ENTROPY_L,
    MAX_SHARE,
    MIN_RANGE,
    P_SENSITIVE,
    RECURSIVE_C_L,
    T_CLOSENESS,
    ConfidentialValues,
    Requirement,
)
from microagg.privacy.within_cells import fits_whole_numbers
from microagg.schema.attribute import Kind

if TYPE_CHECKING:
    from microagg.partition._kernels.rearrange.rules import Rules

__all__ = ["Demands"]

_MARGIN = 1e-9  # kernels ask for so much more where distances are too large for whole numbers, and rounded


@dataclass(frozen=True)
class Demands:
    """Requirements on the confidential attributes of a table, with the values of all its records.

    Attributes
    ----------
    requirements : tuple of Requirement
        At least one; those of one attribute together.
    values : mapping of str to ConfidentialValues
    """

    requirements: tuple[Requirement, ...]
    values: Mapping[str, ConfidentialValues]

    @property
    def n_records(self) -> int:
        return len(next(iter(self.values.values())).values)

    def satisfied(self, labels: IntArray) -> BoolArray:
        """For each cell, whether it satisfies every requirement; `labels` are those of all records."""
        holds = np.ones(int(labels.max()) + 1, dtype=np.bool_)
        for one in self.requirements:
            holds &= one.holds(one.per_cell(self.values[one.attribute], labels))
        return holds

    def require_possible(self, groups: IntArray) -> None:
        """Raise unless some partition satisfies the requirements without a cell that crosses groups.

        One cell for each group satisfies whatever any partition does: what two cells satisfy, both together do.
        """
        for one in self.requirements:
            found = one.per_cell(self.values[one.attribute], groups)
            holds = one.holds(found)
            if not holds.all():
                raise InputError(_impossible(one, found, int((~holds).sum())))

    def is_ordered_closeness(self, requirement: Requirement) -> bool:
        """Whether it is closeness along an order, for which closeness first has a bound."""
        return requirement.kind is T_CLOSENESS and self.values[requirement.attribute].kind is not Kind.NOMINAL

    def order_of(self, members: IntArray) -> tuple[Requirement, IntArray]:
        """The requirement that asks most of how values are spread, and the members in the order of its values.

        Values of a nominal attribute are in the order of the taxonomy, so that near ones are neighbours.
        """
        rank = {T_CLOSENESS.key: 1, ENTROPY_L.key: 2, MAX_SHARE.key: 3, DISTINCT_L.key: 4}
        leading = min(
            self.requirements, key=lambda one: 0 if self.is_ordered_closeness(one) else rank.get(one.kind.key, 5)
        )
        values = self.values[leading.attribute]
        codes = values.codes
        if values.kind is Kind.NOMINAL:
            codes, tree = values.value_tree
            codes = _places_in_tree(tree.parents)[tree.nodes][codes]
        return leading, members[np.argsort(codes[members], kind="stable")]

    def rules(self, members: IntArray) -> Rules:
        """The requirements for kernels that work on some of the records, in their order."""
        from microagg.partition._kernels.rearrange import rules as kernel

        what_of = {
            DISTINCT_L.key: kernel.DISTINCT,
            P_SENSITIVE.key: kernel.DISTINCT,
            ENTROPY_L.key: kernel.ENTROPY,
            RECURSIVE_C_L.key: kernel.RECURSIVE,
            MAX_SHARE.key: kernel.SHARE,
            MIN_RANGE.key: kernel.RANGE,
        }
        # An attribute is there once for what is counted, once for its order and once for its tree: codes are others.
        parts: dict[tuple[str, str], _Part] = {}
        listed = []
        for one in self.requirements:
            values = self.values[one.attribute]
            is_close = one.kind is T_CLOSENESS
            in_tree = is_close and values.kind is Kind.NOMINAL
            sort = (one.attribute, "tree" if in_tree else "order" if is_close else "counts")
            part = parts.setdefault(sort, _tree_part(values) if in_tree else _plain_part(values, counted=not is_close))
            what = what_of.get(one.kind.key, kernel.TREE if in_tree else kernel.ORDERED)
            bound = one.bound - (0.0 if part.is_exact or not is_close else _MARGIN)
            listed.append((list(parts).index(sort), what, bound, one.rarest, part))
        listed.sort(key=lambda entry: entry[0])
        every = list(parts.values())
        lengths = np.array([len(part.total) for part in every])
        return kernel.Rules(
            what=np.array([entry[1] for entry in listed], dtype=np.int64),
            attribute=np.array([entry[0] for entry in listed], dtype=np.int64),
            bound=np.array([entry[2] for entry in listed], dtype=np.float64),
            rarest=np.array([entry[3] for entry in listed], dtype=np.int64),
            codes=np.ascontiguousarray(np.array([part.codes[members] for part in every])),
            numbers=np.ascontiguousarray(np.array([part.numbers[members] for part in every])),
            n_values=np.array([part.n_values for part in every], dtype=np.int64),
            n_all=np.array([[part.n_present, part.n_missing] for part in every], dtype=np.int64),
            at=np.cumsum(lengths) - lengths,
            total=np.concatenate([part.total for part in every]),
            running=np.concatenate([part.running for part in every]),
            parent=np.concatenate([part.parent for part in every]),
            step=np.concatenate([part.step for part in every]),
            height=np.array([part.height for part in every], dtype=np.int64),
            spread=np.array([part.spread for part in every], dtype=np.int64),
        )


@dataclass(frozen=True)
class _Part:
    """One attribute, counted and ordered or as a tree; lists have one entry per value or node."""

    codes: IntArray
    numbers: FloatArray
    n_values: int
    n_present: int
    n_missing: int
    total: IntArray
    running: IntArray
    parent: IntArray
    step: IntArray
    height: int = 1
    spread: int = 0
    is_exact: bool = True


def _plain_part(values: ConfidentialValues, *, counted: bool) -> _Part:
    codes = values.different if counted else values.codes
    missing = np.isnan(values.values if values.read_as is None or not counted else values.read_as)
    counts = np.bincount(codes[~missing])
    total = np.append(np.cumsum(counts), 0).astype(np.int64)  # one more, so that no attribute's lists are empty
    nothing = np.zeros(len(total), dtype=np.int64)
    return _Part(
        codes=codes,
        numbers=values.values,
        n_values=len(counts),
        is_exact=fits_whole_numbers(len(codes), len(counts)),
        n_present=int((~missing).sum()),
        n_missing=int(missing.sum()),
        total=total,
        running=np.append(0, np.cumsum(total[:-1])).astype(np.int64),
        parent=nothing - 1,
        step=nothing,
    )


def _tree_part(values: ConfidentialValues) -> _Part:
    codes, tree = values.value_tree
    total = tree.totals(np.bincount(codes, minlength=len(tree.nodes)).astype(np.int64))
    return _Part(
        codes=tree.nodes[codes],
        numbers=values.values,
        n_values=len(tree.parents),
        n_present=len(codes),
        n_missing=0,
        total=total,
        running=np.zeros(len(total), dtype=np.int64),
        parent=tree.parents,
        step=tree.steps,
        height=tree.height,
        spread=int((tree.steps * total).sum()),
        is_exact=fits_whole_numbers(len(codes), 4 * tree.height * len(tree.parents)),
    )


def _places_in_tree(parents: IntArray) -> IntArray:
    """A place for each node, so that all nodes below one follow each other."""
    children: dict[int, list[int]] = {}
    for node, parent in enumerate(parents):
        children.setdefault(int(parent), []).append(node)
    places = np.empty(len(parents), dtype=np.int64)
    above, place = [len(parents) - 1], 0
    while above:  # ends: every node is met once
        node = above.pop()
        places[node] = place
        place += 1
        above += children.get(node, [])
    return places


def _impossible(requirement: Requirement, found: FloatArray, n_missing: int) -> str:
    """Why no partition satisfies a requirement, and the bound that one would."""
    key, best = requirement.kind.key, requirement.worst(found)
    where = "all records together" if len(found) == 1 else f"{n_missing} of {len(found)} groups that no cell may cross"
    mend = (
        f"The {'largest' if requirement.kind.at_least else 'smallest'} that can be is {_bound_text(requirement, best)}"
    )
    if requirement.kind is RECURSIVE_C_L and not np.isfinite(best):
        mend = f"A group has fewer than l = {requirement.rarest} different values: lower l"
    elif not _can_be_asked_for(requirement, best):
        mend = f"There, all values are alike: leave {key} out, or let such records share cells with others"
    return (
        f"protect.{requirement.attribute}.{key}: no partition satisfies {requirement.title}, since {where} do not. "
        f"{mend}"
    )


def _can_be_asked_for(requirement: Requirement, best: float) -> bool:
    """Whether a recipe may name the bound that can be: with one value for all, nothing is left to ask for."""
    if requirement.kind in (DISTINCT_L, P_SENSITIVE):
        return best >= 2.0
    if requirement.kind is ENTROPY_L:
        return _down(best) > 1.0
    if requirement.kind is MIN_RANGE:
        return best > 1e-300
    return requirement.kind is RECURSIVE_C_L or _up(best) < 1.0


def _bound_text(requirement: Requirement, best: float) -> str:
    """A bound that is certain to be possible: rounded towards the easier side."""
    key = requirement.kind.key
    if requirement.kind in (DISTINCT_L, P_SENSITIVE):
        return f"{key} = {int(best)}"
    if requirement.kind is MIN_RANGE:  # coarse: it is a difference of two records' values
        digits = 10.0 ** (np.floor(np.log10(max(best, 1e-300))) - 1.0)
        return f"about {key} = {np.floor(best / digits) * digits:g}"
    if requirement.kind is RECURSIVE_C_L:
        return f"any c above {best:.6g}: {key} = [{_up(best):g}, {requirement.rarest}]"
    return f"{key} = {_down(best) if requirement.kind.at_least else _up(best):g}"


def _up(value: float) -> float:
    return float(np.ceil(value * 1e4 + 1e-6) / 1e4)


def _down(value: float) -> float:
    return float(np.floor(value * 1e4 - 1e-6) / 1e4)
