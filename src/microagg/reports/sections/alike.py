"""How many records look alike, and how often those that do agree in something confidential."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np

from microagg._typing import FloatArray, IntArray
from microagg.reports.disclosure import pool_bins
from microagg.reports.plain import percent
from microagg.reports.section import Section
from microagg.reports.source import ReportSource

__all__ = ["AGREED", "ALIKE"]

AGREED = 6
"""Agreement is shown of this many confidential attributes."""

_SIZES = (1, 2, 3, 5, 10, 20, 50, 100)
_SHARES = (0.0, 0.5, 0.75, 0.9, 1.0)
_LEAST_SHARE = ("under half", "half", "75 %", "90 %", "all")


def _alike(source: ReportSource) -> dict[str, Any] | None:
    """Shares of records, in public of enough of them; both are counted on the released table alone."""
    found = source.results.alike
    if found is None:
        return None
    before = found.before if source.internal else None
    largest = max(len(found.after), 0 if before is None else len(before))
    facts: dict[str, Any] = {"after": _by_size(found.after, largest, source)}
    if before is not None:
        facts["before"] = _by_size(before, largest, source)
    facts["confidential"] = [
        {"attribute": name, "bars": _by_share(shares, source)}
        for name, shares in list(found.agreement.items())[:AGREED]
    ]
    return facts


def _by_size(records: IntArray, largest: int, source: ReportSource) -> list[dict[str, Any]]:
    """Records by how many look like them: `records` has, for each such number, how many records there are."""
    edges = [*(size for size in _SIZES if size < largest), max(largest, 2)]
    counts = [int(records[low:high].sum()) for low, high in itertools.pairwise(edges)]
    return _shares(list(range(len(edges))), counts, [_sizes_from(edges, i) for i in range(len(edges))], source)


def _sizes_from(edges: list[int], i: int) -> tuple[str, int]:
    return str(edges[i]), edges[i]


def _by_share(shares: FloatArray, source: ReportSource) -> list[dict[str, Any]]:
    """Records by how many of those that look like them have the most frequent value."""
    places = np.searchsorted(np.array(_SHARES), shares, side="right") - 1
    counts = np.bincount(places, minlength=len(_SHARES)).tolist()
    labels = [(text, i) for i, text in enumerate(_LEAST_SHARE)]
    return _shares(list(range(len(_SHARES) + 1)), counts, [*labels, ("", len(_SHARES))], source)


def _shares(
    edges: list[int], counts: list[int], labels: list[tuple[str, int]], source: ReportSource
) -> list[dict[str, Any]]:
    """Bins as shares of all records, in whole percent in public, named by where they begin and where the next does."""
    total = sum(counts)
    kept, pooled = pool_bins(edges, counts, source.least) if not source.internal else (list(edges), counts)
    digits = 4 if source.internal else 2
    bars = []
    for first, beyond, count in zip(kept[:-1], kept[1:], pooled, strict=True):
        low, high = labels[int(first)], labels[int(beyond)]
        name = _named(low, high, is_last=int(beyond) == edges[-1])
        text = percent(count / total) if count else "none"  # what is little rounds to nothing, and is not
        bars.append({"label": name, "share": round(count / total, digits), "text": text})
    return bars


def _named(low: tuple[str, int], high: tuple[str, int], *, is_last: bool) -> str:
    if low[0] in _LEAST_SHARE:
        if is_last:
            return "all agree" if low[0] == "all" else f"{low[0]} or more" if low[0] != "under half" else "any share"
        return f"{low[0]} to {high[0]}" if low[0] != "under half" else f"under {high[0]}"
    if is_last:
        return f"{low[1]:,} or more"
    return f"{low[1]:,}" if high[1] - low[1] == 1 else f"{low[1]:,} to {high[1] - 1:,}"


ALIKE = Section("alike", _alike, of_release_alone=True)
