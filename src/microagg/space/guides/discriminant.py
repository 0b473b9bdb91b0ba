"""The guide ``[space.discriminant]``: the space is stretched along the directions that tell a target apart."""

from __future__ import annotations

import numbers
from collections.abc import Mapping
from typing import Annotated, Any, ClassVar

from pydantic import BeforeValidator

from microagg._scaling import near_one
from microagg._typing import FloatArray
from microagg._validation import as_float
from microagg.errors import TableError, shown
from microagg.schema.attribute import Kind
from microagg.schema.schema import Schema
from microagg.space.discriminant import Discriminant
from microagg.space.guides.alpha import ALPHAS, choose_alpha, smallest_table
from microagg.space.guides.base import Guide, GuidedSpace, PlainSpace, SweptKey, refuse_constant
from microagg.space.guides.registry import register_guide

__all__ = ["DiscriminantChoice"]


def _number_or_auto(value: Any) -> float | str:
    is_number = isinstance(value, numbers.Real) and not isinstance(value, bool)
    if value != "auto" and not (is_number and 1 <= as_float(value) < float("inf")):
        raise ValueError(f'must be a number of at least 1, or "auto". Got {shown(value)} instead')
    return "auto" if value == "auto" else float(value)


@register_guide
class DiscriminantChoice(Guide):
    """``[space.discriminant]``: a space stretched by `alpha` along the directions that tell the target apart.

    Parameters
    ----------
    target : str
        The attribute that whoever works with the release wants to predict. It is published as it is.
    alpha : float >= 1, or "auto", default "auto"
        How far the space is stretched; 1 leaves it as it is. ``"auto"`` chooses by cross-validation inside the table.
        Take care: cells become purer in the target, so that more is learnt about single people, too.
    """

    name: ClassVar[str] = "discriminant"
    named_by: ClassVar[str] = "target"
    swept: ClassVar[SweptKey] = SweptKey(
        "alpha", (1.0, 2.0, 4.0), "stretches towards a target. Name it: [space.discriminant] target = ..."
    )

    target: str
    alpha: Annotated[float | str, BeforeValidator(_number_or_auto)] = "auto"

    def guiding_attributes(self, schema: Schema) -> tuple[str, ...]:
        return (self.target,)

    @property
    def is_idle(self) -> bool:
        return self.alpha == 1.0

    def shape(self, plain: PlainSpace) -> GuidedSpace:
        refuse_constant(plain.guides)
        target = plain.guides[0]
        classes = target.kind is Kind.NOMINAL
        values = near_one(target.values)  # so that the directions depend on no unit of the target
        alpha, tried = self._alpha_for(plain, values, classes)
        fitted = Discriminant.fit(plain.matrix, values, alpha, classes=classes)
        found = {"alpha": alpha, "n_directions": fitted.directions.shape[1], "regularized": fitted.regularized}
        return GuidedSpace(fitted.apply(plain.matrix), tried | found)

    def _alpha_for(self, plain: PlainSpace, values: FloatArray, classes: bool) -> tuple[float, dict[str, Any]]:
        """The stretch, and if it was chosen by trials, what was tried."""
        if not isinstance(self.alpha, str):
            return self.alpha, {}
        needed = smallest_table(plain.k)
        if len(plain.matrix) < needed:
            raise TableError(
                f'space.discriminant.alpha = "auto" with k = {plain.k} needs at least {needed} records to try on; the '
                f"table has {len(plain.matrix)}. Set a number: alpha = 2"
            )
        chosen = choose_alpha(plain.matrix, values, plain.form_cells, classes=classes)
        return chosen.alpha, {"tried": list(ALPHAS), "scores": list(chosen.scores)}

    @property
    def fact_keys(self) -> frozenset[str]:
        tried = {"tried", "scores"} if self.alpha == "auto" else set()
        return frozenset({"alpha", "n_directions", "regularized", *tried})

    def facts_fit(self, facts: Mapping[str, Any]) -> bool:
        if self.alpha != "auto":
            return bool(facts["alpha"] == self.alpha)
        scores = list(facts["scores"])
        chosen = facts["alpha"] in ALPHAS and list(facts["tried"]) == list(ALPHAS)
        return chosen and all(type(score) is float for score in scores)

    def describe(self, facts: Mapping[str, Any]) -> str:
        tried = ", ".join(f"{value:g}" for value in ALPHAS)
        chosen = f", chosen by cross-validation among {tried}" if "tried" in facts else ""
        ridge = (
            "; the covariance within classes is singular and was given a small ridge" if facts["regularized"] else ""
        )
        return f"discriminant, alpha = {facts['alpha']:g}{chosen}{ridge}"

    def did_shape(self, facts: Mapping[str, Any]) -> bool:
        return bool(facts["alpha"] > 1)
