"""``[protect.<attribute>]`` and ``[rearrange]``: what classes must hide of confidential values, and how cells do."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, field_validator, model_validator

from microagg.errors import did_you_mean
from microagg.privacy.requirement import MIN_RANGE, RECURSIVE_C_L, REQUIREMENTS, T_CLOSENESS, Requirement
from microagg.privacy.ways import Way
from microagg.recipe.choices import AggregateForm
from microagg.schema.attribute import Kind, Role
from microagg.space.blocks import BlockForm
from microagg.tables.phrases import names_phrase

if TYPE_CHECKING:
    from microagg.recipe.recipe import Recipe

__all__ = [
    "ProtectChoice",
    "RearrangeChoice",
    "check_protection",
    "effort_of",
    "protection_changes",
    "rearranges",
    "requirements_of",
]

_Count = Annotated[int, Field(ge=2, strict=True)]
_Share = Annotated[float, Field(gt=0, lt=1)]
_Positive = Annotated[float, Field(gt=0, allow_inf_nan=False)]


class ProtectChoice(BaseModel):
    """``[protect.<attribute>]``: what every class of records with equal quasi-identifiers must satisfy.

    Parameters
    ----------
    distinct_l, p_sensitive : int >= 2, optional
        At least so many different values of the attribute in every class of records that look alike.
    entropy_l : float > 1, optional
        The values of every class are as diverse as so many equally frequent ones: their entropy is at least ln(l).
    recursive_c_l : [float > 0, int >= 2], optional
        The most frequent value has fewer than c times the records of the l-th most frequent and all rarer ones.
    t_closeness : float in (0, 1), optional
        The values of a class are at most so far from those of the whole table, by the earth mover's distance. Numbers
        and ordered categories are taken along their order, others by their taxonomy, or all 1 apart.
    max_share : float in (0, 1), optional
        No value has a larger share than this of the records of a class.
    min_range : float > 0, optional
        The numbers of a class span at least this much, in the attribute's own unit (dates in days, times in seconds).
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    distinct_l: _Count | None = None
    p_sensitive: _Count | None = None
    entropy_l: Annotated[float, Field(gt=1, allow_inf_nan=False)] | None = None
    recursive_c_l: tuple[_Positive, _Count] | None = None
    t_closeness: _Share | None = None
    max_share: _Share | None = None
    min_range: _Positive | None = None

    @field_validator("recursive_c_l", mode="before")
    @classmethod
    def _two(cls, value: Any) -> Any:
        if value is not None and not (isinstance(value, list | tuple) and len(value) == 2):
            raise ValueError("recursive_c_l is c and l, like [2.0, 3]")
        return value

    @model_validator(mode="after")
    def _asks_something(self) -> ProtectChoice:
        if all(getattr(self, key) is None for key in REQUIREMENTS):
            raise ValueError(f"asks for nothing: name one of {', '.join(REQUIREMENTS)}")
        return self

    def requirements(self, attribute: str) -> tuple[Requirement, ...]:
        """What is asked for of an attribute."""
        found = []
        for key, kind in REQUIREMENTS.items():
            value = getattr(self, key)
            if value is None:
                continue
            bound, rarest = value if kind is RECURSIVE_C_L else (value, 0)
            found.append(Requirement(kind, attribute, float(bound), rarest))
        return tuple(found)


