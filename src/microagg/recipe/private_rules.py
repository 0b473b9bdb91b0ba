"""Which recipes a differentially private method can carry out; what it cannot is refused before any record is read."""

from __future__ import annotations

from typing import TYPE_CHECKING

from microagg._validation import check_parameters
from microagg.errors import ParameterError, did_you_mean
from microagg.methods.catalogue import Method
from microagg.recipe.privacy import BoundsSource
from microagg.schema.attribute import Kind, Role
from microagg.space.blocks import BlockForm
from microagg.tables.phrases import names_phrase

if TYPE_CHECKING:
    from microagg.recipe.recipe import Recipe

__all__ = ["check_private"]


def check_private(recipe: Recipe, method: Method) -> None:
    """Raise ValueError with the line that mends the recipe."""
    if not method.is_private:
        if recipe.privacy is not None:
            raise ValueError(f"privacy: {method.name} adds no noise; leave [privacy] out, or choose a private method")
        return
    if recipe.privacy is None:
        raise ValueError(
            f"privacy: {method.name} is differentially private and needs a budget. Add: [privacy] epsilon = 1"
        )
    if not method.has_cells and recipe.k != 1:
        raise ValueError(f"k: {method.name} takes every record alone; leave k out")
    _check_keys(recipe, method)
    _check_form(recipe, method)
    _check_weights(recipe)
    _check_public_domains(recipe, method)
    _check_nothing_from_data(recipe, method)
    method.private.check(recipe)


def _check_keys(recipe: Recipe, method: Method) -> None:
    assert recipe.privacy is not None
    known = [*type(recipe.privacy).model_fields, *method.private.options]
    for name in recipe.privacy.options:
        if name not in method.private.options:
            raise ValueError(
                f"privacy.{name}: {method.name} has no such key.{did_you_mean(name, known)} It has: {', '.join(known)}"
            )
    given = {name: rule for name, rule in method.private.options.items() if name in recipe.privacy.options}
    try:
        check_parameters("[privacy]", given, recipe.privacy.options)
    except ParameterError as error:
        raise ValueError(f"privacy: {error}") from None


def _check_form(recipe: Recipe, method: Method) -> None:
    assert recipe.privacy is not None
    forms, linked = method.private.forms, method.private.linked_forms
    form = recipe.privacy.form or forms[0]
    if form not in forms:
        words = ", ".join(repr(word) for word in forms)
        raise ValueError(f"privacy.form: must be one of {words}. Got {form!r} instead.{did_you_mean(form, forms)}")
    beside = recipe.schema.of_role(Role.CONFIDENTIAL, Role.NON_CONFIDENTIAL)
    if beside and form not in linked:
        names = names_phrase([repr(name) for name in beside])
        other = f' or choose form = "{linked[0]}", which promises less' if linked else ""
        raise ValueError(
            f"privacy.form: {form!r} publishes nothing as it is; not {names}. Give these "
            f"role = 'quasi_identifier' to protect them, 'identifier' to drop them,{other}"
        )


def _check_weights(recipe: Recipe) -> None:
    assert recipe.privacy is not None
    if recipe.privacy.weights is None:
        return
    protected = recipe.schema.quasi_identifiers
    for name in recipe.privacy.weights:
        if name not in protected:
            raise ValueError(f"privacy.weights: {name!r} is not a quasi_identifier.{did_you_mean(name, protected)}")
    without = [name for name in protected if name not in recipe.privacy.weights]
    if without:
        raise ValueError(f"privacy.weights: no share for {names_phrase([repr(name) for name in without])}")


def _check_public_domains(recipe: Recipe, method: Method) -> None:
    assert recipe.privacy is not None
    for name in recipe.schema.quasi_identifiers:
        attribute = recipe.attributes[name]
        if attribute.kind is Kind.NUMERIC and attribute.bounds is None:
            if recipe.privacy.bounds is BoundsSource.FROM_DATA:
                continue
            raise ValueError(
                f"attributes.{name}: {method.name} needs its public bounds. Add: bounds = [low, high] (or, to promise "
                'less, [privacy] bounds = "from_data")'
            )
        if attribute.kind is Kind.ORDINAL and attribute.categories is None:
            raise ValueError(f"attributes.{name}: {method.name} needs its public categories. Add: categories = [...]")
        if attribute.kind is Kind.NOMINAL and attribute.categories is None and attribute.taxonomy is None:
            raise ValueError(
                f"attributes.{name}: {method.name} needs its public categories. Add: categories = [...], or a taxonomy"
            )


def _check_nothing_from_data(recipe: Recipe, method: Method) -> None:
    """Nothing but the mechanisms may look at the records."""
    if recipe.missing.policy != "error":
        raise ValueError(
            f"missing.policy: {method.name} takes complete records only, since who is left out or what is filled in "
            "would depend on the data; leave it at 'error'"
        )
    if recipe.strata.by:
        raise ValueError(f"strata: their sizes depend on the data, which {method.name} must not show; leave them out")
    if recipe.sampling_weight is not None:
        raise ValueError(f"sampling_weight: {method.name} does not weigh records; leave it out")
    takes_blocks = method.private.uses_space or method.private.uses_blocks
    if recipe.blocks.form is not BlockForm.ONE and not takes_blocks:
        raise ValueError(f"blocks: {method.name} has no use for blocks; leave [blocks] out")
    fresh = type(recipe.aggregate)()
    chosen = [name for name in recipe.schema.quasi_identifiers if recipe.attributes[name].representative is not None]
    if recipe.aggregate != fresh or chosen:
        raise ValueError(f"aggregate: {method.name} knows by itself what a cell publishes; leave representatives out")
    if method.private.uses_space:
        return
    if recipe.space != type(recipe.space)():
        raise ValueError(f"space: {method.name} measures closeness by public bounds; leave [space] out")
    weighted = [name for name in recipe.schema.quasi_identifiers if recipe.attributes[name].weight != 1.0]
    if weighted:
        raise ValueError(
            f"attributes.{weighted[0]}.weight: {method.name} has no use for it. To divide the budget: [privacy] weights"
        )
