"""What every partitioner of the catalogue must do; a new entry is tested by being there."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.utils.estimator_checks import parametrize_with_checks

from microagg.errors import ParameterError
from microagg.releases.catalogue import METHODS

pytestmark = pytest.mark.kernel

PARTITIONERS = [pytest.param(method.partitioner_class, id=name) for name, method in METHODS.items()]
every_partitioner = pytest.mark.parametrize("partitioner", PARTITIONERS)


def points(n_records: int, n_attributes: int = 3, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).normal(size=(n_records, n_attributes))


def as_sets(labels: np.ndarray) -> set[frozenset[int]]:
    return {frozenset(np.flatnonzero(labels == cell).tolist()) for cell in np.unique(labels)}


# Of scikit-learn's checks one wants cells that agree with three blobs of 50 points, others fit 10 points:
# k = 10 suits both.
@parametrize_with_checks([METHODS[name].partitioner_class(k=10) for name in METHODS])
def test_it_is_a_scikit_learn_clusterer(estimator, check):
    check(estimator)


@every_partitioner
@pytest.mark.parametrize("k", [2, 3, 7])
@pytest.mark.parametrize("size", ["k", "2k-1", "2k", "2k+1", "3k", "large"])
def test_every_cell_has_at_least_k_records_and_every_record_one_cell(partitioner, k, size):
    n_records = {"k": k, "2k-1": 2 * k - 1, "2k": 2 * k, "2k+1": 2 * k + 1, "3k": 3 * k, "large": 100}[size]
    fitted = partitioner(k=k).fit(points(n_records))
    sizes = np.bincount(fitted.labels_)
    assert fitted.labels_.shape == (n_records,)
    assert sizes.min() >= k
    assert sizes.sum() == n_records
    assert len(sizes) == fitted.n_cells_


@every_partitioner
def test_permuting_the_records_permutes_the_labels(partitioner):
    X = points(60)
    order = np.random.default_rng(1).permutation(60)
    straight = partitioner(k=4).fit(X).labels_
    permuted = partitioner(k=4).fit(X[order]).labels_
    back = np.empty_like(permuted)
    back[order] = permuted
    assert as_sets(back) == as_sets(straight)


@every_partitioner
def test_the_input_is_not_modified(partitioner):
    X = points(40)
    before = X.copy()
    partitioner(k=3).fit(X)
    np.testing.assert_array_equal(X, before)


@every_partitioner
def test_read_only_fortran_and_integer_input_give_the_same_cells(partitioner):
    X = np.rint(points(50) * 10)
    expected = partitioner(k=3).fit(X).labels_
    frozen = X.copy()
    frozen.flags.writeable = False
    for same in (frozen, np.asfortranarray(X), X.astype(np.int64), X.astype(np.float32), X.tolist()):
        np.testing.assert_array_equal(partitioner(k=3).fit(same).labels_, expected)


@every_partitioner
def test_records_that_are_all_equal_are_partitioned(partitioner):
    sizes = np.bincount(partitioner(k=3).fit(np.ones((20, 2))).labels_)
    assert sizes.min() >= 3


@every_partitioner
def test_one_attribute_is_enough(partitioner):
    assert np.bincount(partitioner(k=5).fit(points(33, 1)).labels_).min() >= 5


@every_partitioner
def test_labels_are_numbered_by_their_first_record(partitioner):
    labels = partitioner(k=3).fit(points(50)).labels_
    first = [int(np.flatnonzero(labels == cell)[0]) for cell in range(labels.max() + 1)]
    assert first == sorted(first)


@every_partitioner
def test_sse_is_that_of_the_labels(partitioner):
    X = points(50) + 1e6
    fitted = partitioner(k=4).fit(X)
    expected = sum(
        ((X[fitted.labels_ == c] - X[fitted.labels_ == c].mean(axis=0)) ** 2).sum() for c in range(fitted.n_cells_)
    )
    assert fitted.sse_ == pytest.approx(expected, rel=1e-9)


@every_partitioner
def test_fitting_twice_gives_the_same(partitioner):
    X = points(50)
    np.testing.assert_array_equal(partitioner(k=3).fit(X).labels_, clone(partitioner(k=3)).fit_predict(X))


@every_partitioner
def test_k_changes_the_cells(partitioner):
    X = points(50)
    assert partitioner(k=3).fit(X).n_cells_ > partitioner(k=10).fit(X).n_cells_


@every_partitioner
def test_every_parameter_explains_a_bad_value(partitioner):
    for name, constraint in partitioner.constraints.items():
        for bad in constraint.bad_values():
            with pytest.raises(ParameterError, match=rf"'{name}' parameter of {partitioner.__name__} must be"):
                partitioner(**{name: bad}).fit(points(30))


@every_partitioner
def test_every_parameter_is_declared(partitioner):
    assert set(partitioner().get_params()) == set(partitioner.constraints)


@every_partitioner
def test_more_cells_than_records_is_refused(partitioner):
    with pytest.raises(ParameterError, match="needs at least 10 records"):
        partitioner(k=10).fit(points(9))


@every_partitioner
@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_non_finite_values_are_refused(partitioner, bad):
    X = points(30)
    X[3, 1] = bad
    with pytest.raises(ValueError, match=r"NaN|infinity"):
        partitioner(k=3).fit(X)
