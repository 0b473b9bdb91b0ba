"""Training: what a model learns from the release, against one that learns from the original records."""

from __future__ import annotations

from collections.abc import Callable

from microagg.evaluation.context import Context
from microagg.evaluation.definition import Definition, MeasureResult, Need
from microagg.evaluation.learning import Learning, check_target, learn
from microagg.evaluation.result import Measure, RowKind
from microagg.schema.attribute import Kind
from microagg.schema.schema import Schema
from microagg.tables.words import Words

__all__ = ["TRAINING", "fitting", "learning_measures"]

_SCORES = {
    "accuracy": (
        0.0,
        "share of test records whose class is predicted right (by chance: guessing the largest training class)",
    ),
    "f_measure": (
        0.0,
        "F-measure of each class (harmonic mean of precision and recall), averaged over the test records' classes",
    ),
    "r_squared": (None, "share of the variance of test records that is predicted"),
}
_EXPLAINED = {
    "accuracy": Words(
        "A model learns from the release and predicts the target of records it has never seen. The number says how "
        "often it is right.",
        "Where one class is frequent, guessing that class is accurate, too: compare with what chance reaches, and "
        "with accuracy_unprotected.",
        "Rodriguez-Hoyos et al. (2020), Engineering Applications of Artificial Intelligence 94, 103787",
        short="share predicted rightly by a model of the release",
    ),
    "f_measure": Words(
        "It says how well a model that learned from the release finds each class. Every class counts alike, so a rare "
        "one is not drowned by a frequent one.",
        "With few test records of a class it jumps. Compare with f_measure_unprotected, not with 1.",
        "van Rijsbergen (1979), Information Retrieval",
        short="F-measure of a model of the release",
    ),
    "r_squared": Words(
        "It says which share of a numeric target's variance a model predicts that learned from the release. At 0 the "
        "model knows no more than the mean; below 0 it does harm.",
        "A few outliers among the test records can decide it. Compare with r_squared_unprotected, not with 1.",
        "Draper & Smith (1998), Applied Regression Analysis",
        short="variance predicted by a model of the release",
    ),
}
_SIDES = {"released": "the release", "original": "the original records"}


def _name(score: str, side: str) -> str:
    return score if side == "released" else f"{score}_unprotected"


def _explained(score: str, side: str) -> Words:
    """Of a model that learned from the release; that of the original records is there to compare with."""
    if side == "released":
        return _EXPLAINED[score]
    return Words(
        f"It is the {score} of a model that learned from the original records. It shows what could be had without "
        "protection, so that the loss is seen beside it.",
        "It is a yardstick for the release, and says nothing about the release itself.",
        _EXPLAINED[score].reference,
        short=_EXPLAINED[score].short.replace(_SIDES["released"], _SIDES["original"]),
    )


def _learning(context: Context) -> Learning:
    def compute() -> Learning:
        options = context.options
        tests, target, model = options["test"], options["target"], options["model"]
        return Learning(
            (learn(context.after, tests, context.schema, target, model=model),),
            (learn(context.before, tests, context.schema, target, model=model),),
        )

    return context.cached("learning", compute)


def _score(score: str, side: str) -> Callable[[Context], MeasureResult]:
    def compute(context: Context) -> MeasureResult:
        (scores,) = getattr(_learning(context), side)
        value = getattr(scores, score)
        target = context.options["target"]
        baseline = scores.accuracy_by_guessing if score == "accuracy" else None
        note = "" if value is not None else f"target {target!r} is {context.schema[target].kind}"
        return MeasureResult(value, note, baseline=baseline)

    return compute


TRAINING = tuple(
    Definition(
        _name(score, side),
        "utility",
        "learning",
        "higher",
        f"{words}; the target ({{target}}) predicted from the quasi-identifiers by a model trained on {trained}, "
        "tested on records that had no part in it",
        _score(score, side),
        low=low,
        high=1.0,
        needs=(Need.TARGET,),
        default=False,
        holds_of=RowKind.MEANS,
        explained=_explained(score, side),
    )
    for score, (low, words) in _SCORES.items()
    for side, trained in _SIDES.items()
)


def fitting(schema: Schema, target: str) -> list[Definition]:
    """The measures that fit a target: accuracy and F-measure for classes, R squared for numbers."""
    check_target(schema, target)
    classes = schema[target].kind is Kind.NOMINAL
    return [one for one in TRAINING if one.name.startswith("r_squared") is not classes]


def learning_measures(learning: Learning, target: str, tested_on: str) -> list[Measure]:
    """Scores over splits as measures: mean and spread, of the release and of the unprotected records."""
    measures = []
    for score, (low, words) in _SCORES.items():
        if getattr(learning.released[0], score) is None:
            continue
        for side, trained in _SIDES.items():
            values = learning.of(score, side)
            measures.append(
                Measure(
                    _name(score, side),
                    float(values.mean()),
                    low,
                    1.0,
                    "higher",
                    f"{words}; {target!r} predicted by a model trained on {trained}, tested on {tested_on}"
                    + (f"; mean over {len(values)} splits" if len(values) > 1 else ""),
                    spread=float(values.std(ddof=1)) if len(values) > 1 else None,
                    words=_explained(score, side).plain,
                )
            )
    return measures
