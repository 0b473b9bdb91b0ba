"""Optimal univariate cells: against every possibility, against extended precision, and by hand."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from microagg import MDAV
from microagg.errors import ParameterError
from microagg.partition import OptimalUnivariate
from microagg.partition._kernels.listings import optimal_univariate
from microagg.partition._kernels.univariate import SHORT

pytestmark = pytest.mark.kernel

small_values = st.lists(
    st.one_of(st.integers(-3, 3).map(float), st.floats(-100, 100, allow_subnormal=False)), min_size=2, max_size=13
)


def exact_sse(values: np.ndarray, labels: np.ndarray) -> np.longdouble:
    """SSE in extended precision, each cell measured from one of its own values."""
    total = np.longdouble(0)
    for cell in np.unique(labels):
        members = values[labels == cell].astype(np.longdouble)
        members = members - members[0]
        total += ((members - members.mean()) ** 2).sum()
    return total


def cuts_into_runs(n_values: int, k: int) -> Iterator[tuple[int, ...]]:
    """All ways to cut n values into runs of at least k, as sizes."""
    if n_values >= k:
        yield (n_values,)
    for size in range(k, n_values - k + 1):
        for rest in cuts_into_runs(n_values - size, k):
            yield (size, *rest)


def set_partitions(n_values: int) -> Iterator[list[int]]:
    """All partitions of n values into sets, as labels."""
    if n_values == 0:
        yield []
        return
    for labels in set_partitions(n_values - 1):
        for label in range(max(labels, default=-1) + 2):
            yield [*labels, label]


def least_sse_in_extended_precision(values: np.ndarray, k: int) -> np.longdouble:
    """The optimum by dynamic programming in long doubles, cells of k to 2k - 1 sorted values."""
    x = np.sort(values).astype(np.longdouble)
    n = len(x)
    # The SSE of the cell of a given size that ends before j, for all j at once, growing backwards.
    mean, sse = np.zeros(n + 1, np.longdouble), np.zeros(n + 1, np.longdouble)
    cost = np.full((2 * k, n + 1), np.inf, np.longdouble)
    for size in range(1, min(2 * k, n + 1)):
        ends = np.arange(size, n + 1)
        value = x[ends - size] - x[ends - 1]
        step = value - mean[ends]
        mean[ends] += step / size
        sse[ends] += step * (value - mean[ends])
        cost[size, ends] = sse[ends]
    least = np.full(n + 1, np.inf, np.longdouble)
    least[0] = 0
    for j in range(k, n + 1):
        sizes = np.arange(k, min(2 * k, j + 1))
        least[j] = (least[j - sizes] + cost[sizes, j]).min()
    return least[n]


def fit(values: np.ndarray, k: int) -> np.ndarray:
    return OptimalUnivariate(k=k).fit(np.asarray(values, dtype=float).reshape(-1, 1)).labels_


@given(small_values, st.integers(2, 5))
@settings(max_examples=150)
def test_no_cut_of_the_sorted_values_has_a_lower_sse(values, k):
    values = np.array(values)
    k = min(k, len(values))
    ordered = np.sort(values)
    least = min(exact_sse(ordered, np.repeat(np.arange(len(sizes)), sizes)) for sizes in cuts_into_runs(len(values), k))
    assert exact_sse(values, fit(values, k)) <= least * (1 + np.longdouble(1e-9)) + np.longdouble(1e-300)


@pytest.mark.parametrize("n_values", [4, 6, 7, 8])
@pytest.mark.parametrize("k", [2, 3])
def test_no_partition_at_all_has_a_lower_sse(n_values, k):
    values = np.random.default_rng(n_values).choice([-5.0, 0.0, 0.1, 0.3, 1.0, 1.1, 7.0, 7.5], n_values)
    candidates = (np.array(labels) for labels in set_partitions(n_values))
    least = min(exact_sse(values, labels) for labels in candidates if np.bincount(labels).min() >= k)
    assert exact_sse(values, fit(values, k)) == pytest.approx(least, rel=1e-12, abs=1e-15)


@given(st.integers(2, 60), st.integers(2, 14), st.integers(0, 2**32 - 1))
@settings(max_examples=60)
def test_the_kernel_is_as_good_as_the_plain_dynamic_programme(n_values, k, seed):
    ordered = np.sort(np.random.default_rng(seed).normal(size=n_values))
    k = min(k, n_values)
    plain = exact_sse(ordered, optimal_univariate(ordered, k))
    assert exact_sse(ordered, fit(ordered, k)) == pytest.approx(plain, rel=1e-12)


def far_apart(rng: np.random.Generator, n_values: int) -> np.ndarray:
    return np.where(rng.random(n_values) < 0.4, -1e9, 0.0) + rng.normal(size=n_values)


def many_scales(rng: np.random.Generator, n_values: int) -> np.ndarray:
    which = rng.integers(0, 6, n_values)
    centres, spreads = rng.choice([-1, 1], 6) * 10 ** rng.uniform(-3, 9, 6), 10 ** rng.uniform(-6, 2, 6)
    return centres[which] + spreads[which] * rng.normal(size=n_values)


SAMPLES = {
    "normal": lambda rng, n: rng.normal(size=n),
    "tied": lambda rng, n: rng.integers(0, 9, n).astype(float),
    "lognormal": lambda rng, n: np.exp(2 * rng.normal(size=n)),
    "offset": lambda rng, n: 1e9 + rng.normal(size=n),
    "offset_of_fine_values": lambda rng, n: 1e9 + 1e-5 * rng.normal(size=n),
    "far_apart": far_apart,
    "far_apart_and_fine": lambda rng, n: np.where(rng.random(n) < 0.4, -1e9, 0.0) + 1e-5 * rng.normal(size=n),
    "many_scales": many_scales,
    "all_equal": lambda rng, n: np.full(n, 0.1),
}


@pytest.mark.parametrize("sample", SAMPLES)
@pytest.mark.parametrize("k", [2, 3, SHORT - 1, SHORT, SHORT + 1, 17, 40])
def test_the_sse_is_the_optimum_in_extended_precision(sample, k):
    for n_values in (k, 2 * k - 1, 2 * k, 2 * k + 1, 3 * k, 5 * k + 2, 199, 400):
        values = SAMPLES[sample](np.random.default_rng(n_values), n_values)
        least = least_sse_in_extended_precision(values, k)
        assert exact_sse(values, fit(values, k)) <= least * (1 + np.longdouble(1e-12))


@pytest.mark.parametrize("sample", SAMPLES)
@pytest.mark.parametrize("k", [2, SHORT - 1, SHORT, 23])
def test_cells_have_k_to_2k_minus_1_values_and_are_runs(sample, k):
    for n_values in (k, 2 * k - 1, 2 * k, 2 * k + 1, 150):
        values = SAMPLES[sample](np.random.default_rng(1), n_values)
        labels = fit(values, k)
        sizes = np.bincount(labels)
        assert k <= sizes.min() <= sizes.max() <= 2 * k - 1
        in_order = labels[np.lexsort((np.arange(n_values), values))]
        assert (np.diff(in_order) != 0).sum() == len(sizes) - 1


@pytest.mark.parametrize("k", [2, 3, SHORT, 12])
def test_exactly_2k_values_in_any_order_form_two_cells(k):
    values = np.concatenate([np.arange(k) * 0.1, 5 + np.arange(k) * 0.1])
    shuffled = np.random.default_rng(k).permutation(2 * k)
    labels = fit(values[shuffled], k)
    assert len(set(labels[shuffled < k].tolist())) == 1
    assert len(set(labels.tolist())) == 2


@given(st.integers(2, 80), st.integers(2, 12), st.integers(0, 2**32 - 1))
@settings(max_examples=60)
def test_permuting_the_values_permutes_the_cells(n_values, k, seed):
    rng = np.random.default_rng(seed)
    values = rng.normal(size=n_values)
    order = rng.permutation(n_values)
    straight, permuted = fit(values, min(k, n_values)), fit(values[order], min(k, n_values))
    pairs = set(zip(straight[order].tolist(), permuted.tolist(), strict=True))
    assert len(pairs) == straight.max() + 1 == permuted.max() + 1


@given(st.integers(2, 80), st.integers(2, 12), st.integers(0, 2**32 - 1))
@settings(max_examples=60)
def test_univariate_optimum_is_never_worse_than_mdav(n_values, k, seed):
    X = np.random.default_rng(seed).normal(size=(n_values, 1))
    k = min(k, n_values)
    assert OptimalUnivariate(k=k).fit(X).sse_ <= MDAV(k=k).fit(X).sse_ * (1 + 1e-12)


def test_the_reported_sse_keeps_its_digits_where_cells_lie_far_apart():
    apart = 3 * 2.0**-23  # float64 is twice as coarse at the distance of 1e9 from the overall mean
    values = np.array([-1e9, -1e9 + apart, -9e8, -9e8 + apart, 1e9, 1e9 + apart])
    assert OptimalUnivariate(k=2).fit(values[:, np.newaxis]).sse_ == pytest.approx(1.5 * apart**2, abs=0)


def test_a_group_over_three_blocks_counts_its_middle():
    # With k = 3 the kernel works in blocks of three: the second cell, values 5 to 9, lies in three of them.
    values = np.array([0.0, 0.1, 0.2, 0.3, 0.4, 9.0, 9.1, 9.2, 9.3, 9.4])
    assert fit(values, 3).tolist() == [0] * 5 + [1] * 5


def test_two_attributes_are_refused_with_what_to_use():
    with pytest.raises(ParameterError, match=r"takes 1 feature .*got 2.*IndividualRanking\(k, cut=\"optimal\"\).*MDAV"):
        OptimalUnivariate(k=2).fit(np.zeros((6, 2)))
