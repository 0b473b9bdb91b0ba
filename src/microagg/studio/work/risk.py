"""What a table gives away as it is: the counts, and the sentences about them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from microagg.recipe.recipe import Recipe
from microagg.risks.assess import risk
from microagg.studio.work.table import Tell, table_for

__all__ = ["count_risk"]


def count_risk(path: str, recipe: str, folder: str, tell: Tell) -> dict[str, Any]:
    """The risk of a table, on all its records."""
    chosen = Recipe.loads(recipe, folder=folder)
    found = risk(table_for(Path(path), chosen), chosen)
    title, *sections = str(found).split("\n\n")
    told = []
    for section in sections[:-1]:  # the last says that nothing of it is for publication, as the page does
        heading, *sentences = section.split("\n")
        told.append({"title": heading, "sentences": [sentence.strip() for sentence in sentences]})
    return {"title": title, "told": told, "facts": found.as_dict()}
