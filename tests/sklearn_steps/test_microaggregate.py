"""Microaggregate: what a pipeline is fitted on are cells of at least k rows; new rows pass unchanged."""

import numpy as np
import pytest
import sklearn
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.linear_model import LinearRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import parametrize_with_checks

from microagg.errors import ParameterError
from microagg.sklearn import Microaggregate
from optional_packages import pandas as pd

X = np.random.default_rng(0).normal(size=(60, 2)) * [1.0, 1000.0]
Y = X @ [1.0, 0.001]


def counts(rows):
    return np.unique(rows, axis=0, return_counts=True)[1]


class Remembering(RegressorMixin, BaseEstimator):
    """Keeps what it was fitted on and what it was asked about."""

    def fit(self, X, y):
        self.seen_ = X
        return self

    def predict(self, X):
        self.asked_ = X
        return np.zeros(len(X))


def known_to_fail(estimator):
    why = "training rows become cells in fit_transform alone: transform gives new rows on, which is what it is for"
    names = ("check_transformer_general", "check_transformer_data_not_an_array", "check_transformer_preserve_dtypes")
    return dict.fromkeys(names[:2], why)


@parametrize_with_checks([Microaggregate(k=2)], expected_failed_checks=known_to_fail)
def test_it_is_a_scikit_learn_transformer(estimator, check):
    check(estimator)


@pytest.mark.parametrize("method", ["mdav", "vmdav"])
@pytest.mark.parametrize("k", [2, 7])
def test_a_pipeline_is_fitted_on_rows_that_k_share_and_predicts_for_the_rows_it_is_asked(method, k):
    pipeline = make_pipeline(Microaggregate(k=k, method=method), Remembering()).fit(X, Y)
    seen = pipeline[-1].seen_
    assert counts(seen).min() >= k
    assert len(counts(seen)) == pipeline[0].n_cells_ > 1
    np.testing.assert_allclose(seen.mean(axis=0), X.mean(axis=0))
    pipeline.predict(X[:7])
    np.testing.assert_array_equal(pipeline[-1].asked_, X[:7])


def test_a_fitted_step_keeps_no_row():
    step = Microaggregate(k=3)
    step.fit_transform(X)
    assert {name for name in vars(step) if name.endswith("_")} == {"n_features_in_", "n_cells_"}


def test_groups_are_routed_and_keep_cells_apart():
    groups = np.arange(60) % 3
    with sklearn.config_context(enable_metadata_routing=True):
        step = Microaggregate(k=4).set_fit_request(groups=True)
        seen = make_pipeline(step, Remembering()).fit(X, Y, groups=groups)[-1].seen_
    for group in range(3):
        own = seen[groups == group]
        assert counts(own).min() >= 4
        np.testing.assert_allclose(own.mean(axis=0), X[groups == group].mean(axis=0))


def test_a_group_below_k_is_refused_with_its_count_alone():
    with pytest.raises(ParameterError, match="1 of 2 groups have fewer than k = 3 rows") as caught:
        Microaggregate(k=3).fit_transform(X, groups=["canary"] * 2 + ["b"] * 58)
    assert "canary" not in str(caught.value)


@pytest.mark.parametrize("groups", [["canary", None] * 30, [1.0, np.nan] * 30, np.array([("canary", 1)] * 60)])
def test_groups_that_are_no_labels_are_refused_in_words(groups):
    with pytest.raises(ParameterError, match="groups must be") as caught:
        Microaggregate(k=3).fit_transform(X, groups=groups)
    assert "canary" not in str(caught.value)


@pytest.mark.parametrize("rows", [[["canary"]] * 60, np.full(60, 7777.5), [[10**400]] * 60])
@pytest.mark.parametrize("step", ["fit", "fit_transform", "transform"])
def test_no_message_shows_a_value(rows, step):
    with pytest.raises(ParameterError) as caught:
        getattr(Microaggregate(k=3).fit(X[:, :1]), step)(rows)
    assert "canary" not in str(caught.value)
    assert "7777" not in str(caught.value)


@pytest.mark.parametrize("method", ["individual_ranking", "dp_laplace", "mdaw"])
def test_methods_without_cells_of_records_are_refused(method):
    with pytest.raises(ParameterError, match="method must be one of mdav"):
        Microaggregate(method=method).fit(X)


def test_dataframes_stay_dataframes_where_that_is_set():
    frame = pd.DataFrame(X, columns=["a", "b"])
    step = Microaggregate(k=3).set_output(transform="pandas")
    seen = step.fit_transform(frame)
    assert list(seen.columns) == list(step.get_feature_names_out()) == ["a", "b"]
    assert seen.index.equals(frame.index)
    pd.testing.assert_frame_equal(step.transform(frame), frame)


def test_columns_of_other_units_count_alike():
    scaled = Microaggregate(k=3).fit_transform(X * [1.0, 1024.0])
    np.testing.assert_allclose(scaled, Microaggregate(k=3).fit_transform(X) * [1.0, 1024.0])


def test_large_values_have_finite_means():
    rows = np.array([[1.7e308], [1.6e308], [-1.7e308], [-1.6e308]])
    np.testing.assert_allclose(
        Microaggregate(k=2).fit_transform(rows).ravel(), [1.65e308, 1.65e308, -1.65e308, -1.65e308]
    )


def test_k_is_searched_like_any_parameter():
    search = GridSearchCV(make_pipeline(Microaggregate(), LinearRegression()), {"microaggregate__k": [2, 20]}, cv=2)
    assert search.fit(X, Y).best_params_ == {"microaggregate__k": 2}
