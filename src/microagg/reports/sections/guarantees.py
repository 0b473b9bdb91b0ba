"""What is promised, on what assumptions, and what is not."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from microagg.privacy.guarantee import DRAWN, EPSILON_DP, EPSILON_IDP, K_ANONYMITY, MICROAGGREGATED
from microagg.privacy.promises.drawn import sources_words
from microagg.privacy.requirement import (
    DISTINCT_L,
    ENTROPY_L,
    MAX_SHARE,
    MIN_RANGE,
    P_SENSITIVE,
    RECURSIVE_C_L,
    REQUIREMENTS,
    T_CLOSENESS,
    Requirement,
)
from microagg.privacy.unit_clauses import WHOLE_UNIT
from microagg.recipe.choices import AggregateForm
from microagg.reports.premises import conditions_of, premise_of
from microagg.reports.section import Section
from microagg.reports.sections.classes import QUANTITIES
from microagg.reports.source import ReportSource
from microagg.statements.statement import MADE_NOT_COUNTED, NO_GUARANTEE, nothing_to_count

__all__ = ["GUARANTEES", "VERDICT", "verdict"]

_CLAUSES = 12


def _plain(guarantee: Mapping[str, Any]) -> str:
    """The promise for a reader who has not met its name; never more than the guarantee says."""
    model, parameters = guarantee["model"], guarantee["parameters"]
    if model == K_ANONYMITY:
        return (
            "Whoever knows these attributes of a person or firm in the table, and compares them with the release, "
            f"finds at least {parameters['k']} records that share any published combination, and cannot tell by these "
            "attributes alone which is whose."
        )
    if model == DRAWN:
        sources = sources_words(parameters, units=WHOLE_UNIT in guarantee["unit"])
        values = "The published values of these attributes"
        return f"{values} were drawn by chance from {sources}. This is less than k-anonymity."
    if "confidential" in guarantee:
        return _plain_of_values(guarantee)
    if model not in (EPSILON_DP, EPSILON_IDP):
        return ""
    likely = f"no outcome is more than exp({parameters['epsilon']:g}) times as likely with one value as with another."
    plain = f"{premise_of(guarantee)}, the release could have come out nearly the same: {likely}"
    if MICROAGGREGATED in guarantee["target"]:
        plain = f"The original records themselves are not what is protected. {plain}"
    return f"{plain}{conditions_of(guarantee)}"


def _plain_of_values(guarantee: Mapping[str, Any]) -> str:
    """What a class of records shows of a confidential attribute."""
    model, parameters, name = guarantee["model"], guarantee["parameters"], repr(guarantee["confidential"])
    said = {
        DISTINCT_L.model: "at least {l} different values of {name} in it.",
        P_SENSITIVE.model: "at least {p} different values of {name} in it.",
        ENTROPY_L.model: "values of {name} in it that are as diverse as {l:g} equally frequent ones, or more.",
        RECURSIVE_C_L.model: (
            "that the most frequent value of {name} in it has fewer than {c:g} times the records of all values "
            "together from number {l} in frequency on."
        ),
        T_CLOSENESS.model: (
            "values of {name} in it that are distributed nearly as in the whole table: at most {t:g} away, where 0 is "
            "the same distribution and 1 is as far away as can be."
        ),
        MAX_SHARE.model: "no value of {name} that more than {share:g} of its records have, where 1 is all of them.",
        MIN_RANGE.model: "numbers of {name} in it that span at least {range:g}.",
    }
    if model not in said:
        return ""
    return (
        "Whoever looks for a person or firm by these attributes finds a class of records that share a published "
        f"combination, and finds {said[model].format(name=name, **parameters)}"
    )


def _guarantees(source: ReportSource) -> dict[str, Any]:
    """The statement in plain words; of another tool's table, what can be counted on it."""
    if source.statement is None:
        return _describe_table_alone(source)
    statement = source.statement
    counts = {tuple(count["attributes"]): count for count in statement["recounts"]}
    of_values = [one for one in statement["guarantees"] if "confidential" in one]
    required = iter([_of_values(*both) for both in zip(of_values, statement.get("requirements", ()), strict=True)])
    guarantees = []
    for one in statement["guarantees"]:
        if "confidential" in one:  # counted requirement by requirement, in this order
            guarantees.append(next(required))
            continue
        count = counts.get(tuple(one["attributes"]))
        parameters = ", ".join(f"{key} = {value}" for key, value in one["parameters"].items())
        private = one["model"] in (EPSILON_DP, EPSILON_IDP)
        guarantees.append(
            {
                "title": f"{one['model']} ({parameters})",
                "model": one["model"],
                "parameters": dict(one["parameters"]),
                "attributes": list(one["attributes"]),
                "plain": _plain(one),
                **(
                    {"counted": {"combinations": count["n_combinations"], "smallest": count["smallest"]}}
                    if count
                    else {}
                ),
                "checked": _describe_count(count)
                if count
                else (MADE_NOT_COUNTED if private else nothing_to_count(one["unit"])),
                "unit": one["unit"],
                "target": one["target"],
                "against": one["against"],
                "assumptions": list(one["assumptions"]),
                "not_promised": list(one["not_promised"]),
            }
        )
    note = "" if guarantees else NO_GUARANTEE
    facts = {"guarantees": guarantees, "remarks": list(statement["remarks"]), "note": note}
    sorts = _sorts(statement["guarantees"])
    return {**facts, "sorts": sorts} if sorts else facts


