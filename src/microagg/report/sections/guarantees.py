"""What is promised, on what assumptions, and what is not."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from microagg.privacy.guarantee import DRAWN, EPSILON_DP, EPSILON_IDP, K_ANONYMITY, ORIGINAL_RECORDS
from microagg.recipe.choices import AggregateForm
from microagg.report.section import Section
from microagg.report.source import ReportSource
from microagg.statements.statement import MADE_NOT_COUNTED, NO_GUARANTEE, NOTHING_TO_COUNT

__all__ = ["GUARANTEES", "VERDICT"]


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
        return (
            f"The published values of these attributes were drawn by chance from statistics of at least "
            f"{parameters['k']} "
            "records. This is less than k-anonymity."
        )
    if model not in (EPSILON_DP, EPSILON_IDP):
        return ""
    likely = f"no outcome is more than exp({parameters['epsilon']:g}) times as likely with one value as with another."
    if model == EPSILON_IDP:
        likely += " This holds for the table at hand, not for every possible table."
    if guarantee["target"].startswith(ORIGINAL_RECORDS):
        plain = f"Whatever one record says, the release could have come out nearly the same: {likely}"
    else:
        plain = (
            "The original records themselves are not what is protected. Given which records were put together, which "
            "is not protected, whatever one record says within its cell, the release could have come out nearly the "
            f"same: {likely}"
        )
    return (
        plain if "bounds" not in guarantee["target"] else f"{plain} It holds given bounds that were read from the data."
    )


def _guarantees(source: ReportSource) -> dict[str, Any]:
    """The statement in plain words; of another tool's table, what can be counted on it."""
    if source.statement is None:
        return _describe_table_alone(source)
    statement = source.statement
    counts = {tuple(count["attributes"]): count for count in statement["recounts"]}
    guarantees = []
    for one in statement["guarantees"]:
        count = counts.get(tuple(one["attributes"]))
        parameters = ", ".join(f"{key} = {value}" for key, value in one["parameters"].items())
        private = one["model"] in (EPSILON_DP, EPSILON_IDP)
        guarantees.append(
            {
                "title": f"{one['model']} ({parameters})",
                "attributes": list(one["attributes"]),
                "plain": _plain(one),
                "checked": _describe_count(count) if count else (MADE_NOT_COUNTED if private else NOTHING_TO_COUNT),
                "unit": one["unit"],
                "target": one["target"],
                "against": one["against"],
                "assumptions": list(one["assumptions"]),
                "not_promised": list(one["not_promised"]),
            }
        )
    note = "" if guarantees else NO_GUARANTEE
    return {"guarantees": guarantees, "remarks": list(statement["remarks"]), "note": note}


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


def _how_it_holds(guarantees: Sequence[Mapping[str, Any]]) -> str:
    """How what is promised is known to hold: by a count, or by the way the table was made."""
    model, target = guarantees[0]["model"], guarantees[0]["target"]
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


def _verdict(source: ReportSource) -> dict[str, Any]:
    """One sentence for the top of the page."""
    statement = source.statement
    if statement is not None:
        if statement["for_publication"]:
            return {"holds": True, "text": _how_it_holds(statement["guarantees"])}
        if not statement["guarantees"]:
            return {"holds": False, "text": "Not for publication: the method promises nothing about records."}
        if not all(count["holds"] for count in statement["recounts"]):
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
    if count.holds:
        text = f"No statement came with this table. Counted here: k-anonymity holds for k = {count.k}."
        return {"holds": None, "text": text}
    return {"holds": False, "text": f"k-anonymity does not hold for k = {count.k}: do not publish on its strength."}


VERDICT = Section("verdict", _verdict, of_release_alone=True)
GUARANTEES = Section("promises", _guarantees, of_release_alone=True, title="Promises")
