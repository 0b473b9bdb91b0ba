"""The plan of a release in parts: constants of the whole table, and which shard each record belongs to.

The second pass (:class:`Sampling`) adds up whole numbers only, and takes its sample by the hash of each record's
values: the plan is the same for any order of the records and any batches.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from microagg._typing import BoolArray, FloatArray, IntArray
from microagg.engines.planning.constants import ColumnConstants, Constants, as_columns, constants_of, scale_of
from microagg.engines.planning.survey import RowHash, Survey
from microagg.engines.shards import HashArray, Tree, grow_tree
from microagg.recipe.choices import MissingPolicy
from microagg.schema.attribute import Attribute, Kind
from microagg.schema.encode import EncodedColumn
from microagg.space.standardize import Standardize
from microagg.tables.frames import Column

__all__ = ["Plan", "Sampling"]

_GRID = 2**30


@dataclass
class _Moments:
    """Sums of whole numbers: places on a grid from the smallest to the largest value."""

    n: int = 0
    total: int = 0
    squares: int = 0

    def add(self, values: FloatArray, low: float, high: float) -> None:
        places = np.rint((values - low) / (high - low) * _GRID).astype(np.int64)
        squares = places * places
        self.n += len(places)
        self.total += int(places.sum())
        self.squares += (int((squares >> 30).sum()) << 30) + int((squares & (2**30 - 1)).sum())

    def merge(self, other: _Moments) -> None:
        self.n += other.n
        self.total += other.total
        self.squares += other.squares

    @property
    def variance(self) -> float:
        """In units of the range."""
        if not self.n:
            return 0.0
        return (self.n * self.squares - self.total**2) / (self.n * self.n * _GRID**2)


def _disagreement(counts: Mapping[Any, int], attribute: Attribute) -> float:
    """Half the mean squared distance of two records' categories."""
    total = sum(counts.values())
    if not total:
        return 0.0
    labels = list(counts)
    shares = np.array([counts[label] / total for label in labels])
    if attribute.taxonomy is None:
        return 0.5 * (1.0 - float((shares**2).sum()))
    return 0.5 * float((shares[:, None] * attribute.taxonomy.distances(labels) * shares).sum())


