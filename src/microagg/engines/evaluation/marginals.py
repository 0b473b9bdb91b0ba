"""The distribution of each attribute alone, of all records: counted at many points, in one pass over each table.

Distribution functions are compared at up to 20,000 points, values of the sample, where they are exact. What may lie
between the points is bounded, and the measure's note has the bound.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from microagg._progress import report
from microagg._typing import FloatArray, IntArray
from microagg.engines.evaluation.totals import Scale, Totals
from microagg.evaluation.definition import MeasureResult
from microagg.evaluation.utility.distribution import N_CODES, divergence, number_bins
from microagg.evaluation.utility.values import mean_of
from microagg.recipe.recipe import Recipe
from microagg.releases.input import numbers_of_text
from microagg.schema.attribute import Kind, domain_from_data
from microagg.schema.taxonomy import category_text
from microagg.tables.frames import Frame

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["MARGINAL", "TOO_SMALL", "compare_marginals"]

MARGINAL = ("JSD", "wasserstein", "KS")
TOO_SMALL = "counted on all records, at up to 20,000 values: too small by at most"
_POINTS = 20_000


def compare_marginals(
    original: Iterator[pa.Table], released: Iterator[pa.Table], totals: Totals, recipe: Recipe
) -> dict[str, MeasureResult]:
    """Measures of each quasi-identifier alone, on all records; none if numbers cannot be read record by record."""
    schema = recipe.schema
    scales = {one.name: one for one in totals.scales}
    names = schema.quasi_identifiers
    if any(schema[name].kind is not Kind.NOMINAL and name not in scales for name in names):
        return {}
    sides: list[dict[str, _Numbers | _Categories]] = []
    for tables, what in ((original, "original"), (released, "release")):
        sides.append({name: _Numbers(scales[name]) if name in scales else _Categories(name) for name in names})
        n_seen = 0
        for table in tables:
            frame = Frame.wrap(numbers_of_text(table, recipe))
            for one in sides[-1].values():
                one.add(frame)
            n_seen += table.num_rows
            report(f"counting values of the {what}: {n_seen:,} seen", 0.0)
    first, second = sides
    apart: dict[str, _Bounded] = {}
    area: dict[str, _Bounded] = {}
    diverging: dict[str, float | None] = {}
    for name in names:
        before, after = first[name], second[name]
        diverging[name] = divergence(*_by_code(before, after))
        if isinstance(before, _Numbers) and isinstance(after, _Numbers):
            apart[name], area[name] = _distances(before, after)
    found = {"JSD": mean_of(diverging)}
    return found | ({"wasserstein": _mean_of(area), "KS": _mean_of(apart)} if apart else {})


@dataclass(frozen=True)
class _Bounded:
    """A value, and how much larger it may be at most; None if there is none."""

    value: float | None
    at_most: float = 0.0


def _mean_of(details: Mapping[str, _Bounded]) -> MeasureResult:
    found = mean_of({name: one.value for name, one in details.items()})
    had = [one.at_most for one in details.values() if one.value is not None]
    if not had or not any(had):
        return found
    said = f"{TOO_SMALL} {np.mean(had):.1g}"
    return replace(found, note=f"{found.note}; {said}" if found.note else said)


class _Categories:
    """How many records have each category; None is missing."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.counts: Counter[str | None] = Counter()

    def add(self, frame: Frame) -> None:
        codes, labels = frame.column(self.name).encoded
        found = np.bincount(codes + 1, minlength=len(labels) + 1).tolist()
        texts: Sequence[str | None] = [None, *map(category_text, labels)]
        self.counts.update({text: count for text, count in zip(texts, found, strict=True) if count})


