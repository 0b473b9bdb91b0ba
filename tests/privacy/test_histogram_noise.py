"""One draw of noise for several histograms: its law, its loss on neighbours, its cost, its refusals."""

from __future__ import annotations

import itertools
import math
import random
from collections import Counter
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from microagg.errors import GuaranteeError
from microagg.privacy.budget import Budget
from microagg.privacy.mechanism import add_to_histograms
from microagg.privacy.noise import OpenDPNoise, SeededNoise
from microagg.privacy.noise.histograms import _numbers_of_cells, deviation_of_cells, histogram_noise
from microagg.privacy.noise.radius import points_within
from privacy_loss import records_moved


def norm(change: list[list[int]]) -> int:
    return max(sum(max(one, 0) for one in histogram) for histogram in change)


def test_the_norm_is_the_least_number_of_records_that_make_a_change():
    """Breadth first from no change: one record of each histogram may move from a cell to another."""
    moves = [
        [tuple((k == to) - (k == start) for k in range(cells)) for start in range(cells) for to in range(cells)]
        for cells in (3, 2)
    ]
    reached = {((0, 0, 0), (0, 0)): 0}
    for step in range(1, 4):
        for seen in [one for one, at in reached.items() if at == step - 1]:
            for move in itertools.product(*moves):
                after = tuple(
                    tuple(a + b for a, b in zip(old, new, strict=True)) for old, new in zip(seen, move, strict=True)
                )
                reached.setdefault(after, step)
    assert all(norm(change) == steps for change, steps in reached.items())
    assert len(reached) == points_within(2, 3) * points_within(1, 3)
    ends = np.array([3])
    assert all(records_moved(np.concatenate(change), ends) == steps for change, steps in reached.items())


@pytest.mark.parametrize(
    ("lengths", "epsilon"), [((3, 2), Fraction(3, 4)), ((4,), Fraction(1)), ((2, 1, 2), Fraction(1, 2))]
)
def test_every_change_is_as_likely_as_the_law_says(lengths, epsilon):
    """40,000 draws; each change that is due 30 times within 6 deviations (false alarm below 1e-5 for all of them)."""
    draws, bits = 40_000, random.Random(12).getrandbits
    found = Counter(tuple(itertools.chain(*histogram_noise(lengths, epsilon, bits))) for _ in range(draws))
    ranks = [length - 1 for length in lengths if length > 1]
    volumes = [math.prod(points_within(rank, r) for rank in ranks) for r in range(200)]
    total = sum((new - old) * math.exp(-epsilon * r) for r, (old, new) in enumerate(itertools.pairwise([0, *volumes])))
    ends = np.cumsum(lengths)[:-1]
    due_often = 0
    for flat, count in found.items():
        change = [one.tolist() for one in np.split(np.array(flat), ends)]
        assert all(sum(histogram) == 0 for histogram in change)
        due = draws * math.exp(-epsilon * norm(change)) / total
        if due >= 30:
            due_often += 1
            assert abs(count - due) < 6 * math.sqrt(due), change
    assert due_often > 15


@pytest.mark.parametrize(("count", "epsilon"), [(300, 1e-3), (101, 6e-3), (300, 1e-30)])
def test_many_histograms_at_a_small_epsilon_neither_hang_nor_fill_the_memory(count, epsilon):
    lengths = [9, 8, 10, 2][: 1 + count % 3] * (count // (1 + count % 3))
    noise = histogram_noise(lengths, Fraction(epsilon), random.Random(4).getrandbits)
    found = math.sqrt(np.mean([one**2 * epsilon**2 for one in itertools.chain(*noise)]))
    stated = math.sqrt(np.mean(np.repeat(np.square(deviation_of_cells(lengths, epsilon)), lengths))) * epsilon
    assert found == pytest.approx(stated, rel=0.2)


@given(length=st.integers(2, 9), drawn=st.integers(1, 60), seed=st.integers(0, 10**6))
def test_numbers_of_cells_that_grow_and_shrink_fit_the_change(length, drawn, seed):
    grow, shrink = _numbers_of_cells(length, drawn, random.Random(seed).getrandbits)
    assert 1 <= grow <= drawn
    assert 1 <= shrink <= drawn
    assert grow + shrink <= length


@pytest.mark.parametrize("lengths", [[9] * 13, [2] * 13, [5, 9, 17], [30]])
def test_the_stated_deviation_is_that_of_the_noise(lengths):
    """400 draws with a seed: the root of the mean square over cells is within a tenth."""
    bits = random.Random(3).getrandbits
    found = [histogram_noise(lengths, Fraction(1, 10), bits) for _ in range(400)]
    for place, stated in enumerate(deviation_of_cells(lengths, 0.1)):
        cells = np.array([one[place] for one in found], dtype=float)
        assert math.sqrt((cells**2).mean()) == pytest.approx(stated, rel=0.1)


def test_noise_is_smaller_than_laplace_noise_of_the_same_epsilon():
    """As the docs have it, in per cent."""
    for count, stated in ((13, {2: 68, 4: 42, 8: 24, 16: 13}), (1, {2: 29, 4: 16, 8: 9, 16: 5})):
        for cells, saved in stated.items():
            laplace = math.sqrt(2.0) * 2 * count * math.sqrt((cells - 1) / cells)  # projected on changes that sum to 0
            assert round(100 * (1 - deviation_of_cells([cells] * count, 1.0)[0] / laplace)) == pytest.approx(
                saved, abs=1
            )


@pytest.mark.parametrize("noise", [OpenDPNoise(), SeededNoise(3)])
def test_the_mechanism_spends_its_budget_and_is_refused_too_little_noise(noise):
    budget = Budget(0.5, ["x", "y"])
    noisy = add_to_histograms([np.array([10, 20, 30]), np.array([60, 0])], budget=budget, noise=noise, on="parts")
    assert [one.shape for one in noisy] == [(3,), (2,)]
    assert [int(one.sum()) for one in noisy] == [60, 60]
    (expense,) = budget.ledger
    assert (expense.mechanism, expense.draws, expense.epsilon) == ("joint histograms", 1, 0.5)
    assert expense.scale == pytest.approx(2.0)
    assert budget.remaining == 0
    with pytest.raises(GuaranteeError, match="would cost epsilon"):
        noise.histograms(np.array([1, 2]), lengths=(2,), scale=0.9, sensitivity=1, epsilon=1.0)


def test_a_histogram_of_one_cell_is_the_public_number_of_records():
    assert histogram_noise([1], Fraction(1), random.Random(1).getrandbits) == [[0]]
    assert histogram_noise([1, 3], Fraction(1), random.Random(1).getrandbits)[0] == [0]


def test_a_seed_repeats_the_noise():
    asked = {"lengths": (4, 5), "scale": 4.0, "sensitivity": 1, "epsilon": 0.25}
    first, second = (SeededNoise(5).histograms(np.zeros(9, dtype=np.int64), **asked) for _ in range(2))
    assert (first == second).all()
    assert first.any()


@pytest.mark.parametrize("noise", [OpenDPNoise(), SeededNoise(3)])
def test_sums_beyond_all_integers_are_clamped_and_not_the_noise(noise):
    """A count beside clamped noise could be read off the sum."""
    noisy = noise.histograms(np.arange(1, 41), lengths=(40,), scale=1e25, sensitivity=1, epsilon=1e-25)
    assert set(np.abs(noisy).tolist()) == {2**62}
