"""Utility measures against SciPy, scikit-learn and plain loops."""

from __future__ import annotations

import math
from itertools import combinations

import numpy as np
import pyarrow as pa
import pytest
from scipy import stats
from scipy.spatial.distance import jensenshannon
from sklearn.linear_model import LogisticRegression

import microagg
from declarations import nominal, numeric, ordinal
from microagg import Recipe
from microagg.evaluation.utility.probabilistic import probabilistic_losses
from microagg.evaluation.utility.propensity import propensity

NAMES = ("a", "b", "c")
NUMBERS = Recipe(k=2, attributes={name: numeric() for name in NAMES})


@pytest.fixture(scope="module")
def matrices():
    rng = np.random.default_rng(7)
    X = rng.normal(size=(200, 3)) @ rng.normal(size=(3, 3)) * [1, 10, 0.1] + [5, -3, 0.2]
    return X, X + rng.normal(size=X.shape) * X.std(axis=0) * 0.5


def table(X):
    return pa.table({name: X[:, j] for j, name in enumerate(NAMES)})


def judged(before, after, recipe=NUMBERS, **options):
    return microagg.evaluate(before, after, recipe, **{"aligned": True, "measures": "utility"} | options)


def test_values_agree_with_plain_loops(matrices):
    X, Y = matrices
    found = judged(table(X), table(Y))
    sse = sum((x - y) ** 2 for x, y in zip(X.ravel(), Y.ravel(), strict=True))
    assert found["SSE"].value == pytest.approx(sse)
    assert found["log2_SSE"].value == pytest.approx(math.log2(sse))
    shares = [((X[:, j] - Y[:, j]) ** 2).sum() / ((X[:, j] - X[:, j].mean()) ** 2).sum() for j in range(3)]
    assert found["SSE_SST"].value == pytest.approx(np.mean(shares))
    assert list(found["SSE_SST"].details.values()) == pytest.approx(shares)
    assert found["IL1s"].value == pytest.approx((np.abs(X - Y) / (math.sqrt(2) * X.std(axis=0))).mean())
    least = np.maximum(np.abs(X), (X.max(axis=0) - X.min(axis=0)) / 100)
    assert found["relative_error"].value == pytest.approx((np.abs(X - Y) / least).mean())


def test_the_sanity_bound_follows_declared_bounds():
    before, after = pa.table({"x": [0.0, 50.0]}), pa.table({"x": [5.0, 40.0]})
    found = judged(before, after, Recipe(k=2, attributes={"x": numeric(bounds=[0, 1000])}))
    assert found["relative_error"].value == pytest.approx((5 / 10 + 10 / 50) / 2)
    flat = judged(pa.table({"x": [0.0, 0.0]}), pa.table({"x": [0.0, 3.0]}), Recipe(k=2, attributes={"x": numeric()}))
    assert flat["relative_error"].value == 0.5  # a constant 0 bounds nothing: a change counts as a whole one


def test_the_loss_that_a_release_states_is_the_one_measured():
    rng = np.random.default_rng(3)
    people = pa.table({"x": rng.normal(size=90), "y": rng.exponential(size=90)})
    recipe = Recipe(k=4, output={"order": "kept"}, attributes={"x": numeric(), "y": numeric()})
    made = microagg.release(people, recipe)
    assert 100 * judged(people, made.table, recipe)["SSE_SST"].value == pytest.approx(made.information_loss)


def test_the_total_of_categories_is_that_of_their_points():
    labels = ["a", "b", "a", "d", "b", "a"]
    before, after = pa.table({"c": labels}), pa.table({"c": ["a"] * 6})
    found = judged(before, after, Recipe(k=2, attributes={"c": nominal()}))
    corners = np.array([[label == one for one in "abd"] for label in labels]) / math.sqrt(2)
    assert found["SSE_SST"].value == pytest.approx((3 / 6) / ((corners - corners.mean(axis=0)) ** 2).sum() * 6)
    assert found["semantic_distance"].value == pytest.approx(3 / 6)
    tree = {"a": "left", "b": "left", "d": "right", "left": "top", "right": "top"}
    found = judged(before, after, Recipe(k=2, attributes={"c": nominal(taxonomy=tree)}))
    near, far = math.log2(1 + 2 / 4), math.log2(1 + 4 / 5)
    assert found["semantic_distance"].value == pytest.approx((2 * near + far) / 6)
    pairs = [near * (3 * 2), far * (3 * 1 + 2 * 1)]
    assert found["SSE_SST"].value == pytest.approx((2 * near + far) / 6 / (sum(pairs) / 36))


