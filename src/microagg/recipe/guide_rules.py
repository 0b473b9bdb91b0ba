"""Which attributes may guide the cells; what cannot be done is refused before any record is read."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from microagg.errors import did_you_mean
from microagg.methods.catalogue import Method
from microagg.schema.attribute import Kind, Role
from microagg.schema.schema import toml_key

if TYPE_CHECKING:
    from microagg.recipe.recipe import Recipe

__all__ = ["can_be_guided", "check_guides", "forms_cells_of_records", "guiding_attributes", "shaping_attributes"]


def guiding_attributes(recipe: Recipe) -> tuple[str, ...]:
    """Names of the attributes that help to form the cells without being replaced by them."""
    space = recipe.space
    if space.discriminant is not None:
        return (space.discriminant.target,)
    if space.prediction is not None:
        return space.prediction.target
    if space.dependence is None:
        return ()
    if space.dependence.attributes is not None:
        return space.dependence.attributes
    confidential = recipe.schema.of_role(Role.CONFIDENTIAL)
    return tuple(name for name in confidential if recipe.attributes[name].kind is not None)


def shaping_attributes(recipe: Recipe) -> tuple[str, ...]:
    """Those of :func:`guiding_attributes` that the cells depend on: with lambda = 0 they are only reported on."""
    dependence, discriminant = recipe.space.dependence, recipe.space.discriminant
    idle = (dependence is not None and dependence.lambda_ == 0) or (
        discriminant is not None and discriminant.alpha == 1.0
    )
    return () if idle else guiding_attributes(recipe)


def forms_cells_of_records(method: Method) -> bool:
    """Whether its cells are of whole records, whatever the number of attributes."""
    return method.has_cells and method.partitions == "records" and method.partitioner_class.max_attributes is None


def can_be_guided(method: Method) -> bool:
    """Whether guides mean anything to a method; a recipe may still be refused for other reasons."""
    in_a_space = not method.is_private or method.private.uses_space
    return forms_cells_of_records(method) and in_a_space and not method.data_free_space


def check_guides(recipe: Recipe) -> None:
    """Raise ValueError with the line that mends the recipe, if its space or its draws cannot be guided as it asks."""
    _check_guides_named(recipe, recipe.aggregate.paired_with, "aggregate.paired_with")
    keys = {"dependence": "attributes", "discriminant": "target", "prediction": "target"}
    form = next((form for form in keys if getattr(recipe.space, form) is not None), None)
    if form is None:
        return
    names = guiding_attributes(recipe)
    if not names:
        confidential = recipe.schema.of_role(Role.CONFIDENTIAL)
        if not confidential:
            raise ValueError("space.dependence: no attribute has role = 'confidential'; there is nothing to depend on")
        raise ValueError(f"space.dependence: no confidential attribute has a kind. {_line_to_add(confidential[0])}")
    _check_guides_named(recipe, names, f"space.{form}.{keys[form]}")
    method = recipe.entry
    if not forms_cells_of_records(method):
        raise ValueError(
            f"space.{form}: {method.name} does not form cells of records from several attributes. 'mdav' does"
        )
    if method.data_free_space:
        raise ValueError(f"space.{form}: {method.name} needs a space that does not depend on the data. 'mdav' does not")


def _check_guides_named(recipe: Recipe, names: Sequence[str], key: str) -> None:
    for name in names:
        _check_guide(recipe, name, key)
    if len(set(names)) < len(names):
        raise ValueError(f"{key}: an attribute is named twice")


def _check_guide(recipe: Recipe, name: str, key: str) -> None:
    if name not in recipe.attributes:
        raise ValueError(f"{key} names {name!r}, which is not declared.{did_you_mean(name, recipe.attributes)}")
    attribute = recipe.attributes[name]
    if attribute.role not in (Role.CONFIDENTIAL, Role.NON_CONFIDENTIAL):
        raise ValueError(f"{key} names {name!r}, which is {attribute.role}; it must be published as it is")
    if attribute.kind is None:
        raise ValueError(f"{key} names {name!r}, which has no kind. {_line_to_add(name, str(attribute.role))}")


def _line_to_add(name: str, role: str = "confidential") -> str:
    kinds = ", ".join(Kind)
    return f'Add: [attributes.{toml_key(name)}] role = "{role}", kind = "..." (one of: {kinds})'
