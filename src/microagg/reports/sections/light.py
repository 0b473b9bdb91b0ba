"""The traffic light: what is promised and what is left open, by a rule that the page prints."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Any

from microagg.privacy.guarantee import DRAWN, EPSILON_DP, EPSILON_IDP, K_ANONYMITY, MICROAGGREGATED
from microagg.privacy.requirement import (
    DISTINCT_L,
    ENTROPY_L,
    MAX_SHARE,
    MIN_RANGE,
    P_SENSITIVE,
    RECURSIVE_C_L,
    REQUIREMENTS,
)
from microagg.recipe.output import RowOrder
from microagg.reports.plain import count_of, named
from microagg.reports.premises import what_says
from microagg.reports.section import Section
from microagg.reports.sections.exposure import quoted_or_counted
from microagg.reports.sections.guarantees import verdict
from microagg.reports.source import ReportSource
from microagg.schema.attribute import Role

__all__ = ["LIGHT", "RULE"]

SMALL_K = 5
LARGE_EPSILON = 1.0

RULE = (
    "Red: nothing is promised, or what is promised does not hold, or chance was not real, or an identifier is "
    "published. Amber: what is promised holds, and something that ought to be promised is not: fewer than "
    f"{SMALL_K} records alike, epsilon above {LARGE_EPSILON:g} (also of all releases, where it is stated), "
    "confidential columns without a requirement, values that point to one record (told from ten on), columns or "
    "groups of columns outside of the promise, a promise weaker than k-anonymity or than differential privacy "
    "of the original records, columns published as they are where a unit may have several records, rows in the "
    "order of the input, or no statement. Green: none of this. No light sees what the recipe does not say, such "
    "as a quasi-identifier that was declared otherwise, or persons with several records."
)
_EXCLUDE_AGREEMENT = {one.model for one in (DISTINCT_L, P_SENSITIVE, ENTROPY_L, RECURSIVE_C_L, MAX_SHARE, MIN_RANGE)}
"""With one of these promised, no class agrees in the column."""

_WORDS = {"green": "nothing that the rule looks at is open", "amber": "something is left open", "red": "do not publish"}


def _light(source: ReportSource) -> dict[str, Any]:
    """Its colour, and why; the same in both forms, as it follows from what may be published."""
    faults = list(_faults(source))
    if faults:
        return {"color": "red", "word": _WORDS["red"], "because": faults, "rule": RULE}
    gaps = list(dict.fromkeys(_gaps(source)))
    color = "amber" if gaps else "green"
    return {"color": color, "word": _WORDS[color], "because": gaps, "rule": RULE}


def _faults(source: ReportSource) -> Iterator[str]:
    found = verdict(source)
    nothing_known = found["holds"] is None and source.results.recount is None
    if found["holds"] is False or nothing_known:
        yield str(found["text"])
    published = [
        name
        for name, one in source.schema.attributes.items()
        if one.role is Role.IDENTIFIER and name in source.released.names
    ]
    if published:
        yield f"The released table has identifiers: {named(published)}."


def _gaps(source: ReportSource) -> Iterator[str]:
    """What is not promised and ought to be, or is promised weakly."""
    statement = source.statement
    if statement is None:
        yield "No statement came with this table: nothing is promised, only counted."
        if source.recipe.unit is not None:
            yield "Records were counted, and not units, of which one may have several."
    if source.recipe.output.order is RowOrder.KEPT and source.rows_are_records:
        yield "Rows stand in the order of the input: whoever knows that order knows whose they are."
    if not source.is_private:
        yield from _gaps_of_cells(source)
    for one in () if statement is None else statement["guarantees"]:
        yield from _gaps_of_promise(one)
    yield from _gaps_of_total({} if statement is None else statement)
    yield from _gaps_of_columns(source)


def _gaps_of_cells(source: ReportSource) -> Iterator[str]:
    k = source.recipe.k
    if k < SMALL_K:
        alike = "records are" if source.recipe.unit is None else "units are"
        yield f"Only {k} {alike} promised to look alike."
    statement = source.statement
    blocks = [one for one in (statement or {}).get("guarantees", ()) if one["model"] == K_ANONYMITY]
    if len(blocks) > 1:
        yield (
            f"The promise holds of each of {len(blocks)} groups of columns alone: whoever knows columns of several "
            "groups may find fewer records."
        )


def _gaps_of_promise(one: Mapping[str, Any]) -> Iterator[str]:
    if one["model"] == DRAWN:
        yield "Records were drawn by chance: this is less than k-anonymity."
    if one["model"] not in (EPSILON_DP, EPSILON_IDP):
        return
    epsilon = float(one["parameters"]["epsilon"])
    if epsilon > LARGE_EPSILON:
        factor = math.exp(epsilon) if epsilon < 700 else math.inf
        likelier = f"{factor:,.3g}" if factor < 1e6 else "over a million"
        yield f"Epsilon is {epsilon:g}: what {what_says(one)} may make an outcome {likelier} times as likely."
    if one["model"] == EPSILON_IDP:
        yield "The promise is of the table at hand, and not of every table there could have been."
    if MICROAGGREGATED in one["target"]:
        yield "The promise is not of the original records: which of them were put together is not protected."
    if "bounds" in one["target"]:
        yield "Bounds were read from the data: the promise holds given them only."


def _gaps_of_total(statement: Mapping[str, Any]) -> Iterator[str]:
    """What all releases of the table spent, where the statement says it."""
    total = statement.get("total")
    if total is None:
        return
    if total["releases"] > 1 and total["epsilon"] > LARGE_EPSILON:
        yield f"Releases of the same table have epsilon = {total['epsilon']:g} together."
    if total["others"]:
        others = count_of(total["others"], "release", "releases")
        yield f"{others} of the same table: no part of what is promised of the original records."


def _gaps_of_columns(source: ReportSource) -> Iterator[str]:
    """Columns that are published as they are."""
    as_they_are = [
        name
        for name, one in source.schema.attributes.items()
        if one.role in (Role.CONFIDENTIAL, Role.NON_CONFIDENTIAL) and name in source.released.names
    ]
    if source.is_private:
        if as_they_are:
            yield f"The promise is not of {named(as_they_are)}: published as in the original."
        return
    if as_they_are and source.recipe.unit is not None:
        yield (
            f"{named(as_they_are)}: published as in the original, where a unit may have several records. Whether "
            "values belong to one unit alone, and whether units of a class agree in one, was not counted."
        )
    confidential = [name for name in as_they_are if source.schema[name].role is Role.CONFIDENTIAL]
    required = _required(source)
    bare = [name for name in confidential if not required.get(name)]
    if bare:
        yield f"Nothing is required of confidential {named(bare)}: records that look alike may agree there."
    entries = quoted_or_counted(source)
    agreeing = [
        str(one["attribute"])
        for one in entries
        if one["what"] == "agreement"
        and required.get(one["attribute"], _EXCLUDE_AGREEMENT).isdisjoint(_EXCLUDE_AGREEMENT)
    ]
    if agreeing:
        yield f"Some records that look alike all agree in {named(agreeing)}."
    telling = [str(one["attribute"]) for one in entries if one["what"] == "unique_values" and one["values"]]
    if telling:
        many = count_of(len(telling), "column", "columns")
        yield f"Values that occur once are published as they are in {many}: {named(telling)}."


def _required(source: ReportSource) -> dict[str, set[str]]:
    """The sorts of promise that each confidential column has; of another tool's table, what was counted and holds."""
    found: dict[str, set[str]] = {}
    if source.statement is not None:
        for one in source.statement["guarantees"]:
            if one.get("confidential") is not None:
                found.setdefault(one["confidential"], set()).add(one["model"])
    for count in source.results.requirements if source.statement is None else ():
        found.setdefault(count.attribute, set()).add(REQUIREMENTS[count.requirement].model)
    return found


LIGHT = Section("light", _light, of_release_alone=True)
