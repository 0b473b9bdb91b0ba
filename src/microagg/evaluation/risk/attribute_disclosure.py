"""Attribute disclosure: what a model trained on the release learns of the confidential attributes of people in it."""

from __future__ import annotations

from typing import Any

import numpy as np

from microagg._progress import report
from microagg.evaluation.context import Context
from microagg.evaluation.definition import Definition, MeasureResult, Need
from microagg.evaluation.learning import learn
from microagg.evaluation.pairs import pair
from microagg.evaluation.utility.papers import RISK_FRAMEWORK
from microagg.schema.attribute import Kind
from microagg.schema.schema import Schema
from microagg.tables.frames import Frame
from microagg.tables.phrases import columns_phrase
from microagg.tables.words import Words

__all__ = ["ATTRIBUTE_DISCLOSURE", "skill"]


def skill(train: Frame, test: Frame, schema: Schema, target: str, *, model: Any = "gradient_boosting") -> float | None:
    """How much of what is unknown of an attribute a model predicts from the quasi-identifiers of the test records.

    For categories (a - b) / (1 - b), with a the accuracy and b that of always guessing the training table's most
    frequent category; for numbers and ranks R squared. 0 is what one knows without the model, 1 is everything.

    Returns
    -------
    float or None
        None if the attribute does not vary in the test table, or has no values in one of them.
    """
    train, test = _with_value(train, target), _with_value(test, target)
    if not train.n_records or not test.n_records:
        return None
    labels = pair(train, test, target, schema[target]).values
    if len(np.unique(labels[1])) < 2:
        return None
    scores = learn(train, test, schema, target, model=model)
    if schema[target].kind is not Kind.NOMINAL:
        return scores.r_squared
    assert scores.accuracy is not None
    different, counts = np.unique(labels[0], return_counts=True)
    guessed = float((labels[1] == different[counts.argmax()]).mean())
    return (scores.accuracy - guessed) / (1.0 - guessed)


def _with_value(frame: Frame, name: str) -> Frame:
    missing = frame.column(name).missing
    return frame.take(np.flatnonzero(~missing)) if missing.any() else frame


def _model_for(context: Context, name: str) -> Any:
    """The caller's model, if it fits the attribute's kind; a classifier predicts no numbers."""
    from sklearn.base import is_classifier

    model = context.options.get("model", "gradient_boosting")
    classes = context.schema[name].kind is Kind.NOMINAL
    return model if isinstance(model, str) or is_classifier(model) is classes else "gradient_boosting"


def _skills(context: Context, who: str, test: Frame) -> dict[str, float | None]:
    def compute() -> dict[str, float | None]:
        names = [one.name for one in context.confidential if one.name in test.names]
        found = {}
        for i, name in enumerate(names):
            report("learning confidential attributes", i / len(names))
            found[name] = skill(context.after, test, context.schema, name, model=_model_for(context, name))
        return found

    return context.cached(f"skill on {who}", compute)


def _note(context: Context) -> str:
    unfit = [one.name for one in context.confidential if _model_for(context, one.name) != context.options.get("model")]
    other = f"{columns_phrase(unfit)} by gradient_boosting: the model is of the other kind" if unfit else ""
    return "; ".join(part for part in (other, context.unmeasured) if part)


def _disclosure(context: Context) -> MeasureResult:
    found = _skills(context, "original", context.before)
    known = [value for value in found.values() if value is not None]
    if not known:
        return MeasureResult(None, "no confidential attribute of the original table varies")
    return MeasureResult(max(known), _note(context), baseline=0.0, details=found)


def _beyond_holdout(context: Context) -> MeasureResult:
    assert context.holdout is not None
    inside, outside = _skills(context, "original", context.before), _skills(context, "holdout", context.holdout)
    found: dict[str, float | None] = {}
    for name, mine in inside.items():
        theirs = outside.get(name)
        if mine is not None and theirs is not None:
            found[name] = mine - theirs
    if not found:
        return MeasureResult(None, "no confidential attribute varies in both the original table and the holdout")
    return MeasureResult(
        max(value for value in found.values() if value is not None), _note(context), baseline=0.0, details=found
    )


ATTRIBUTE_DISCLOSURE = (
    Definition(
        "attribute_disclosure",
        "risk",
        "attribute",
        "lower",
        "how much of what is unknown of a confidential attribute of the original records a model trained on the "
        "release predicts from their original quasi-identifiers: (a - b) / (1 - b), with a the accuracy and b that of "
        "the most frequent category, or R squared of numbers; the largest of all attributes",
        _disclosure,
        low=None,
        high=1.0,
        needs=(Need.CONFIDENTIAL,),
        default=False,
        explained=Words(
            "A model learns from the release and predicts a confidential attribute of the real people from their real "
            "quasi-identifiers. The number says which part of the unknown it finds out.",
            "It also counts what is true of everyone, in the table or not. What the release adds is "
            "attribute_disclosure_gain.",
            RISK_FRAMEWORK,
            short="confidential values predicted rightly from the release",
        ),
    ),
    Definition(
        "attribute_disclosure_gain",
        "risk",
        "attribute",
        "lower",
        "attribute_disclosure less the same on the holdout: what the release reveals about the people in it, beyond "
        "what it reveals about everyone; the largest of all attributes",
        _beyond_holdout,
        low=None,
        needs=(Need.CONFIDENTIAL, Need.HOLDOUT),
        default=False,
        explained=Words(
            "It says how much better the model predicts people in the table than others like them. That part is what "
            "the release reveals about its own people.",
            "It is fair only if the holdout was drawn as the original was. With few records it jumps around 0.",
            RISK_FRAMEWORK,
            short="gain of such predictions over people outside the table",
        ),
    ),
)
