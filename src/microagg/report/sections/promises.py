"""What is promised, on what assumptions, and what is not."""

from __future__ import annotations

from typing import Any

from microagg.releases.recipe import AggregateForm
from microagg.releases.statement import MADE_NOT_COUNTED, NO_GUARANTEE, NOTHING_TO_COUNT
from microagg.releases.verify import recount
from microagg.report.material import Material

__all__ = ["promises", "verdict"]

PLAIN = {
    "k-anonymity": (
        "Whoever knows the quasi-identifiers of a person or firm finds at least {k} published records that could be "
        "theirs, and cannot tell from these attributes which it is."
    ),
    "drawn from cells of at least k": (
        "The quasi-identifiers of published records are drawn by chance from statistics of at least {k} records each. "
        "This is less than k-anonymity."
    ),
    "epsilon-differential privacy": (
        "Whatever one protected record says, the release would have come out nearly as likely: no outcome is more than "
        "exp({epsilon:g}) times as likely with the one value as with another."
    ),
    "epsilon-individual differential privacy": (
        "For the table at hand, whatever one record says, the release would have come out nearly as likely: no outcome "
        "is more than exp({epsilon:g}) times as likely with the one value as with another."
    ),
}


def promises(material: Material) -> dict[str, Any]:
    """The statement in plain words; of another tool's table, what can be counted on it."""
    if material.statement is None:
        return _counted_here(material)
    statement = material.statement
    counts = {tuple(count["attributes"]): count for count in statement["recounts"]}
    guarantees = []
    for one in statement["guarantees"]:
        count = counts.get(tuple(one["attributes"]))
        parameters = ", ".join(f"{key} = {value}" for key, value in one["parameters"].items())
        private = one["model"].startswith("epsilon")
        guarantees.append(
            {
                "title": f"{one['model']} ({parameters})",
                "attributes": list(one["attributes"]),
                "plain": PLAIN[one["model"]].format(**one["parameters"]) if one["model"] in PLAIN else "",
                "checked": _told(count) if count else (MADE_NOT_COUNTED if private else NOTHING_TO_COUNT),
                "unit": one["unit"],
                "target": one["target"],
                "against": one["against"],
                "assumptions": list(one["assumptions"]),
                "not_promised": list(one["not_promised"]),
            }
        )
    note = "" if guarantees else NO_GUARANTEE
    return {"guarantees": guarantees, "remarks": list(statement["remarks"]), "note": note}


def _counted_here(material: Material) -> dict[str, Any]:
    note = (
        "No statement came with this table: it was not made by microagg, or only the table is at hand. Nothing is "
        "promised here; what follows was counted on the table."
    )
    remarks = []
    names = material.schema.quasi_identifiers
    absent = [name for name in names if name not in material.released.names]
    if absent:
        remarks.append(f"k-anonymity cannot be counted: the table lacks {', '.join(absent)}")
    elif not material.is_private and material.recipe.aggregate.form is not AggregateForm.SAMPLED:
        remarks.append(_told(_recounted(material)))
    return {"guarantees": [], "remarks": remarks, "note": note}


def _recounted(material: Material) -> dict[str, Any]:
    recipe = material.recipe
    return recount(material.released.table, recipe.schema.quasi_identifiers, recipe.k).as_dict()


def _told(count: Any) -> str:
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


def verdict(material: Material) -> dict[str, Any]:
    """One sentence for the top of the page."""
    statement = material.statement
    if statement is not None:
        if statement["for_publication"]:
            return {"holds": True, "text": "What is promised below was checked on the released table, and holds."}
        if not statement["guarantees"]:
            return {"holds": False, "text": "Not for publication: the method promises nothing about records."}
        if not all(count["holds"] for count in statement["recounts"]):
            return {"holds": False, "text": "Not for publication: what is promised was counted and does not hold."}
        return {"holds": False, "text": "Not for publication: made with a fixed seed, for research."}
    names = material.schema.quasi_identifiers
    if material.is_private or material.recipe.aggregate.form is AggregateForm.SAMPLED:
        return {
            "holds": None,
            "text": "No statement came with this table: nothing is promised, nothing can be counted.",
        }
    if any(name not in material.released.names for name in names):
        return {"holds": False, "text": "k-anonymity cannot be counted: the table lacks quasi-identifiers."}
    count = _recounted(material)
    if count["holds"]:
        text = f"No statement came with this table. Counted here: k-anonymity holds for k = {count['k']}."
        return {"holds": None, "text": text}
    return {"holds": False, "text": f"k-anonymity does not hold for k = {count['k']}: do not publish on its strength."}
