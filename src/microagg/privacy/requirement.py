"""Requirements: what the confidential values of every cell must be like, beyond there being k of them.

A requirement is a value: what it is called in a recipe, its bound, and how it is found on cells. What is enforced,
counted on a written file and measured by `evaluate` is one definition, in :mod:`microagg.privacy.within_cells`.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from microagg._typing import BoolArray, FloatArray, IntArray
from microagg.privacy.within_cells import (
    ValueTree,
    distinct_per_cell,
    earth_movers_ordered,
    earth_movers_tree,
    entropy_per_cell,
    largest_share_per_cell,
    range_per_cell,
    recursive_per_cell,
)
from microagg.schema.alike import key_as_read
from microagg.schema.attribute import Kind
from microagg.schema.encode import EncodedColumn
from microagg.tables.words import NO_WORDS, Words

__all__ = [
    "DISTINCT_L",
    "ENTROPY_L",
    "MAX_SHARE",
    "MIN_RANGE",
    "P_SENSITIVE",
    "RECURSIVE_C_L",
    "REQUIREMENTS",
    "T_CLOSENESS",
    "ConfidentialValues",
    "Requirement",
    "RequirementKind",
]

_RANGE_SLACK = 1e-9  # 0.3 - 0.1 is a little less than 0.2
_ENTROPY_SLACK = 1e-12  # logarithms are rounded: an entropy that falls short of its bound by less holds


@dataclass(frozen=True)
class RequirementKind:
    """One sort of requirement.

    Attributes
    ----------
    key : str
        Its name in a recipe.
    model : str
        Its name in a statement.
    letter : str
        Of its bound.
    at_least : bool
        Whether the bound is a smallest value; otherwise it is a largest one.
    definition : str
        What is promised of every cell, in words.
    explained : Words
        What `microagg explain` says of it.
    """

    key: str
    model: str
    letter: str
    at_least: bool
    definition: str
    explained: Words = NO_WORDS


_L_DIVERSITY = "Machanavajjhala et al. (2007), doi:10.1145/1217299.1217302"
_PAGE = "docs/guarantees.md#confidential-values-l-diversity-t-closeness-and-kin"

DISTINCT_L = RequirementKind(
    "distinct_l",
    "distinct l-diversity",
    "l",
    True,
    "the records of every class have at least l different values",
    Words(
        "Records that look alike have at least l different confidential values. Whoever finds a person's class is "
        "left with l candidates.",
        "The candidates need not be equally likely: one may have nearly all records. Two values may mean the same to "
        "an intruder, and numbers that differ by a little count as different.",
        _L_DIVERSITY,
        "min over classes of #{different values} >= l",
        _PAGE,
    ),
)
P_SENSITIVE = RequirementKind(
    "p_sensitive",
    "p-sensitivity",
    "p",
    True,
    "the records of every class have at least p different values",
    Words(
        "Records that look alike have at least p different confidential values. It is distinct l-diversity under the "
        "name that goes with k-anonymity: p-sensitive k-anonymity.",
        "The values need not be equally likely: one may have nearly all records of a class.",
        "Truta & Vinay (2006), doi:10.1109/ICDEW.2006.116",
        "min over classes of #{different values} >= p",
        _PAGE,
    ),
)
ENTROPY_L = RequirementKind(
    "entropy_l",
    "entropy l-diversity",
    "l",
    True,
    "the entropy of the values of every class is at least ln(l): they are as diverse as l equally frequent values",
    Words(
        "The confidential values of records that look alike are as diverse as l values that are equally frequent. It "
        "is stricter than counting, because a rare value counts little.",
        "Where one value is frequent in the whole table, no class can reach a large l. It can then be promised only "
        "by much larger classes, if at all.",
        _L_DIVERSITY,
        "min over classes of -sum q ln q >= ln(l), q the shares of the values",
        _PAGE,
    ),
)
RECURSIVE_C_L = RequirementKind(
    "recursive_c_l",
    "recursive (c, l)-diversity",
    "c",
    False,
    "in every class the most frequent value has fewer than c times the records of all values from the l-th most "
    "frequent on",
    Words(
        "In each class, the most frequent confidential value is not too frequent against the rarer ones. Even whoever "
        "rules out some values is left with doubt.",
        "It is two numbers, c and l: neither alone says how strict it is. A larger c is a weaker promise.",
        _L_DIVERSITY,
        "in every class r_1 < c (r_l + ... + r_m), r the counts of values from the most frequent",
        _PAGE,
    ),
)
T_CLOSENESS = RequirementKind(
    "t_closeness",
    "t-closeness",
    "t",
    False,
    "the distribution of the values in every class is at most t away from that in the whole table, by the earth "
    "mover's distance",
    Words(
        "The confidential values of records that look alike are distributed nearly as in the whole table. Finding a "
        "person's class then tells little more than the table does.",
        "Small classes are far from the table by chance alone, so a small t needs large cells and costs utility. For "
        "numbers it goes by their order, not by how far they are apart.",
        "Li, Li & Venkatasubramanian (2007), doi:10.1109/ICDE.2007.367856",
        "max over classes of EMD(distribution in the class, distribution in the table) <= t",
        _PAGE,
    ),
)
MAX_SHARE = RequirementKind(
    "max_share",
    "largest share",
    "share",
    False,
    "no value has more than this share of the records of a class",
    Words(
        "No confidential value has more than this share of the records that look alike. Whoever guesses a person's "
        "value is right no more often than that.",
        "A value that is frequent in the whole table can hardly be kept below its share there. A rare and grave value "
        "is held to the same bound as a harmless one.",
        "Wong et al. (2006), (alpha, k)-anonymity, doi:10.1145/1150402.1150499",
        "max over classes and values of #{records with the value} / #{records of the class} <= share",
        _PAGE,
    ),
)
MIN_RANGE = RequirementKind(
    "min_range",
    "smallest range",
    "range",
    True,
    "the numbers of every class span at least this much (dates in days, times in seconds)",
    Words(
        "The confidential numbers of records that look alike span at least this much. Finding a person's class does "
        "not tell their number more exactly than that.",
        "One outlier is enough to span the range: all other numbers of a class may be alike.",
        "Zhang et al. (2007), (k, e)-anonymity, doi:10.1109/ICDE.2007.367857",
        "min over classes of (largest - smallest number) >= range",
        _PAGE,
    ),
)

REQUIREMENTS = {
    kind.key: kind for kind in (DISTINCT_L, P_SENSITIVE, ENTROPY_L, RECURSIVE_C_L, T_CLOSENESS, MAX_SHARE, MIN_RANGE)
}


@dataclass(frozen=True)
class ConfidentialValues:
    """The values of a confidential attribute, of all records of the table.

    Attributes
    ----------
    name : str
    values : ndarray of float64
        Numbers, ranks or codes; NaN is missing.
    kind : Kind or None
        None: only that values differ is known, not how far.
    tree : ValueTree or None
        How far the values of a nominal attribute are apart, by code, the one of a missing value last; None: 1.
    read_as : ndarray of float64 or None
        Codes in which values that a reader may take for one are one (see :func:`microagg.schema.alike.key_as_read`):
        what counts different values counts these. None: the values themselves.
    """

    name: str
    values: FloatArray
    kind: Kind | None = None
    tree: ValueTree | None = None
    read_as: FloatArray | None = None

    @classmethod
    def of(cls, column: EncodedColumn) -> ConfidentialValues:
        """An encoded column; of a nominal one, the declared taxonomy says how far values are apart."""
        taxonomy = column.attribute.taxonomy
        tree = None if taxonomy is None else ValueTree.of_taxonomy(taxonomy, [*column.labels, None])
        unit = column.column.unit if column.kind is Kind.NUMERIC else 1.0  # dates in days and times in seconds
        return cls(column.name, column.values / unit, column.attribute.kind, tree, _codes_as_read(column))

    @cached_property
    def codes(self) -> IntArray:
        """The values as 0, 1, ..., in their order; missing is the last one."""
        return _dense(self.values)

    @cached_property
    def different(self) -> IntArray:
        """The values as 0, 1, ..., those that a reader may take for one the same; missing is the last one."""
        return self.codes if self.read_as is None else _dense(self.read_as)

    @cached_property
    def value_tree(self) -> tuple[IntArray, ValueTree]:
        """Codes of the nodes of a tree, and the tree: the declared one, or one in which all are at distance 1."""
        if self.tree is None:
            return self.codes, ValueTree.star(int(self.codes.max(initial=0)) + 1)
        missing = len(self.tree.nodes) - 1
        return np.where(np.isnan(self.values), missing, self.values).astype(np.int64), self.tree

    def take(self, records: IntArray) -> ConfidentialValues:
        """The values of some of the records."""
        read_as = None if self.read_as is None else self.read_as[records]
        return ConfidentialValues(self.name, self.values[records], self.kind, self.tree, read_as)


@dataclass(frozen=True)
class Requirement:
    """What every cell must satisfy of one confidential attribute.

    Attributes
    ----------
    kind : RequirementKind
    attribute : str
    bound : float
    rarest : int
        l of recursive (c, l)-diversity; 0 for the others.
    """

    kind: RequirementKind
    attribute: str
    bound: float
    rarest: int = 0

    @property
    def parameters(self) -> dict[str, float]:
        """The bound by its letter, as a statement shows it."""
        bound = int(self.bound) if float(self.bound).is_integer() and self.kind.at_least else self.bound
        return {self.kind.letter: bound} | ({"l": self.rarest} if self.rarest else {})

    @property
    def title(self) -> str:
        """For example ``t-closeness (t = 0.15) of 'illness'``."""
        return f"{self.kind.model} ({_listed(self.parameters)}) of {self.attribute!r}"

    def per_cell(self, values: ConfidentialValues, labels: IntArray) -> FloatArray:
        """What is bounded, found for each cell; `values` are those of all records."""
        if self.kind in (DISTINCT_L, P_SENSITIVE):
            return distinct_per_cell(values.different, labels)[0].astype(np.float64)
        if self.kind is ENTROPY_L:
            return entropy_per_cell(values.different, labels)
        if self.kind is RECURSIVE_C_L:
            return recursive_per_cell(values.different, labels, self.rarest)
        if self.kind is MAX_SHARE:
            return largest_share_per_cell(values.different, labels)
        if self.kind is MIN_RANGE:
            return range_per_cell(values.values, labels)
        if values.kind is Kind.NOMINAL:
            codes, tree = values.value_tree
            return earth_movers_tree(codes, tree, labels)
        return earth_movers_ordered(values.values, labels)

    def holds(self, found: FloatArray) -> BoolArray:
        """Whether what was found for cells satisfies the bound."""
        if self.kind is ENTROPY_L:
            return np.asarray(found >= self.bound * (1.0 - _ENTROPY_SLACK))
        if self.kind is RECURSIVE_C_L:
            return np.asarray(found < self.bound)
        if self.kind is T_CLOSENESS:  # below 0 nothing is a distance
            return np.asarray((found >= 0.0) & (found <= self.bound))
        if self.kind is MIN_RANGE:
            return np.asarray(found >= self.bound * (1.0 - _RANGE_SLACK))
        return np.asarray(found >= self.bound if self.kind.at_least else found <= self.bound)

    def worst(self, found: FloatArray) -> float:
        """The value of the cell that is farthest from the bound, or nearest to it."""
        return float(found.min() if self.kind.at_least else found.max())


def _codes_as_read(column: EncodedColumn) -> FloatArray | None:
    """For each record a code of what its category is read as; None if all categories are told apart, or are numbers."""
    keys = [key_as_read(label) for label in column.labels]
    if len(set(keys)) == len(keys) and None not in keys:
        return None
    code_of = {key: code for code, key in enumerate(dict.fromkeys(key for key in keys if key is not None))}
    codes = np.array([*(np.nan if key is None else code_of[key] for key in keys), np.nan])
    read: FloatArray = codes[np.where(column.missing, len(keys), column.values).astype(np.int64)]
    return read


def _dense(values: FloatArray) -> IntArray:
    codes: IntArray = np.unique(np.where(np.isnan(values), np.inf, values), return_inverse=True)[1].astype(np.int64)
    return codes


def _listed(parameters: dict[str, Any]) -> str:
    return ", ".join(f"{key} = {value:g}" for key, value in parameters.items())