def test_variations_agree_with_plain_loops(matrices):
    X, Y = matrices
    found = judged(table(X), table(Y))
    means = [abs(Y[:, j].mean() - X[:, j].mean()) / max(abs(X[:, j].mean()), X[:, j].std() / 100) for j in range(3)]
    variances = [abs(Y[:, j].var() - X[:, j].var()) / X[:, j].var() for j in range(3)]
    C, D = np.cov(X.T, ddof=0), np.cov(Y.T, ddof=0)
    R, S = np.corrcoef(X.T), np.corrcoef(Y.T)
    two = list(combinations(range(3), 2))
    deviations = X.std(axis=0)
    covariances = [abs(D[i, j] - C[i, j]) / max(abs(C[i, j]), deviations[i] * deviations[j] / 100) for i, j in two]
    correlations = [abs(R[i, j] - S[i, j]) for i, j in two]
    assert found["variation_means"].value == pytest.approx(np.mean(means))
    assert found["variation_variances"].value == pytest.approx(np.mean(variances))
    assert found["variation_covariances"].value == pytest.approx(np.mean(covariances))
    assert found["variation_correlations"].value == pytest.approx(np.mean(correlations))
    five = [found["relative_error"].value, *(np.mean(one) for one in (means, variances, covariances, correlations))]
    assert found["IL"].value == pytest.approx(np.mean(five))
    ranks = [stats.spearmanr(side).statistic for side in (X, Y)]
    assert found["correlation_difference"].value == pytest.approx(np.mean(correlations))
    assert found["rank_correlation_difference"].value == pytest.approx(
        np.mean([abs(ranks[0][i, j] - ranks[1][i, j]) for i, j in two])
    )
    spectra = [np.sort(np.linalg.eigvalsh(np.cov((side / deviations).T, ddof=0))) for side in (X, Y)]
    assert found["eigenvalue_difference"].value == pytest.approx(np.abs(spectra[0] - spectra[1]).mean())


def test_a_statistic_near_zero_has_a_floor():
    before = pa.table({"x": [-1.0, 1.0, -1.0, 1.0], "y": [-1.0, -1.0, 1.0, 1.0]})
    after = pa.table({"x": [-1.0, 1.0, -1.0, 3.0], "y": [-1.0, -1.0, 1.0, 1.0]})
    found = judged(before, after, Recipe(k=2, attributes={"x": numeric(), "y": numeric()}))
    assert found["variation_means"].details["x"] == pytest.approx(0.5 / 0.01)  # mean 0 before: over s / 100
    assert found["variation_covariances"].value == pytest.approx(0.5 / 0.01)  # covariance 0 before: over s t / 100


def test_missing_values_leave_statistics_of_what_is_present(matrices):
    X, Y = (side.copy() for side in matrices)
    rng = np.random.default_rng(1)
    X[rng.random(X.shape) < 0.2] = np.nan
    Y[rng.random(Y.shape) < 0.2] = np.nan
    found = judged(table(X), table(Y))
    both = ~np.isnan(X) & ~np.isnan(Y)
    assert found["SSE"].value == pytest.approx(((X - Y)[both] ** 2).sum())
    assert f"without {(np.isnan(X) != np.isnan(Y)).sum()} values" in found["SSE"].note
    linear, ranked = [], []
    for i, j in combinations(range(3), 2):
        pairs = [side[:, [i, j]][~np.isnan(side[:, [i, j]]).any(axis=1)] for side in (X, Y)]
        linear.append(abs(np.subtract(*(stats.pearsonr(*one.T).statistic for one in pairs))))
        ranked.append(abs(np.subtract(*(stats.spearmanr(*one.T).statistic for one in pairs))))
    assert found["correlation_difference"].value == pytest.approx(np.mean(linear))
    assert found["rank_correlation_difference"].value == pytest.approx(np.mean(ranked))
    present = [(X[~np.isnan(X[:, j]), j], Y[~np.isnan(Y[:, j]), j]) for j in range(3)]
    assert found["KS"].value == pytest.approx(np.mean([stats.ks_2samp(*one).statistic for one in present]))


def test_distances_of_distributions_agree_with_scipy(matrices):
    X, Y = matrices
    X, Y = np.round(X, 1), np.round(Y[:150], 1)  # with ties, and of different lengths
    found = judged(table(X), table(Y), aligned=False)
    for j, name in enumerate(NAMES):
        x, y = X[:, j], Y[:, j]
        assert found["KS"].details[name] == pytest.approx(stats.ks_2samp(x, y).statistic)
        assert found["wasserstein"].details[name] == pytest.approx(stats.wasserstein_distance(x, y) / x.std())
        edges = np.linspace(x.min(), x.max(), 101)
        edges[0], edges[-1] = x.min() - 1e-9, x.max() + 1e-9
        outside = [[(one < edges[0]).sum(), (one > edges[-1]).sum()] for one in (x, y)]
        counts = [np.append(np.histogram(one, edges)[0], out) for one, out in zip((x, y), outside, strict=True)]
        # A value on an edge may fall on either side of it by rounding; the divergence hardly feels that.
        assert found["JSD"].details[name] == pytest.approx(jensenshannon(*counts, base=2) ** 2, abs=0.02)


