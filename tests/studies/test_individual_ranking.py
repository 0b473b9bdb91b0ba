"""The individual-ranking paper's figures, from releases; and what monotone post-processing gains."""

from __future__ import annotations

import json
import os
from pathlib import Path

import numpy as np
import pytest

from microagg.studies.individual_ranking.errors import errors, jensen_shannon, variance_change
from microagg.studies.individual_ranking.published import FIRST_EIGHT, FIRST_FOUR, PUBLISHED
from microagg.studies.individual_ranking.run import (
    AS_PUBLISHED,
    adult_taxonomies,
    census,
    plain_laplace_log2_sse,
    published_mv,
    release_in_order,
    table_1,
)


@pytest.fixture
def eight(reference_data):
    reference_data("census")
    return census(FIRST_EIGHT)


def mean_changes(table, releases) -> dict[str, float]:
    """Variation of variances, averaged over releases."""
    return {
        name: float(
            np.mean([variance_change(table[name].to_numpy().astype(float), np.asarray(one[name])) for one in releases])
        )
        for name in FIRST_EIGHT
    }


# EMCONTRB (A3) matches in no cell of the published table; clipped data could not even reach its values.
MATCHING = [name for name in FIRST_EIGHT if name != "EMCONTRB"]


@pytest.mark.parametrize(("k", "epsilon", "place"), [(2, 1.0, 2), (25, 1.0, 2), (2, 10.0, 4), (25, 10.0, 4)])
def test_individual_ranking_gives_table_1(eight, k, epsilon, place):
    """Within the spread of ten releases, of which the published figures are one sample and ours another.

    One release's variation has a standard deviation of up to a third of its size (measured at k = 25), so the mean of
    ten of a tenth; two such means differ by less than half of their size, or by 0.15 where both are small.
    """
    found = mean_changes(
        eight, [release_in_order(eight, k=k, epsilon=epsilon, seed=seed, **AS_PUBLISHED) for seed in range(10)]
    )
    for name in MATCHING:
        assert found[name] == pytest.approx(PUBLISHED[name][k][place], rel=0.5, abs=0.15), name
    ratios = [(found[name] + 0.1) / (PUBLISHED[name][k][place] + 0.1) for name in MATCHING]
    assert abs(float(np.mean(np.log(ratios)))) < 0.15


def test_large_runs_give_table_1_within_the_range_of_single_releases(eight):
    """With 10 to 21 runs one draw decides a variance, so a published figure is like one more release beside thirty.

    It then lies outside their range with probability 2/31. Of 28 figures 1.8 are expected outside, and more than five
    with a chance of 0.8 % (seeds are fixed; two are).
    """
    outside = 0
    for k, epsilon, place in [(50, 1.0, 2), (100, 1.0, 2), (50, 10.0, 4), (100, 10.0, 4)]:
        releases = [release_in_order(eight, k=k, epsilon=epsilon, seed=seed, **AS_PUBLISHED) for seed in range(30)]
        for name in MATCHING:
            original = eight[name].to_numpy().astype(float)
            found = [variance_change(original, one[name].to_numpy()) for one in releases]
            published = PUBLISHED[name][k][place]  # printed to two digits
            outside += not min(found) - 0.005 <= published <= max(found) + 0.005
    assert outside <= 5


@pytest.mark.parametrize(("epsilon", "place"), [(0.1, 1), (1.0, 3)])
def test_the_published_comparator_is_noise_per_record_that_is_not_divided(eight, epsilon, place):
    found = mean_changes(eight, [published_mv(eight, k=25, epsilon=epsilon, seed=seed) for seed in range(5)])
    for name in MATCHING:
        assert found[name] == pytest.approx(PUBLISHED[name][25][place], rel=0.03), name
    # Divided over the attributes, as proved, the noise of our method saturates instead.
    honest = [
        release_in_order(eight, method="dp_insensitive_mdav", form="aligned", k=25, epsilon=1.0, seed=s)
        for s in range(3)
    ]
    assert mean_changes(eight, honest)["AFNLWGT"] > PUBLISHED["AFNLWGT"][25][3] + 1


@pytest.mark.parametrize(("d", "published"), [(2, 47.69), (3, 49.13), (4, 49.97)])
def test_plain_laplace_gives_the_cross_moment_papers_errors(reference_data, d, published):
    reference_data("census")
    # One run's log2 SSE has a standard deviation of 0.1, the mean of 40 runs of 0.016; the published one fewer runs.
    assert plain_laplace_log2_sse(FIRST_FOUR[:d], 1.0, range(40)) == pytest.approx(published, abs=0.06)


@pytest.mark.parametrize(("names", "k", "least"), [(FIRST_FOUR, 5, 3), (None, 25, 2.5)])
def test_order_cuts_the_relative_error_and_interpolation_mends_the_histogram(reference_data, names, k, least):
    reference_data("census")
    table = census(names)
    found = {}
    for monotone in ("off", "steps", "interpolated"):
        how = {**AS_PUBLISHED, "monotone": monotone}
        found[monotone] = np.mean(
            [errors(table, release_in_order(table, k=k, epsilon=1.0, seed=s, **how)) for s in range(4)], axis=0
        )
    assert found["off"][0] > least * found["interpolated"][0]
    assert found["steps"][1] > found["off"][1] > found["interpolated"][1]


def test_divergence_is_zero_of_the_same_and_one_of_disjoint():
    x = np.array([1.0, 2.0, 3.0, 9.0])
    assert jensen_shannon(x, x) == 0
    assert jensen_shannon(x, np.array([0.5, 0.6, 13.0, 12.0])) == pytest.approx(1.0)
    assert jensen_shannon(np.array([0, 1]), np.array([1, 1]), n_bins=None) == pytest.approx(0.311278, abs=1e-6)


def test_wordnet_trees_hold_every_label_of_adult(reference_data):
    table = reference_data("adult")
    path = Path(os.environ.get("MICROAGG_DATA", "")) / "adult_taxonomies.json"
    if not path.is_file():
        pytest.skip("needs adult_taxonomies.json in the folder of MICROAGG_DATA")
    reference = json.loads(path.read_text(encoding="utf-8"))["attributes"]
    for name, tree in adult_taxonomies().items():
        assert set(table[name].drop_null().to_pylist()) == set(tree.leaves)
        assert tree.root == "entity.n.01"
        label_of = {entry["synset"]: label for label, entry in reference[name]["mapping"].items()}
        edges = [(edge["child"], edge["parent"]) for edge in reference[name]["edges"]]
        assert tree.parents == {label_of.get(child, child): label_of.get(parent, parent) for child, parent in edges}


def test_the_table_of_the_study_has_every_cell_of_the_papers(reference_data):
    reference_data("census")
    header, _, *rows = table_1(1).splitlines()
    assert len(rows) == sum(3 * len(of_k) for of_k in PUBLISHED.values()) == 96
    assert all(row.count("|") == header.count("|") for row in rows)
