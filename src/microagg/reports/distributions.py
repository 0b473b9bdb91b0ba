"""Distributions of one attribute, as few numbers as a picture needs; coarse and guarded in the public form."""

from __future__ import annotations

import math
from collections.abc import Container, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from microagg._typing import FloatArray
from microagg.reports.disclosure import nice_step, pool_bins, pool_categories, public_step, round_to
from microagg.reports.plain import percent
from microagg.schema.attribute import Attribute
from microagg.tables.frames import Column

__all__ = ["categories_before_and_after", "numbers_before_and_after", "public_categories", "public_numbers"]


_PARTS = 20
_BINS = 30
_CATEGORIES = 8
_QUANTILES = (0.05, 0.25, 0.5, 0.75, 0.95)
_DAYS = 30
_SECONDS_A_DAY = 86_400
_SIDES = ("before", "after")
_EXTREME = 1e250


@dataclass(frozen=True)
class _Scale:
    """How a column's numbers are written: as numbers, or as dates."""

    column: Column

    @property
    def is_dated(self) -> bool:
        import pyarrow.types as types

        return bool(types.is_date(self.column.values.type) or types.is_timestamp(self.column.values.type))

    @property
    def day(self) -> float:
        import pyarrow.types as types

        unit = self.column.unit
        return float(unit if types.is_date(self.column.values.type) else unit * _SECONDS_A_DAY)

    def public_step(self, low: float, high: float) -> float | None:
        """The grid of numbers that a public report may show; None if it may show none."""
        if not self.column.is_temporal:
            return public_step(low, high, _PARTS, smallest=1.0 if self.column.is_integer else 0.0)
        if not self.is_dated or high - low < 4 * _DAYS * self.day:
            return None
        return max(nice_step((high - low) / _PARTS / self.day), _DAYS) * self.day

    def text(self, value: float, *, exact: bool) -> str:
        if self.is_dated:  # NumPy's dates have no first or last year
            at = np.datetime64(math.floor(value / self.day), "D")
            return str(at if exact else at.astype("datetime64[M]"))
        if exact:
            return f"{value:.6g}" if abs(value) < 1e6 else f"{value:,.0f}" if abs(value) < 1e15 else f"{value:.6g}"
        return f"{value:,.0f}" if 1e4 <= abs(value) < 1e15 else f"{value:.12g}"


@dataclass(frozen=True)
class _Numbers:
    """Numbers in a unit, a power of two, in which no difference overflows or vanishes.

    They lie between -1 and 1 if their magnitude is extreme, and are as they are otherwise.
    """

    values: FloatArray
    exponent: int

    @classmethod
    def of(cls, values: FloatArray) -> _Numbers:
        largest = float(np.abs(values).max(initial=0.0))
        extreme = largest > _EXTREME or 0 < largest < 1 / _EXTREME
        exponent = math.frexp(largest)[1] if extreme else 0
        return cls(np.ldexp(values, -exponent), exponent)

    def outside(self, value: float) -> float:
        """A number of this unit as the column has it."""
        return float(np.ldexp(value, self.exponent))

    def quantiles(self, shares: Sequence[float]) -> list[float]:
        return [self.outside(float(value)) for value in np.quantile(self.values, shares)]

    def mean_and_deviation(self) -> tuple[float, float]:
        largest = float(np.abs(self.values).max()) or 1.0
        small = self.values / largest  # squares of these cannot overflow
        return self.outside(float(small.mean()) * largest), self.outside(float(small.std()) * largest)


def _present(column: Column) -> FloatArray:
    """The numbers that are there, counted from zero."""
    values = column.absolute()
    return values[np.isfinite(values)]


