"""Train on microaggregated records and test on others: MDAV, and MDAV in the stretched space, for every alpha."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any

import numpy as np

from microagg._typing import FloatArray, IntArray
from microagg.aggregate.centroid import Cells, cell_means
from microagg.partition.mdav import MDAV
from microagg.space.discriminant import Discriminant
from microagg.space.guides.alpha import choose_alpha, smallest_table
from microagg.studies.discriminant.published import TRAIN_SHARE
from microagg.studies.guided_cells.settings import NUMERIC, SETTINGS, Setting
from microagg.studies.reproduction.experiment import Point
from microagg.tables.reference.generated import generate_two_classes

__all__ = ["CODINGS", "coded", "settings", "split_scores"]

CODINGS = ("codes", "simplex")
"""Categories as whole numbers in the order of their labels, as the paper prints it; or as points at distance 1."""


def settings(data: str) -> Setting:
    """A table of the paper; the synthetic one has parameters of our own, as the paper prints none."""
    if data != "synthetic":
        return SETTINGS[data]
    columns = {"x1": NUMERIC, "x2": NUMERIC, "y": {"role": "confidential", "kind": "nominal"}}
    return Setting("Synthetic", lambda: generate_two_classes(1000), columns, "y", "logistic_regression")


@cache
def coded(data: str, coding: str) -> tuple[FloatArray, IntArray]:
    """Quasi-identifiers as numbers, not yet scaled, and the label as 0 and 1."""
    setting = settings(data)
    table = setting.load()
    columns: list[FloatArray] = []
    for name, declared in setting.attributes.items():
        if name == setting.target:
            continue
        if declared["kind"] == "numeric":
            columns.append(table[name].to_numpy().astype(np.float64))
            continue
        labels, codes = np.unique(np.array(table[name].to_pylist()), return_inverse=True)
        if coding == "codes":
            columns.append(codes.astype(np.float64))
        else:
            columns += [(codes == place).astype(np.float64) for place in range(len(labels))]
    _, target = np.unique(np.array(table[setting.target].to_pylist()), return_inverse=True)
    return np.column_stack(columns), target.astype(np.int64)


def _scaled(data: str, coding: str, X: FloatArray, train: IntArray) -> FloatArray:
    """By the statistics of the training part; points of a simplex keep their distance of 1."""
    mean, deviation = X[train].mean(axis=0), X[train].std(axis=0)
    deviation = np.where(deviation > 0, deviation, 1.0)
    if coding == "simplex":
        setting = settings(data)
        numbers = [one["kind"] == "numeric" for name, one in setting.attributes.items() if name != setting.target]
        widths = _widths(data)
        is_number = np.repeat(numbers, widths)
        mean, deviation = np.where(is_number, mean, 0.0), np.where(is_number, deviation, np.sqrt(2.0))
    scaled: FloatArray = (X - mean) / deviation
    return scaled


@cache
def _widths(data: str) -> tuple[int, ...]:
    setting, table = settings(data), settings(data).load()
    return tuple(
        1 if one["kind"] == "numeric" else len(set(table[name].to_pylist()))
        for name, one in setting.attributes.items()
        if name != setting.target
    )


def split_scores(
    *, data: str, coding: str, split: int, ks: Sequence[int], alphas: Sequence[float], honest: bool
) -> list[Point]:
    """One split: accuracy and F-measure of the unprotected records (k = 1), and for each k and alpha.

    With `honest`, a point with alpha 0 has what the alpha chosen by cross-validation inside the training part gives.
    """
    from sklearn.model_selection import StratifiedShuffleSplit

    X, y = coded(data, coding)
    splitter = StratifiedShuffleSplit(split + 1, test_size=1 - TRAIN_SHARE, random_state=0)
    train, test = list(splitter.split(y, y))[split]
    scaled = _scaled(data, coding, X, train)
    X_train, y_train = np.ascontiguousarray(scaled[train]), y[train]
    model = settings(data).model
    about: Point = {"data": data, "coding": coding, "split": split}
    score = _score(model, X_train, y_train, scaled[test], y[test])
    found = [about | {"k": 1, "alpha": 1.0, "chosen": 1.0, "purity": 1.0, **score}]
    for k in ks:
        points: dict[float, Point] = {}
        for alpha in alphas:
            labels = _form(k)(Discriminant.fit(X_train, y_train.astype(np.float64), alpha, classes=True).apply(X_train))
            cells = Cells(labels)
            released = np.column_stack([cell_means(np.ascontiguousarray(one), cells)[labels] for one in X_train.T])
            score = _score(model, released, y_train, scaled[test], y[test])
            points[alpha] = about | {
                "k": k,
                "alpha": alpha,
                "chosen": alpha,
                "purity": _purity(y_train, labels),
                **score,
            }
        found += points.values()
        if honest and len(train) >= smallest_table(k):
            chosen = choose_alpha(
                X_train, y_train.astype(np.float64), _form(k), classes=True, alphas=tuple(alphas)
            ).alpha
            found.append(points[chosen] | {"alpha": 0.0})
    return found


def _form(k: int) -> Any:
    return lambda space: MDAV(k=k).fit(space).labels_


def _purity(y: IntArray, labels: IntArray) -> float:
    """Mean over cells of the share of the more frequent label."""
    share = np.bincount(labels, y) / np.bincount(labels)
    return float(np.maximum(share, 1 - share).mean())


def _score(model: str, X: FloatArray, y: IntArray, X_test: FloatArray, y_test: IntArray) -> dict[str, float]:
    from sklearn.ensemble import HistGradientBoostingClassifier
    from sklearn.linear_model import LogisticRegression
    from sklearn.metrics import accuracy_score, f1_score
    from threadpoolctl import threadpool_limits

    boosting = model == "gradient_boosting"
    estimator = (
        HistGradientBoostingClassifier(random_state=0, early_stopping=False)
        if boosting
        else LogisticRegression(max_iter=1000)
    )
    with threadpool_limits(1):
        guessed = estimator.fit(X, y).predict(X_test)
    return {
        "accuracy": 100 * float(accuracy_score(y_test, guessed)),
        "F": 100 * float(f1_score(y_test, guessed, average="macro")),
    }
