"""What every partitioner of the catalogue must do; a new entry is tested by being there."""

from __future__ import annotations

import numba
import numpy as np
import pytest
from sklearn.base import clone, is_clusterer
from sklearn.utils.estimator_checks import parametrize_with_checks

from microagg.errors import ParameterError
from microagg.methods.catalogue import METHODS
from microagg.partition.insensitive import InsensitiveMDAV
from microagg.partition.mdav import MDAV
from microagg.partition.univariate import OptimalUnivariate

pytestmark = pytest.mark.kernel


def in_time(method) -> bool:
    """A search by chance takes thousands of steps; interpreted, its kernels have small tests of their own."""
    return not (method.searches_by_chance and numba.config.DISABLE_JIT)


# Entries that differ in what follows the partition share one partitioner: it is tested once.
PARTITIONERS = {
    (str(method.cells_by), *sorted(method.preset.items())): method
    for method in reversed(list(METHODS.values()))
    if method.has_cells
}
DISTINCT = [method for method in reversed(PARTITIONERS.values()) if in_time(method)]

every_partitioner = pytest.mark.parametrize("method", [pytest.param(method, id=method.name) for method in DISTINCT])


def points(method, n_records: int, seed: int = 0) -> np.ndarray:
    """Records with as many attributes as the method takes, up to three."""
    n_attributes = method.partitioner_class.max_attributes or 3
    return np.random.default_rng(seed).normal(size=(n_records, n_attributes))


def partitioner(method, k: int, **options):
    """The method's partitioner; where it searches by chance, with a seed and briefly."""
    if method.searches_by_chance:
        brief = {"effort": "fast"} if "effort" in method.options else {}
        options = {**brief, "random_state": 0, **options}
    return method.partitioner(k=k, **options)


def labellings(fitted) -> list[np.ndarray]:
    """The labellings a partitioner gives: one of the records, one per attribute, or one of all values."""
    if fitted.partitions == "attributes":
        return list(fitted.labels_.T)
    return [fitted.labels_.reshape(-1)]


def as_sets(labels: np.ndarray) -> set[frozenset[int]]:
    return {frozenset(np.flatnonzero(labels == cell).tolist()) for cell in np.unique(labels)}


class OptimalUnivariateOfTheFirst(OptimalUnivariate):
    """scikit-learn's checks come with several attributes."""

    def _cells(self, X):
        return super()._cells(X[:, :1])


def checked_by_scikit_learn():
    # One check wants cells that agree with three blobs of 50 points, others fit 10 points: k = 10 suits both.
    for method in DISTINCT:
        is_optimal = method.partitioner_class is OptimalUnivariate
        yield OptimalUnivariateOfTheFirst(k=10) if is_optimal else partitioner(method, k=10)


def known_to_fail(estimator) -> dict[str, str]:
    if isinstance(estimator, InsensitiveMDAV):
        return {"check_clustering": "its cells follow an order fixed beforehand, not the blobs of this check"}
    return {}


@parametrize_with_checks(list(checked_by_scikit_learn()), expected_failed_checks=known_to_fail)
def test_it_is_a_scikit_learn_estimator(estimator, check):
    check(estimator)


def test_what_labels_records_is_a_scikit_learn_clusterer():
    for method in PARTITIONERS.values():
        assert is_clusterer(method.partitioner(k=3)) == (method.partitioner_class.partitions == "records")


@every_partitioner
@pytest.mark.parametrize("k", [2, 3, 7])
@pytest.mark.parametrize("size", ["k", "2k-1", "2k", "2k+1", "3k", "large"])
def test_every_cell_has_at_least_k_records_and_every_record_one_cell(method, k, size):
    n_records = {"k": k, "2k-1": 2 * k - 1, "2k": 2 * k, "2k+1": 2 * k + 1, "3k": 3 * k, "large": 100}[size]
    fitted = partitioner(method, k=k).fit(points(method, n_records))
    n_cells = np.broadcast_to(fitted.n_cells_, len(labellings(fitted)))
    for labels, expected_cells in zip(labellings(fitted), n_cells, strict=True):
        sizes = np.bincount(labels)
        assert sizes.sum() == n_records * (3 if fitted.partitions == "values" else 1)
        assert len(sizes) == expected_cells
        # The published Mic1D-k leaves its last partition short, which is why it promises nothing of records.
        short_allowed = 1 if fitted.partitions == "values" else 0
        assert (sizes < k).sum() <= short_allowed
        assert sizes.min() >= 1


@every_partitioner
def test_permuting_the_records_permutes_the_labels(method):
    X = points(method, 60)
    order = np.random.default_rng(1).permutation(60)
    straight = partitioner(method, k=4).fit(X)
    permuted = partitioner(method, k=4).fit(X[order])
    back = np.empty_like(permuted.labels_)
    back[order] = permuted.labels_
    permuted.labels_ = back
    if method.searches_by_chance:
        # The search takes other turns: the cells may differ, what they lose hardly.
        assert permuted.sse_ == pytest.approx(straight.sse_, rel=0.05)
        assert max(permuted.sse_, straight.sse_) <= MDAV(k=4).fit(X).sse_
        return
    for a, b in zip(labellings(straight), labellings(permuted), strict=True):
        assert as_sets(a) == as_sets(b)


