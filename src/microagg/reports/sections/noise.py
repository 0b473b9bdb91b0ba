"""How large the noise of a differentially private release is, set against what was noised."""

from __future__ import annotations

import math
import re
from typing import Any

from microagg.reports.section import Section
from microagg.reports.source import ReportSource

__all__ = ["NOISE"]

_SHOWN = 20


def _noise(source: ReportSource) -> list[dict[str, Any]]:
    """From the ledger and declared bounds alone: the scale of each mechanism, and its share of the range.

    The scale of Laplace noise is how far one draw is off, on average. Counts are set against the number of records.
    """
    ledger = None if source.statement is None else source.statement.get("budget")
    found = []
    for one in () if ledger is None else ledger["expenses"]:
        names, scale = one.get("attributes") or (), one.get("scale")
        if scale is None or not math.isfinite(scale) or one["mechanism"] != "Laplace":
            continue
        about, whole = _whole(str(one["on"]), list(names), source)
        share = None if not whole else float(f"{scale / whole:.3g}")
        if about:
            found.append({"on": one["on"], "scale": scale, "of": about, "whole": whole, "share": share})
    return found[:_SHOWN]


def _whole(on: str, names: list[str], source: ReportSource) -> tuple[str, float | None]:
    """What a draw of noise is set against: the declared range of a column, or the number of records."""
    if on.startswith("counts of "):
        return "all records", float(source.n_records)
    if len(names) != 1 or names[0] not in source.schema:
        return "", None
    if on != names[0] and not re.fullmatch(rf"means of \d+ (runs|cells) of {re.escape(names[0])}", on):
        return "", None
    bounds = source.schema[names[0]].bounds
    if bounds is None:
        return "", None
    low, high = bounds
    if not isinstance(low, int | float) or not isinstance(high, int | float):
        return "", None
    return "the declared range", float(high - low)


NOISE = Section("noise", _noise, of_release_alone=True)