def test_divergence_over_values_agrees_with_scipy():
    rng = np.random.default_rng(5)
    first, second = rng.choice(["l", "m", "h"], 80), rng.choice(["l", "m", "h"], 60, p=[0.6, 0.3, 0.1])
    before, after = ({"c": list(side), "o": list(side)} for side in (first, second))
    before["c"][:5], after["c"][:9] = [None] * 5, [None] * 9
    recipe = Recipe(k=2, attributes={"c": nominal(), "o": ordinal(categories=["l", "m", "h"])})
    found = judged(pa.table(before), pa.table(after), recipe, aligned=False)
    for name in ("c", "o"):
        counts = [[side[name].count(label) for label in ("l", "m", "h", None)] for side in (before, after)]
        assert found["JSD"].details[name] == pytest.approx(jensenshannon(*counts, base=2) ** 2)
    exact = judged(pa.table({"a": [0.0, 10.0] * 4}), pa.table({"a": [0.0, 20.0] * 4}), Recipe(
        k=2, attributes={"a": numeric()}), aligned=False)  # fmt: skip
    assert exact["JSD"].value == pytest.approx(0.5)  # the last part of the domain holds 10; 20 is outside it


def test_probabilistic_loss_agrees_with_simulated_spread(matrices):
    """The formulas of the statistics' variances against samples drawn from the original.

    With 4000 samples a standard deviation is off by about 1.1 %, and the normal approximation of n = 200 adds a few
    per cent: 15 % is more than five times both together.
    """
    X, _ = matrices
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    rng = np.random.default_rng(11)
    samples = X[rng.integers(len(X), size=(4000, len(X)))]
    C = samples - samples.mean(axis=1, keepdims=True)
    variances = (C**2).mean(axis=1)
    covariance = (C[..., 0] * C[..., 1]).mean(axis=1)
    simulated = {
        "means": samples.mean(axis=1)[:, 0].std(),
        "variances": variances[:, 0].std(),
        "covariances": covariance.std(),
        "correlations": (covariance / np.sqrt(variances[:, 0] * variances[:, 1])).std(),
    }
    R = np.corrcoef(X[:, :2].T)
    moved = X[:, :2] * [1.02, 1.0] + [0.03, 0.0]
    shift = {
        "means": 0.03, "variances": 1.02**2 - 1, "covariances": 0.02 * R[0, 1]}  # fmt: skip
    found = {what: probabilistic_losses(X[:, :1], moved[:, :1])[what] for what in ("means", "variances")}
    found["covariances"] = probabilistic_losses(X[:, :2], moved)["covariances"]
    for what, change in shift.items():
        assert stats.norm.ppf((1 + found[what]) / 2) == pytest.approx(abs(change) / simulated[what], rel=0.15), what
    tilted = X[:, :2].copy()
    tilted[:, 1] += 0.03 * tilted[:, 0]
    change = np.corrcoef(tilted.T)[0, 1] - R[0, 1]
    loss = probabilistic_losses(X[:, :2], tilted)["correlations"]
    assert stats.norm.ppf((1 + loss) / 2) == pytest.approx(abs(change) / simulated["correlations"], rel=0.15)


def test_probabilistic_loss_of_quantiles_by_hand():
    X = np.arange(1.0, 101.0)[:, None]
    losses = probabilistic_losses(X, X + 10.0)
    at = np.arange(1, 20) / 20
    # The released q-quantile is 10 above; 10 % more of the original lie up to it, from its own value on.
    away = np.clip(np.minimum(at + 0.1, 1.0) - 0.01 - at, 0, None)
    away[at + 0.1 > 1.0] = 1.0 - at[at + 0.1 > 1.0]  # above the largest original value
    expected = (2 * stats.norm.cdf(away / np.sqrt(at * (1 - at) / 100)) - 1).mean()
    assert losses["quantiles"] == pytest.approx(expected)
    assert probabilistic_losses(X, X[::-1])["quantiles"] == 0.0