@every_partitioner
def test_the_input_is_not_modified(method):
    X = points(method, 40)
    before = X.copy()
    partitioner(method, k=3).fit(X)
    np.testing.assert_array_equal(X, before)


@every_partitioner
def test_read_only_fortran_and_integer_input_give_the_same_cells(method):
    X = np.rint(points(method, 50) * 10)
    expected = partitioner(method, k=3).fit(X).labels_
    frozen = X.copy()
    frozen.flags.writeable = False
    for same in (frozen, np.asfortranarray(X), X.astype(np.int64), X.astype(np.float32), X.tolist()):
        np.testing.assert_array_equal(partitioner(method, k=3).fit(same).labels_, expected)


@every_partitioner
def test_records_that_are_all_equal_are_partitioned(method):
    X = np.ones((21, points(method, 1).shape[1]))
    for labels in labellings(partitioner(method, k=3).fit(X)):
        assert np.bincount(labels).min() >= 3


@every_partitioner
def test_one_attribute_is_enough(method):
    X = points(method, 35)[:, :1]
    for labels in labellings(partitioner(method, k=5).fit(X)):
        assert np.bincount(labels).min() >= 5


@every_partitioner
def test_labels_are_numbered_by_their_first_record(method):
    for labels in labellings(partitioner(method, k=3).fit(points(method, 50))):
        first = [int(np.flatnonzero(labels == cell)[0]) for cell in range(labels.max() + 1)]
        assert first == sorted(first)


@every_partitioner
def test_sse_is_that_of_what_would_be_published(method):
    X = points(method, 50) + 1e6
    fitted = partitioner(method, k=4).fit(X)
    if fitted.partitions == "values":
        published = fitted.published_
    else:
        published = np.empty_like(X)
        every_labelling = labellings(fitted)
        for j in range(X.shape[1]):
            labels = every_labelling[j] if fitted.partitions == "attributes" else every_labelling[0]
            for cell in np.unique(labels):
                published[labels == cell, j] = X[labels == cell, j].mean()
    assert fitted.sse_ == pytest.approx(((X - published) ** 2).sum(), rel=1e-9)


@every_partitioner
def test_fitting_twice_gives_the_same(method):
    X = points(method, 50)
    once = partitioner(method, k=3).fit(X).labels_
    np.testing.assert_array_equal(clone(partitioner(method, k=3)).fit(X).labels_, once)


@every_partitioner
def test_k_changes_the_cells(method):
    X = points(method, 50)
    assert np.all(partitioner(method, k=3).fit(X).n_cells_ > partitioner(method, k=10).fit(X).n_cells_)


# Parameters that change nothing on purpose: both listings of MDAV give one partition, and so do all ways of finding it
# (docs/algorithms/mdav.md); a search of few records finds the same cells wherever it begins and however long it may
# take; a certificate is a proof.
CHANGES_NOTHING = {
    ("MDAV", "variant"),
    ("MDAV", "algorithm"),
    ("NearOptimal", "start"),
    ("NearOptimal", "time_limit"),
    ("NearOptimal", "certificate"),
}
OTHER_VALUES = {
    "variant": ["generic", "2k"],
    "algorithm": ["auto", "tree", "brute", "plain"],
    "gamma": [0.0, 1.1],
    "axis": ["principal", "zscores"],
    "cut": ["shortest_path", "fixed", "optimal"],
    "larger": ["first", "last"],
    "effort": ["fast", "default", "best"],
    "start": ["mdav", "split"],
    "random_state": [0, 1, 2, 3],
    "time_limit": [None, 60.0],
    "certificate": [False, True],
}


@every_partitioner
def test_every_other_parameter_changes_something(method):
    name = method.partitioner_class.__name__
    # Clustered, skewed and correlated unevenly, with records left over: every choice matters here.
    X = np.exp(points(method, 53)) * np.array([5.0, 1.0, 0.2])[: points(method, 1).shape[1]]
    X[:20] += 3.0
    for parameter, rule in method.options.items():
        results = {
            str(value): partitioner(method, k=4, **{parameter: value}).fit(X).labels_.tolist()
            for value in OTHER_VALUES[parameter]
            if rule.allows(value)
        }
        assert len(results) >= 2
        distinct = {str(result) for result in results.values()}
        assert (len(distinct) == 1) == ((name, parameter) in CHANGES_NOTHING), (parameter, len(distinct))


@every_partitioner
def test_every_parameter_explains_a_bad_value(method):
    for name, constraint in method.partitioner_class.constraints.items():
        for bad in constraint.bad_values():
            bad_one = method.partitioner_class(**{**method.preset, name: bad})
            with pytest.raises(ParameterError, match=rf"'{name}' parameter of {type(bad_one).__name__} must be"):
                bad_one.fit(points(method, 30))


@every_partitioner
def test_every_parameter_is_declared(method):
    assert set(partitioner(method, k=3).get_params()) == set(method.partitioner_class.constraints)


@every_partitioner
def test_k_beyond_what_there_is_is_refused(method):
    with pytest.raises(ParameterError, match=r"needs at least 100 records|larger than the number of values"):
        partitioner(method, k=100).fit(points(method, 9))


@every_partitioner
@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_non_finite_values_are_refused(method, bad):
    X = points(method, 30)
    X[3, 0] = bad
    with pytest.raises(ValueError, match=r"NaN|infinity"):
        partitioner(method, k=3).fit(X)