def _of_values(guarantee: Mapping[str, Any], count: Mapping[str, Any]) -> dict[str, Any]:
    """What is promised of a confidential attribute, and what was found: nothing about a single class."""
    one = _requirement(count)
    return {
        "title": one.title,
        "model": guarantee["model"],
        "parameters": dict(guarantee["parameters"]),
        "confidential": guarantee["confidential"],
        "attributes": list(guarantee["attributes"]),
        "plain": _plain(guarantee),
        "checked": f"Counted on the released table: {_describe_requirement(count, 'promised')}",
        "promised": count["bound"],
        "found": count["found"],
        **{key: guarantee[key] for key in ("unit", "target", "against")},
        "assumptions": list(guarantee["assumptions"]),
        "not_promised": list(guarantee["not_promised"]),
    }


def _requirement(count: Mapping[str, Any]) -> Requirement:
    return Requirement(
        REQUIREMENTS[count["requirement"]], count["attribute"], count["bound"], int(count.get("rarest", 0))
    )


def _describe_requirement(count: Mapping[str, Any], asked: str) -> str:
    """What was found of a requirement, beside what is `asked` for or promised."""
    one = _requirement(count)
    limit = "below" if one.kind is RECURSIVE_C_L else "at least" if one.kind.at_least else "at most"
    end = "smallest" if one.kind.at_least else "largest"
    worst = f"{count['found']:.6g}" if math.isfinite(count["found"]) else "infinite"
    found = f"the {end} {QUANTITIES[one.kind]} is {worst}; {limit} {count['bound']:g} is {asked}."
    if count["holds"]:
        return f"{found} It holds."
    return f"{found} It does NOT hold: {count['n_missing']} of {count['n_classes']} classes miss it."


