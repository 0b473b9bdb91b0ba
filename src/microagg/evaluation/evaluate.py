"""Judge a release: two tables and a schema in, measures of utility and risk out."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from microagg.errors import ParameterError, TableError
from microagg.evaluation.learning import Learning, learn
from microagg.evaluation.measure import Evaluation, Measure, Worth, timed
from microagg.evaluation.pairs import combinations, pair, rows_belong_together
from microagg.evaluation.risk import distance_linkage
from microagg.evaluation.utility import distortion, distortion_within, exact_and_coarse
from microagg.privacy.diversity import STEP, Diversity, label_diversity
from microagg.schema.attribute import Kind, Role
from microagg.schema.measure import Measured, measure
from microagg.schema.schema import Schema
from microagg.space.dependence import total_distortion
from microagg.tables.frames import Frame, columns_phrase

__all__ = ["evaluate", "learning_measures"]

IntArray = npt.NDArray[np.int64]

_CELLS = "cells are records with equal released quasi-identifiers"


def evaluate(
    original: Any,
    released: Any,
    schema: Any,
    *,
    aligned: bool | None = None,
    lambda_: float = 0.5,
    target: str | None = None,
    test: Any = None,
    model: Any = "gradient_boosting",
) -> Evaluation:
    """Measure utility and risk of a released table, made by microagg or by any other tool.

    Parameters
    ----------
    original, released : pandas.DataFrame, polars.DataFrame or pyarrow.Table
    schema : Schema or Recipe
        What each column is. Confidential attributes are measured if they have a kind.
    aligned : bool, optional
        Whether row i of both tables is the same record. By default this is found out from the columns that are
        published as they are. Measures that need it say so where it is not so.
    lambda_ : float in [0, 1], default 0.5
        The weight of D_Y in D.
    target : str, optional
        An attribute that a model trained on the release shall predict from the quasi-identifiers; needs `test`.
    test : table, optional
        Records that had no part in the release.
    model : {"gradient_boosting", "logistic_regression"} or a scikit-learn estimator

    Returns
    -------
    Evaluation

    Examples
    --------
    >>> import pyarrow as pa, microagg
    >>> people = pa.table({"age": [20, 22, 61, 64], "pay": [1.0, 2.0, 3.0, 5.0]})
    >>> recipe = microagg.Recipe(k=2, output={"order": "kept"}, attributes={
    ...     "age": {"role": "quasi_identifier", "kind": "numeric"}, "pay": {"role": "confidential", "kind": "numeric"}})
    >>> found = microagg.evaluate(people, microagg.release(people, recipe).table, recipe, aligned=True)
    >>> round(found["D_Y"].value, 3), round(found["distance_linkage"].value, 2)
    (0.286, 0.5)
    """
    schema = getattr(schema, "schema", schema)
    if not isinstance(schema, Schema):
        raise ParameterError("schema must be a microagg.Schema or a Recipe")
    if not 0 <= lambda_ <= 1:
        raise ParameterError(f"lambda_ must be a number from 0 to 1. Got {lambda_!r} instead.")
    if (target is None) is not (test is None):
        raise ParameterError("target and test belong together: what to predict, and records that had no part in it")
    before, after = Frame.wrap(original), Frame.wrap(released)
    _check_columns(before, after, schema)
    pairs = [pair(before, after, name, schema[name]) for name in schema.quasi_identifiers]
    together, why_not = _alignment(before, after, schema, aligned)

    def rows(compute: Callable[[], float]) -> Callable[[], Worth]:
        return (lambda: Worth(compute())) if together else (lambda: Worth(None, why_not))

    labels = combinations(after, schema.quasi_identifiers)
    confidential, without = _confidential(after, schema)
    no_cells = _no_cells(labels, confidential, without)

    def cells(compute: Callable[[], float]) -> Callable[[], Worth]:
        return (lambda: Worth(None, no_cells)) if no_cells else (lambda: Worth(compute(), without))

    found: dict[str, Diversity] = {}

    def diversity() -> Diversity:
        if "all" not in found:
            exact, coarse = exact_and_coarse(confidential)
            found["all"] = label_diversity(exact, coarse, labels)
        return found["all"]

    measures = [
        timed(
            "D_X",
            0.0,
            None,
            "lower",
            "mean over records and quasi-identifiers of the squared difference between original and released value, in "
            "standard deviations of the original (categories: 0 or 1, or their semantic distance)",
            rows(lambda: distortion(pairs)),
        ),
        timed(
            "D_Y",
            0.0,
            1.0,
            "lower",
            "mean over records and confidential attributes of the squared difference, in standard deviations, between "
            f"a value and the mean of its cell; {_CELLS}",
            cells(lambda: distortion_within(confidential, labels)),
        ),
    ]
    d_x, d_y = (measure.value for measure in measures)
    both = Worth(None, why_not if d_x is None else no_cells)
    if d_x is not None and d_y is not None:
        both = Worth(total_distortion(d_x, d_y, lambda_))
    step = f"(numbers in steps of {STEP} standard deviations)"
    largest = float(np.bincount(labels).max(initial=0))
    measures += [
        timed("D", 0.0, None, "lower", f"(1 - lambda) D_X + lambda D_Y with lambda = {lambda_:g}", lambda: both),
        timed(
            "l_avg",
            1.0,
            largest,
            "higher",
            f"mean over cells of the number of different values {step} of the least diverse confidential attribute",
            cells(lambda: diversity().l_avg),
        ),
        timed(
            "distinct_l_min",
            1.0,
            largest,
            "higher",
            "the fewest different values that the least diverse confidential attribute has in any cell",
            cells(lambda: float(diversity().smallest)),
        ),
        timed(
            "distinct_l_mean",
            1.0,
            largest,
            "higher",
            "mean over cells of the number of different values of the least diverse confidential attribute",
            cells(lambda: diversity().mean),
        ),
        timed(
            "label_purity",
            0.0,
            1.0,
            "lower",
            f"mean over cells of the share of records with the most frequent value {step} of the purest attribute",
            cells(lambda: diversity().purity),
        ),
        timed(
            "distance_linkage",
            0.0,
            1.0,
            "lower",
            "share of released records whose nearest original record, both tables z-scored, is the one they came from",
            rows(lambda: distance_linkage(pairs)),
        ),
        timed(
            "distance_linkage_by_chance",
            0.0,
            1.0,
            "lower",
            "what guessing would reach: 1 / number of original records",
            lambda: Worth(1.0 / before.n_records if before.n_records else None),
        ),
    ]
    if target is not None:
        untouched = Frame.wrap(test)
        learning = Learning(
            (learn(after, untouched, schema, target, model=model),),
            (learn(before, untouched, schema, target, model=model),),
        )
        measures += learning_measures(learning, target, f"{untouched.n_records} records that had no part in it")
    return Evaluation(tuple(measures))


def learning_measures(learning: Learning, target: str, tested_on: str) -> list[Measure]:
    """Scores over splits as measures: mean and spread, of the release and of the unprotected records."""
    named = [
        ("accuracy", 0.0, "share of test records whose class is predicted right"),
        ("f_measure", 0.0, "F-measure of each class (harmonic mean of precision and recall), averaged over classes"),
        ("r_squared", None, "share of the variance of test records that is predicted"),
    ]
    measures = []
    for score, low, words in named:
        if getattr(learning.released[0], score) is None:
            continue
        for side, trained in (("released", "the release"), ("original", "the original records")):
            values = learning.of(score, side)
            spread = float(values.std(ddof=1)) if len(values) > 1 else None
            measures.append(
                Measure(
                    score if side == "released" else f"{score}_unprotected",
                    float(values.mean()),
                    low,
                    1.0,
                    "higher",
                    f"{words}; {target!r} predicted by a model trained on {trained}, tested on {tested_on}"
                    + (f"; mean over {len(values)} splits" if len(values) > 1 else ""),
                    spread=spread,
                )
            )
    return measures


def _check_columns(before: Frame, after: Frame, schema: Schema) -> None:
    for frame, which in ((before, "original"), (after, "released")):
        absent = [name for name in schema.quasi_identifiers if name not in frame.names]
        if absent:
            raise TableError(f"the {which} table lacks the quasi-identifiers {columns_phrase(absent)}")
        if not frame.n_records:
            raise TableError(f"the {which} table has no records")


def _alignment(before: Frame, after: Frame, schema: Schema, aligned: bool | None) -> tuple[bool, str]:
    if aligned and before.n_records != after.n_records:
        raise ParameterError(
            f"aligned = True, but the tables have {before.n_records} and {after.n_records} records: rows cannot match"
        )
    if aligned is not None:
        return aligned, "needs row i of both tables to be the same record; the caller said it is not"
    together = rows_belong_together(before, after, schema.of_role(Role.CONFIDENTIAL, Role.NON_CONFIDENTIAL))
    if together is None:
        return False, (
            "needs row i of both tables to be the same record; no column published as it is can tell: say aligned"
        )
    return together, (
        "needs row i of both tables to be the same record, and the rows differ (a shuffled release?): make one with "
        '[output] order = "kept" to measure this'
    )


def _confidential(after: Frame, schema: Schema) -> tuple[list[Measured], str]:
    """The confidential attributes that can be measured, and a note on the others."""
    names = [name for name in schema.of_role(Role.CONFIDENTIAL) if name in after.names]
    without = [name for name in names if schema[name].kind is None]
    measured = [measure(after.column(name), schema[name]) for name in names if schema[name].kind is not None]
    kinds = ", ".join(Kind)
    return measured, f"without {columns_phrase(without)}: no kind is declared (one of {kinds})" if without else ""


def _no_cells(labels: IntArray, confidential: list[Measured], without: str) -> str:
    """Why there are no cells to measure confidential attributes in; empty if there are."""
    if not confidential:
        return f"no confidential attribute to measure{f', {without}' if without else ''}"
    alone = int((np.bincount(labels) == 1).sum())
    if alone > len(labels) / 2:
        return (
            f"no cells can be read off the release: {alone} of {len(labels)} records have a combination of "
            "quasi-identifiers of their own"
        )
    return ""
