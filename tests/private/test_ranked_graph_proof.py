"""The proof of the ranked graph, checked: exact likelihoods, all trees of tiny domains, all tables, all neighbours."""

from __future__ import annotations

import itertools
import math
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from declarations import nominal, numeric, ordinal
from microagg import Recipe
from microagg.privacy.budget import Budget
from microagg.privacy.noise import OpenDPNoise, SeededNoise
from microagg.private.base import protect
from microagg.private.strict import marginals, model
from microagg.private.strict.marginals import noisy_tree
from microagg.private.strict.records import Records
from microagg.private.strict.scales import Scale
from microagg.tables.frames import Frame
from optional_packages import pandas as pd
from privacy_loss import AnotherQuestionError, Replayed, WrittenDown, chance_of_choice, log_share, loss_of, losses


@pytest.fixture(scope="module", autouse=True)
def small_pool():
    """Few records need no pool of thousands: the pool is post-processing."""
    with patch.object(model, "_POOL", (200, 200)):
        yield


# --- trees: every tree of a tiny domain, and exactly how likely each table makes it


class Scripted:
    """A source whose answers are above zero where a script says so, and that remembers the counts it was asked of."""

    def __init__(self, script: tuple[bool, ...]) -> None:
        self.script, self.place, self.asked = script, 0, []

    def laplace_source(self, **asked):
        def answer(counts):
            signs = [self._next() for _ in counts]
            self.asked += zip(counts.tolist(), signs, strict=True)
            return np.where(signs, 1, -1)

        return answer

    def _next(self) -> bool:
        self.place += 1
        return self.script[self.place - 1] if self.place <= len(self.script) else False


def log_likelihood(points: tuple[int, ...], script: tuple[bool, ...], size: int, epsilon: float):
    """The tree that a script of splits gives, and ln of its probability for a table; None if it asks for less."""
    noise = Scripted(script)
    records = Records([np.array(points, dtype=np.int64)])
    edges = noisy_tree(records, 0, Scale("x", size, True), budget=Budget(epsilon, ["x"]), noise=noise)
    if noise.place < len(script):
        return None
    scale = 4.0 / epsilon
    return tuple(edges.tolist()), sum(log_share(count, scale, above=sign) for count, sign in noise.asked)


def all_trees(size: int, epsilon: float):
    """Scripts that differ in the tree they give: answers left out are 'no split'."""
    seen = {}
    for length in range(size):
        for script in itertools.product([False, True], repeat=length):
            found = log_likelihood((0,), script, size, epsilon)
            if found is not None:
                seen.setdefault(found[0], script)
    return seen


@pytest.mark.parametrize("epsilon", [0.5, 2.0, 6.0])
def test_all_trees_cost_at_most_epsilon_and_their_probabilities_sum_to_one(epsilon):
    size, n_records = 5, 3
    trees = all_trees(size, epsilon)
    assert len(trees) == 7  # five points are halved into 2 and 3, these into 1 and 1, 1 and 2: 1 + 2 x (1 + 2)
    worst = 0.0
    tables = list(itertools.combinations_with_replacement(range(size), n_records))
    likelihood = {table: {t: log_likelihood(table, s, size, epsilon)[1] for t, s in trees.items()} for table in tables}
    for table in tables:
        assert math.fsum(math.exp(one) for one in likelihood[table].values()) == pytest.approx(1.0)
    for table in tables:
        for place, value in itertools.product(range(n_records), range(size)):
            other = tuple(sorted((*table[:place], *table[place + 1 :], value)))
            worst = max(worst, *(likelihood[table][tree] - likelihood[other][tree] for tree in trees))
    assert worst <= epsilon * (1 + 1e-12)
    assert worst > epsilon / 3  # the search meets cases in which it matters


@settings(max_examples=150, deadline=None)
@given(
    epsilon=st.sampled_from([0.1, 1.0, 4.0, 12.0]),
    points=st.lists(st.sampled_from([0, 1, 2, 63, 64, 500, 1000, 1023]), min_size=2, max_size=60),
    value=st.integers(0, 1023),
    seed=st.integers(0, 10**6),
)
def test_trees_of_larger_domains_cost_at_most_epsilon(epsilon, points, value, seed):
    scale = Scale("x", 1024, True)
    table = np.array(points, dtype=np.int64)
    other = table.copy()
    other[0] = value

    def run(points, noise):
        noisy_tree(Records([points]), 0, scale, budget=Budget(epsilon, ["x"]), noise=noise)

    first = WrittenDown(SeededNoise(seed))
    run(table, first)
    second = WrittenDown(Replayed(first.exchanges))
    run(other, second)
    parts = losses(first.exchanges, second.exchanges)
    assert abs(parts["splits"]) <= epsilon * (1 + 1e-9)


