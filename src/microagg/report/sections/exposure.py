"""What k does not hide: of the statement in the public form, counted exactly in the internal one."""

from __future__ import annotations

from typing import Any

from microagg.errors import TableError
from microagg.privacy.guarantee import K_ANONYMITY
from microagg.recipe.choices import AggregateForm
from microagg.report.source import Material
from microagg.statements.exposure import exposure_of
from microagg.statements.exposure_text import told

__all__ = ["exposure"]


def exposure(material: Material) -> dict[str, Any]:
    """Numbers and the sentences made of them; empty where nothing is k-anonymous, so that nothing is left unhidden."""
    entries = _entries(material)
    return {"entries": entries, "told": told(entries)}


def _entries(material: Material) -> list[dict[str, Any]]:
    statement = material.statement
    if statement is not None and not material.internal:
        return [dict(one) for one in statement.get("exposure", ())]
    blocks = _blocks(material)
    if not blocks or any(name not in material.released.names for block in blocks for name in block):
        return []
    try:
        found = exposure_of(material.released, material.recipe, blocks, material.original)
    except TableError:  # another tool's values that cannot be compared; the section on measures says so
        return []
    return found.exact() if material.internal else found.public()


def _blocks(material: Material) -> list[tuple[str, ...]]:
    """The attributes of each promise of k-anonymity; of another tool's table, all quasi-identifiers together."""
    if material.statement is not None:
        promised = material.statement["guarantees"]
        return [tuple(one["attributes"]) for one in promised if one["model"] == K_ANONYMITY]
    drawn = material.recipe.aggregate.form is AggregateForm.SAMPLED
    return [] if material.is_private or drawn else [material.schema.quasi_identifiers]
