"""What a release promises: it follows from its recipe and its blocks of cells alone, so that a check can repeat it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from microagg.aggregate.content import Content
from microagg.methods.catalogue import method_named
from microagg.privacy.guarantee import Guarantee, drawn_from_cells, k_anonymity
from microagg.recipe.choices import AggregateForm
from microagg.recipe.guide_rules import shaping_attributes
from microagg.recipe.output import RowOrder
from microagg.recipe.recipe import Recipe
from microagg.schema.attribute import Representative

__all__ = ["SEEDED_NOISE", "describe_aggregation", "guarantees_of", "stages_run"]

SEEDED_NOISE = "noise was drawn by NumPy from a seed: what is assumed about the noise is not true for this table"


def guarantees_of(recipe: Recipe, blocks: Sequence[tuple[Sequence[str], Sequence[str]]]) -> tuple[Guarantee, ...]:
    """The guarantees of a release.

    Parameters
    ----------
    recipe : Recipe
    blocks : sequence of (attributes, spiked)
        Attributes that share cells, and those of them whose draws keep a value that many share.
    """
    method = method_named(recipe.method)
    if method.is_private:
        return (method.private.guarantee(recipe),)
    if recipe.aggregate.form is AggregateForm.SAMPLED:
        return tuple(
            drawn_from_cells(
                recipe.k,
                attributes,
                order_kept=recipe.output.order is RowOrder.KEPT,
                one_of_several=len(blocks) > 1,
                guided_by=shaping_attributes(recipe),
                paired_with=recipe.aggregate.paired_with,
                statistics=_drawn_from(recipe),
                spiked=spiked,
            )
            for attributes, spiked in blocks
        )
    return tuple(
        k_anonymity(
            recipe.k,
            attributes,
            order_kept=recipe.output.order is RowOrder.KEPT,
            one_of_several=len(blocks) > 1,
            medoids=any(recipe.representative_of(name) is Representative.MEDOID for name in attributes),
            guided_by=shaping_attributes(recipe),
        )
        for attributes, _ in blocks
    )


def describe_aggregation(recipe: Recipe) -> dict[str, Any]:
    """What cells publish, for the manifest."""
    if recipe.aggregate.form is AggregateForm.SAMPLED:
        return {"form": "sampled", "numbers": f"{_drawn_from(recipe)} of the cell", "categories": "counts of the cell"}
    names = recipe.schema.quasi_identifiers
    return {"representatives": {name: str(recipe.representative_of(name)) for name in names}}


def stages_run(recipe: Recipe, stages: Mapping[str, Mapping[str, Any]]) -> list[dict[str, Any]]:
    """The stages as the manifest states them."""
    schema = recipe.schema
    described = {**stages, "partition": {"method": recipe.method, "k": recipe.k, **stages["partition"]}}
    return [
        {"stage": "schema", "roles": {name: str(schema[name].role) for name in schema}},
        *({"stage": stage, **facts} for stage, facts in described.items()),
    ]


def _drawn_from(recipe: Recipe) -> str:
    """What sampled numbers are drawn from, in words."""
    alone = recipe.aggregate.content is Content.VARIANCES
    second = "variances" if alone else "covariance"
    return f"mean and {second}" if recipe.aggregate.moments == 1 else f"mean, {second} and marginal coskewness"
