"""Distributions of one attribute, as few numbers as a picture needs; coarse and guarded in the public form."""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from microagg.report.disclosure import nice_step, pool_bins, pool_categories, public_step, round_to
from microagg.schema.attribute import Attribute
from microagg.tables.frames import Column

__all__ = ["categories_before_and_after", "numbers_before_and_after", "public_categories", "public_numbers"]

FloatArray = npt.NDArray[np.float64]

_PARTS = 20
_BINS = 30
_CATEGORIES = 12
_QUANTILES = (0.05, 0.25, 0.5, 0.75, 0.95)
_DAYS = 30
_SECONDS_A_DAY = 86_400


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
        if self.is_dated:
            at = dt.datetime(1970, 1, 1) + dt.timedelta(days=value / self.day)
            return at.strftime("%Y-%m-%d") if exact else at.strftime("%Y-%m")
        if exact:
            return f"{value:.6g}" if abs(value) < 1e6 else f"{value:,.0f}" if abs(value) < 1e15 else f"{value:.6g}"
        return f"{value:,.0f}" if 1e4 <= abs(value) < 1e15 else f"{value:.12g}"


def _present(column: Column) -> FloatArray:
    """The numbers that are there, counted from zero."""
    values = column.absolute()
    return values[np.isfinite(values)]


def _mean_and_deviation(values: FloatArray) -> tuple[float, float]:
    largest = float(np.abs(values).max()) or 1.0
    small = values / largest  # squares of these cannot overflow
    return float(small.mean()) * largest, float(small.std()) * largest


def public_numbers(column: Column, least: int) -> dict[str, Any]:
    """Coarse shares and quantiles of released numbers; ends are open, so that no extreme value is shown."""
    values = _present(column)
    if len(values) < 2 * least:
        return {"type": "none", "note": f"fewer than {2 * least} values: not shown"}
    scale = _Scale(column)
    low, high = (float(q) for q in np.quantile(values, [0.05, 0.95]))
    step = scale.public_step(low, high)
    grid = step if step is not None else (high - low) / _PARTS
    if high <= low:
        shown = None if step is None else scale.text(round_to(low, step), exact=False)
        about = "" if shown is None else f": about {shown}"
        return {"type": "none", "note": f"nine in ten values or more are nearly the same{about}"}
    # Whole numbers are cut between them, so that 20 to 25 means the same to everyone.
    shift = 0.5 if column.is_integer and step is not None and step <= 2 else 0.0
    first, last = np.floor(low / grid) * grid - shift, np.ceil(high / grid) * grid + shift
    inner = np.arange(first, last + grid / 2, grid)
    counts = np.bincount(np.searchsorted(inner, values, side="right"), minlength=len(inner) + 1)
    edges, pooled = pool_bins([-np.inf, *inner.tolist(), np.inf], counts.tolist(), least)
    if len(pooled) < 2:
        return {"type": "none", "note": "too few values differ to show how they are spread"}
    labels = None if step is None else [scale.text(float(f"{edge:.12g}"), exact=False) for edge in edges[1:-1]]
    bins = []
    for i, count in enumerate(pooled):
        is_open = i in (0, len(pooled) - 1)
        width = 1.0 if is_open else (edges[i + 1] - edges[i]) / grid
        bins.append(
            {
                "from": None if labels is None or i == 0 else labels[i - 1],
                "to": None if labels is None or i == len(pooled) - 1 else labels[i],
                "width": round(width, 2),
                "after": round(count / len(values), 2),
            }
        )
    quantiles = []
    if step is not None:
        for share, value in zip(_QUANTILES, np.quantile(values, _QUANTILES), strict=True):
            if min(share, 1 - share) * len(values) >= least:
                quantiles.append({"of": f"{share:.0%}", "after": scale.text(round_to(value, step), exact=False)})
    note = "" if step is not None else "values lie too close together to show their numbers in three digits"
    return {"type": "numbers", "unit": "share", "bins": bins, "quantiles": quantiles, "note": note}