def public_numbers(column: Column, least: int) -> dict[str, Any]:
    """Coarse shares and quantiles of released numbers; ends are open, so that no extreme value is shown."""
    values = _present(column)
    if len(values) < 2 * least:
        return {"type": "none", "note": f"fewer than {2 * least} values: not shown"}
    scale, numbers = _Scale(column), _Numbers.of(values)
    low, high = (float(one) for one in np.quantile(numbers.values, [0.05, 0.95]))
    # Numbers of extreme magnitude are not written: a grid of nice steps would overflow or vanish.
    step = scale.public_step(low, high) if numbers.exponent == 0 else None
    if high <= low:
        shown = None if step is None else scale.text(round_to(low, step), exact=False)
        about = "" if shown is None else f": about {shown}"
        return {"type": "none", "note": f"nine in ten values or more are nearly the same{about}"}
    # Edges are counted in steps from `first`: near-equal numbers differ in their distance to it, not in its multiples.
    first, grid = (low, (high - low) / _PARTS) if step is None else (math.floor(low / step) * step, step)
    # Whole numbers are cut between them, so that 20 to 25 means the same to everyone.
    first -= 0.5 if column.is_integer and step is not None and step <= 2 else 0.0
    n_parts = min(max(1, math.ceil((high - first) / grid)), 2 * _PARTS) if grid > 0 else 1
    with np.errstate(over="ignore"):  # what is too far away is clipped
        inside = np.floor((numbers.values - first) / grid) if grid > 0 else np.zeros(len(values))
    counts = np.bincount(np.clip(inside, -1, n_parts).astype(np.int64) + 1, minlength=n_parts + 2)
    steps, pooled = pool_bins([-np.inf, *range(n_parts + 1), np.inf], counts.tolist(), least)
    if len(pooled) < 2:
        return {"type": "none", "note": "too few values differ to show how they are spread"}
    labels = None
    if step is not None:
        labels = [scale.text(float(f"{first + place * step:.12g}"), exact=False) for place in steps[1:-1]]
    bins = []
    for i, count in enumerate(pooled):
        is_open = i in (0, len(pooled) - 1)
        bins.append(
            {
                "from": None if labels is None or i == 0 else labels[i - 1],
                "to": None if labels is None or i == len(pooled) - 1 else labels[i],
                "width": 1.0 if is_open else float(steps[i + 1] - steps[i]),
                "after": round(count / len(values), 2),
                "text": percent(count / len(values)) if count else "none",
            }
        )
    quantiles = []
    if step is not None:
        for share, value in zip(_QUANTILES, np.quantile(values, _QUANTILES), strict=True):
            if min(share, 1 - share) * len(values) >= least:
                quantiles.append({"of": f"{share:.0%}", "after": scale.text(round_to(value, step), exact=False)})
    note = "" if step is not None else "values lie too close together to show their numbers in three digits"
    if numbers.exponent:
        note = "values are too large or too small to show their numbers"
    return {"type": "numbers", "unit": "share", "bins": bins, "quantiles": quantiles, "note": note}


def numbers_before_and_after(before: Column, after: Column) -> dict[str, Any]:
    """Exact counts and quantiles of both tables, for the data holder."""
    old, new = _present(before), _present(after)
    both = np.concatenate([old, new])
    if not len(both):
        return {"type": "none", "note": "no value is present"}
    scale, numbers = _Scale(before), _Numbers.of(both)
    bins = _exact_bins(numbers, len(old), scale, whole=before.is_integer and numbers.exponent == 0)
    sides = {side: _Numbers.of(values) for side, values in (("before", old), ("after", new)) if len(values)}
    rows = [("smallest", 0.0), *((f"{share:.0%}", share) for share in _QUANTILES), ("largest", 1.0)]
    found = {side: one.quantiles([share for _, share in rows]) for side, one in sides.items()}
    quantiles: list[dict[str, Any]] = [
        {"of": name, **{side: scale.text(found[side][i], exact=True) if side in found else None for side in _SIDES}}
        for i, (name, _) in enumerate(rows)
    ]
    moments = {side: one.mean_and_deviation() for side, one in sides.items()}
    means = {side: scale.text(moments[side][0], exact=True) if side in moments else None for side in _SIDES}
    quantiles.append({"of": "mean", **means})
    if not scale.is_dated:
        deviations = {side: f"{moments[side][1]:.6g}" if side in moments else None for side in _SIDES}
        quantiles.append({"of": "standard deviation", **deviations})
    return {"type": "numbers", "unit": "records", "bins": bins, "quantiles": quantiles, "note": ""}