def _sorts(guarantees: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """For each sort of promise about confidential values: what it says that the first of all promises does not."""
    sorts = []
    for model in dict.fromkeys(one["model"] for one in guarantees if "confidential" in one):
        alike = [one for one in guarantees if one["model"] == model]
        clauses = {
            "target": [one["target"] for one in alike],
            "against": [one["against"] for one in alike],
            **{
                key: [clause for one in alike for clause in one[key] if clause not in guarantees[0][key]]
                for key in ("assumptions", "not_promised")
            },
        }
        sorts.append({"model": model, **{key: _some(list(dict.fromkeys(said))) for key, said in clauses.items()}})
    return sorts


def _some(clauses: Sequence[str]) -> list[str]:
    """The first of many clauses that differ in the attribute they name."""
    left = len(clauses) - _CLAUSES
    return [
        *clauses[:_CLAUSES],
        *([f"and {left} more, of other attributes; the statement has them"] if left > 0 else []),
    ]


def _describe_table_alone(source: ReportSource) -> dict[str, Any]:
    note = (
        "No statement came with this table: it was not made by microagg, or only the table is at hand. Nothing is "
        "promised here; what follows was counted on the table."
    )
    remarks = []
    names = source.schema.quasi_identifiers
    absent = [name for name in names if name not in source.released.names]
    if absent:
        remarks.append(f"k-anonymity cannot be counted: the table lacks {', '.join(absent)}")
    elif source.results.recount is not None:
        remarks.append(_describe_count(source.results.recount.as_dict()))
    for count in source.results.requirements:
        said = _describe_requirement(count.as_dict(), "asked for")
        remarks.append(f"{_requirement(count.as_dict()).title}, counted on the released table: {said}")
    return {"guarantees": [], "remarks": remarks, "note": note}


def _describe_count(count: Mapping[str, Any]) -> str:
    what = (
        f"Counted on the released table: {count['n_records']} records, {count['n_combinations']} combinations of "
        f"{', '.join(count['attributes'])}, the rarest shared by {count['smallest']} records."
    )
    if count["holds"]:
        return f"{what} k-anonymity holds for k = {count['k']}."
    return (
        f"{what} k-anonymity does NOT hold for k = {count['k']}: {count['records_below']} records are in rarer "
        "combinations."
    )


def _how_it_holds(guarantees: Sequence[Mapping[str, Any]], *, units: bool) -> str:
    """How what is promised is known to hold: by a count, or by the way the table was made."""
    model, target = guarantees[0]["model"], guarantees[0]["target"]
    if model == K_ANONYMITY and units:
        return (
            "What is promised below of records was counted on the released table, and holds; units were counted when "
            "it was made, and cannot be counted on it."
        )
    if model == K_ANONYMITY:
        return "What is promised below was counted on the released table, and holds."
    if model == DRAWN:
        return (
            "What is promised below follows from how the table was made; cells were counted before records were drawn."
        )
    return (
        f"{model[0].upper()}{model[1:]}, protecting {target}: this follows from how the table was made and cannot be "
        "counted on it."
    )


def verdict(source: ReportSource) -> dict[str, Any]:
    """One sentence for the top of the page."""
    statement = source.statement
    if statement is not None:
        if statement["for_publication"]:
            units = source.recipe.unit is not None
            return {"holds": True, "text": _how_it_holds(statement["guarantees"], units=units)}
        if not statement["guarantees"]:
            return {"holds": False, "text": "Not for publication: the method promises nothing about records."}
        if not all(count["holds"] for count in (*statement["recounts"], *statement.get("requirements", ()))):
            return {"holds": False, "text": "Not for publication: what is promised was counted and does not hold."}
        return {"holds": False, "text": "Not for publication: made with a fixed seed, for research."}
    names = source.schema.quasi_identifiers
    if source.is_private or source.recipe.aggregate.form is AggregateForm.SAMPLED:
        return {
            "holds": None,
            "text": "No statement came with this table: nothing is promised, nothing can be counted.",
        }
    if any(name not in source.released.names for name in names):
        return {"holds": False, "text": "k-anonymity cannot be counted: the table lacks quasi-identifiers."}
    count = source.results.recount
    assert count is not None, "combinations are counted in every table without a statement that could be k-anonymous"
    missed = [one for one in source.results.requirements if not one.holds]
    if count.holds and missed:
        title = _requirement(missed[0].as_dict()).title
        return {"holds": False, "text": f"{title} does not hold: do not publish on its strength."}
    if count.holds:
        how = "Counted here" if source.recipe.unit is None else "Counted here in records, and not in units"
        text = f"No statement came with this table. {how}: k-anonymity holds for k = {count.k}."
        return {"holds": None, "text": text}
    return {"holds": False, "text": f"k-anonymity does not hold for k = {count.k}: do not publish on its strength."}


VERDICT = Section("verdict", verdict, of_release_alone=True)
GUARANTEES = Section("promises", _guarantees, of_release_alone=True, title="Promises")
