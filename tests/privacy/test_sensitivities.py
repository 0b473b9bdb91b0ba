"""Declared sensitivities against exhaustive search over small domains: enough, and not more than needed."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

import numpy as np
import pytest

from microagg.partition.insensitive import order_of_domain
from microagg.partition.runs import run_sizes
from microagg.privacy.categorical import distance_counts, marginality_order, run_scores, score_sensitivity
from microagg.privacy.mechanism import Grid
from microagg.privacy.ranking import in_order, spread_steps
from microagg.schema.taxonomy import Taxonomy


def neighbours(domain: list, n_records: int) -> Iterator[tuple[list, list]]:
    """Every table over a finite domain with every one of its records replaced by every other value."""
    for table in itertools.combinations_with_replacement(domain, n_records):
        for place in range(n_records):
            if place and table[place] == table[place - 1]:
                continue
            for value in domain:
                if value != table[place]:
                    yield list(table), [*table[:place], value, *table[place + 1 :]]


def with_larger_run_at(position: int, n_runs: int, k: int, extra: int) -> np.ndarray:
    sizes = np.full(n_runs, k)
    sizes[position] += extra
    return sizes


def run_sums(values: list, sizes: np.ndarray) -> np.ndarray:
    return np.add.reduceat(np.sort(values), np.cumsum(sizes) - sizes)


@pytest.mark.parametrize(
    ("k", "n_runs", "extra", "position"),
    [(k, runs, extra, place) for k, runs in [(2, 3), (3, 2)] for extra in range(k) for place in range(runs)],
)
def test_sums_of_ranked_runs_change_by_the_width_at_most_wherever_the_larger_run_stands(k, n_runs, extra, position):
    sizes = with_larger_run_at(position, n_runs, k, extra)
    domain = [0, 1, 4]  # counts of a grid of width 4
    of_sums = of_means = 0.0
    for before, after in neighbours(domain, int(sizes.sum())):
        change = np.abs(run_sums(before, sizes) - run_sums(after, sizes))
        of_sums, of_means = max(of_sums, change.sum()), max(of_means, (change / sizes).sum())
    assert of_sums == 4
    assert of_means == pytest.approx(4 / k)  # Lemma 1: width / k, reached


@pytest.mark.parametrize("larger", ["first", "middle", "last"])
@pytest.mark.parametrize(("n_records", "k"), [(7, 2), (7, 3), (8, 3), (5, 4)])
def test_the_sizes_the_method_uses_keep_the_bound(larger, n_records, k):
    sizes = run_sizes(n_records, k, larger)
    worst = max(
        np.abs(run_sums(before, sizes) - run_sums(after, sizes)).sum()
        for before, after in neighbours([0, 3, 4], n_records)
    )
    assert worst == 4


def test_a_run_shorter_than_k_would_break_lemma_1():
    sizes = np.array([3, 3, 1])
    worst = max(
        (np.abs(run_sums(before, sizes) - run_sums(after, sizes)) / sizes).sum()
        for before, after in neighbours([0, 4], 7)
    )
    assert worst == 3 * 4 / 3  # three times width / k


def test_cells_of_insensitive_mdav_change_by_a_record_each_and_no_less_noise_would_do():
    domain = list(itertools.product([0, 2], [0, 1, 2]))
    sizes = run_sizes(6, 2, "middle")
    worst = 0

    def sums(table) -> np.ndarray:
        X = np.array(table, dtype=np.float64) / 2
        return np.add.reduceat(np.array(table)[order_of_domain(X)], np.cumsum(sizes) - sizes, axis=0)

    for before, after in neighbours(domain, 6):
        worst = max(worst, np.abs(sums(before) - sums(after)).sum(axis=0).max())
    assert worst <= len(sizes) * 2
    assert worst > 2  # individual ranking's bound does not hold for whole records


TREES = {
    "flat": Taxonomy.flat(["a", "b", "c", "d"]),
    "deep": Taxonomy.from_parents({"a": "x", "b": "x", "c": "y", "d": "y", "x": "r", "y": "z", "z": "r", "e": "r"}),
    "chain": Taxonomy.from_parents({"a": "r", "b": "a", "c": "b", "d": "c"}),
}


@pytest.mark.parametrize("tree", TREES.values(), ids=TREES)
@pytest.mark.parametrize(
    ("n_records", "k", "larger"), [(6, 2, "middle"), (7, 2, "first"), (7, 3, "last"), (5, 2, "last")]
)
def test_scores_of_ranked_categories_change_by_the_declared_sensitivity_at_most(tree, n_records, k, larger):
    nodes = list(tree.nodes)
    leaves = [nodes.index(leaf) for leaf in tree.leaves]
    distances = tree.distances(nodes)
    order = np.array(leaves)[marginality_order(distances[np.ix_(leaves, leaves)])]
    counted = distance_counts(distances)[order]
    sizes = run_sizes(n_records, k, larger)
    worst = 0
    for before, after in neighbours(list(range(len(order))), n_records):
        change = run_scores(np.array(before), sizes, counted) - run_scores(np.array(after), sizes, counted)
        worst = max(worst, int(np.abs(change).max(axis=1).sum()))
    assert worst <= score_sensitivity(counted, len(sizes))


def test_the_largest_distance_is_no_bound_for_categories():
    """Categories lie on no line: one changed record can move several runs, each by nearly the largest distance."""
    tree = TREES["flat"]
    counted = distance_counts(tree.distances(list(tree.leaves)))
    sizes = np.array([1, 1, 1, 1])
    before, after = np.array([0, 0, 1, 2]), np.array([0, 1, 2, 3])
    change = np.abs(run_scores(before, sizes, counted) - run_scores(after, sizes, counted)).max(axis=1).sum()
    assert change == 3 * counted.max()
    assert change <= score_sensitivity(counted, 4)


def test_the_order_of_categories_is_the_papers():
    tree = TREES["deep"]
    labels = list(tree.leaves)
    distances = tree.distances(labels)
    order = [labels[i] for i in marginality_order(distances)]
    by_hand = {label: sum(distances[labels.index(label)]) for label in labels}
    most_marginal = max(labels, key=lambda label: by_hand[label])
    assert order[0] == most_marginal
    far = [distances[labels.index(most_marginal), labels.index(label)] for label in order]
    assert far == sorted(far)


def test_the_semantic_distance_is_equation_3():
    tree = TREES["deep"]
    # a: {a, x, r}; c: {c, y, z, r}; together 6, in common 1.
    assert tree.distances(["a", "c"])[0, 1] == pytest.approx(np.log2(1 + 5 / 6))
    assert tree.distances(["a", "b"])[0, 1] == pytest.approx(np.log2(1 + 2 / 4))


def test_isotonic_means_ascend_within_bounds_and_move_none_that_ascend():
    grid, sizes = Grid(0.0, 10.0), np.array([2, 2, 5, 2])
    assert in_order(np.array([1.0, 2.0, 3.0, 9.0]), sizes, grid).tolist() == [1, 2, 3, 9]
    fitted = in_order(np.array([4.0, -8.0, 30.0, 6.0]), sizes, grid)
    assert fitted[0] == fitted[1] == 0  # the mean of 4 and -8 is below the domain
    assert fitted[2] == fitted[3] == 10
    # Weights are sizes squared: 25 to 4.
    assert in_order(np.array([0.0, 0.0, 9.0, 0.0]), sizes, grid)[2] == pytest.approx(9 * 25 / 29)


@pytest.mark.parametrize("by_rank", [True, False])
def test_spread_steps_ascend_and_stay_between_their_neighbours(by_rank):
    rng = np.random.default_rng(0)
    for _ in range(50):
        sizes = rng.integers(2, 6, 12)
        means = np.sort(rng.integers(0, 4, 12)).astype(float)
        spread = spread_steps(means, sizes, by_rank=by_rank)
        assert len(spread) == (sizes.sum() if by_rank else 12)
        assert (np.diff(spread) >= 0).all()
        assert spread.min() >= means[0]
        assert spread.max() <= means[-1]
