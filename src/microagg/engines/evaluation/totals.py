"""What all records of two tables give in one pass over each: moments of numbers and ranks, and categories."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from microagg._progress import report
from microagg._typing import FloatArray, IntArray
from microagg.errors import TableError
from microagg.evaluation.evaluate import reads_bounds
from microagg.evaluation.pairs import Pair, pair
from microagg.evaluation.utility.moments import BothMoments, PairwiseMoments
from microagg.recipe.recipe import Recipe
from microagg.releases.input import numbers_of_text
from microagg.schema.attribute import Kind, Role
from microagg.schema.encode import encode
from microagg.schema.taxonomy import category_text
from microagg.tables.frames import Column, Frame

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["Scale", "Totals", "add_up"]

_NOTHING = 1e-13  # a variance, as a share of the mean square it is computed from, that is rounding error
_EXACT_INTEGERS = 2**52


@dataclass(frozen=True)
class Scale:
    """What values of an attribute are counted from, as it follows from all records of both tables.

    Attributes
    ----------
    pair : Pair
        Of some records.
    origin : int
    ranges : tuple of pairs of float
        Smallest and largest value of either table that has some, counted from zero.
    deviation : float
        Of the original; 1 if it is constant.
    is_constant : bool
    """

    pair: Pair
    origin: int
    ranges: tuple[tuple[float, float], ...]
    deviation: float
    is_constant: bool

    @property
    def name(self) -> str:
        return self.pair.name

    @property
    def shift(self) -> float:
        """What to add to the numbers of `pair`, which are counted from the smallest of some records."""
        return 0.0 if self.pair.joint.kind is Kind.ORDINAL else float(self.pair.joint.column.origin - self.origin)

    def values(self, frame: Frame) -> FloatArray:
        """Numbers from the origin, or ranks; NaN is missing."""
        column = frame.column(self.name)
        if self.pair.joint.kind is Kind.ORDINAL:
            return encode(column, self.pair.joint.attribute).values
        if column.integers is None or self.pair.joint.column.integers is None:
            return column.absolute()
        numbers = (column.integers - self.origin).astype(np.float64)
        numbers[column.missing] = np.nan
        return numbers


@dataclass(frozen=True)
class Totals:
    """What was added up over all records.

    Attributes
    ----------
    of_quasi_identifiers, of_published : BothMoments or None
        Of the numbers and ranks among the quasi-identifiers; of all published ones that vary in the original. None if
        the values of one of them mean something only beside all others.
    categories_lost : dict of name to float or None
        For each nominal and ordinal quasi-identifier the share of the original's categories that the release lacks.
    scales : tuple of Scale
        The numbers and ranks among the quasi-identifiers, if their moments are known.
    """

    of_quasi_identifiers: BothMoments | None
    of_published: BothMoments | None
    categories_lost: dict[str, float | None]
    scales: tuple[Scale, ...] = ()


def add_up(
    original: Iterator[pa.Table], released: Iterator[pa.Table], before: Frame, after: Frame, recipe: Recipe
) -> Totals:
    """Add up all records of two tables.

    Parameters
    ----------
    original, released : iterators of tables
    before, after : Frame
        Some records of each: sums are taken from near their mean, where nothing is lost in rounding.
    recipe : Recipe
    """
    schema = recipe.schema
    numbers = _numbers(before, after, recipe)
    named = [name for name in schema.quasi_identifiers if schema[name].kind is not Kind.NUMERIC]
    first, second = _Side(numbers, named, recipe), _Side(numbers, named, recipe)
    for side, tables, what in ((first, original, "original"), (second, released, "release")):
        n_seen = 0
        for table in tables:
            side.add(table)
            n_seen += table.num_rows
            report(f"adding up all records of the {what}: {n_seen:,} seen", 0.0)
    unknown = first.unknown | second.unknown | _of_two_types(numbers, first, second)
    known = [one.name for one in numbers if one.name not in unknown]
    both = _both_moments(numbers, first, second)
    chosen = [one.name for one in numbers if one.name in schema.quasi_identifiers]
    varying = [one for one in known if not both.constant[both.names.index(one)]]
    are_known = not unknown & set(chosen)
    scales = [
        Scale(
            one,
            _origin(one, first, second),
            tuple(side.ranges[one.name] for side in (first, second) if one.name in side.ranges),
            both.scales[place][1],
            both.constant[place],
        )
        for place, one in enumerate(numbers)
        if one.name in chosen
    ]
    return Totals(
        _some(both, chosen) if chosen and are_known else None,
        None if unknown or len(varying) < 2 else _some(both, varying),
        {name: _share_lost(first.categories[name], second.categories[name]) for name in named},
        tuple(scales) if are_known else (),
    )


def _of_two_types(numbers: Sequence[Pair], first: _Side, second: _Side) -> set[str]:
    """Dates that are counted in one unit in one table, and in another in the other."""
    names = [one.name for one in numbers if one.joint.column.is_temporal]
    return {name for name in names if first.types.get(name) != second.types.get(name)}


def _share_lost(before: set[str], after: set[str]) -> float | None:
    return len(before - after) / len(before) if before else None


def _numbers(before: Frame, after: Frame, recipe: Recipe) -> list[Pair]:
    """The numeric and ordinal attributes that both tables have: quasi-identifiers, then others that can be measured."""
    schema = recipe.schema
    others = schema.of_role(Role.CONFIDENTIAL, Role.NON_CONFIDENTIAL)
    found = []
    for name in (*schema.quasi_identifiers, *others):
        if schema[name].kind not in (Kind.NUMERIC, Kind.ORDINAL) or not {name} <= {*before.names} & {*after.names}:
            continue
        try:
            found.append(pair(before, after, name, schema[name], bounds_from_data=reads_bounds(recipe)))
        except TableError:
            if name in schema.quasi_identifiers:
                raise
    return found


@dataclass
class _Side:
    """Sums over the records of one table, and its categories."""

    numbers: Sequence[Pair]
    named: Sequence[str]
    recipe: Recipe
    unknown: set[str] = field(default_factory=set)
    categories: dict[str, set[str]] = field(default_factory=dict)
    types: dict[str, pa.DataType] = field(default_factory=dict)
    ranges: dict[str, tuple[float, float]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        n = len(self.numbers)
        self.counts, self.sums, self.squares, self.products = (np.zeros((n, n)) for _ in range(4))
        self.categories = {name: set() for name in self.named}

    def add(self, table: pa.Table) -> None:
        frame = Frame.wrap(numbers_of_text(table, self.recipe))
        for name in self.named:
            codes, labels = frame.column(name).encoded
            found = np.bincount(codes[codes >= 0], minlength=len(labels))
            self.categories[name] |= {category_text(labels[place]) for place in np.flatnonzero(found)}
        U = np.column_stack([self._scaled(frame, one) for one in self.numbers] or [np.empty((frame.n_records, 0))])
        present = ~np.isnan(U)
        M, values = present.astype(np.float64), np.where(present, U, 0.0)
        self.counts += M.T @ M
        self.sums += values.T @ M
        self.squares += (values**2).T @ M
        self.products += values.T @ values

    def _scaled(self, frame: Frame, one: Pair) -> FloatArray:
        """Values from near the mean, of size 1 or so; nothing if they cannot be read record by record."""
        column, attribute = frame.column(one.name), self.recipe.schema[one.name]
        self.types[one.name] = column.values.type
        mean, deviation = one.scale
        try:
            if attribute.kind is Kind.ORDINAL:
                if attribute.categories is None:  # ranks among all values of both tables
                    raise TableError(one.name)
                ranks = encode(column, attribute).values
                self._widen(one.name, ranks)
                values = ranks - mean
            else:
                values = self._numbers(column, one, mean)
        except TableError:
            self.unknown.add(one.name)
            return np.full(frame.n_records, np.nan)
        if np.isinf(values).any():
            self.unknown.add(one.name)
        return values / deviation

    def _numbers(self, column: Column, one: Pair, mean: float) -> FloatArray:
        integers = column.integers
        self._widen(one.name, column.numbers() if integers is None else integers[~column.missing])
        if integers is None or one.joint.column.integers is None:  # of both tables, or of one only
            return column.absolute() - mean
        values = (integers - _centre(one)).astype(np.float64)
        values[column.missing] = np.nan
        return values

    def _widen(self, name: str, values: FloatArray | IntArray) -> None:
        """The smallest and largest value so far, whole numbers as such."""
        present = values[~np.isnan(values)]
        if len(present):
            low, high = self.ranges.get(name, (present[0].item(), present[0].item()))
            self.ranges[name] = min(low, present.min().item()), max(high, present.max().item())

    def moments(self) -> PairwiseMoments:
        """Moments in the units of the sums."""
        with np.errstate(divide="ignore", invalid="ignore"):
            at = self.sums / self.counts  # mean of i where j is present too
            of_first = self.squares / self.counts - at**2
            of_first[of_first <= _NOTHING * self.squares / self.counts] = 0.0
            covariances = self.products / self.counts - at * at.T
            np.fill_diagonal(covariances, np.diag(of_first))
            correlations = covariances / np.sqrt(of_first * of_first.T)
        correlations[(of_first == 0) | (of_first.T == 0)] = np.nan
        means, variances = np.diag(at).copy(), np.diag(covariances).copy()
        return PairwiseMoments(self.counts, means, variances, covariances, np.clip(correlations, -1.0, 1.0))


def _centre(one: Pair) -> int:
    """What whole numbers are counted from: near their mean, so that differences are exact."""
    return one.joint.column.origin + round(one.scale[0])


def _both_moments(numbers: Sequence[Pair], first: _Side, second: _Side) -> BothMoments:
    """Moments of both tables in standard deviations of the first, from its mean."""
    before, after = first.moments(), second.moments()
    ends = [first.ranges.get(one.name, (0.0, 0.0)) for one in numbers]
    constant = np.array([not high > low for low, high in ends], dtype=bool)
    units = np.array([one.scale[1] for one in numbers])
    deviations = np.where(constant, 1.0 / units, np.sqrt(before.variances))
    deviations = np.where(np.nan_to_num(deviations) > 0, deviations, 1.0 / units)
    centres = np.nan_to_num(before.means)
    scales = []
    for place, one in enumerate(numbers):
        from_zero = one.scale[0]
        if one.joint.column.integers is not None and one.joint.kind is Kind.NUMERIC:
            from_zero = float(_centre(one) - _origin(one, first, second))
        scales.append((from_zero + centres[place] * units[place], deviations[place] * units[place]))

    def scaled(side: PairwiseMoments) -> PairwiseMoments:
        outer = np.outer(deviations, deviations)
        return PairwiseMoments(
            side.counts,
            (side.means - centres) / deviations,
            side.variances / deviations**2,
            side.covariances / outer,
            side.correlations,
        )

    names = tuple(one.name for one in numbers)
    return BothMoments(names, tuple(scales), tuple(constant.tolist()), scaled(before), scaled(after))


def _origin(one: Pair, first: _Side, second: _Side) -> int:
    """What dates and very large numbers are counted from: the smallest of both tables; others from zero."""
    ends = [side.ranges[one.name] for side in (first, second) if one.name in side.ranges]
    if one.joint.column.integers is None or one.joint.kind is not Kind.NUMERIC or not ends:
        return 0
    low, high = int(min(low for low, _ in ends)), int(max(high for _, high in ends))
    return low if one.joint.column.is_temporal or max(-low, high) > _EXACT_INTEGERS else 0


def _some(both: BothMoments, names: Sequence[str]) -> BothMoments:
    """Moments of some of the attributes."""
    places = [both.names.index(name) for name in names]

    def some(side: PairwiseMoments) -> PairwiseMoments:
        square = np.ix_(places, places)
        return PairwiseMoments(
            side.counts[square],
            side.means[places],
            side.variances[places],
            side.covariances[square],
            side.correlations[square],
        )

    return BothMoments(
        tuple(names),
        tuple(both.scales[place] for place in places),
        tuple(both.constant[place] for place in places),
        some(both.before),
        some(both.after),
    )
