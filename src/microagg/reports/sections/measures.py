"""Utility and risk: each measure with its range, better direction and what chance would reach."""

from __future__ import annotations

from typing import Any

import numpy as np

from microagg.evaluation.result import Evaluation, Measure
from microagg.reports.disclosure import coarse
from microagg.reports.plain import in_words, title_of
from microagg.reports.results import MeasureResults
from microagg.reports.section import Section
from microagg.reports.source import ReportRequest, ReportSource

__all__ = ["MEASURES", "MOST_PAIRED", "describe_publicly", "describe_value"]

MOST_PAIRED = 50
"""With more attributes than this, measures of every two would take longer than the release."""

_FEWEST_RECORDS = 100
_AT_RISK = 10
_NEARLY_ALL = 0.99
# In the unit of an attribute, or a sum over records: an equation rather than a figure. What k does not hide has a
# section of its own, which is silent about few records.
_INTERNAL_ONLY = ("SSE", "log2_SSE", "agreement", "unique_values", "categories_lost")

WITHHELD = (
    "This release is differentially private. Figures that compare it with the original records would be computed "
    "without noise, outside the budget, and would weaken what is promised. They are in the internal report only."
)


def _measures(source: ReportSource) -> dict[str, Any]:
    """Measures of :func:`microagg.evaluate`, coarse in the public form."""
    if source.original is None:
        return {"utility": [], "risk": [], "notes": ["The original table is not at hand: nothing was compared."]}
    results = source.results.measures
    if results is None:
        return {"utility": [], "risk": [], "notes": [WITHHELD]}
    found = results.evaluation
    if found is None:
        return {"utility": [], "risk": [], "notes": [f"The tables cannot be compared: {results.problem}"]}
    notes = _notes(results, source)
    if source.internal:
        facts: dict[str, Any] = {
            about: [_exact(one, source) for one in found if one.about == about] for about in ("utility", "risk")
        }
        facts["changes"] = _changes(found, source)
        if found.per_record is None:
            notes.append("Single records are not looked at in a table of this size.")
        return {**facts, "notes": notes, "per_record": _per_record(found, results, source)}
    public = describe_publicly(found, source)
    facts = {about: [public[one.name] for one in _public(found) if one.about == about] for about in ("utility", "risk")}
    absent = [one.name for one in found if one.value is None]
    if absent:
        notes.append(f"Without a value: {', '.join(title_of(name) for name in absent)}.")
    notes.append("Figures are rounded to two digits.")
    return {**facts, "notes": notes, "changes": _changes(found, source)}


def _notes(results: MeasureResults, source: ReportSource) -> list[str]:
    """On how many records which measures were taken, and why some have no value."""
    notes = []
    if results.is_of_release_alone:
        notes.append(f"With fewer than {2 * source.least} records only the release itself is measured.")
    if results.leaves_out_pairs:
        notes.append(
            f"With more than {MOST_PAIRED} attributes, a quick report does not compare the correlations of every two."
        )
    if results.evaluation is not None and results.evaluation.sampled is not None:
        notes += [results.evaluation.sampled.as_text(), *results.evaluation.sampled.remarks]
    if results.n_sampled is not None:
        notes.append(
            f"{', '.join(title_of(name) for name in results.estimated)}: estimated on "
            f"{results.n_sampled} of {source.released.n_records} records "
            "(whole classes of equal quasi-identifiers, chosen at random). The other measures are of all records. "
            "'microagg "
            "report --full' takes all default measures on all records."
        )
    elif not (results.is_of_release_alone or source.full):
        notes.append("A quick choice of measures. 'microagg report --full' takes all of the default ones.")
    if not source.rows_are_records:
        notes.append(f"Measures of records have no value: {source.row_kind.limitation}.")
    elif source.origins is None:
        notes.append("Which released row came from which original record is not known: some measures have no value.")
    return notes


def describe_publicly(found: Evaluation, request: ReportRequest) -> dict[str, dict[str, Any]]:
    """Measures by name, as the public form shows them."""
    return {one.name: _coarse(one, request) for one in _public(found)}


def _public(found: Evaluation) -> list[Measure]:
    return [one for one in found if one.value is not None and one.name not in _INTERNAL_ONLY]


def _frame(one: Measure) -> dict[str, Any]:
    said = {"name": one.name, "better": one.better, "low": one.low}
    return said | {"formula": one.formula, "words": one.words}


def _exact(one: Measure, request: ReportRequest) -> dict[str, Any]:
    more = {"value": one.value, "spread": one.spread, "by_chance": one.baseline, "high": one.high, "note": one.note}
    said = describe_value(one.name, one.value, one.baseline, request)
    return _frame(one) | more | said | {"details": dict(one.details)}


def _coarse(one: Measure, request: ReportRequest) -> dict[str, Any]:
    counted = one.name in ("k", "distinct_l_min")  # whole numbers that the released table shows to everyone
    value = one.value if counted else coarse(one.value)
    if value == 1.0 and one.value is not None and one.value < value:  # nearly all is not all
        value = _NEARLY_ALL
    chance = coarse(one.baseline)
    numbers = {"value": value, "by_chance": chance, "high": coarse(one.high)}
    return _frame(one) | numbers | describe_value(one.name, value, chance, request)


def describe_value(name: str, value: float | None, by_chance: float | None, request: ReportRequest) -> dict[str, str]:
    """What a measure is called, and its number and that of chance in words."""
    chance = "" if by_chance is None else in_words(name, by_chance)
    return {"title": title_of(name), "text": in_words(name, value, can_guess=request.can_guess), "chance_text": chance}


def _changes(found: Evaluation, source: ReportSource) -> list[dict[str, Any]]:
    """How far the distribution of each attribute moved; in public in hundredths, and only of tables that are not small.

    The internal form also has the share of each attribute's variation that is lost.
    """
    if source.released.n_records < _FEWEST_RECORDS and not source.internal:
        return []
    digits, kinds = (4, ("KS", "JSD", "SSE_SST")) if source.internal else (2, ("KS", "JSD"))
    of_each: dict[str, dict[str, Any]] = {}
    for name in kinds:
        for attribute, value in (found[name].details if name in found else {}).items():
            of_each.setdefault(attribute, {})[name] = None if value is None else round(value, digits)
    return [{"name": name, **{kind: one.get(kind) for kind in kinds}} for name, one in of_each.items()]


def _per_record(found: Evaluation, results: MeasureResults, source: ReportSource) -> list[dict[str, Any]]:
    """The spread of measures over records, and which records are most at risk."""
    facts = []
    for name, values in (found.per_record.values if found.per_record is not None else {}).items():
        known = np.flatnonzero(np.isfinite(values.values))
        if not len(known):
            continue
        numbers = values.values[known]
        worst = np.argsort(numbers if found[name].better == "higher" else -numbers, kind="stable")[:_AT_RISK]
        known_origins = source.origins is not None
        of = "input" if known_origins or values.of == "original" else "release"
        places = results.places if values.of == "released" else None
        facts.append(
            {
                "name": name,
                "title": title_of(name),
                "better": found[name].better,
                "quantiles": [
                    {"of": f"{share:.0%}", "value": float(np.quantile(numbers, share))}
                    for share in (0.0, 0.05, 0.5, 0.95, 1.0)
                ],
                "rows_of": of,
                "most_at_risk": [int(places[known[i]] if places is not None else known[i]) for i in worst],
            }
        )
    return facts


MEASURES = Section("measures", _measures, of_release_alone=False)
