"""Learning: what a model trained on a release knows of records that had no part in it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from microagg._threads import threads_for
from microagg._typing import FloatArray
from microagg.errors import ParameterError, TableError, did_you_mean
from microagg.evaluation.pairs import pair
from microagg.schema.attribute import Kind
from microagg.schema.schema import Schema
from microagg.tables.frames import Frame

__all__ = ["MODELS", "Learning", "Scores", "check_target", "learn", "repeated_splits"]


MODELS = ("gradient_boosting", "logistic_regression")


@dataclass(frozen=True)
class Scores:
    """How well a model does on test records: accuracy and the mean F-measure for classes, R squared for numbers.

    Beside it the accuracy of always guessing the most frequent class of the training records.
    """

    accuracy: float | None = None
    f_measure: float | None = None
    r_squared: float | None = None
    accuracy_by_guessing: float | None = None


@dataclass(frozen=True)
class Learning:
    """Scores over repeated splits, of models trained on the release and on the original records.

    Attributes
    ----------
    released, original : tuple of Scores
        One per split, in the same order: differences are paired.
    """

    released: tuple[Scores, ...] = field(repr=False)
    original: tuple[Scores, ...] = field(repr=False)

    def of(self, score: str, side: str = "released") -> FloatArray:
        """One score over the splits, for example ``of("accuracy")``."""
        return np.array([getattr(scores, score) for scores in getattr(self, side)], dtype=np.float64)


def learn(
    train: Frame,
    test: Frame,
    schema: Schema,
    target: str,
    *,
    features: Sequence[str] | None = None,
    model: Any = "gradient_boosting",
) -> Scores:
    """Train a model on one table and score it on another.

    Parameters
    ----------
    train, test : Frame
    schema : Schema
        Says what is a number and what a category.
    target : str
        A nominal attribute is classified; a numeric or ordinal one is predicted as a number or rank.
    features : sequence of str, optional
        What it is predicted from; default: the quasi-identifiers.
    model : {"gradient_boosting", "logistic_regression"} or a scikit-learn estimator
        With numbers as target, ``"logistic_regression"`` is linear regression. An estimator is cloned.
    """
    features = schema.quasi_identifiers if features is None else tuple(features)
    check_target(schema, target)
    X_train, X_test = [], []
    for name in features:
        first, second = pair(train, test, name, schema[name]).points()
        X_train.append(first)
        X_test.append(second)
    labels = pair(train, test, target, schema[target]).joint
    if labels.missing.any():
        raise TableError(
            f"target {target!r} has {int(labels.missing.sum())} missing values: learning needs records that have one"
        )
    y_train, y_test = labels.values[: train.n_records], labels.values[train.n_records :]
    classes = labels.kind is Kind.NOMINAL
    with threads_for(train.n_records):
        return _score(_estimator(model, classes), np.hstack(X_train), y_train, np.hstack(X_test), y_test, classes)


def repeated_splits(
    original: Any,
    schema: Schema,
    target: str,
    make_release: Callable[[Any], Any],
    *,
    n_splits: int = 10,
    test_share: float = 0.25,
    features: Sequence[str] | None = None,
    model: Any = "gradient_boosting",
    seed: int = 0,
) -> Learning:
    """Release a part of the records, train on it, test on the others as they are; again and again.

    Records of the test part have no share in the release: a score on records that shaped the cells would flatter.

    Parameters
    ----------
    original : table
    make_release : callable
        From a table of training records (pyarrow) to the released table.
    n_splits : int >= 1
    test_share : float in (0, 1)
    seed : int
        Fixes the splits (stratified by classes), not what `make_release` does.
    """
    from sklearn.model_selection import ShuffleSplit, StratifiedShuffleSplit

    frame = Frame.wrap(original)
    arrow = Frame.wrap(frame.table)
    check_target(schema, target)
    if n_splits < 1 or not 0 < test_share < 1:
        raise ParameterError("n_splits must be at least 1 and test_share between 0 and 1")
    if schema[target].kind is Kind.NOMINAL:
        codes = arrow.column(target).codes
        alone = int((np.bincount(codes[codes >= 0]) < 2).sum())
        if alone:
            raise TableError(f"target {target!r} has {alone} classes with one record, which cannot be split")
        splitter = StratifiedShuffleSplit(n_splits, test_size=test_share, random_state=seed).split(codes, codes)
    else:
        places = np.zeros(frame.n_records)
        splitter = ShuffleSplit(n_splits, test_size=test_share, random_state=seed).split(places)
    released, unprotected = [], []
    for train_rows, test_rows in splitter:
        train, test = arrow.take(np.sort(train_rows)), arrow.take(np.sort(test_rows))
        made = Frame.wrap(make_release(train.table))
        released.append(learn(made, test, schema, target, features=features, model=model))
        unprotected.append(learn(train, test, schema, target, features=features, model=model))
    return Learning(tuple(released), tuple(unprotected))


def check_target(schema: Schema, target: str) -> None:
    """Refuse a target that is not declared or has no kind."""
    if target not in schema.attributes:
        raise ParameterError(f"target {target!r} is not declared.{did_you_mean(target, schema)}")
    if schema[target].kind is None:
        raise ParameterError(f"target {target!r} has no kind. Add to its declaration: kind = numeric, ordinal, nominal")


def _estimator(model: Any, classes: bool) -> Any:
    from sklearn.base import clone

    if not isinstance(model, str):
        return clone(model)
    if model not in MODELS:
        raise ParameterError(
            f"model must be one of {', '.join(MODELS)} or a scikit-learn estimator. Got {model!r} instead."
            f"{did_you_mean(model, MODELS)}"
        )
    from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor
    from sklearn.linear_model import LinearRegression, LogisticRegression

    if model == "gradient_boosting":
        kind = HistGradientBoostingClassifier if classes else HistGradientBoostingRegressor
        return kind(random_state=0, early_stopping=False)
    return LogisticRegression(max_iter=1000) if classes else LinearRegression()


def _score(
    estimator: Any, X_train: FloatArray, y_train: FloatArray, X_test: FloatArray, y_test: FloatArray, classes: bool
) -> Scores:
    from sklearn.metrics import accuracy_score, f1_score, r2_score

    if not classes:
        return Scores(r_squared=float(r2_score(y_test, estimator.fit(X_train, y_train).predict(X_test))))
    y_train, y_test = y_train.astype(np.int64), y_test.astype(np.int64)
    if len(np.unique(y_train)) < 2:
        guessed = np.full(len(y_test), y_train[0])
    else:
        guessed = estimator.fit(X_train, y_train).predict(X_test)
    return Scores(
        accuracy=float(accuracy_score(y_test, guessed)),
        f_measure=float(f1_score(y_test, guessed, average="macro", labels=np.unique(y_test))),
        accuracy_by_guessing=float((y_test == np.bincount(y_train).argmax()).mean()),
    )
