"""Which recipes can be carried out in parts from counts alone; others are refused before any record is read."""

from __future__ import annotations

from microagg.private.base import form_of
from microagg.private.ranking import MARGINALS
from microagg.recipe.choices import AggregateForm, MissingPolicy
from microagg.recipe.output import RowOrder
from microagg.recipe.recipe import Recipe
from microagg.schema.attribute import Representative

__all__ = ["FROM_COUNTS", "PRIVATE_FROM_COUNTS", "find_unsupported_counts"]

PRIVATE_FROM_COUNTS = ("dp_individual_ranking", "dp_ranked_graph", "dp_ranked_copula")
"""Differentially private methods that ask nothing but counts and sums of the records."""

FROM_COUNTS = ("individual_ranking", *PRIVATE_FROM_COUNTS)
"""All methods that can be carried out from counts."""

_LOCAL = "choose --engine local (engine='local') for a table in one file that fits in memory"


def find_unsupported_counts(recipe: Recipe) -> str:
    """What stands in the way of carrying out a recipe from counts, in a sentence; empty if nothing does."""
    if recipe.method not in FROM_COUNTS:
        return (
            f"method = {recipe.method!r}, which needs more than counts of the records. Choose one of "
            f"{', '.join(FROM_COUNTS)}, or {_LOCAL}"
        )
    if recipe.entry.is_private:
        return _unsupported_of_private(recipe)
    return _unsupported_of_ranking(recipe)


def _unsupported_of_private(recipe: Recipe) -> str:
    if recipe.method == "dp_individual_ranking" and form_of(recipe) != MARGINALS:
        return (
            f"[privacy] form = {form_of(recipe)!r}, whose rows stay beside their records. Set form = {MARGINALS!r}, or "
            f"{_LOCAL}"
        )
    return ""


def _unsupported_of_ranking(recipe: Recipe) -> str:
    if recipe.guides:
        return f"a guided space, which is learned from all records together. Leave it out of [space], or {_LOCAL}"
    if recipe.aggregate.form is AggregateForm.SAMPLED:
        return f"[aggregate] form = 'sampled'. Set form = 'representative', or {_LOCAL}"
    if recipe.protect:
        return f"[protect], whose requirements need all classes together. Leave it out, or {_LOCAL}"
    if recipe.sampling_weight is not None:
        return (
            "sampling weights: of equal values with different weights, those at the border of two runs would decide "
            f"the means of both. Leave the weights out, or {_LOCAL}"
        )
    if recipe.partition.get("cut", "fixed") != "fixed":
        return (
            "[partition] cut = 'optimal', whose runs are the best for all values together. Set cut = 'fixed', or "
            f"{_LOCAL}"
        )
    if any(recipe.representative_of(name) is Representative.MEDOID for name in recipe.schema.quasi_identifiers):
        return (
            "medoids, which are found by distances that all records together standardise. Choose means or medians, or "
            f"{_LOCAL}"
        )
    if recipe.missing.policy is MissingPolicy.IMPUTE:
        return (
            "[missing] policy = 'impute', which needs the median of all records. Set policy = 'own_cell' or "
            f"'suppress', or {_LOCAL}"
        )
    if recipe.output.order is RowOrder.KEPT:
        return f"[output] order = 'kept', since records are sorted into parts. Set order = 'shuffled', or {_LOCAL}"
    return ""