class RearrangeChoice(BaseModel):
    """``[rearrange]``: how cells are changed until they satisfy ``[protect]``.

    Parameters
    ----------
    by : {"search", "swap", "merge", "closeness_first"}, default "search"
        How cells are changed until every one hides enough. ``"merge"`` joins cells, ``"swap"`` exchanges records,
        ``"closeness_first"`` builds cells for t-closeness, and ``"search"`` looks for the least loss.
    effort : {"fast", "default", "best"}, optional
        How long the search goes on: a number of steps, not of seconds. Left out: ``"default"``, and ``"fast"`` for
        ``[unit]`` alone with a method that does not search.
    time_limit : float > 0, optional
        Seconds after which each search stops with the best cells found.
        Take care: the result then depends on the machine, even with a seed.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    by: Way = Way.SEARCH
    effort: Annotated[str, Field(pattern="^(fast|default|best)$")] | None = None
    time_limit: _Positive | None = None

    @field_validator("effort", mode="before")
    @classmethod
    def _known(cls, value: Any) -> Any:
        if value is not None and value not in ("fast", "default", "best"):
            raise ValueError("effort must be one of 'fast', 'default', 'best'")
        return value


def rearranges(recipe: Recipe) -> bool:
    """Whether cells are rearranged: for what they must hide, or until each has k units."""
    if recipe.protect:
        return True
    method, unit = recipe.entry, recipe.unit
    return unit is not None and not unit.together and not method.is_private and method.partitions == "records"


def effort_of(recipe: Recipe) -> str:
    """How long the search for rearranged cells goes on."""
    if recipe.rearrange.effort is not None:
        return recipe.rearrange.effort
    if recipe.protect or recipe.entry.searches_by_chance:
        return "default"
    return "fast"


def requirements_of(recipe: Recipe) -> tuple[Requirement, ...]:
    """All requirements of a recipe, attribute by attribute."""
    return tuple(one for name, choice in recipe.protect.items() for one in choice.requirements(name))


def protection_changes(recipe: Recipe, values: Mapping[str, Any]) -> dict[str, Any]:
    """Changes of a recipe that set requirements (``{"t_closeness": 0.15}``) for all attributes that it protects.

    If it protects none, for all its confidential attributes.
    """
    given = {key: value for key, value in values.items() if value is not None}
    if not given:
        return {}
    names = tuple(recipe.protect) or recipe.schema.of_role(Role.CONFIDENTIAL)
    if not names:
        raise ValueError(
            f"{names_phrase(tuple(given))}: no attribute has role = 'confidential', so there is nothing to protect"
        )
    table = {
        name: {**(recipe.protect[name].model_dump(exclude_none=True) if name in recipe.protect else {}), **given}
        for name in names
    }
    return {"protect": table}


def check_protection(recipe: Recipe) -> None:
    """Raise ValueError with the line that mends the recipe, if it cannot be carried out."""
    if recipe.rearrange != RearrangeChoice() and not rearranges(recipe):
        raise ValueError("rearrange: there is nothing to rearrange cells for. Add: [protect.<attribute>] or [unit]")
    if recipe.rearrange.by is Way.CLOSENESS_FIRST and not _has_order(recipe, requirements_of(recipe)):
        raise ValueError(
            "rearrange.by: 'closeness_first' is for t_closeness of a numeric or ordinal attribute; use 'search'"
        )
    if not recipe.protect:
        return
    for name in recipe.protect:
        _check_attribute(recipe, name)
    method = recipe.entry
    if method.is_private or method.mixes_values or method.partitions != "records":
        raise ValueError(
            f"protect: {method.name} does not put records into cells that could be rearranged. 'mdav' and "
            "'near_optimal' do"
        )
    if recipe.aggregate.form is AggregateForm.SAMPLED:
        raise ValueError(
            "protect: what sampled records hide cannot be counted on the file; use [aggregate] form = 'representative'"
        )
    if recipe.blocks.form is not BlockForm.ONE:
        raise ValueError(
            "protect: blocks of attributes have cells of their own, and together they show more than each hides; "
            "leave [blocks] out"
        )
    if recipe.partition.get("certificate"):
        raise ValueError(
            "partition.certificate: what is proved of the cells before they are rearranged says nothing about them "
            "after; leave it out"
        )


def _has_order(recipe: Recipe, requirements: Sequence[Requirement]) -> bool:
    return any(
        one.kind is T_CLOSENESS and recipe.attributes[one.attribute].kind is not Kind.NOMINAL for one in requirements
    )


def _check_attribute(recipe: Recipe, name: str) -> None:
    confidential = recipe.schema.of_role(Role.CONFIDENTIAL)
    if name not in confidential:
        hint = did_you_mean(name, confidential)
        raise ValueError(f"protect names {name!r}, which is not declared with role = 'confidential'.{hint}")
    kind = recipe.attributes[name].kind
    if kind is None:
        kinds = ", ".join(repr(str(one)) for one in Kind)
        raise ValueError(f"attributes.{name}: what is protected needs a kind: one of {kinds}")
    for one in recipe.protect[name].requirements(name):
        if one.kind is MIN_RANGE and kind is not Kind.NUMERIC:
            raise ValueError(f"protect.{name}.min_range is for numeric attributes; this one is {kind}")
