"""Which attributes may guide the cells; what cannot be done is refused before any record is read."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from microagg.errors import did_you_mean
from microagg.methods.method import Method
from microagg.schema.attribute import Role
from microagg.space.guides import swept_guides
from microagg.space.guides.base import line_that_declares

if TYPE_CHECKING:
    from microagg.recipe.recipe import Recipe

__all__ = [
    "can_be_guided",
    "check_guides",
    "check_swept_guides",
    "forms_cells_of_records",
    "guiding_attributes",
    "shaping_attributes",
]


def guiding_attributes(recipe: Recipe) -> tuple[str, ...]:
    """Names of the attributes that help to form the cells without being replaced by them."""
    guide = recipe.space.guide
    return () if guide is None else guide.guiding_attributes(recipe.schema)


def shaping_attributes(recipe: Recipe) -> tuple[str, ...]:
    """Those of :func:`guiding_attributes` that the cells depend on: an idle guide is only reported on."""
    guide = recipe.space.guide
    return () if guide is None or guide.is_idle else guiding_attributes(recipe)


def forms_cells_of_records(method: Method) -> bool:
    """Whether its cells are of whole records, whatever the number of attributes."""
    return method.has_cells and method.partitions == "records" and method.partitioner_class.max_attributes is None


def can_be_guided(method: Method) -> bool:
    """Whether guides mean anything to a method; a recipe may still be refused for other reasons."""
    return forms_cells_of_records(method) and not method.is_private and not method.data_free_space


def check_guides(recipe: Recipe) -> None:
    """Raise ValueError with the line that mends the recipe, if its space or its draws cannot be guided as it asks."""
    _check_guides_named(recipe, recipe.aggregate.paired_with, "aggregate.paired_with")
    guide = recipe.space.guide
    if guide is None:
        return
    guide.check(recipe.schema)
    names = guiding_attributes(recipe)
    if not names:
        raise ValueError(f"space.{guide.name}: there is no attribute that could guide the cells")
    _check_guides_named(recipe, names, f"space.{guide.name}.{guide.named_by}")
    method = recipe.entry
    if not forms_cells_of_records(method):
        raise ValueError(
            f"space.{guide.name}: {method.name} does not form cells of records from several attributes. 'mdav' does"
        )
    if method.data_free_space:
        raise ValueError(
            f"space.{guide.name}: {method.name} needs a space that does not depend on the data. 'mdav' does not"
        )
    if method.is_private and method.private.uses_space:  # others are told that [space] means nothing to them
        raise ValueError(
            f"space.{guide.name}: {method.name} is differentially private, and only its mechanisms may look at the "
            "records; leave it out"
        )


def check_swept_guides(recipe: Recipe) -> None:
    """Raise ValueError with the line that mends the recipe, if a sweep varies a guide that needs more than its key."""
    for key, guide in swept_guides().items():
        is_swept = recipe.sweep is not None and key in recipe.sweep.given_by_guides
        if is_swept and guide.swept is not None and guide.swept.needs and not isinstance(recipe.space.guide, guide):
            raise ValueError(f"sweep.{key} {guide.swept.needs}")


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
        raise ValueError(f"{key} names {name!r}, which has no kind. {line_that_declares(name, str(attribute.role))}")
