"""What a recipe of cross-moment microaggregation chooses, and which choices do not go together."""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from microagg.aggregate.content import Content, Coskewness
from microagg.methods.cross_moment_numbers import PAPER_METHODS
from microagg.methods.moment_plan import Plan, strategy_shares
from microagg.privacy.sensitivity import LEAST_RECORDS
from microagg.private.base import form_of, option_of
from microagg.schema.attribute import Attribute
from microagg.space.blocks import BlockForm, choose_blocks, contiguous_blocks

if TYPE_CHECKING:
    from microagg.recipe.recipe import Recipe

__all__ = ["MOMENTS", "SAMPLED", "check_moments", "groups_of", "is_individual", "plan_of"]

SAMPLED, MOMENTS = "sampled", "moments"
_FIXED_BY_NUMBER = ("m", "statistics", "content", "masking", "strategy")


def check_moments(recipe: Recipe) -> None:
    """Raise ValueError with the line that mends the recipe."""
    assert recipe.privacy is not None
    given, method = recipe.privacy.options, recipe.entry
    fixed = [name for name in _FIXED_BY_NUMBER if name in given]
    if method.number and fixed:
        raise ValueError(
            f"privacy.{fixed[0]}: {method.name} is method {method.number} of the paper, which fixes it. "
            'To choose freely: method = "dp_moments"'
        )
    if method.number and recipe.blocks.form is not BlockForm.ONE:
        raise ValueError(f'blocks: {method.name} has no use for [blocks]. To choose freely: method = "dp_moments"')
    if recipe.blocks.form in (BlockForm.CORRELATED, BlockForm.SPREAD):
        raise ValueError(
            f"blocks.form: {recipe.blocks.form!s} reads from the records which attributes go together; name the "
            'groups (form = "given"), or take neighbours (form = "contiguous")'
        )
    dated = [name for name in recipe.schema.quasi_identifiers if _has_dates(recipe.attributes[name])]
    if form_of(recipe) == MOMENTS and dated:
        raise ValueError(f"privacy.form: moments of dates ({dated[0]!r}) have no unit; publish records")
    separate = method.number == "" and given.get("masking") == "separate"
    if "strategy" in given and not separate:
        raise ValueError('privacy.strategy: is for masking = "separate"')
    if given.get("statistics") == "spectra" and given.get("content") == "variances":
        raise ValueError('privacy.content: spectra are of whole matrices; leave content out, or set "pure"')
    plan = plan_of(recipe)
    if "coskewness" in given and (plan.m < 2 or plan.content is Content.VARIANCES or plan.spectra):
        raise ValueError('privacy.coskewness: is for m = 2 with content = "pure"')
    if recipe.k < LEAST_RECORDS[plan.m]:
        raise ValueError(
            f"k: the sensitivity of m = {plan.m} moments is proved for cells of at least {LEAST_RECORDS[plan.m]} "
            f"records. Got k = {recipe.k}"
        )
    if recipe.privacy.weights is not None and len(groups_of(recipe)) == 1:
        raise ValueError(
            "privacy.weights: all attributes share cells and are masked together; weights divide the budget among "
            "groups of attributes ([blocks])"
        )


def plan_of(recipe: Recipe) -> Plan:
    """What is kept and how it is masked, by the method's number in the paper or by the recipe's choices."""
    method = recipe.entry
    chosen = option_of(recipe, "coskewness")
    # Draws of records use marginal coskewness only: noise for the rest would be budget wasted.
    default = Coskewness.ALL if form_of(recipe) == MOMENTS else Coskewness.MARGINAL
    # The paper truncates by width; by mean is ours, free, and better.
    truncation = option_of(recipe, "truncation") or ("by_width" if method.number else "by_mean")
    common: dict[str, Any] = {
        "coskewness": default if chosen is None else Coskewness(chosen),
        "fixed_diagonal": option_of(recipe, "repair") == "fixed_diagonal",
        "within_mean": truncation == "by_mean",
    }
    if method.number:
        return replace(PAPER_METHODS[method.number].plan, **common)
    m = int(option_of(recipe, "m"))
    spectra = option_of(recipe, "statistics") == "spectra"
    shares = None
    if option_of(recipe, "masking") == "separate":
        shares = strategy_shares(option_of(recipe, "strategy") or "balanced", m)
    content = Content.PURE if spectra else Content(option_of(recipe, "content"))
    return Plan(m, spectra=spectra, content=content, shares=shares, **common)


def _has_dates(attribute: Attribute) -> bool:
    return attribute.bounds is not None and isinstance(attribute.bounds[0], dt.date)


def is_individual(plan: Plan) -> bool:
    return plan.spectra and plan.m > 0


def groups_of(recipe: Recipe, names: Sequence[str] | None = None) -> tuple[tuple[str, ...], ...]:
    """Groups of attributes with cells of their own, in the order of `names`."""
    names = recipe.schema.quasi_identifiers if names is None else names
    method = recipe.entry
    alone = method.number and PAPER_METHODS[method.number].each_alone
    if alone or method.partitions == "attributes":
        return contiguous_blocks(names, 1)
    blocks = recipe.blocks
    if blocks.form in (BlockForm.CORRELATED, BlockForm.SPREAD):
        return (tuple(names),)  # refused by `check`
    return choose_blocks(blocks.form, names, size=blocks.size, given=blocks.attributes)
