"""``[privacy]``: the budget of a differentially private release, and how it is spent."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Annotated, Any, Self

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, model_validator

from microagg.privacy.budget import check_epsilon, check_weights

__all__ = ["BoundsSource", "PrivacyChoice"]


class BoundsSource(StrEnum):
    """Where the bounds of numeric attributes come from."""

    DECLARED = "declared"
    FROM_DATA = "from_data"


class PrivacyChoice(BaseModel):
    """``[privacy]``: what may be spent, on what, and in which form the result is published.

    Keys beyond these are the method's own; :func:`microagg.recipe.private_rules.check_private` knows them.

    Parameters
    ----------
    epsilon : float
        The whole budget: above 0, at most 1e6.
    weights : dict of attribute to share, optional
        How the budget is divided; shares sum to 1. Left out: evenly.
    form : str, optional
        One of the method's forms of release; left out: the first, which promises most.
    bounds : {"declared", "from_data"}
        With ``"from_data"`` numeric attributes without declared bounds get [0, 1.5 x maximum] of the data, and the
        statement says that the promise is conditional on that.
    clamp : bool
        True moves values outside the bounds to the nearest bound; False refuses them.
    """

    model_config = ConfigDict(extra="allow", frozen=True)

    epsilon: Annotated[float, BeforeValidator(check_epsilon)]
    weights: dict[str, Annotated[float, Field(strict=True, allow_inf_nan=False)]] | None = None
    form: str | None = None
    bounds: BoundsSource = BoundsSource.DECLARED
    clamp: Annotated[bool, Field(strict=True)] = False

    @model_validator(mode="after")
    def _weights_sum_to_one(self) -> Self:
        if self.weights is not None:
            check_weights(self.weights)
        return self

    @property
    def options(self) -> Mapping[str, Any]:
        """The method's own keys that the recipe sets."""
        return dict(self.model_extra or {})
