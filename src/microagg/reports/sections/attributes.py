"""Each attribute: what it is, what was done to it, how it is distributed."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from microagg.errors import TableError
from microagg.recipe.choices import AggregateForm, Draws
from microagg.reports.distributions import (
    categories_before_and_after,
    numbers_before_and_after,
    public_categories,
    public_numbers,
)
from microagg.reports.plain import percent
from microagg.reports.section import Section
from microagg.reports.source import ReportSource
from microagg.schema.attribute import Kind, Role
from microagg.schema.units import unit_codes
from microagg.tables.frames import Column

__all__ = ["ATTRIBUTES", "PICTURED"]

PICTURED = 40
"""The distributions of this many attributes are shown; the others are only listed."""


def _attributes(source: ReportSource) -> dict[str, Any]:
    """What each attribute is, and how the first ones are distributed."""
    overview = [_declaration(name, source) for name in source.schema]
    names = source.published
    described = [_description(name, source) for name in names[:PICTURED]]
    notes = []
    if len(names) > PICTURED:
        notes.append(f"Distributions are shown for the first {PICTURED} of {len(names)} published attributes.")
    if not source.internal and any(one["distribution"]["type"] == "categories" for one in described):
        notes.append("Categories of few records, and those beyond the first eight, are counted together.")
    if source.describes_sample:
        notes.append(
            f"Distributions are those of a random sample of {source.described[0].n_records} of "
            f"{source.n_records} records."
        )
    if source.undeclared:
        notes.append(
            f"{len(source.undeclared)} released columns are not attributes of the original table and are not "
            f"described: {', '.join(source.undeclared[:12])}" + (" ..." if len(source.undeclared) > 12 else "")
        )
    return {"overview": overview, "described": described, "notes": notes}


def _declaration(name: str, source: ReportSource) -> dict[str, Any]:
    attribute = source.schema[name]
    bounds = None if attribute.bounds is None else [_bound(bound) for bound in attribute.bounds]
    return {
        "name": name,
        "role": _role(name, source),
        "kind": None if attribute.kind is None else str(attribute.kind),
        "bounds": bounds,
        "released": name in source.released.names,
        "treatment": _treatment(name, source),
    }


def _role(name: str, source: ReportSource) -> str:
    """The role as it is declared, also where a method protects attributes of every role."""
    return str(source.recipe.attributes[name].role)


def _bound(value: Any) -> str:
    return f"{value:.12g}" if isinstance(value, int | float) else str(value)


def _treatment(name: str, source: ReportSource) -> str:
    attribute, recipe = source.schema[name], source.recipe
    if name not in source.released.names:
        return "dropped" if attribute.role is Role.IDENTIFIER else "not a column of the released table"
    if attribute.role is Role.IDENTIFIER:
        return "an identifier, and published"
    if attribute.role is not Role.QUASI_IDENTIFIER:
        return "published as it is" if source.manifest is not None else "not to be changed"
    if source.manifest is None:
        return "to be protected"
    if recipe.entry.whole_table:
        return "drawn anew, from noisy counts"
    if source.is_private:
        return "replaced, with noise"
    if recipe.aggregate.way_of_drawing is Draws.SHARED:
        return "drawn from what many share"
    if recipe.aggregate.form is AggregateForm.SAMPLED:
        return "drawn from its cell's statistics"
    chosen = str(recipe.representative_of(name)).replace("taxonomic", "taxonomic centre")
    return f"replaced by its cell's {chosen}" if not recipe.entry.mixes_values else "replaced"


def _description(name: str, source: ReportSource) -> dict[str, Any]:
    attribute = source.schema[name]
    released, original = source.described
    after = released.column(name)
    before = original.column(name) if original is not None and name in original.names else None
    facts: dict[str, Any] = {"name": name, "role": _role(name, source)}
    facts["kind"] = None if attribute.kind is None else str(attribute.kind)
    facts["missing"] = {"after": _missing(int(after.missing.sum()), len(after.array), source)}
    if source.internal and before is not None:
        facts["missing"]["before"] = _missing(int(before.missing.sum()), len(before.array), source)
    try:
        facts["distribution"] = _distribution(after, before, attribute, source)
    except TableError as error:  # another tool's release may hold anything; messages name columns and counts only
        facts["distribution"] = {"type": "none", "note": str(error)}
    return facts


def _distribution(after: Any, before: Any, attribute: Any, source: ReportSource) -> dict[str, Any]:
    if attribute.kind is None:
        return {"type": "none", "note": "no kind is declared: not described"}
    if source.internal and before is not None:
        if attribute.kind is Kind.NUMERIC:
            return numbers_before_and_after(before, after)
        return categories_before_and_after(before, after, attribute)
    if attribute.kind is Kind.NUMERIC:
        return public_numbers(after, source.least)
    frequent = _once_per_unit(before, source) if source.may_compare and before is not None else None
    return public_categories(after, frequent, attribute, source.least)


def _once_per_unit(before: Column, source: ReportSource) -> Column:
    """The original values with those that one unit has several times taken once, where the recipe has units."""
    original, unit = source.described[1], source.recipe.unit
    if unit is None or original is None or unit.key not in original.names:
        return before
    codes = before.codes.astype(np.int64) + 1  # 0 is missing
    pairs = unit_codes(original.column(unit.key)) * (codes.max(initial=0) + 1) + codes
    return replace(before, array=before.array.take(np.unique(pairs, return_index=True)[1]))


def _missing(count: int, total: int, source: ReportSource) -> str:
    if source.internal:
        return f"{count} of {total}"
    if source.n_in_parts is not None:  # a count of a sample says nothing exact about the table
        share = f"about {percent(count / total)}" if count >= total / 100 else "less than 1 %"
        return share if count else "none in the sample"
    if count == 0:
        return "none"
    if count < source.least or total - count < source.least:
        return f"fewer than {source.least}" if count < source.least else f"all but fewer than {source.least}"
    return f"about {percent(count / total)}"


ATTRIBUTES = Section("attributes", _attributes, of_release_alone=False, title="Columns")
