"""Which recipes a method can carry out; what it cannot is refused before any record is read."""

from __future__ import annotations

from typing import TYPE_CHECKING

from microagg._validation import check_parameters
from microagg.errors import ParameterError, did_you_mean
from microagg.methods.catalogue import Method
from microagg.recipe.private_rules import check_private
from microagg.space.blocks import BlockForm, choose_blocks
from microagg.tables.phrases import names_phrase

if TYPE_CHECKING:
    from microagg.recipe.recipe import Recipe

__all__ = ["check_method"]


def check_method(recipe: Recipe) -> None:
    """Raise ValueError with the line that mends the recipe, if its method cannot carry it out."""
    method = recipe.entry
    _check_options(recipe, method)
    _check_kinds(recipe, method)
    if method.data_free_space:
        _check_space_is_declared(recipe, method)
    _check_blocks(recipe, method)
    for name, table in method.tables.items():
        chosen = getattr(recipe, name).model_dump()
        changed = [key for key, value in table.items() if str(chosen[key]) != str(value)]
        if changed:
            raise ValueError(f"{name}.{changed[0]}: {method.name} fixes it to {table[changed[0]]!r}; leave it out")
    if method.mixes_values:
        _check_mixes_values(recipe, method)
    check_private(recipe, method)


def _check_options(recipe: Recipe, method: Method) -> None:
    for name in recipe.partition:
        if name not in method.options:
            raise ValueError(
                f"partition.{name}: {method.name} has no such parameter.{did_you_mean(name, method.options)} "
                f"It has: {', '.join(method.options) or 'none'}"
            )
    given = {name: rule for name, rule in method.options.items() if name in recipe.partition}
    if not given:
        return
    try:
        check_parameters(method.partitioner_class.__name__, given, recipe.partition)
    except ParameterError as error:
        raise ValueError(f"partition: {error}") from None


def _check_kinds(recipe: Recipe, method: Method) -> None:
    unfit = [name for name in recipe.schema.quasi_identifiers if recipe.attributes[name].kind not in method.kinds]
    unknown = [name for name in unfit if recipe.attributes[name].kind is None]
    if unknown:
        raise ValueError(
            f"attributes.{unknown[0]}: {method.name} protects the whole table, so every attribute needs a kind. "
            'Add: kind = "numeric", "ordinal" or "nominal", or role = "identifier" to drop it'
        )
    if unfit:
        names = names_phrase([repr(name) for name in unfit])
        kinds = " and ".join(str(kind) for kind in method.kinds)
        raise ValueError(f"method: {method.name} takes {kinds} attributes only; not {names}. 'mdav' takes all kinds")


def _check_blocks(recipe: Recipe, method: Method) -> None:
    names, blocks = recipe.schema.quasi_identifiers, recipe.blocks
    if blocks.form is not BlockForm.ONE and not (method.has_cells and method.partitions == "records"):
        raise ValueError(f"blocks: {method.name} has no use for blocks; leave [blocks] out")
    chosen = choose_blocks(blocks.form, names, given=blocks.attributes) if blocks.form is BlockForm.GIVEN else None
    most = method.partitioner_class.max_attributes if method.has_cells else None
    if most is None:
        return
    widest = max(len(block) for block in chosen) if chosen else blocks.size or len(names)
    if widest > most:
        raise ValueError(
            f"method: {method.name} takes {most} attribute; this recipe gives it {widest}. One by one: "
            'method = "individual_ranking" with [partition] cut = "optimal"'
        )


def _check_space_is_declared(recipe: Recipe, method: Method) -> None:
    """One changed record must not move the others: nothing of the space may be read from the data."""
    if recipe.space.standardize != "bounds":
        raise ValueError(
            f"space.standardize: {method.name} needs a space that does not depend on the data. "
            'Set standardize = "bounds"'
        )
    for name in recipe.schema.quasi_identifiers:
        attribute = recipe.attributes[name]
        needed = "bounds" if attribute.kind == "numeric" else "categories"
        if getattr(attribute, needed) is None:
            raise ValueError(f"attributes.{name}: {method.name} needs its declared {needed}. Add: {needed} = [...]")
    if recipe.missing.policy not in ("error", "suppress"):
        raise ValueError(f"missing.policy: {method.name} cannot settle missing values from the data; use 'suppress'")
    if recipe.strata.by:
        raise ValueError(
            f"strata: the sizes of strata depend on the data, which {method.name} must not; leave them out"
        )


def _check_mixes_values(recipe: Recipe, method: Method) -> None:
    """Values that are mixed over attributes belong to no group of records."""
    if recipe.aggregate.form == "sampled":
        raise ValueError(f"aggregate.form: {method.name} has no cells of records to sample from; leave form out")
    if recipe.missing.policy == "own_cell":
        raise ValueError(
            f"missing.policy: {method.name} mixes all values and has no cells of records; use 'impute' or 'suppress'"
        )
    if recipe.strata.by:
        raise ValueError(f"strata: {method.name} mixes all values and cannot keep strata apart; leave [strata] out")
    if recipe.sampling_weight is not None:
        raise ValueError(f"sampling_weight: {method.name} does not weigh values; leave it out")
