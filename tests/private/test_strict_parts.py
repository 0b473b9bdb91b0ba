"""The parts of a strict release after the noise: scales, smoothing, correlations, tables, whole numbers from shares."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
import scipy.optimize
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import ndtri
from scipy.stats import multivariate_normal
from threadpoolctl import threadpool_info, threadpool_limits

import microagg
from declarations import numeric
from microagg import Recipe
from microagg.private.strict.allocate import allocate, spread_evenly
from microagg.private.strict.copula import _GRID, both_above, nearest_correlation
from microagg.private.strict.marginals import Marginal, _equally_full, project
from microagg.private.strict.plan import PARTS, make_plan
from microagg.private.strict.scales import Scale
from microagg.private.strict.smoothing import Observation, smooth_density
from microagg.private.strict.tables import fit_margins, without_noise

sizes = st.integers(2, 10**9)


@given(size=sizes, origin=st.floats(0, 1), count=st.integers(2, 40))
def test_even_parts_cover_the_domain_with_the_origin_alone(size, origin, count):
    scale = Scale("x", size, True, origin=int(origin * (size - 1)))
    edges = scale.cut_evenly(count)
    assert (edges[0], edges[-1]) == (0, size)
    assert (np.diff(edges) > 0).all()
    assert {scale.origin, scale.origin + 1} <= set(edges.tolist())
    ends = scale.measure(np.array([0.0, size - 1.0]))
    assert ends == pytest.approx([0.0, 1.0])


@given(size=sizes, origin=st.floats(0, 1), cut=st.floats(0, 1))
def test_a_run_is_halved_inside_it(size, origin, cut):
    scale = Scale("x", size, True, origin=int(origin * (size - 1)))
    start = int(cut * (size - 2))
    middle = scale.halve(np.array([start]), np.array([size]))[0]
    assert start < middle < size


@given(
    size=st.integers(33, 2**52),
    origin=st.floats(0, 1),
    counts=st.lists(st.integers(2, 20), min_size=1, max_size=3),
    deviation=st.floats(1e-6, 1e5),
    seed=st.integers(0, 10**6),
)
def test_smoothed_shares_are_shares_whatever_the_noise(size, origin, counts, deviation, seed):
    """Of parts that were chosen as a second round of counts chooses them."""
    rng = np.random.default_rng(seed)
    scale = Scale("x", size, True, origin=int(origin * (size - 1)))
    edges, observations = scale.cut_evenly(counts[0]), []
    for count in counts:
        observations.append(Observation(edges, rng.normal(0.1, deviation, len(edges) - 1), deviation))
        fine, mass = smooth_density(scale, observations)
        assert set(edges.tolist()) <= set(fine.tolist())
        assert (np.diff(fine) > 0).all()
        assert (fine[0], fine[-1]) == (0, size)
        assert mass.sum() == pytest.approx(1.0)
        assert (mass >= 0).all()
        edges = _equally_full(Marginal(scale, fine, mass), count)


def test_smoothing_leaves_counts_without_noise_as_they_are():
    scale = Scale("x", 100_000, True)
    edges = scale.cut_evenly(8)
    shares = np.array([0.5, 0.01, 0.04, 0.1, 0.17, 0.08, 0.05, 0.03, 0.02])
    fine, mass = smooth_density(scale, [Observation(edges, shares, 1e-5)])
    found = np.add.reduceat(mass, np.searchsorted(fine, edges[:-1]))
    np.testing.assert_allclose(found, shares, atol=1e-3)


def test_a_smooth_density_goes_on_falling_beyond_the_data():
    """Even parts of a steep lognormal: what lies beyond the last part that stands out of the noise keeps falling."""
    rng = np.random.default_rng(0)
    values = np.rint(rng.lognormal(6, 0.5, 20_000)).astype(np.int64)
    scale = Scale("x", 1_000_000, True)
    edges = scale.cut_evenly(8)
    shares = np.diff(np.searchsorted(np.sort(values), edges)) / len(values)
    fine, mass = smooth_density(scale, [Observation(edges, shares + rng.normal(0, 0.004, len(shares)), 0.004)])
    assert mass[fine[:-1] >= 20_000].sum() < 1e-3


@pytest.mark.parametrize("n_records", [4, 400])
def test_names_that_are_numbers_are_names_like_others(n_records):
    """As a file without a header has them: every draw is booked on all that it was for."""
    declared = {name: numeric(bounds=[0, 1000], resolution=1) for name in "012"}
    table = pa.table({name: np.arange(n_records) * 2 for name in declared})
    recipe = Recipe(method="strict", privacy={"epsilon": 1.0}, attributes=declared)
    made = microagg.release(table, recipe, seed=1)
    expenses = made.statement.as_dict()["budget"]["expenses"]
    assert {tuple(one["attributes"]) for one in expenses} == {("0", "1", "2")}


def test_parts_of_attributes_of_one_weight_share_a_draw_and_the_others_do_not():
    declared = {name: numeric(bounds=[0, 1000], resolution=1) for name in "wxyz"}
    table = pa.table({name: np.arange(100) * 10 for name in declared})
    weights = {"w": 0.1, "x": 0.1, "y": 0.3, "z": 0.5}
    recipe = Recipe(method="dp_ranked_copula", privacy={"epsilon": 1.0, "weights": weights}, attributes=declared)
    made = microagg.release(table, recipe, seed=1)
    spent = [
        (one["attributes"], one["epsilon"])
        for one in made.statement.as_dict()["budget"]["expenses"]
        if one["mechanism"] == "joint histograms"
    ]
    of_marginals = sum(epsilon for _, epsilon in spent)
    by_name = {tuple(names): epsilon / of_marginals for names, epsilon in spent}
    assert by_name == {("w", "x"): pytest.approx(0.2), ("y",): pytest.approx(0.3), ("z",): pytest.approx(0.5)}


def test_smoothing_holds_linear_algebra_to_one_thread(monkeypatch):
    """With two, short vectors cost up to fifty times the processor time."""
    at_work = []

    def minimize(misfit, start, **options):
        at_work.extend(one["num_threads"] for one in threadpool_info() if one["user_api"] == "blas")
        return scipy.optimize.minimize(misfit, start, **options)

    monkeypatch.setattr("microagg.private.strict.smoothing.minimize", minimize)
    scale = Scale("x", 1000, True)
    edges = scale.cut_evenly(8)
    with threadpool_limits(2, user_api="blas"):
        smooth_density(scale, [Observation(edges, np.full(len(edges) - 1, 1 / (len(edges) - 1)), 0.01)])
    assert set(at_work) == {1}


@pytest.mark.parametrize("epsilon", [0.05, 0.2])
def test_many_zeros_are_kept_at_small_budgets(epsilon):
    """Seeded; 20 other seeds gave at most half of these bounds."""
    rng = np.random.default_rng(0)
    values = np.where(rng.random(1000) < 0.9, 0.0, np.rint(rng.lognormal(8, 1, 1000)).clip(0, 99_999))
    declared = {"x": numeric(bounds=[0, 99_999], resolution=1)}
    recipe = Recipe(method="strict", privacy={"epsilon": epsilon}, attributes=declared)
    made = np.asarray(microagg.release(pa.table({"x": values}), recipe, seed=1).table["x"])
    assert abs((made == 0).mean() - 0.9) < 0.15


@pytest.mark.parametrize(("share", "other"), [(0.5, 0.5), (0.3, 0.6), (0.1, 0.9)])
def test_the_share_above_two_cuts_is_that_of_the_normal_distribution(share, other):
    found = both_above(share, other)
    assert (np.diff(found) >= 0).all()
    for place in (3, 40, 66, 100, 130):
        cov = [[1.0, _GRID[place]], [_GRID[place], 1.0]]
        below = multivariate_normal(cov=cov).cdf([ndtri(share), ndtri(other)])  # by symmetry, above the mirrored cuts
        assert found[place] == pytest.approx(below, abs=2e-4)


@given(seed=st.integers(0, 10**6), size=st.integers(2, 12))
def test_a_correlation_matrix_comes_of_any_symmetric_one(seed, size):
    rng = np.random.default_rng(seed)
    raw = rng.uniform(-1, 1, (size, size))
    raw = np.triu(raw, 1) + np.triu(raw, 1).T + np.eye(size)
    found = nearest_correlation(raw)
    np.testing.assert_allclose(np.diag(found), 1.0)
    assert np.linalg.eigvalsh(found).min() > 0


@given(
    shares=st.lists(st.floats(0, 1), min_size=1, max_size=30).filter(lambda one: sum(one) > 1e-6),
    total=st.integers(0, 500),
    seed=st.integers(0, 99),
)
def test_whole_numbers_of_shares_are_rounded_down_or_up_and_sum_up(shares, total, seed):
    shares = np.array(shares)
    counts = allocate(shares, total, np.random.default_rng(seed))
    exact = shares / shares.sum() * total
    assert counts.sum() == total
    assert (np.abs(counts - exact) < 1 + 1e-9).all()
    assert len(spread_evenly(shares, total, np.random.default_rng(seed))) == total


def test_tables_get_their_margins_and_keep_what_stands_out():
    rng = np.random.default_rng(0)
    model = np.outer([0.5, 0.5], [0.2, 0.3, 0.5])
    truth = model + np.array([[0.08, 0.0, -0.08], [-0.08, 0.0, 0.08]])
    noisy = truth + rng.normal(0, 0.005, truth.shape)
    found = without_noise(noisy, model, 0.005, (False, False), (model.sum(axis=1), model.sum(axis=0)))
    np.testing.assert_allclose(found, truth, atol=0.02)
    np.testing.assert_allclose(found.sum(axis=0), model.sum(axis=0), atol=1e-6)
    alone = without_noise(model + 0.001, model, 0.005, (True, True), (model.sum(axis=1), model.sum(axis=0)))
    np.testing.assert_allclose(alone, model, atol=1e-6)
    np.testing.assert_allclose(fit_margins(np.ones((2, 2)), np.array([0.9, 0.1]), np.array([0.4, 0.6])).sum(), 1.0)


@given(values=st.lists(st.floats(-5, 5), min_size=1, max_size=20))
def test_the_projection_is_a_distribution_and_leaves_one_as_it_is(values):
    found = project(np.array(values))
    assert found.sum() == pytest.approx(1.0)
    assert (found >= 0).all()
    np.testing.assert_allclose(project(found), found, atol=1e-12)


@given(
    n_records=st.integers(1, 10**7),
    epsilon=st.floats(1e-3, 100),
    n_ordered=st.integers(0, 30),
    n_nominal=st.integers(0, 30),
    n_more=st.one_of(st.none(), st.integers(0, 2000)),
)
def test_a_plan_spends_all_of_the_budget_on_what_there_is(n_records, epsilon, n_ordered, n_nominal, n_more):
    if n_ordered + n_nominal == 0:
        return
    plan = make_plan(n_records, epsilon, n_ordered, n_nominal, n_more=n_more)
    shares = {part: getattr(plan, part) for part in PARTS}
    assert sum(shares.values()) == pytest.approx(1.0)
    assert shares["marginals"] > 0
    assert (shares["tables"] > 0) == (plan.n_tables > 0)
    assert (shares["choices"] > 0) == (plan.n_choices > 0)
    assert plan.n_tables <= (n_ordered + n_nominal) * (n_ordered + n_nominal - 1) // 2