class _Numbers:
    """How many numbers or ranks lie between neighbouring points, and how far below the upper one together."""

    def __init__(self, scale: Scale) -> None:
        self.scale = scale
        seen = scale.pair.joint.values
        seen = np.unique(seen[~np.isnan(seen)]) + scale.shift
        ends = [float(end - scale.origin) for two in scale.ranges for end in two]
        some = seen[np.linspace(0, len(seen) - 1, _POINTS).astype(np.int64)] if len(seen) > _POINTS else seen
        self.points: FloatArray = np.unique(np.concatenate([some, ends]))
        self.counts = np.zeros(len(self.points), dtype=np.int64)
        self.inside = np.zeros(len(self.points), dtype=np.int64)  # those that are not at the upper point
        self.below = np.zeros(len(self.points))
        self.codes: Counter[float | None] = Counter()

    @property
    def _domain(self) -> tuple[float, float]:
        bounds = self.scale.pair.joint.attribute.bounds
        if bounds is None or self.scale.pair.joint.bounds is None:
            low, high = self.scale.ranges[0]
            if self.scale.pair.bounds_from_data and self.scale.pair.joint.kind is Kind.NUMERIC:
                low, high = domain_from_data(low, high)
            return float(low - self.scale.origin), float(high - self.scale.origin)
        return self.scale.pair.joint.bounds[0] + self.scale.shift, self.scale.pair.joint.bounds[1] + self.scale.shift

    def add(self, frame: Frame) -> None:
        values = self.scale.values(frame)
        self._add_codes(values)
        present = values[~np.isnan(values)]
        if not len(present):
            return
        places = np.minimum(np.searchsorted(self.points, present, side="left"), len(self.points) - 1)
        self.counts += np.bincount(places, minlength=len(self.points))
        self.inside += np.bincount(places[self.points[places] > present], minlength=len(self.points))
        self.below += np.bincount(places, self.points[places] - present, minlength=len(self.points))

    def _add_codes(self, values: FloatArray) -> None:
        """Parts of the domain; of ranks and of constants, the values."""
        low, high = self._domain if self.scale.ranges else (0.0, 0.0)
        if self.scale.pair.joint.kind is Kind.NUMERIC and high > low:
            found = np.bincount(number_bins(values, low, high), minlength=N_CODES).tolist()
            self.codes.update({float(code): count for code, count in enumerate(found) if count})
            return
        present, counts = np.unique(values[~np.isnan(values)], return_counts=True)
        self.codes.update(dict(zip(present.tolist(), counts.tolist(), strict=True)))
        self.codes.update({None: int(np.isnan(values).sum())})


def _by_code(before: _Numbers | _Categories, after: _Numbers | _Categories) -> tuple[IntArray, IntArray]:
    """How many records of either table have each category, or lie in each part of the domain."""
    first, second = (one.codes if isinstance(one, _Numbers) else one.counts for one in (before, after))
    codes = list({**dict.fromkeys(first), **dict.fromkeys(second)})
    counts = [np.array([side[code] for code in codes], dtype=np.int64) for side in (first, second)]  # type: ignore[index]
    return counts[0], counts[1]


def _distances(before: _Numbers, after: _Numbers) -> tuple[_Bounded, _Bounded]:
    """The largest difference of two distribution functions, and the area between them in standard deviations."""
    n_before, n_after = before.counts.sum(), after.counts.sum()
    if not (n_before and n_after):
        return _Bounded(None), _Bounded(None)
    apart = np.cumsum(before.counts) / n_before - np.cumsum(after.counts) / n_after
    largest = float(np.abs(apart).max())
    left = np.abs(apart[:-1])
    between = np.maximum(before.inside / n_before, after.inside / n_after)[1:]
    reach = float((left + between)[between > 0].max(initial=0.0))
    gaps, deviation = np.diff(before.points), before.scale.deviation
    low, high = before.below[1:] / n_before, after.below[1:] / n_after
    area = float(np.abs(apart[:-1] * gaps + low - high).sum()) / deviation
    most = float((left * gaps + low + high)[between > 0].sum() + (left * gaps)[between == 0].sum()) / deviation
    if before.scale.is_constant and area > 0:
        return _Bounded(largest, max(reach - largest, 0.0)), _Bounded(None)
    return _Bounded(largest, max(reach - largest, 0.0)), _Bounded(area, max(most - area, 0.0))
