"""The guide ``[space.dependence]``: confidential attributes join the space, weighed against the quasi-identifiers."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Annotated, Any, ClassVar

from pydantic import ConfigDict, Field

from microagg.schema.attribute import Role
from microagg.schema.schema import Schema
from microagg.space.dependence import dependence_points, dependence_weight, total_distortion
from microagg.space.guides.base import Guide, GuidedSpace, PlainSpace, SweptKey, line_that_declares
from microagg.space.guides.registry import register_guide

__all__ = ["DependenceChoice"]


@register_guide
class DependenceChoice(Guide):
    """``[space.dependence]``: cells that keep confidential attributes predictable from what is published.

    Parameters
    ----------
    lambda : float in [0, 1]
        How much the confidential attributes count beside the quasi-identifiers when cells are formed. At 0 they are
        not used, at 1 nothing else is.
        Take care: cells that are alike in confidential values are less diverse, so intruders learn more.
    attributes : list of str, optional
        Which attributes guide the cells. Left out, every confidential attribute with a kind does.
    """

    model_config = ConfigDict(populate_by_name=True)

    name: ClassVar[str] = "dependence"
    named_by: ClassVar[str] = "attributes"
    fills_in_missing: ClassVar[bool] = True
    swept: ClassVar[SweptKey] = SweptKey("lambda", (0.0, 0.2, 0.5))

    lambda_: Annotated[float, Field(ge=0, le=1, strict=True, allow_inf_nan=False, alias="lambda")]
    attributes: Annotated[tuple[str, ...], Field(min_length=1)] | None = None

    def guiding_attributes(self, schema: Schema) -> tuple[str, ...]:
        if self.attributes is not None:
            return self.attributes
        return tuple(name for name in schema.of_role(Role.CONFIDENTIAL) if schema[name].kind is not None)

    @property
    def is_idle(self) -> bool:
        return self.lambda_ == 0

    @property
    def weight_of_d_y(self) -> float:
        return self.lambda_

    def check(self, schema: Schema) -> None:
        if self.guiding_attributes(schema):
            return
        confidential = schema.of_role(Role.CONFIDENTIAL)
        if not confidential:
            raise ValueError("space.dependence: no attribute has role = 'confidential'; there is nothing to depend on")
        raise ValueError(
            f"space.dependence: no confidential attribute has a kind. {line_that_declares(confidential[0])}"
        )

    def shape(self, plain: PlainSpace) -> GuidedSpace:
        from microagg.space.mixed import mixed_points

        confidential = mixed_points(plain.guides, plain.standardize)
        m_x, m_y = len(plain.attributes), len(plain.guides)
        beta = dependence_weight(self.lambda_, m_x, m_y)
        return GuidedSpace(
            dependence_points(plain.points, confidential, self.lambda_, m_x=m_x, m_y=m_y),
            # At lambda = 1 beta is infinite, which JSON cannot say: the quasi-identifiers are left out instead.
            {"lambda": self.lambda_, "beta": beta if math.isfinite(beta) else None},
        )

    def figures(self, d_x: float, d_y: float) -> Mapping[str, float]:
        return {"D": total_distortion(d_x, d_y, self.lambda_)}

    @property
    def fact_keys(self) -> frozenset[str]:
        return frozenset({"lambda", "beta", "D"})

    def facts_fit(self, facts: Mapping[str, Any]) -> bool:
        return type(facts["D"]) is float and bool(facts["lambda"] == self.lambda_)

    def describe(self, facts: Mapping[str, Any]) -> str:
        return f"dependence, lambda = {facts['lambda']:g}"

    def did_shape(self, facts: Mapping[str, Any]) -> bool:
        return bool(facts["lambda"] > 0)

    def values_to_sweep(self) -> tuple[Any, ...]:
        return tuple(sorted(super().values_to_sweep()))
