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
from microagg.engines.groups import Groups
from microagg.engines.shards import Coordinates, HashArray, Tree, grow_tree
from microagg.engines.survey import ColumnSurvey, RowHash, Survey
from microagg.partition.base import exponent_of_differences
from microagg.recipe.choices import MissingPolicy
from microagg.recipe.recipe import Recipe
from microagg.schema.attribute import Attribute, Kind
from microagg.schema.encode import EncodedColumn, encode
from microagg.space.points import Points
from microagg.space.standardize import Standardize, standardize
from microagg.tables.frames import Column
from microagg.tables.frames.column import EXACT_INTEGERS

__all__ = ["ColumnConstants", "Constants", "Plan", "Sampling"]

_GRID = 2**30
_TEMPORAL_STEPS = (86_400, 3_600, 60, 1)


@dataclass(frozen=True)
class ColumnConstants:
    """What all shards must know of one quasi-identifier.

    Attributes
    ----------
    attribute : Attribute
        As declared, with the categories and the resolution that the whole table has.
    ordered : tuple or None
        Categories in the order of the column's type.
    origin : int
        What numbers are counted from.
    low, high : float
        Smallest and largest number or rank, times ``2**exponent``.
    exponent : int
    centre, unit : float
        What standardised values are counted from and in, at that scale.
    n_missing : int
    bounds : pair of float or None
        Declared ones, on the scale of numbers or ranks.
    """

    attribute: Attribute
    ordered: tuple[Any, ...] | None
    origin: int
    low: float
    high: float
    exponent: int
    n_missing: int
    bounds: tuple[float, float] | None = None
    centre: float = 0.0
    unit: float = 1.0

    @property
    def n_categories(self) -> int:
        return len(self.attribute.categories or ())

    def encode(self, column: Column) -> EncodedColumn:
        """Some records of the column, on the scale that the whole has."""
        counted = replace(column, ordered_categories=self.ordered, counted_from=self.origin)
        return encode(counted, self.attribute)

    def scaled(self, values: FloatArray) -> FloatArray:
        """Numbers or ranks near 1."""
        return np.ldexp(values, self.exponent)

    def standardized(self, encoded: EncodedColumn, how: Standardize) -> FloatArray:
        """Values as the space takes them, by constants of the whole table; NaN stays NaN."""
        if how is Standardize.NONE or how is Standardize.BOUNDS:
            return standardize(encoded.values, how, bounds=encoded.bounds, name=encoded.name)
        found: FloatArray = (self.scaled(encoded.values) - self.centre) / self.unit
        return found


@dataclass(frozen=True)
class Constants:
    """What all shards must know.

    Attributes
    ----------
    columns : dict of name to ColumnConstants
        In the order of the recipe.
    scale : int
        Power of two that all distances are multiplied by.
    largest_weight : float
    """

    recipe: Recipe
    columns: Mapping[str, ColumnConstants]
    groups: Groups
    largest_weight: float = 1.0
    scale: int = 0

    def encode(self, columns: Mapping[str, Column]) -> dict[str, EncodedColumn]:
        return {name: constants.encode(columns[name]) for name, constants in self.columns.items()}

    def in_space(self, encoded: Mapping[str, EncodedColumn]) -> dict[str, EncodedColumn]:
        """The same columns with standardised values; categories stay codes."""
        how = self.recipe.space.standardize
        return {
            name: column
            if column.kind is Kind.NOMINAL
            else replace(column, values=self.columns[name].standardized(column, how))
            for name, column in encoded.items()
        }

    def coordinates(self, in_space: Mapping[str, EncodedColumn]) -> Coordinates:
        """Records as they are routed and cut: missing numbers at the centre, missing categories as one more."""
        numbers, codes, n_categories, lengths = [], [], [], []
        for name, column in in_space.items():
            weight, constants = column.attribute.weight, self.columns[name]
            if column.kind is not Kind.NOMINAL:
                values = np.ldexp(np.sqrt(weight) * column.values, self.scale)
                numbers.append(np.where(np.isnan(values), self._centre_of(name), values))
                continue
            codes.append(np.where(column.missing, constants.n_categories, column.values).astype(np.int64))
            n_categories.append(constants.n_categories + 1)
            lengths.append(math.ldexp(math.sqrt(0.5 * weight), self.scale))
        return Coordinates(tuple(numbers), tuple(codes), tuple(n_categories), tuple(lengths))

    def _centre_of(self, name: str) -> float:
        one = self.columns[name]
        middle = 0.5 * (one.low + one.high) if self.recipe.space.standardize is Standardize.NONE else 0.0
        return math.ldexp(middle, self.scale - one.exponent) if middle else 0.0


def constants_of(survey: Survey) -> Constants:
    """Constants as far as the first pass knows them: all but means and deviations."""
    recipe = survey.recipe
    columns = {name: _column_constants(one, recipe.attributes[name]) for name, one in survey.columns.items()}
    return Constants(recipe, columns, Groups.of(survey.groups, recipe), survey.largest_weight)


