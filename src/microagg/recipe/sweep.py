"""``[sweep]``: which recipes to try against each other."""

from __future__ import annotations

import numbers
from collections.abc import Mapping
from typing import Annotated, Any, ClassVar

from pydantic import AfterValidator, BeforeValidator, Field, field_validator

from microagg.methods.catalogue import method_named
from microagg.privacy.budget import check_epsilon
from microagg.recipe.open_table import OpenTable
from microagg.space.guides import Guide

__all__ = ["SWEPT_REQUIREMENTS", "SweepChoice"]

SWEPT_REQUIREMENTS = {"l": "distinct_l", "t": "t_closeness"}
"""Keys that set a requirement on confidential values, with its key in ``[protect]``."""


def _several(value: Any) -> Any:
    """One value stands for a list of it."""
    return (value,) if isinstance(value, str | numbers.Real) and not isinstance(value, bool) else value


def _once(values: tuple[Any, ...]) -> tuple[Any, ...]:
    if not values:
        raise ValueError("name at least one value, or leave the key out")
    return tuple(dict.fromkeys(values))


_Whole = Annotated[int, Field(ge=2, strict=True)]
_Epsilon = Annotated[float, BeforeValidator(check_epsilon)]
_Distance = Annotated[float, Field(gt=0, lt=1)]


class SweepChoice(OpenTable):
    """``[sweep]``: the values to combine; what is left out is derived from the rest of the recipe.

    Parameters
    ----------
    methods : list of str, optional
        Which methods are tried: entries of the catalogue.
    k : list of int, optional
        Which sizes of cells are tried.
    epsilon : list of float, optional
        Which budgets are tried, for private methods.
    l, t : list, optional
        Which bounds distinct_l (l) and t_closeness (t) are tried of all that the recipe protects, or else of all
        confidential attributes. They are for methods whose cells can be rearranged.
    lambda, alpha, ... : list, optional
        The key of a guide that it lets a sweep vary, for methods whose cells can be guided.
    repeats : int, default 3
        How often a release is made whose result depends on chance; others are made once.
    measures : list of str, optional
        What the releases are measured by: names or groups of measures. Left out, the default ones.
    """

    keys_before_guides: ClassVar[int] = 5

    methods: Annotated[tuple[str, ...], BeforeValidator(_several), AfterValidator(_once)] | None = None
    k: Annotated[tuple[_Whole, ...], BeforeValidator(_several), AfterValidator(_once)] | None = None
    epsilon: Annotated[tuple[_Epsilon, ...], BeforeValidator(_several), AfterValidator(_once)] | None = None
    l: Annotated[tuple[_Whole, ...], BeforeValidator(_several), AfterValidator(_once)] | None = None  # noqa: E741
    t: Annotated[tuple[_Distance, ...], BeforeValidator(_several), AfterValidator(_once)] | None = None
    repeats: Annotated[int, Field(ge=1, le=1000, strict=True)] = 3
    measures: Annotated[tuple[str, ...], BeforeValidator(_several), AfterValidator(_once)] | None = None

    @classmethod
    def keys_of_guides(cls, guides: tuple[type[Guide], ...]) -> Mapping[str, Any]:
        return {guide.swept.key: _values_of(guide, guide.swept.key) for guide in guides if guide.swept is not None}

    @field_validator("methods")
    @classmethod
    def _known(cls, value: tuple[str, ...] | None) -> tuple[str, ...] | None:
        return None if value is None else tuple(method_named(name).name for name in value)


def _values_of(guide: type[Guide], key: str) -> Any:
    """The type of a list of values, each as the guide's own table takes it."""
    field = next(field for name, field in guide.model_fields.items() if key in (name, field.alias))
    value: Any = Annotated[(field.annotation, *field.metadata)] if field.metadata else field.annotation
    return Annotated[tuple[value, ...], BeforeValidator(_several), AfterValidator(_once)]