def test_a_tree_whose_noise_forgets_replacement_is_caught(monkeypatch):
    """Add/remove costs 3 over the scale of the noise; a tree that paid for less than replacement would be found."""
    scale, size = Scale("x", 1024, True), 1024
    monkeypatch.setattr(marginals, "COST_OF_SPLITS", 2)
    table = np.zeros(3, dtype=np.int64)
    other = np.array([0, 0, size - 1])
    worst = 0.0
    for seed in range(300):
        first = WrittenDown(SeededNoise(seed))
        noisy_tree(Records([table]), 0, scale, budget=Budget(6.0, ["x"]), noise=first)
        second = WrittenDown(Replayed(first.exchanges))
        noisy_tree(Records([other]), 0, scale, budget=Budget(6.0, ["x"]), noise=second)
        for exchange in (*first.exchanges, *second.exchanges):
            exchange.asked = {**exchange.asked, "sensitivity": 4}
        worst = max(worst, abs(losses(first.exchanges, second.exchanges)["splits"]))
    assert worst > 6.0


# --- the whole method: the exact loss of what it was told


DECLARED = {
    "x": numeric(bounds=[0, 1000], resolution=1),
    "y": numeric(bounds=[-50, 50]),
    "level": ordinal(categories=["low", "middle", "high"]),
    "job": nominal(categories=["clerk", "farmer", "nurse", "smith"]),
    "town": nominal(role="confidential", categories=["a", "b", "c"]),
}
VALUES = {
    "x": [0, 1, 2, 500, 1000],
    "y": [-50.0, -0.001, 0.0, 50.0, 12.3],
    "level": ["low", "middle", "high"],
    "job": ["clerk", "farmer", "nurse", "smith"],
    "town": ["a", "b", "c"],
}


def recipe(epsilon: float, names: list[str], method: str = "dp_ranked_graph", **privacy) -> Recipe:
    attributes = {name: DECLARED[name] for name in names}
    return Recipe(method=method, privacy={"epsilon": epsilon, **privacy}, attributes=attributes)


def run(rows: list[dict], made_by: Recipe, noise) -> dict:
    table = pd.DataFrame(rows)[list(made_by.attributes)]
    return dict(protect(Frame.wrap(table), made_by, noise).arrays)


def replayed_loss(rows: list[dict], other: list[dict], made_by: Recipe, noise) -> tuple[dict[str, float], bool]:
    """The exact privacy loss of a run, part by part, and whether the neighbour publishes the same after it."""
    first = WrittenDown(noise)
    published = run(rows, made_by, first)
    second = WrittenDown(Replayed(first.exchanges))
    again = run(other, made_by, second)
    return losses(first.exchanges, second.exchanges), published == again


records = st.fixed_dictionaries({name: st.sampled_from(values) for name, values in VALUES.items()})


@settings(max_examples=60, deadline=None)
@given(
    rows=st.lists(records, min_size=2, max_size=25),
    instead=records,
    names=st.sampled_from([["x", "y"], ["x", "job"], ["job", "town"], list(DECLARED), ["x", "y", "level"]]),
    epsilon=st.sampled_from([0.3, 1.0, 8.0]),
    tables=st.sampled_from([None, 0, 1, 3]),
    trees=st.booleans(),
    seed=st.integers(0, 10**6),
)
def test_no_outcome_loses_more_than_epsilon_and_only_answers_decide_the_table(
    rows, instead, names, epsilon, tables, trees, seed
):
    made_by = recipe(epsilon, names, **({} if tables is None else {"tables": tables}))
    other = [instead, *rows[1:]]
    with patch.object(marginals, "_trees_from", lambda scale: 0.0 if trees else 1e9):
        parts, same = replayed_loss(rows, other, made_by, SeededNoise(seed))
    assert same
    assert abs(math.fsum(parts.values())) <= epsilon * (1 + 1e-9)


