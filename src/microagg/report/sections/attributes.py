"""Each attribute: what it is, what was done to it, how it is distributed."""

from __future__ import annotations

from typing import Any

from microagg.errors import TableError
from microagg.recipe.choices import AggregateForm
from microagg.report.distributions import (
    categories_before_and_after,
    numbers_before_and_after,
    public_categories,
    public_numbers,
)
from microagg.report.source import Material
from microagg.schema.attribute import Kind, Role

__all__ = ["PICTURED", "attributes"]

PICTURED = 40
"""Of so many attributes the distribution is shown; of the others only what they are."""


def attributes(material: Material) -> dict[str, Any]:
    """What each attribute is, and of the first ones how they are distributed."""
    overview = [_declared(name, material) for name in material.schema]
    names = material.published
    described = [_described(name, material) for name in names[:PICTURED]]
    notes = []
    if len(names) > PICTURED:
        notes.append(f"Distributions are shown of the first {PICTURED} of {len(names)} published attributes.")
    if material.describes_sample:
        notes.append(
            f"Distributions are those of a random sample of {material.described[0].n_records} of "
            f"{material.released.n_records} records."
        )
    if material.undeclared:
        notes.append(
            f"{len(material.undeclared)} released columns are not attributes of the original table and are not "
            f"described: {', '.join(material.undeclared[:12])}" + (" ..." if len(material.undeclared) > 12 else "")
        )
    return {"overview": overview, "described": described, "notes": notes}


def _declared(name: str, material: Material) -> dict[str, Any]:
    attribute = material.schema[name]
    bounds = None if attribute.bounds is None else [_bound(bound) for bound in attribute.bounds]
    return {
        "name": name,
        "role": str(attribute.role),
        "kind": None if attribute.kind is None else str(attribute.kind),
        "bounds": bounds,
        "released": name in material.released.names,
        "treatment": _treatment(name, material),
    }


def _bound(value: Any) -> str:
    return f"{value:.12g}" if isinstance(value, int | float) else str(value)


def _treatment(name: str, material: Material) -> str:
    attribute, recipe = material.schema[name], material.recipe
    if name not in material.released.names:
        return "dropped" if attribute.role is Role.IDENTIFIER else "not a column of the released table"
    if attribute.role is Role.IDENTIFIER:
        return "an identifier, and published"
    if attribute.role is not Role.QUASI_IDENTIFIER:
        return "published as it is" if material.manifest is not None else "not to be changed"
    if material.manifest is None:
        return "to be protected"
    if material.is_private:
        return "replaced, with noise"
    if recipe.aggregate.form is AggregateForm.SAMPLED:
        return "drawn from its cell's statistics"
    chosen = str(recipe.representative_of(name)).replace("taxonomic", "taxonomic centre")
    return f"replaced by its cell's {chosen}" if not recipe.entry.mixes_values else "replaced"


def _described(name: str, material: Material) -> dict[str, Any]:
    attribute = material.schema[name]
    released, original = material.described
    after = released.column(name)
    before = original.column(name) if original is not None and name in original.names else None
    facts: dict[str, Any] = {"name": name, "role": str(attribute.role)}
    facts["kind"] = None if attribute.kind is None else str(attribute.kind)
    facts["missing"] = {"after": _missing(int(after.missing.sum()), len(after.array), material)}
    if material.internal and before is not None:
        facts["missing"]["before"] = _missing(int(before.missing.sum()), len(before.array), material)
    try:
        facts["distribution"] = _distribution(after, before, attribute, material)
    except TableError as error:  # another tool's release may hold anything; messages name columns and counts only
        facts["distribution"] = {"type": "none", "note": str(error)}
    return facts


def _distribution(after: Any, before: Any, attribute: Any, material: Material) -> dict[str, Any]:
    if attribute.kind is None:
        return {"type": "none", "note": "no kind is declared: not described"}
    if material.internal and before is not None:
        if attribute.kind is Kind.NUMERIC:
            return numbers_before_and_after(before, after)
        return categories_before_and_after(before, after, attribute)
    if attribute.kind is Kind.NUMERIC:
        return public_numbers(after, material.least)
    frequent = before if material.may_compare else None
    return public_categories(after, frequent, attribute, material.least)


def _missing(count: int, total: int, material: Material) -> str:
    if material.internal:
        return f"{count} of {total}"
    if count == 0:
        return "none"
    if count < material.least or total - count < material.least:
        return f"fewer than {material.least}" if count < material.least else f"all but fewer than {material.least}"
    return f"about {count / total:.0%}"
