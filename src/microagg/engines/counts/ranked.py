"""One attribute of individual ranking: from the frequencies of its values to what each value publishes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from microagg._labels import label_combinations
from microagg._typing import BoolArray, FloatArray, IntArray
from microagg.aggregate.centroid import Cells
from microagg.engines.counts.frequencies import Frequencies
from microagg.engines.counts.passes import files_changed
from microagg.engines.counts.runs import Pieces, Runs, cut_into_pieces
from microagg.engines.planning.groups import Groups
from microagg.engines.planning.survey import GroupKey
from microagg.methods.output import CellSizes
from microagg.recipe.recipe import Recipe
from microagg.releases.representatives import representatives_of
from microagg.schema.attribute import Attribute, Kind
from microagg.schema.encode import EncodedColumn, encode
from microagg.space.standardize import Standardize
from microagg.tables.frames import Column

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["RankedAttribute", "RankedFacts", "rank_attribute"]


@dataclass(frozen=True)
class RankedFacts:
    """What release and statement say of one attribute.

    Attributes
    ----------
    cells : CellSizes
    remarks : tuple of str
        On strata and missing values.
    lost, spread : float
        Sums of squares within runs and in all, in the unit and with the weight that the space gives the attribute.
    n_missing : int
        Of all records, whether they take part or not.
    categories : dict of str to int
        Records of each category, of an attribute that has categories.
    """

    cells: CellSizes
    remarks: tuple[str, ...]
    lost: float
    spread: float
    n_missing: int
    categories: dict[str, int]


@dataclass(frozen=True)
class RankedAttribute:
    """What each value of an attribute publishes, for pieces of the table.

    Neighbouring values that publish the same are one segment, so there are at most some three of them for each run,
    however many values there are.

    Attributes
    ----------
    name : str
    attribute : Attribute
        As declared, with the categories that the whole table has.
    ordered : tuple or None
        Categories in the order of the column's type.
    origin : int
        What numbers are counted from.
    groups : Groups
        Strata and, within them, the missing values.
    starts : ndarray of float64
        The first value of each segment, group after group.
    ends : ndarray of int64
        Where the segments of each group end.
    published : Arrow array
        What can be published; the last is a missing value.
    middle : ndarray of int64
        For each segment a place in `published`.
    split : ndarray of int64
        Segments of one value whose first or last records publish something else.
    low, high, n_low, n_high : ndarray of int64
        For each of these, what its first and last records publish, and how many they are.
    """

    name: str
    attribute: Attribute
    ordered: tuple[Any, ...] | None
    origin: int
    groups: Groups
    starts: FloatArray
    ends: IntArray
    published: pa.Array
    middle: IntArray
    split: IntArray
    low: IntArray
    high: IntArray
    n_low: IntArray
    n_high: IntArray

    def segments_of(self, column: Column, strata: Sequence[pa.Array]) -> IntArray:
        """The segment of each record of a batch; -1 where the value is missing.

        Raises
        ------
        InputError
            If the first pass did not see the value: the files changed.
        """
        known = replace(column, ordered_categories=self.ordered, counted_from=self.origin)
        values = encode(known, self.attribute).values
        labels, keys = _group_keys(strata, np.isnan(values))
        if any(key not in self.groups.of_key for key in keys):
            raise files_changed()
        groups = self.groups.number(labels, keys)
        segments = np.full(len(values), -1, dtype=np.int64)
        for group in np.unique(groups):
            rows = np.flatnonzero((groups == group) & ~np.isnan(values))
            start, end = (int(self.ends[group - 1]) if group else 0), int(self.ends[group])
            segments[rows] = start + np.searchsorted(self.starts[start:end], values[rows], side="right") - 1
            if len(rows) and segments[rows].min() < start:
                raise files_changed()
        return segments

    def split_of(self, segments: IntArray) -> IntArray:
        """For each record the place of its segment in `split`; -1 if all its records publish the same."""
        if not len(self.split):
            return np.full(len(segments), -1, dtype=np.int64)
        places = np.minimum(np.searchsorted(self.split, segments), len(self.split) - 1)
        return np.where(self.split[places] == segments, places, -1)


def rank_attribute(frequencies: Frequencies, recipe: Recipe) -> tuple[RankedAttribute, RankedFacts]:
    """Sort an attribute, cut it into runs, and find what each value publishes.

    Raises
    ------
    TableError
        What :func:`microagg.release` raises of the column, or of strata that are too small.
    """
    name = frequencies.name
    whole = frequencies.whole()
    everyone = whole.encoded(recipe.attributes[name])
    attribute, origin = recipe.attributes[name], everyone.column.origin
    if everyone.kind is not Kind.NUMERIC:
        attribute = attribute.model_copy(update={"categories": everyone.labels})

    def measure(some: Frequencies) -> EncodedColumn:
        column = replace(some.column(), ordered_categories=frequencies.ordered, counted_from=origin)
        return encode(column, attribute)

    staying = frequencies.taking_part()
    values = measure(staying).values
    labels, keys = _group_keys(staying.strata, np.isnan(values))
    sizes = np.bincount(labels, staying.counts).astype(np.int64)
    groups = Groups.of(dict(zip(keys, sizes.tolist(), strict=True)), recipe)
    of_entry = groups.number(labels, keys)
    distinct = measure(staying.whole())
    observed = distinct.values
    choice = recipe.representative_of(name)
    larger = recipe.partition.get("larger", "middle")

    def represent(inside: FloatArray, runs: IntArray) -> FloatArray:
        return representatives_of(replace(distinct, values=inside), choice, Cells(runs), observed)

    centre = _mean(values, staying.counts)
    all_runs = [Runs(int(size), recipe.k, larger) for size in groups.sizes]
    parts = []
    for group, runs in enumerate(all_runs):
        members = np.flatnonzero(of_entry == group)
        points, counts = _in_order(values[members], staying.counts[members], centre)
        pieces = cut_into_pieces(points, counts, runs, represent)
        parts.append(_segments(points, pieces))
    cells = CellSizes((name,), sum(runs.n_runs for runs in all_runs), recipe.k, max(runs.largest for runs in all_runs))
    lost = sum(part.lost for part in parts)
    facts = RankedFacts(
        cells,
        groups.remarks,
        *_in_space(lost, distinct, staying.whole().counts, recipe),
        int(whole.counts[everyone.missing].sum()),
        _categories(whole) if everyone.kind is not Kind.NUMERIC else {},
    )
    ranked = _joined(parts, distinct)
    return RankedAttribute(name, attribute, frequencies.ordered, origin, groups, **ranked), facts


def _group_keys(strata: Sequence[pa.Array], missing: BoolArray) -> tuple[IntArray, list[GroupKey]]:
    """For each record its stratum and whether its value is missing: a label, and what the labels stand for."""
    codes = [one.dictionary_encode().indices.fill_null(-1).to_numpy(zero_copy_only=False) for one in strata]
    labels = label_combinations([*codes, missing], len(missing))
    first = np.unique(labels, return_index=True)[1]
    return labels, [(*(one[int(row)].as_py() for one in strata), int(missing[row])) for row in first]


def _mean(values: FloatArray, counts: IntArray) -> float:
    """The mean of the values that are present, 0 if none is."""
    present = ~np.isnan(values)
    values, counts = values[present], counts[present]
    if not len(values):
        return 0.0
    low = float(values.min())
    return low + float((counts / counts.sum() * (values - low)).sum())


def _in_order(values: FloatArray, counts: IntArray, centre: float) -> tuple[FloatArray, IntArray]:
    """Distinct values ascending with their counts; missing ones, as NaN, at the centre, after what equals it."""
    missing = np.isnan(values)
    points, places = np.unique(values[~missing], return_inverse=True)
    totals = np.bincount(places, counts[~missing], minlength=len(points)).astype(np.int64)
    if not missing.any():
        return points, totals
    at = int(np.searchsorted(points, centre, side="right"))
    return np.insert(points, at, np.nan), np.insert(totals, at, int(counts[missing].sum()))


@dataclass(frozen=True)
class _Segments:
    """The values of one group: those that publish the same as the one before are left out."""

    starts: FloatArray
    middle: FloatArray
    split: IntArray
    low: FloatArray
    high: FloatArray
    n_low: IntArray
    n_high: IntArray
    lost: float


def _segments(points: FloatArray, pieces: Pieces) -> _Segments:
    present = ~np.isnan(points)
    is_split = (pieces.n_low > 0) | (pieces.n_high > 0)
    points, is_split, middle = points[present], is_split[present], pieces.middle[present]
    same = (middle[1:] == middle[:-1]) | (np.isnan(middle[1:]) & np.isnan(middle[:-1]))
    goes_on = np.concatenate([[False], same & ~is_split[1:] & ~is_split[:-1]])[: len(points)]
    split = np.flatnonzero(is_split[~goes_on])
    chosen = np.flatnonzero(present)[is_split]
    ends = (pieces.low[chosen], pieces.high[chosen], pieces.n_low[chosen], pieces.n_high[chosen])
    return _Segments(points[~goes_on], middle[~goes_on], split, *ends, pieces.lost)


def _joined(parts: Sequence[_Segments], distinct: EncodedColumn) -> dict[str, Any]:
    """The segments of all groups, one after another, and what they publish as an array of the column's type."""
    ends = np.cumsum([len(part.starts) for part in parts])
    first = ends - [len(part.starts) for part in parts]
    told = {key: np.concatenate([getattr(part, key) for part in parts]) for key in ("middle", "low", "high")}
    # A missing value stands last, whether any is published or not.
    numbers = np.unique(np.concatenate([*told.values(), [np.nan]]))
    return {
        "starts": np.concatenate([part.starts for part in parts]),
        "ends": ends,
        "published": distinct.publish(numbers),
        "split": np.concatenate([part.split + start for part, start in zip(parts, first, strict=True)]),
        **{key: np.searchsorted(numbers, one) for key, one in told.items()},
        **{key: np.concatenate([getattr(part, key) for part in parts]) for key in ("n_low", "n_high")},
    }