def _column_constants(one: ColumnSurvey, attribute: Attribute) -> ColumnConstants:
    import pyarrow as pa

    if one.kind is Kind.NUMERIC:
        none = Column(one.name, pa.array([], one.type))
        low, high = (0, 0) if one.low is None or one.high is None else (one.low, one.high)
        counted = isinstance(low, int) and isinstance(high, int)
        origin = int(low) if counted and (none.is_temporal or max(-low, high) > EXACT_INTEGERS) else 0
        if none.is_temporal and not pa.types.is_date(one.type) and attribute.resolution is None:
            step = next((s for s, whole in zip(_TEMPORAL_STEPS, one.whole_in, strict=True) if whole), None)
            attribute = attribute.model_copy(update={"resolution": 1.0 / none.unit if step is None else float(step)})
        bounds = None
        if attribute.bounds is not None:
            ends = [replace(none, counted_from=origin).number_of(bound) for bound in attribute.bounds]
            bounds = (ends[0], ends[1])
        return _at_scale(attribute, None, origin, (float(low - origin), float(high - origin)), bounds, one.n_missing)
    encoded = encode(Column(one.name, pa.array(list(one.counts), one.type), one.ordered), attribute)
    attribute = attribute.model_copy(update={"categories": encoded.labels})
    present = encoded.values[~np.isnan(encoded.values)]
    low, high = (float(present.min()), float(present.max())) if len(present) else (0.0, 0.0)
    return _at_scale(attribute, one.ordered, 0, (low, high), encoded.bounds, one.n_missing)


def _at_scale(
    attribute: Attribute,
    ordered: tuple[Any, ...] | None,
    origin: int,
    ends: tuple[float, float],
    bounds: tuple[float, float] | None,
    n_missing: int,
) -> ColumnConstants:
    low, high = ends
    exponent = -int(np.frexp(max(abs(low), abs(high)))[1])
    low, high = (float(np.ldexp(one, exponent)) for one in (low, high))
    return ColumnConstants(attribute, ordered, origin, low, high, exponent, n_missing, bounds)


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
        self.group_of_candidate = np.zeros(len(self.candidates), dtype=np.int64)
        self.moments = {name: _Moments() for name in self.constants.columns}
        self._hashes: list[HashArray] = []
        self._counts: list[IntArray] = []
        self._groups: list[IntArray] = []
        self._values: list[FloatArray] = []

    def add(self, columns: Mapping[str, Column], groups: IntArray) -> None:
        """Add a batch, without records that do not take part."""
        encoded = self.constants.encode(columns)
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
        constants = replace(constants, scale=_scale_of(constants))
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
            total += weight * n * missing * (1.0 - missing)
            if one.attribute.kind is Kind.NOMINAL:
                total += weight * n * (1.0 - missing) * _disagreement(survey.counts, one.attribute)
                continue
            unit = one.unit
            if how is Standardize.NONE:
                unit = math.ldexp(1.0, one.exponent)
            elif how is Standardize.BOUNDS and one.bounds is not None:
                unit = math.ldexp(one.bounds[1] - one.bounds[0], one.exponent)
            moments = self.moments[name]
            total += weight * moments.n * moments.variance * ((one.high - one.low) / unit) ** 2
        return math.ldexp(total, 2 * constants.scale)

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
            sample = constants.coordinates(constants.in_space(_as_columns(values[rows], constants)))
            trees.append(grow_tree(sample, weights[rows], n_leaves) if len(rows) > 1 else Tree())
        return tuple(trees)


def _as_columns(values: FloatArray, constants: Constants) -> dict[str, EncodedColumn]:
    """Encoded numbers, ranks and codes as columns again, without the values they were encoded from."""
    import pyarrow as pa

    found = {}
    for place, (name, one) in enumerate(constants.columns.items()):
        labels = () if one.attribute.kind is Kind.NUMERIC else tuple(one.attribute.categories or ())
        found[name] = EncodedColumn(Column(name, pa.nulls(0)), one.attribute, values[:, place], labels, one.bounds)
    return found


def _scale_of(constants: Constants) -> int:
    """The power of two that brings distances into range, from the smallest and largest value of each column."""
    how = constants.recipe.space.standardize
    ends = []
    for one in constants.columns.values():
        if one.attribute.kind is Kind.NOMINAL or how is Standardize.BOUNDS:
            continue
        pair = np.array([one.low, one.high])
        pair = np.ldexp(pair, -one.exponent) if how is Standardize.NONE else (pair - one.centre) / one.unit
        ends.append(pair * np.sqrt(one.attribute.weight))
    return exponent_of_differences(Points(np.ascontiguousarray(np.column_stack(ends)))) if ends else 0


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
