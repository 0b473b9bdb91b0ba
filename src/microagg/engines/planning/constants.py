"""What all shards must know of the whole table, so that each is encoded and standardised as the whole would be."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from microagg._typing import FloatArray
from microagg.engines.planning.groups import Groups
from microagg.engines.planning.survey import ColumnSurvey, Survey
from microagg.engines.shards import Coordinates
from microagg.partition.base import exponent_of_differences
from microagg.recipe.recipe import Recipe
from microagg.schema.attribute import Attribute, Kind
from microagg.schema.encode import EncodedColumn, encode
from microagg.space.points import Points
from microagg.space.standardize import Standardize, standardize
from microagg.tables.frames import Column
from microagg.tables.frames.column import EXACT_INTEGERS

__all__ = ["ColumnConstants", "Constants", "as_columns", "constants_of", "scale_of"]

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


def scale_of(constants: Constants) -> int:
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


def as_columns(values: FloatArray, constants: Constants) -> dict[str, EncodedColumn]:
    """Encoded numbers, ranks and codes as columns again, without the values they were encoded from."""
    import pyarrow as pa

    found = {}
    for place, (name, one) in enumerate(constants.columns.items()):
        labels = () if one.attribute.kind is Kind.NUMERIC else tuple(one.attribute.categories or ())
        found[name] = EncodedColumn(Column(name, pa.nulls(0)), one.attribute, values[:, place], labels, one.bounds)
    return found