def _in_space(lost: float, distinct: EncodedColumn, counts: IntArray, recipe: Recipe) -> tuple[float, float]:
    """What is lost and what could be, as the space counts it; of values that are present."""
    present = ~distinct.missing
    values, counts = distinct.values[present], counts[present]
    if not len(values):
        return 0.0, 0.0
    n_records = int(counts.sum())
    with np.errstate(over="ignore", invalid="ignore"):
        centred = values - values[0]
        centred -= float((counts * centred).sum()) / n_records
        spread = float((counts * np.square(centred)).sum())
        how = recipe.space.standardize
        unit = 1.0
        if how is Standardize.ZSCORE:
            unit = spread / n_records
        elif how is Standardize.MINMAX:
            unit = float(np.ptp(values)) ** 2
        elif how is Standardize.BOUNDS and distinct.bounds is not None:
            unit = (distinct.bounds[1] - distinct.bounds[0]) ** 2
    if not (0 < unit < np.inf and np.isfinite(spread) and np.isfinite(lost)):
        return 0.0, 0.0
    weight = distinct.attribute.weight
    return weight * lost / unit, weight * spread / unit


def _categories(whole: Frequencies) -> dict[str, int]:
    """How many records have each category."""
    found: Counter[str] = Counter()
    for label, count in zip(whole.values.to_pylist(), whole.counts.tolist(), strict=True):
        if label is not None:
            found[str(label)] += count
    return dict(found)