@pytest.mark.parametrize("n_second", [300, 120])
def test_propensity_agrees_with_scikit_learn(n_second):
    rng = np.random.default_rng(2)
    X = np.vstack([rng.normal(size=(300, 4)), rng.normal(size=(n_second, 4)) * 1.1 + [0.3, 0, 0, 0.1]])
    X = np.column_stack([X, X[:, 0] + X[:, 1], np.full(len(X), 7.0)])  # two columns that say nothing new
    label = np.arange(len(X)) >= 300
    found = propensity(X, 300)
    peer = LogisticRegression(C=np.inf, tol=1e-10, max_iter=10_000).fit(X, label).predict_proba(X)[:, 1]
    np.testing.assert_allclose(found.scores, peer, atol=1e-5)
    assert found.pmse == pytest.approx(((peer - label.mean()) ** 2).mean(), rel=1e-4)
    assert found.n_coefficients == 4


def test_propensity_of_long_tables_is_the_same_fit():
    rng = np.random.default_rng(4)
    X = np.vstack([rng.normal(size=(30_000, 3)), rng.normal([0.5, 0, 0], size=(30_000, 3))])
    label = np.arange(len(X)) >= 30_000
    peer = LogisticRegression(C=np.inf, tol=1e-10, max_iter=10_000).fit(X, label).predict_proba(X)[:, 1]
    np.testing.assert_allclose(propensity(X, 30_000).scores, peer, atol=1e-5)


def test_propensity_expects_what_a_new_sample_gives():
    """Mean of 200 draws: its standard error is sqrt(2 / 5 / 200) = 4.5 % of it, so 20 % is off once in 100,000 runs.

    The spread is known to about 8 % (the squared deviations have a heavier tail than a normal's); 40 % is five of it.
    """
    rng = np.random.default_rng(9)
    X = rng.normal(size=(500, 5))
    drawn = [propensity(np.vstack([X, X[rng.integers(500, size=500)]]), 500) for _ in range(200)]
    assert np.mean([one.pmse for one in drawn]) == pytest.approx(drawn[0].expected, rel=0.2)
    assert np.std([one.pmse for one in drawn]) == pytest.approx(drawn[0].deviation, rel=0.4)


def test_tables_that_can_be_told_apart_reach_the_upper_limit():
    X = np.concatenate([np.arange(50.0), np.arange(100.0, 150.0)])[:, None]
    assert propensity(X, 50).pmse == pytest.approx(0.25, abs=1e-4)


def test_pmse_sees_lost_variance_and_lost_dependence():
    rng = np.random.default_rng(6)
    X = rng.normal(size=(400, 3))
    narrow = table(X * 0.5)
    assert judged(table(X), narrow)["pMSE"].value > 50 * judged(table(X), narrow)["pMSE"].baseline
    X[:, 1] = X[:, 0] + 0.3 * X[:, 1]
    torn = X.copy()
    torn[:, 1] = rng.permutation(torn[:, 1])
    assert judged(table(X), table(torn))["pMSE"].value > 50 * judged(table(X), table(torn))["pMSE"].baseline


def test_queries_agree_with_a_plain_count():
    from microagg.evaluation.pairs import pair
    from microagg.evaluation.utility.queries import query_errors
    from microagg.tables.frames import Frame

    rng = np.random.default_rng(8)
    before = {"x": rng.normal(size=300), "c": rng.choice(["a", "b", "d"], 300)}
    after = {"x": np.round(before["x"] * 2) / 2, "c": np.where(before["c"] == "d", "a", before["c"])}
    recipe = Recipe(k=2, attributes={"x": numeric(), "c": nominal()})
    frames = [Frame.wrap(pa.table(side)) for side in (before, after)]
    pairs = [pair(*frames, name, recipe.schema[name]) for name in ("x", "c")]
    errors = query_errors(pairs, 2, 25, np.random.default_rng(1))
    rng = np.random.default_rng(1)
    for error, order in zip(errors, rng.random((25, 2)).argsort(axis=1), strict=True):
        for at in order:
            if at == 0:
                low, high = sorted(before["x"][rng.integers(300, size=2)])
            else:
                wanted = {label for label, drawn in zip("abd", rng.random(3), strict=True) if drawn < 0.5}
                wanted.add("abd"[rng.integers(3)])
        counts = [
            sum(low <= x <= high and c in wanted for x, c in zip(side["x"], side["c"], strict=True))
            for side in (before, after)
        ]
        assert error == pytest.approx(abs(counts[1] - counts[0]) / max(counts[0], 0.3, 1))
    assert errors.max() > 0


def test_random_measures_follow_the_seed(matrices):
    X, Y = (table(side) for side in matrices)
    first, again, other = (judged(X, Y, seed=seed)["count_query_error"].value for seed in (0, 0, 1))
    assert first == again != other
