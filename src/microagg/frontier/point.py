"""One release of a sweep or a tradeoff: made by a recipe, rows in order, and measured against its original."""

from __future__ import annotations

from typing import Any

from microagg.evaluation.evaluate import evaluate
from microagg.evaluation.result import Evaluation
from microagg.recipe.output import RowOrder
from microagg.recipe.recipe import Recipe
from microagg.releases.pipeline import release
from microagg.releases.release import Release

__all__ = ["keep_order", "release_and_measure"]


def keep_order(recipe: Recipe, changes: dict[str, Any] | None = None) -> Recipe:
    """The recipe with its rows kept in order, and other changes: both tables are at hand, and nothing is written."""
    return recipe.changed({**(changes or {}), "output.order": RowOrder.KEPT})


def release_and_measure(
    table: Any, recipe: Recipe, *, measures: tuple[str, ...], lambda_: float, seed: int | None = None
) -> tuple[Release, Evaluation]:
    """Make a release of a table and measure it."""
    made = release(table, recipe, seed=seed)
    return made, evaluate(table, made, recipe, measures=measures, lambda_=lambda_)
