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
        The whole budget: above 0, at most 1e6. Each possible release is as likely, up to a factor of exp(epsilon),
        whatever one record says.
        Take care: above about 10 the factor is so large that little is promised. Other releases of the same records
        add their epsilons.
    weights : dict of attribute to share, optional
        How the budget is divided among attributes; shares sum to 1. An attribute with a larger share gets less noise.
        Left out: evenly.
    form : str, optional
        In which form the result is published; left out: the method's first, which promises most.
        Take care: forms promise different things. Form ``"aligned"`` does not protect the original records.
    bounds : {"declared", "from_data"}, default "declared"
        Where the range of a number comes from. With ``"from_data"`` numeric attributes without declared bounds get
        [0, 1.5 x maximum] of the data.
        Take care: bounds from the data reveal something about the largest value, and the promise is conditional on
        them, as the statement says.
    clamp : bool, default false
        Whether values outside the bounds are moved to the nearest bound; otherwise they are refused.
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
