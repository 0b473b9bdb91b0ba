"""Correlations of the numeric and ordinal attributes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from microagg.reports.section import Section
from microagg.reports.source import ReportSource

__all__ = ["CORRELATED", "CORRELATIONS"]

CORRELATED = 12
"""This many attributes are correlated: a larger matrix cannot be read."""


def _correlations(source: ReportSource) -> dict[str, Any]:
    """Pearson's correlation of every two attributes, after the release; before it, too, for the data holder."""
    found = source.results.correlations
    if found is None:
        return {"names": [], "note": f"R{source.row_kind.limitation[1:]}."}
    if len(found.names) < 2:
        return {"names": [], "note": "There are fewer than two numeric or ordinal attributes to correlate."}
    notes = [*found.problems]
    if found.has_more:
        notes.append(f"Correlations are those of the first {CORRELATED} numeric or ordinal attributes.")
    if source.n_in_parts is not None:
        n_described = source.described[0].n_records
        notes.append(f"Correlations are those of a sample of {n_described} of {source.n_records} records.")
    digits = 4 if source.internal else 2
    facts: dict[str, Any] = {"names": list(found.names), "after": _rounded(found.after, digits)}
    if found.before is not None:
        facts["before"] = _rounded(found.before, digits)
        facts["moved"] = [
            [None if None in (new, old) else abs(round(new - old, digits)) for new, old in zip(*rows, strict=True)]
            for rows in zip(facts["after"], facts["before"], strict=True)
        ]
    return facts | {"note": " ".join(notes)}


def _rounded(matrix: Sequence[Sequence[float | None]], digits: int) -> list[list[float | None]]:
    """Numbers of this many digits; -0.0 is shown as 0.0."""
    return [[None if value is None else round(value, digits) + 0.0 for value in row] for row in matrix]


CORRELATIONS = Section("correlations", _correlations, of_release_alone=True)
