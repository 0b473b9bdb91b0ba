"""What a release promises and says of its stages; recipe and blocks of cells decide it, so a check can repeat it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from microagg.aggregate.content import Content
from microagg.privacy.guarantee import Guarantee, k_anonymity
from microagg.privacy.promises.confidential import confidential_guarantee
from microagg.privacy.promises.drawn import drawn_from_cells, drawn_from_shared_values
from microagg.privacy.ways import Way
from microagg.recipe.choices import AggregateForm, Draws, MissingPolicy
from microagg.recipe.guide_rules import shaping_attributes
from microagg.recipe.output import RowOrder
from microagg.recipe.protect import effort_of, rearranges, requirements_of
from microagg.recipe.recipe import Recipe
from microagg.schema.attribute import Representative

__all__ = [
    "ENGINES_IN_PARTS",
    "NOISE_FROM_SEED",
    "OUT_OF_CORE",
    "SEEDED_NOISE",
    "SPARK",
    "describe_aggregation",
    "describe_engine",
    "describe_rearrangement",
    "describe_schema",
    "describe_space",
    "formed_in_blocks",
    "promise_confidential_values",
    "promise_draws",
    "promise_k_anonymity",
]

Blocks = Sequence[tuple[Sequence[str], Sequence[str]]]
"""Attributes that share cells, and those of them whose draws keep a value that many share."""

OUT_OF_CORE, SPARK = "outofcore", "spark"
ENGINES_IN_PARTS = (OUT_OF_CORE, SPARK)
"""Engines that cut a table into parts."""

NOISE_FROM_SEED = "noise was drawn by NumPy from a seed"
"""How every version begins to say so."""
SEEDED_NOISE = f"{NOISE_FROM_SEED}: what is assumed about the noise is not true for this table"


def promise_k_anonymity(recipe: Recipe, blocks: Blocks) -> tuple[Guarantee, ...]:
    """k-anonymity on each block of attributes whose cells publish representatives."""
    return tuple(
        k_anonymity(
            recipe.k,
            attributes,
            order_kept=recipe.output.order is RowOrder.KEPT,
            one_of_several=len(blocks) > 1,
            medoids=any(recipe.representative_of(name) is Representative.MEDOID for name in attributes),
            guided_by=shaping_attributes(recipe),
            hidden=tuple(recipe.protect),
            key=None if recipe.unit is None else recipe.unit.key,
            together=recipe.unit is not None and recipe.unit.together,
        )
        for attributes, _ in blocks
    )


def promise_confidential_values(recipe: Recipe, blocks: Blocks) -> tuple[Guarantee, ...]:
    """What is promised of the confidential values of every class, requirement by requirement."""
    order_kept = recipe.output.order is RowOrder.KEPT
    key = None if recipe.unit is None else recipe.unit.key
    return tuple(
        confidential_guarantee(one, attributes, recipe.attributes[one.attribute], order_kept=order_kept, key=key)
        for attributes, _ in blocks
        for one in requirements_of(recipe)
    )


def describe_rearrangement(recipe: Recipe) -> dict[str, Any] | None:
    """How cells were rearranged, for the manifest; None if nothing asked for it."""
    if not rearranges(recipe):
        return None
    by_search = {"effort": effort_of(recipe)} if recipe.rearrange.by is Way.SEARCH else {}
    return {"by": str(recipe.rearrange.by), **by_search}


def promise_draws(recipe: Recipe, blocks: Blocks) -> tuple[Guarantee, ...]:
    """What is promised of records that were drawn from the statistics of cells of at least k, block by block."""
    key = None if recipe.unit is None else recipe.unit.key
    together = recipe.unit is not None and recipe.unit.together
    if recipe.aggregate.way_of_drawing is Draws.SHARED:
        return tuple(
            drawn_from_shared_values(
                recipe.k,
                attributes,
                paired_with=recipe.aggregate.paired_with,
                rare=recipe.aggregate.rarest(recipe.k),
                share=recipe.aggregate.share,
                weighted=recipe.sampling_weight is not None,
                order_kept=recipe.output.order is RowOrder.KEPT,
                one_of_several=len(blocks) > 1,
                guided_by=shaping_attributes(recipe),
                key=key,
                together=together,
            )
            for attributes, _ in blocks
        )
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
            key=key,
            together=together,
            imputes=recipe.missing.policy is MissingPolicy.IMPUTE,
        )
        for attributes, spiked in blocks
    )


def describe_schema(recipe: Recipe) -> dict[str, Any]:
    """The first stage, for the manifest: the role of each attribute."""
    return {"stage": "schema", "roles": {name: str(attribute.role) for name, attribute in recipe.attributes.items()}}


def describe_space(recipe: Recipe) -> dict[str, Any]:
    """The space in which cells of records are formed, for the manifest."""
    weights = {name: recipe.schema[name].weight for name in recipe.schema.quasi_identifiers}
    return {"standardize": str(recipe.space.standardize), "weights": weights}


def describe_aggregation(recipe: Recipe) -> dict[str, Any]:
    """What cells publish, for the manifest."""
    if recipe.aggregate.way_of_drawing is Draws.SHARED:
        shared = {"share": recipe.aggregate.share or recipe.k, "rare": recipe.aggregate.rarest(recipe.k)}
        return {"form": "sampled", "draws": "shared", "numbers": "shared values, and intervals of k", **shared}
    if recipe.aggregate.form is AggregateForm.SAMPLED:
        return {"form": "sampled", "numbers": f"{_drawn_from(recipe)} of the cell", "categories": "counts of the cell"}
    names = recipe.schema.quasi_identifiers
    return {"representatives": {name: str(recipe.representative_of(name)) for name in names}}


def describe_engine(recipe: Recipe, name: str, n_shards: int, n_blocks: int | None = None) -> dict[str, Any]:
    """How a table that was released in parts was cut, for the manifest; blocks if cells were formed in them."""
    sizes = {key: getattr(recipe.engine, key) for key in ("shard_records", "block_records", "sample_per_shard")}
    blocks = {} if n_blocks is None else {"n_blocks": n_blocks}
    return {"name": name, **sizes, "n_shards": n_shards, **blocks}


def formed_in_blocks(n_blocks: int, n_files: int) -> str:
    """What the statement says of a table that was released in parts."""
    blocks, files = ("block" if n_blocks == 1 else "blocks"), ("file" if n_files == 1 else "files together")
    return (
        f"cells were formed within {n_blocks} {blocks} of neighbouring records; this affects how much is lost, not "
        f"what is promised, which was counted on all records of the {n_files} {files}"
    )


def _drawn_from(recipe: Recipe) -> str:
    """What sampled numbers are drawn from, in words."""
    alone = recipe.aggregate.content is Content.VARIANCES
    second = "variances" if alone else "covariance"
    return f"mean and {second}" if recipe.aggregate.moments == 1 else f"mean, {second} and marginal coskewness"
