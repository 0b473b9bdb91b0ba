"""Utility and risk: each measure with its range, better direction and what chance would reach."""

from __future__ import annotations

from typing import Any

import numpy as np

from microagg.errors import InputError
from microagg.evaluation.evaluate import DEFINITIONS, judge
from microagg.evaluation.result import Evaluation, Measure
from microagg.report.disclosure import coarse
from microagg.report.source import Material, Sample

__all__ = ["ON_ALL", "QUICK", "SAMPLED", "measures", "of_release_alone"]

ON_ALL = ("SSE_SST", "IL1s", "JSD", "D_Y", "label_purity", "k", "k_prime", "singled_out", "distinct_l_min")
"""Measures that cost little: every report takes them on all records."""

SAMPLED = ("KS", "wasserstein", "correlation_difference", "rank_correlation_difference", "interval_disclosure_value")
"""Measures that are means over records or attributes: of large tables a sample of whole classes estimates them."""

QUICK = (*ON_ALL, *SAMPLED, "t_closeness")
"""What every report has of tables that are compared whole; none of them needs compiled code."""

_FEWEST_RECORDS = 100
_AT_RISK = 10
# Of more attributes than this, measures of every two would take longer than the release.
_PAIRED = 50
_OF_PAIRS = ("correlation_difference", "rank_correlation_difference")
_OF_RELEASE_ALONE = ("k", "k_prime", "singled_out", "distinct_l_min")
# In the unit of an attribute, or a sum over records: an equation rather than a figure. What k does not hide has a
# section of its own, which is silent about few records.
_INTERNAL_ONLY = ("SSE", "log2_SSE", "agreement", "unique_values", "categories_lost")

WITHHELD = (
    "This release is differentially private. Figures that compare it with the original records would be computed "
    "without noise, outside the budget, and would weaken what is promised. They are in the internal report only."
)


def measures(material: Material) -> dict[str, Any]:
    """Measures of :func:`microagg.evaluate`, coarse in the public form."""
    if material.original is None:
        return {"utility": [], "risk": [], "notes": ["The original table is not at hand: nothing was compared."]}
    if not material.may_compare:
        return {"utility": [], "risk": [], "notes": [WITHHELD]}
    sample, notes = material.compared, []
    small = not material.internal and material.released.n_records < 2 * material.least
    if small:  # one record is much of a small table: a mean over all would be a figure about few
        notes.append(f"With fewer than {2 * material.least} records only the release itself is measured.")
    paired = not material.full and len(material.published) > _PAIRED and not small
    if paired:
        notes.append(
            f"Of more than {_PAIRED} attributes, correlations of every two are not compared in a quick report."
        )
    left_out = _OF_PAIRS if paired else ()

    def taken(on: Sample, names: tuple[str, ...] | None) -> Evaluation:
        wanted = None if names is None else [name for name in names if name not in left_out]
        return judge(on.before, on.after, material.schema, on.rows, measures=wanted, per_record=material.internal)

    try:
        if small or material.full:
            found = taken(material.whole, _OF_RELEASE_ALONE if small else None)
        elif sample.is_whole:
            found = taken(sample, QUICK)
        else:
            found = _joined(taken(material.whole, ON_ALL), taken(sample, SAMPLED))
    except InputError as error:  # another tool's release may lack columns or hold other types
        return {"utility": [], "risk": [], "notes": [f"The tables cannot be compared: {error}"]}
    if small or material.full:
        pass
    elif not sample.is_whole:
        estimated = [name for name in SAMPLED if name in found]
        notes.append(
            f"{', '.join(estimated)}: estimated on {sample.after.n_records} of {material.released.n_records} records "
            "(whole classes of equal quasi-identifiers, chosen at random). The others are of all records. 'microagg "
            "report --full' takes all default measures on all records."
        )
    else:
        notes.append("A quick choice of measures. 'microagg report --full' takes all of the default ones.")
    if not material.rows_are_records:
        notes.append(f"Measures of records have no value: {material.row_kind.told}.")
    elif material.origins is None:
        notes.append("Which released row came from which original record is not known: some measures have no value.")
    if material.internal:
        facts = {about: [_told(one) for one in found if one.about == about] for about in ("utility", "risk")}
        return {**facts, "notes": notes, "per_record": _per_record(found, material)}
    facts = {about: [_coarse(one) for one in _public(found) if one.about == about] for about in ("utility", "risk")}
    absent = [one.name for one in found if one.value is None]
    if absent:
        notes.append(f"Without a value: {', '.join(absent)}.")
    notes.append("Figures are rounded to two digits.")
    return {**facts, "notes": notes, "changes": _changes(found, material)}


def of_release_alone(material: Material) -> dict[str, dict[str, Any]]:
    """Measures that the released table alone decides, by name, as the public form tells them."""
    on = material.whole
    found = judge(on.before, on.after, material.schema, on.rows, measures=_OF_RELEASE_ALONE)
    return {one.name: _coarse(one) for one in _public(found)}


def _joined(whole: Evaluation, estimated: Evaluation) -> Evaluation:
    """Measures of all records and of a sample, in their usual order. Values per record are of all records only."""
    by_name = {one.name: one for one in (*whole, *estimated)}
    return Evaluation(tuple(by_name[one.name] for one in DEFINITIONS if one.name in by_name), whole.per_record)


def _public(found: Evaluation) -> list[Measure]:
    return [one for one in found if one.value is not None and one.name not in _INTERNAL_ONLY]


def _frame(one: Measure) -> dict[str, Any]:
    return {"name": one.name, "better": one.better, "low": one.low, "formula": one.formula}


def _told(one: Measure) -> dict[str, Any]:
    more = {"value": one.value, "spread": one.spread, "by_chance": one.baseline, "high": one.high, "note": one.note}
    return _frame(one) | more | {"details": dict(one.details)}


def _coarse(one: Measure) -> dict[str, Any]:
    counted = one.name in ("k", "distinct_l_min")  # whole numbers that the released table shows to everyone
    value = one.value if counted else coarse(one.value)
    return _frame(one) | {"value": value, "by_chance": coarse(one.baseline), "high": coarse(one.high)}


def _changes(found: Evaluation, material: Material) -> list[dict[str, Any]]:
    """How far the distribution of each attribute moved, in hundredths; only of tables that are not small."""
    if material.released.n_records < _FEWEST_RECORDS:
        return []
    of_each: dict[str, dict[str, Any]] = {}
    for name in ("KS", "JSD"):
        for attribute, value in (found[name].details if name in found else {}).items():
            of_each.setdefault(attribute, {})[name] = None if value is None else round(value, 2)
    return [{"name": name, "KS": one.get("KS"), "JSD": one.get("JSD")} for name, one in of_each.items()]


def _per_record(found: Evaluation, material: Material) -> list[dict[str, Any]]:
    """The spread of measures over records, and which records are most at risk."""
    assert found.per_record is not None
    facts = []
    for name, values in found.per_record.values.items():
        known = np.flatnonzero(np.isfinite(values.values))
        if not len(known):
            continue
        numbers = values.values[known]
        worst = np.argsort(numbers if found[name].better == "higher" else -numbers, kind="stable")[:_AT_RISK]
        known_origins = material.origins is not None
        of = "input" if known_origins or values.of == "original" else "release"
        places = material.whole.places if values.of == "released" else None
        facts.append(
            {
                "name": name,
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