class Sampling:
    """The second pass, batch by batch: means and deviations, a sample, and how frequent the most frequent rows are."""

    def __init__(self, survey: Survey, *, key: int) -> None:
        self.constants, self.n_records = constants_of(survey), survey.n_records
        self.recipe, self.survey = survey.recipe, survey
        self.hash = RowHash(survey.recipe, survey.hash.key)
        self.shard_records = max(self.recipe.engine.shard_records, 2 * self.recipe.k)
        wanted = self.recipe.engine.sample_per_shard * -(-self.n_records // self.shard_records)
        share = min(1.0, wanted / self.n_records)
        self._mask = np.uint64(key & (2**64 - 1))
        self._below = np.uint64(min(int(share * 2.0**64), 2**64 - 1))
        self.candidates = survey.heavy.hashes
        self.n_candidates = np.zeros(len(self.candidates), dtype=np.int64)
        self.group_of_candidate = np.full(len(self.candidates), -1, dtype=np.int64)
        self.n_seen = 0
        self.moments = {name: _Moments() for name in self.constants.columns}
        self._hashes: list[HashArray] = []
        self._counts: list[IntArray] = []
        self._groups: list[IntArray] = []
        self._values: list[FloatArray] = []

    def add(self, columns: Mapping[str, Column], groups: IntArray) -> None:
        """Add a batch, without records that do not take part."""
        encoded = self.constants.encode(columns)
        self.n_seen += len(groups)
        hashes = self.hash.of(dict(columns), len(groups))
        self._count_candidates(hashes, groups)
        self._add_moments(encoded)
        chosen = np.flatnonzero((hashes ^ self._mask) * np.uint64(0x9E3779B97F4A7C15) <= self._below)
        if not len(chosen):
            return
        found, first, counts = np.unique(hashes[chosen], return_index=True, return_counts=True)
        rows = chosen[first]
        self._hashes.append(found)
        self._counts.append(counts)
        self._groups.append(groups[rows])
        self._values.append(np.column_stack([column.values[rows] for column in encoded.values()]))

    def merge(self, other: Sampling) -> None:
        """Add what another task found."""
        self.n_seen += other.n_seen
        self.n_candidates += other.n_candidates
        self.group_of_candidate = np.maximum(self.group_of_candidate, other.group_of_candidate)
        for name, moments in self.moments.items():
            moments.merge(other.moments[name])
        self._hashes += other._hashes
        self._counts += other._counts
        self._groups += other._groups
        self._values += other._values

    def _count_candidates(self, hashes: HashArray, groups: IntArray) -> None:
        if not len(self.candidates):
            return
        places = np.minimum(np.searchsorted(self.candidates, hashes), len(self.candidates) - 1)
        hits = np.flatnonzero(self.candidates[places] == hashes)
        self.n_candidates += np.bincount(places[hits], minlength=len(self.candidates))
        self.group_of_candidate[places[hits]] = groups[hits]

    def _add_moments(self, encoded: Mapping[str, EncodedColumn]) -> None:
        for name, column in encoded.items():
            one = self.constants.columns[name]
            if column.kind is not Kind.NOMINAL and one.high > one.low:
                self.moments[name].add(one.scaled(column.values[~column.missing]), one.low, one.high)

    def finish(self) -> Plan:
        """The plan: constants, rows that pass through, and the tree of each group."""
        constants = replace(
            self.constants,
            columns={name: self._with_scale(name, one) for name, one in self.constants.columns.items()},
        )
        constants = replace(constants, scale=scale_of(constants))
        is_heavy = self._find_heavy(constants.groups.sizes)
        heavy, n_heavy = self.candidates[is_heavy], self.n_candidates[is_heavy]
        taken = np.bincount(self.group_of_candidate[is_heavy], n_heavy, minlength=len(constants.groups.sizes))
        n_light = constants.groups.sizes - taken.astype(np.int64)
        trees = self._trees(constants, heavy, n_light)
        return Plan(constants, heavy, n_heavy, n_light, trees, self.shard_records, self._spread(constants))

    def _with_scale(self, name: str, one: ColumnConstants) -> ColumnConstants:
        """Where standardised values are counted from, and in what unit; as :func:`standardize` has it."""
        if one.high <= one.low:
            return replace(one, centre=one.low)
        span, moments = one.high - one.low, self.moments[name]
        if self.recipe.space.standardize is Standardize.ZSCORE and moments.n:
            n = moments.n
            centre = one.low + span * (moments.total / (n * _GRID))
            return replace(one, centre=centre, unit=span * math.sqrt(moments.variance))
        return replace(one, centre=one.low, unit=span)

    def _spread(self, constants: Constants) -> float:
        """Sum of squared distances of all records to their mean: what the loss is a share of."""
        total, n, how = 0.0, self.n_records, self.recipe.space.standardize
        for name, one in constants.columns.items():
            survey, weight = self.survey.columns[name], one.attribute.weight
            missing = survey.n_missing / n if self.recipe.missing.policy is MissingPolicy.OWN_CELL else 0.0
            total += math.ldexp(weight * n * missing * (1.0 - missing), 2 * constants.scale)
            if one.attribute.kind is Kind.NOMINAL:
                apart = weight * n * (1.0 - missing) * _disagreement(survey.counts, one.attribute)
                total += math.ldexp(apart, 2 * constants.scale)
                continue
            unit = one.unit
            if how is Standardize.NONE:
                unit = math.ldexp(1.0, one.exponent)
            elif how is Standardize.BOUNDS and one.bounds is not None:
                unit = math.ldexp(one.bounds[1] - one.bounds[0], one.exponent)
            moments = self.moments[name]
            total += (
                weight * moments.n * moments.variance * math.ldexp((one.high - one.low) / unit, constants.scale) ** 2
            )
        return total

    def _find_heavy(self, sizes: IntArray) -> BoolArray:
        """Rows so frequent that they need no shard with others, but for those that their group's rest needs to be k."""
        k, n = self.recipe.k, len(sizes)
        least = max(k, self.shard_records // 2, self.n_records // self.survey.heavy.capacity + 1)
        is_heavy: BoolArray = self.n_candidates >= least
        for place in np.flatnonzero(is_heavy)[np.argsort(self.n_candidates[is_heavy], kind="stable")]:
            group = self.group_of_candidate[place]
            taken = np.bincount(self.group_of_candidate[is_heavy], self.n_candidates[is_heavy], minlength=n)
            if 0 < sizes[group] - taken[group] < k:
                is_heavy[place] = False
        return is_heavy

    def _trees(self, constants: Constants, heavy: HashArray, sizes: IntArray) -> tuple[Tree, ...]:
        wanted = [-(-int(size) // self.shard_records) for size in sizes]
        if max(wanted) < 2 or not self._hashes:
            return (Tree(),) * len(sizes)
        hashes, first, places = np.unique(np.concatenate(self._hashes), return_index=True, return_inverse=True)
        weights = np.bincount(places, np.concatenate(self._counts)).astype(np.float64)
        values, groups = np.concatenate(self._values)[first], np.concatenate(self._groups)[first]
        is_light = ~np.isin(hashes, heavy)
        trees = []
        for group, n_leaves in enumerate(wanted):
            rows = np.flatnonzero(is_light & (groups == group)) if n_leaves > 1 else np.empty(0, dtype=np.int64)
            sample = constants.coordinates(constants.in_space(as_columns(values[rows], constants)))
            trees.append(grow_tree(sample, weights[rows], n_leaves) if len(rows) > 1 else Tree())
        return tuple(trees)


@dataclass(frozen=True)
class Plan:
    """Where each record goes.

    Attributes
    ----------
    heavy : ndarray of uint64
        Hashes of rows that are so frequent that they pass through by themselves, in ascending order.
    n_heavy : ndarray
        How many records each of them has.
    n_light : ndarray
        Records of each group without those.
    trees : tuple of Tree
        One for each group of records that may share a cell.
    shard_records : int
    spread : float
        Sum of squared distances of all records to their mean.
    """

    constants: Constants
    heavy: HashArray = field(repr=False)
    n_heavy: IntArray = field(repr=False)
    n_light: IntArray = field(repr=False)
    trees: tuple[Tree, ...] = field(repr=False)
    shard_records: int
    spread: float

    @property
    def first_leaves(self) -> list[int]:
        """The number of the first leaf of each tree; then that of the first heavy row, and how many there are."""
        ends = np.cumsum([0, *(tree.n_leaves for tree in self.trees)]).tolist()
        return [*ends, ends[-1] + len(self.heavy)]

    def route(self, columns: Mapping[str, Column], hashes: HashArray, groups: IntArray) -> IntArray:
        """The leaf of each record, from its own values alone."""
        first = self.first_leaves
        encoded = self.constants.encode(columns)
        coordinates = self.constants.coordinates(self.constants.in_space(encoded))
        leaves = np.empty(len(groups), dtype=np.int64)
        for group in np.unique(groups):
            rows = np.flatnonzero(groups == group)
            tree = self.trees[group]
            leaves[rows] = first[group] + (tree.route(coordinates.take(rows)) if tree.n_leaves > 1 else 0)
        if len(self.heavy):
            places = np.minimum(np.searchsorted(self.heavy, hashes), len(self.heavy) - 1)
            passes = self.heavy[places] == hashes
            leaves[passes] = first[-2] + places[passes]
        return leaves
