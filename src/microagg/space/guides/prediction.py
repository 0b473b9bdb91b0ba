"""The guide ``[space.prediction]``: what a model expects of the targets joins the space."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Annotated, Any, ClassVar

from pydantic import Field, field_validator

from microagg._scaling import near_one
from microagg._typing import FloatArray
from microagg.schema.attribute import Kind
from microagg.schema.schema import Schema
from microagg.space.guides.base import Guide, GuidedSpace, PlainSpace, refuse_constant
from microagg.space.guides.registry import register_guide
from microagg.space.prediction import FOLDS, cross_fitted, prediction_space

__all__ = ["PredictionChoice"]

_MODEL = "gradient boosting"


@register_guide
class PredictionChoice(Guide):
    """``[space.prediction]``: out-of-fold predictions of the targets appended, `weight` against the rest.

    Parameters
    ----------
    target : str or list of str
        The attributes that whoever works with the release wants to predict. They are published as they are.
    weight : float > 0, default 1
        How much all predictions together count beside all quasi-identifiers together.
        Take care: cells become more alike in the target, so that more is learnt about single people, too.
    """

    name: ClassVar[str] = "prediction"
    named_by: ClassVar[str] = "target"

    target: Annotated[tuple[str, ...], Field(min_length=1)]
    weight: Annotated[float, Field(gt=0, strict=True, allow_inf_nan=False)] = 1.0

    @field_validator("target", mode="before")
    @classmethod
    def _one_or_several(cls, value: Any) -> Any:
        return (value,) if isinstance(value, str) else value

    def guiding_attributes(self, schema: Schema) -> tuple[str, ...]:
        return self.target

    def shape(self, plain: PlainSpace, predict: Callable[..., FloatArray] = cross_fitted) -> GuidedSpace:
        """Append the predictions.

        Parameters
        ----------
        plain : PlainSpace
        predict : callable
            As :func:`microagg.space.prediction.cross_fitted`; whoever tries many k may keep what it gave.
        """
        refuse_constant(plain.guides)
        predictions = [
            predict(plain.matrix, near_one(guide.values), classes=guide.kind is Kind.NOMINAL) for guide in plain.guides
        ]
        matrix = prediction_space(plain.matrix, predictions, self.weight, m_x=len(plain.attributes))
        return GuidedSpace(matrix, {"weight": self.weight, "folds": FOLDS, "model": _MODEL})

    @property
    def fact_keys(self) -> frozenset[str]:
        return frozenset({"weight", "folds", "model"})

    def facts_fit(self, facts: Mapping[str, Any]) -> bool:
        return [facts[key] for key in ("weight", "folds", "model")] == [self.weight, FOLDS, _MODEL]

    def describe(self, facts: Mapping[str, Any]) -> str:
        return (
            f"predictions by {_MODEL}, each record's from {FOLDS - 1} of {FOLDS} folds without it, "
            f"weight = {facts['weight']:g}"
        )