def test_the_same_holds_of_opendps_noise_and_of_the_copula():
    rng = np.random.default_rng(0)
    rows = [{name: rng.choice(values) for name, values in VALUES.items()} for _ in range(40)]
    other = [{"x": 1000, "y": 50.0, "level": "high", "job": "smith", "town": "c"}, *rows[1:]]
    for method, names in (("dp_ranked_graph", list(DECLARED)), ("dp_ranked_copula", ["x", "y", "level"])):
        parts, same = replayed_loss(rows, other, recipe(2.0, names, method), OpenDPNoise())
        assert same
        assert abs(math.fsum(parts.values())) <= 2.0 * (1 + 1e-9)


@pytest.mark.parametrize("records_times_epsilon", [10.0, 60.0, 100.0, 900.0])
def test_joint_histograms_lose_at_most_their_epsilon_in_every_round(records_times_epsilon):
    """Neighbours as far apart as they can be, at every size of budget; the exact loss of each draw."""
    epsilon, n_records = 10.0, round(records_times_epsilon / 10.0) + 1
    rng = np.random.default_rng(2)
    rows = [
        {"x": int(x), "y": float(y)}
        for x, y in zip(rng.integers(0, 1001, n_records), rng.uniform(-50, 50, n_records), strict=True)
    ]
    rows[0] = {"x": 0, "y": -50.0}
    made_by = recipe(epsilon, ["x", "y"], "dp_ranked_copula")
    worst = 0.0
    for seed in range(20):
        first = WrittenDown(SeededNoise(seed))
        run(rows, made_by, first)
        second = WrittenDown(Replayed(first.exchanges))
        run([{"x": 1000, "y": 50.0}, *rows[1:]], made_by, second)
        for here, there in zip(first.exchanges, second.exchanges, strict=True):
            if here.mechanism == "histograms":
                loss = abs(loss_of(here, there, splits=False))
                assert loss <= here.asked["epsilon"] * (1 + 1e-9)
                worst = max(worst, loss / here.asked["epsilon"])
    assert worst == pytest.approx(1.0)  # some draw spends all of it


def test_the_order_of_records_changes_nothing():
    rng = np.random.default_rng(1)
    rows = [{name: rng.choice(values) for name, values in VALUES.items()} for _ in range(40)]
    made_by = recipe(1.0, list(DECLARED))
    assert run(rows, made_by, SeededNoise(3)) == run(rows[::-1], made_by, SeededNoise(3))


def test_a_method_that_looks_elsewhere_is_caught():
    """The aligned form of individual ranking publishes who shares a run: the same answers give another table."""
    aligned = Recipe(
        method="dp_individual_ranking",
        k=2,
        privacy={"epsilon": 1.0, "form": "aligned"},
        attributes={"x": DECLARED["x"]},
    )
    rows = [{"x": x} for x in (0, 1, 500, 1000)]
    _, same = replayed_loss(rows, [{"x": 1000}, *rows[1:]], aligned, SeededNoise(1))
    assert not same
    with pytest.raises(AnotherQuestionError):
        Replayed([]).laplace(np.zeros(1))


# --- the oracle's own parts


def test_the_oracles_shares_and_choices_are_those_of_the_noise():
    """By a law: 40,000 draws, bounds of 5 deviations (chance of a false alarm below 1e-5)."""
    draws, scale = 40_000, 3.0
    for count in (-4, 0, 1, 5):
        noisy = OpenDPNoise().laplace(np.full(draws, count), scale=scale, sensitivity=3, epsilon=1.0)
        share = math.exp(log_share(count, scale, above=True))
        assert abs((noisy > 0).mean() - share) < 5 * math.sqrt(share * (1 - share) / draws)
    scores = np.array([3, 0, 4, 1])
    chances = [chance_of_choice(scores, one, scale) for one in range(4)]
    assert math.fsum(chances) == pytest.approx(1.0)
    chosen = OpenDPNoise().noisy_max(np.tile(scores, (10_000, 1)), scale=scale, sensitivity=1, epsilon=1.0)
    for one, chance in enumerate(chances):
        assert abs((chosen == one).mean() - chance) < 5 * math.sqrt(chance * (1 - chance) / 10_000)
