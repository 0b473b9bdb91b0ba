"""``[sweep]``: which recipes to try against each other."""

from __future__ import annotations

import numbers
from typing import Annotated, Any

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, field_validator

from microagg._validation import as_float
from microagg.errors import shown
from microagg.methods.catalogue import method_named
from microagg.privacy.budget import check_epsilon

__all__ = ["SweepChoice"]


def _several(value: Any) -> Any:
    """One value stands for a list of it."""
    return (value,) if isinstance(value, str | numbers.Real) and not isinstance(value, bool) else value


def _once(values: tuple[Any, ...]) -> tuple[Any, ...]:
    if not values:
        raise ValueError("name at least one value, or leave the key out")
    return tuple(dict.fromkeys(values))


def _stretch(value: Any) -> float | str:
    is_number = isinstance(value, numbers.Real) and not isinstance(value, bool)
    if value != "auto" and not (is_number and 1 <= as_float(value) < float("inf")):
        raise ValueError(f'must be a number of at least 1, or "auto". Got {shown(value)} instead')
    return "auto" if value == "auto" else float(value)


_Whole = Annotated[int, Field(ge=2, strict=True)]
_Share = Annotated[float, Field(ge=0, le=1, strict=True, allow_inf_nan=False)]
_Epsilon = Annotated[float, BeforeValidator(check_epsilon)]
_Stretch = Annotated[float | str, BeforeValidator(_stretch)]


class SweepChoice(BaseModel):
    """``[sweep]``: the values to combine; what is left out is derived from the rest of the recipe.

    Parameters
    ----------
    methods : list of str, optional
        Entries of the catalogue.
    k : list of int, optional
    epsilon : list of float, optional
        For private methods.
    lambda : list of float, optional
        Of ``[space.dependence]``, for methods whose cells can be guided.
    alpha : list of float or "auto", optional
        Of ``[space.discriminant]``, whose target the recipe must name.
    repeats : int, default 3
        How often a release is made whose result depends on chance; others are made once.
    measures : list of str, optional
        Names or groups of measures; left out: the default ones.
    """

    model_config = ConfigDict(extra="forbid", frozen=True, populate_by_name=True)

    methods: Annotated[tuple[str, ...], BeforeValidator(_several), AfterValidator(_once)] | None = None
    k: Annotated[tuple[_Whole, ...], BeforeValidator(_several), AfterValidator(_once)] | None = None
    epsilon: Annotated[tuple[_Epsilon, ...], BeforeValidator(_several), AfterValidator(_once)] | None = None
    lambda_: Annotated[
        tuple[_Share, ...] | None,
        BeforeValidator(_several),
        AfterValidator(lambda given: None if given is None else _once(given)),
    ] = Field(default=None, alias="lambda")
    alpha: Annotated[tuple[_Stretch, ...], BeforeValidator(_several), AfterValidator(_once)] | None = None
    repeats: Annotated[int, Field(ge=1, le=1000, strict=True)] = 3
    measures: Annotated[tuple[str, ...], BeforeValidator(_several), AfterValidator(_once)] | None = None

    @field_validator("methods")
    @classmethod
    def _known(cls, value: tuple[str, ...] | None) -> tuple[str, ...] | None:
        return None if value is None else tuple(method_named(name).name for name in value)