def _exact_bins(numbers: _Numbers, n_before: int, scale: _Scale, *, whole: bool) -> list[dict[str, Any]]:
    """Counts of both tables in equal parts of their common range; of whole numbers, of equally many of them."""
    low, high = float(numbers.values.min()), float(numbers.values.max())
    from_low = numbers.values - low
    span = float(from_low.max())
    width, n_bins = (span / _BINS, _BINS) if span > 0 else (1.0, 1)
    if whole and span < 1e9:
        width = float(max(1, math.ceil((span + 1) / _BINS)))
        n_bins = int(span // width) + 1
    places = np.minimum(np.floor(from_low / width), n_bins - 1).astype(np.int64) if width > 0 else from_low * 0
    edges = [numbers.outside(low + i * width) for i in range(n_bins)]
    beyond = whole or (span == 0 and numbers.exponent == 0)
    edges.append(numbers.outside(low + n_bins * width if beyond else high))
    counts = {
        "before": np.bincount(places[:n_before].astype(np.int64), minlength=n_bins),
        "after": np.bincount(places[n_before:].astype(np.int64), minlength=n_bins),
    }
    return [
        {
            "from": scale.text(edges[i], exact=True),
            "to": scale.text(edges[i + 1], exact=True),
            "width": 1.0,
            **{side: int(counts[side][i]) for side in _SIDES},
        }
        for i in range(n_bins)
    ]


def _counts(column: Column) -> dict[Any, int]:
    codes, found = column.encoded
    counts = np.bincount(codes[codes >= 0], minlength=len(found))
    return {label: int(count) for label, count in zip(found, counts, strict=True)}


def _declared_texts(attribute: Attribute) -> set[str]:
    named = {str(category) for category in attribute.categories or ()}
    return named | (set(attribute.taxonomy.nodes) if attribute.taxonomy is not None else set())


def _in_order(labels: Sequence[Any], attribute: Attribute, column: Column) -> list[Any]:
    """Ordered categories in their order, the rest as they come."""
    order = [str(category) for category in attribute.categories or column.ordered_categories or ()]
    place = {label: i for i, label in enumerate(order)}
    return sorted(labels, key=lambda label: place.get(str(label), len(place)))


def public_categories(
    column: Column, before: Column | None, attribute: Attribute, least: int, frequent: Container[str] = ()
) -> dict[str, Any]:
    """Shares of released categories. One is named if enough records have it, and if it is declared or was frequent.

    A category of few original records may be frequent in the release: a cell publishes it for all its records. Its name
    is then still that of a few, and is not shown, unless the recipe declares it. `frequent` are those that are known to
    have been frequent without the original.
    """
    counts = _counts(column)
    total = sum(counts.values())
    if total < max(least, 1):
        return {"type": "none", "note": f"fewer than {least} values: not shown"}
    declared, original = _declared_texts(attribute), {} if before is None else _counts(before)
    labels = list(counts)
    may_be_named = [
        str(label) in declared or str(label) in frequent or original.get(label, 0) >= least for label in labels
    ]
    named, others = pool_categories(list(counts.values()), may_be_named, least, _CATEGORIES)
    bars = [
        {"label": str(label), "after": round(counts[label] / total, 2)}
        for label in _in_order([labels[i] for i in named], attribute, column)
    ]
    if others:
        bars.append({"label": None, "after": round(others / total, 2)})
    return {"type": "categories", "unit": "share", "bars": bars, "note": ""}


def categories_before_and_after(before: Column, after: Column, attribute: Attribute) -> dict[str, Any]:
    """Exact counts of both tables, for the data holder."""
    old, new = _counts(before), _counts(after)
    if not old and not new:
        return {"type": "none", "note": "no value is present"}
    labels = sorted({*old, *new}, key=lambda label: (-old.get(label, 0), -new.get(label, 0), str(label)))
    shown = _in_order(labels[:_BINS], attribute, before)
    bars: list[dict[str, Any]] = [
        {"label": str(label), "before": old.get(label, 0), "after": new.get(label, 0)} for label in shown
    ]
    rest = labels[_BINS:]
    if rest:
        bars.append(
            {
                "label": None,
                "before": sum(old.get(label, 0) for label in rest),
                "after": sum(new.get(label, 0) for label in rest),
            }
        )
    note = f"{len(rest)} further categories are counted together" if rest else ""
    return {"type": "categories", "unit": "records", "bars": bars, "note": note}
