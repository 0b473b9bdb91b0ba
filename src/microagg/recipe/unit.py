"""``[unit]``: whom guarantees count, where one person, firm or household has several records."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import TYPE_CHECKING, Annotated

from pydantic import BaseModel, ConfigDict, Field

from microagg.errors import did_you_mean
from microagg.privacy.ways import Way
from microagg.recipe.privacy import BoundsSource
from microagg.schema.attribute import Role

if TYPE_CHECKING:
    from microagg.recipe.recipe import Recipe

__all__ = ["UnitChoice", "check_unit", "epsilon_of_record"]


class UnitChoice(BaseModel):
    """``[unit]``: whom guarantees count.

    Without it every record counts as somebody else.

    Parameters
    ----------
    key : str
        The column that says whose a record is: a number of a person, a firm or a household. It has role
        ``identifier`` and is dropped. Every cell then holds records of at least k units.
        Take care: a unit that has two keys counts as two. A missing key is refused.
    together : bool, default false
        Whether all records of a unit share one cell, as those of a household may have to.
        Take care: it costs more than cells that may divide a unit.
    max_records : int >= 1, optional
        For differential privacy: how many records of one unit take part, at most. Of a unit that has more, so many are
        kept by chance. Epsilon is then promised for all records of a unit together, and noise is so many times as
        large.
        Take care: choose it from what is known of such tables, not from this one.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    key: str
    together: Annotated[bool, Field(strict=True)] = False
    max_records: Annotated[int, Field(ge=1, strict=True)] | None = None


def check_unit(recipe: Recipe) -> None:
    """Raise ValueError with the line that mends the recipe, if its units cannot be counted."""
    unit = recipe.unit
    if unit is None:
        return
    identifiers = recipe.schema.of_role(Role.IDENTIFIER)
    if unit.key not in recipe.attributes:
        raise ValueError(f"unit.key: {unit.key!r} is not declared.{did_you_mean(unit.key, identifiers)}")
    if unit.key not in identifiers:
        raise ValueError(
            f"unit.key: {unit.key!r} would be published and tell which records belong together. "
            f"Set [attributes.{unit.key}] role = 'identifier'"
        )
    if recipe.entry.is_private:
        _check_private(recipe, unit)
        return
    if unit.max_records is not None:
        raise ValueError(
            f"unit.max_records: {recipe.method} takes all records, whatever a unit has; it is for differential "
            "privacy. Leave it out"
        )
    if recipe.entry.mixes_values:
        raise ValueError(f"unit: {recipe.method} has no cells of records that could hold k units; 'mdav' has")
    if recipe.partition.get("certificate"):
        raise ValueError(
            "partition.certificate: it is about cells of k records, not of k units; leave it out, or leave out [unit]"
        )
    if unit.together and recipe.protect and recipe.rearrange.by is not Way.MERGE:
        raise ValueError(
            "unit.together: cells can be joined until they hide confidential values, but not divided or exchanged, "
            "since records of a unit stay together. Set [rearrange] by = 'merge', or together = false"
        )


def epsilon_of_record(recipe: Recipe) -> float:
    """What a method may spend on a single record so that all records of a unit together have the recipe's epsilon.

    Rounded down: so many times this is never more than epsilon.
    """
    assert recipe.privacy is not None
    epsilon = float(recipe.privacy.epsilon)
    if recipe.unit is None or recipe.unit.max_records is None:
        return epsilon
    most = recipe.unit.max_records
    share = epsilon / most
    return share if Fraction(share) * most <= Fraction(epsilon) else math.nextafter(share, 0.0)


def _check_private(recipe: Recipe, unit: UnitChoice) -> None:
    method, privacy = recipe.entry, recipe.privacy
    assert privacy is not None  # `check_method` refused it
    if not method.private.guarantee(recipe).protects_groups:
        raise ValueError(
            f"unit: what {method.name} promises in this form is about single records given the cells, and says nothing "
            "about a unit with several. dp_ranked_graph, dp_ranked_copula, and dp_individual_ranking in form "
            "'marginals' can; or leave out [unit]"
        )
    if unit.max_records is None:
        raise ValueError(
            "unit.max_records: under differential privacy, how many records a unit may have decides how much noise "
            "hides it. Add: [unit] max_records = 5, say; of units with more, so many are kept by chance"
        )
    if unit.together:
        raise ValueError(f"unit.together: {method.name} publishes no cells that a unit could share; leave it out")
    if privacy.bounds is BoundsSource.FROM_DATA:
        raise ValueError(
            "privacy.bounds: bounds read from the data may rest on several records of one unit, so that nothing is "
            "promised for the unit. Declare bounds = [low, high] of every number"
        )
