"""Attribute disclosure: what a model trained on the release learns of the confidential attributes of people in it."""

from __future__ import annotations

import numpy as np

from microagg._progress import report
from microagg.evaluation.context import Context
from microagg.evaluation.definition import Definition, Need, Worth
from microagg.evaluation.learning import learn
from microagg.evaluation.pairs import pair
from microagg.schema.attribute import Kind, Role
from microagg.schema.schema import Schema
from microagg.tables.frames import Frame

__all__ = ["ATTRIBUTE_DISCLOSURE", "skill"]


def skill(
    train: Frame, test: Frame, schema: Schema, target: str, *, model: object = "gradient_boosting"
) -> float | None:
    """How much of what is unknown of an attribute a model predicts from the quasi-identifiers of the test records.

    Of categories (a - b) / (1 - b), with a the accuracy and b that of always guessing the training table's most
    frequent category; of numbers and ranks R squared. 0 is what one knows without the model, 1 is everything.

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


def _skills(context: Context, who: str, test: Frame) -> dict[str, float | None]:
    def compute() -> dict[str, float | None]:
        names = [one.name for one in context.confidential if one.name in test.names]
        found = {}
        for i, name in enumerate(names):
            report("learning confidential attributes", i / len(names))
            found[name] = skill(context.after, test, context.schema, name, model=context.options.get("model"))
        return found

    return context.once(f"skill on {who}", compute)


def _disclosure(context: Context) -> Worth:
    found = _skills(context, "original", context.before)
    known = [value for value in found.values() if value is not None]
    if not known:
        return Worth(None, "no confidential attribute of the original table varies")
    return Worth(max(known), context.unmeasured, baseline=0.0, details=found)


def _beyond_holdout(context: Context) -> Worth:
    assert context.holdout is not None
    inside, outside = _skills(context, "original", context.before), _skills(context, "holdout", context.holdout)
    found = {
        name: mine - theirs
        for name, mine in inside.items()
        if mine is not None and (theirs := outside.get(name)) is not None
    }
    if not found:
        names = context.schema.of_role(Role.CONFIDENTIAL)
        return Worth(None, f"none of the {len(names)} confidential attributes varies in original and holdout table")
    return Worth(max(found.values()), context.unmeasured, baseline=0.0, details=found)


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
    ),
    Definition(
        "attribute_disclosure_gain",
        "risk",
        "attribute",
        "lower",
        "attribute_disclosure less the same on the holdout: what the release tells of the people in it, beyond what it "
        "tells of everyone; the largest of all attributes",
        _beyond_holdout,
        low=None,
        needs=(Need.CONFIDENTIAL, Need.HOLDOUT),
        default=False,
    ),
)