def numbers_before_and_after(before: Column, after: Column) -> dict[str, Any]:
    """Exact counts and quantiles of both tables, for the data holder."""
    old, new = _present(before), _present(after)
    both = np.concatenate([old, new])
    if not len(both):
        return {"type": "none", "note": "no value is present"}
    scale = _Scale(before)
    low, high = float(both.min()), float(both.max())
    edges = np.linspace(low, high if high > low else low + 1, _BINS + 1)
    if before.is_integer and high - low < 1e9:  # bins of equally many whole numbers
        width = max(1, -int(-(high - low + 1) // _BINS))
        edges = np.arange(low, high + width + 1, width)[: int((high - low) // width) + 2]
    sides = {"before": np.histogram(old, edges)[0], "after": np.histogram(new, edges)[0]}
    bins = [
        {
            "from": scale.text(float(edges[i]), exact=True),
            "to": scale.text(float(edges[i + 1]), exact=True),
            "width": 1.0,
            **{side: int(counts[i]) for side, counts in sides.items()},
        }
        for i in range(len(edges) - 1)
    ]
    rows = [("smallest", 0.0), *((f"{share:.0%}", share) for share in _QUANTILES), ("largest", 1.0)]
    quantiles = [
        {
            "of": name,
            "before": scale.text(float(np.quantile(old, share)), exact=True) if len(old) else None,
            "after": scale.text(float(np.quantile(new, share)), exact=True) if len(new) else None,
        }
        for name, share in rows
    ]
    sides_present = {side: values for side, values in (("before", old), ("after", new)) if len(values)}
    means = {side: scale.text(_mean_and_deviation(values)[0], exact=True) for side, values in sides_present.items()}
    quantiles.append({"of": "mean", "before": means.get("before"), "after": means.get("after")})
    if not scale.is_dated:
        deviations = {side: f"{_mean_and_deviation(values)[1]:.6g}" for side, values in sides_present.items()}
        quantiles.append(
            {"of": "standard deviation", "before": deviations.get("before"), "after": deviations.get("after")}
        )
    return {"type": "numbers", "unit": "records", "bins": bins, "quantiles": quantiles, "note": ""}


def _counts(column: Column) -> dict[Any, int]:
    codes, found = column.encoded
    counts = np.bincount(codes[codes >= 0], minlength=len(found))
    return {label: int(count) for label, count in zip(found, counts, strict=True)}


def _declared(attribute: Attribute) -> set[str]:
    named = {str(category) for category in attribute.categories or ()}
    return named | (set(attribute.taxonomy.nodes) if attribute.taxonomy is not None else set())


def _in_order(labels: Sequence[Any], attribute: Attribute, column: Column) -> list[Any]:
    """Ordered categories in their order, the rest as they come."""
    order = [str(category) for category in attribute.categories or column.ordered_categories or ()]
    place = {label: i for i, label in enumerate(order)}
    return sorted(labels, key=lambda label: place.get(str(label), len(place)))


def public_categories(column: Column, before: Column | None, attribute: Attribute, least: int) -> dict[str, Any]:
    """Shares of released categories. One is named if enough records have it, and if it is declared or was frequent.

    A category of few original records may be frequent in the release: a cell publishes it for all its records. Its name
    is then still that of a few, and is not shown, unless the recipe declares it.
    """
    counts = _counts(column)
    total = sum(counts.values())
    if total < least:
        return {"type": "none", "note": f"fewer than {least} values: not shown"}
    declared, frequent = _declared(attribute), {} if before is None else _counts(before)
    labels = list(counts)
    may_be_named = [str(label) in declared or frequent.get(label, 0) >= least for label in labels]
    named, others = pool_categories(list(counts.values()), may_be_named, least, _CATEGORIES)
    bars = [
        {"label": str(label), "after": round(counts[label] / total, 2)}
        for label in _in_order([labels[i] for i in named], attribute, column)
    ]
    if others:
        bars.append({"label": None, "after": round(others / total, 2)})
    note = f"categories of few records are counted together, and those beyond {_CATEGORIES}" if others else ""
    return {"type": "categories", "unit": "share", "bars": bars, "note": note}


def categories_before_and_after(before: Column, after: Column, attribute: Attribute) -> dict[str, Any]:
    """Exact counts of both tables, for the data holder."""
    old, new = _counts(before), _counts(after)
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
