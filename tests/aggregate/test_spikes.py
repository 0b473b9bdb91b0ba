"""Spikes: what is one, that draws keep it in each cell, and that no amount comes from fewer than k records."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from microagg._random import uniforms_from
from microagg.aggregate.centroid import Cells
from microagg.aggregate.spikes import Spike, amounts_off, draw_around, find_spike
from microagg.errors import GuaranteeError

ZERO = Spike(0.0, 1.0)


def numbers(n_on, *others):
    return np.array([0.0] * n_on + list(others))


@pytest.mark.parametrize(
    ("values", "k", "found"),
    [
        (numbers(5, 1, 2, 3), 3, ZERO),
        (-numbers(5, 1, 2, 3), 3, Spike(0.0, -1.0)),
        (numbers(5, 1, 1, 1, 1), 3, ZERO),  # both ends: the one that more records have
        (numbers(5, 1, 2, 3), 4, None),  # three records off it cannot speak
        (numbers(5, 1, 2, 3, 4, 5, 6), 6, None),  # five on it are fewer than k
        (numbers(5, *range(1, 46)), 3, ZERO),  # a tenth of 50
        (numbers(5, *range(1, 47)), 3, None),
        (numbers(5, -3, -2, -1, 1, 2, 3), 3, None),  # not at an end
        (numbers(5), 3, None),
        (np.append(numbers(5, 1, 2, 3), [np.nan] * 99), 3, ZERO),  # shares are of those that have a value
        (np.full(4, np.nan), 1, None),
    ],
)
def test_a_spike_is_an_end_of_the_range_that_many_records_share(values, k, found):
    assert find_spike(values, k) == found


@st.composite
def spiked_cells(draw):
    """Amounts, cells of at least k records, k; at least k amounts are positive."""
    k = draw(st.integers(1, 5))
    n_cells = draw(st.integers(1, 8))
    labels = np.repeat(np.arange(n_cells), k + draw(st.integers(0, 3)))
    one = st.sampled_from([0.0, 0.0, 0.0, 1.0, 2.5, 1000.0])
    amounts = np.array(draw(st.lists(one, min_size=len(labels), max_size=len(labels))))
    amounts[np.array(draw(st.permutations(range(len(labels)))))[:k]] = 7.0
    return amounts, labels, k


@given(spiked_cells(), st.booleans())
def test_amounts_always_come_from_at_least_k_records(case, weighted):
    amounts, labels, k = case
    weights = np.linspace(1, 2, len(labels)) if weighted else None
    found = amounts_off(amounts, Cells(labels, weights), k)
    counts = np.bincount(labels[amounts > 0], minlength=labels.max() + 1)
    assert ((found.pools >= 0) == (counts > 0)).all()
    for pool in range(len(found.sizes)):
        members = (found.pools[labels] == pool) & (amounts > 0)
        if members.sum() != found.sizes[pool]:  # some use the statistics of a cell with k, and have no part in them
            members &= counts[labels] >= k
        assert members.sum() == found.sizes[pool] >= k
        own = None if weights is None else weights[members]
        mean = np.average(amounts[members], weights=own)
        assert found.means[pool] == pytest.approx(mean)
        assert (found.variations[pool] * mean) ** 2 == pytest.approx(
            np.average((amounts[members] - mean) ** 2, weights=own), abs=1e-9
        )


@given(spiked_cells(), st.integers(0, 9))
def test_every_cell_keeps_its_count_on_the_spike(case, seed):
    amounts, labels, k = case
    spike = Spike(-3.0, -1.0)
    values, uniforms = spike.value - amounts, uniforms_from(seed)
    drawn = draw_around(spike, values, uniforms(len(labels)), Cells(labels), k, uniforms)
    assert (drawn <= spike.value).all()
    before, after = (np.bincount(labels, weights=one == spike.value) for one in (values, drawn))
    np.testing.assert_array_equal(after, before)


def test_cells_with_k_amounts_speak_for_themselves_and_others_pool_with_their_neighbours():
    of_cells = [[4, 6, 0], [90, 0, 0], [1, 0, 0], [110, 0, 0], [3, 0, 0], [0, 0, 0]]
    found = amounts_off(np.ravel(of_cells).astype(float), Cells(np.repeat(np.arange(6), 3)), 2)
    np.testing.assert_array_equal(found.pools, [0, 2, 1, 2, 1, -1])
    np.testing.assert_array_equal(found.means, [5.0, 2.0, 100.0])


def test_too_few_left_over_join_the_last_pool_or_use_the_nearest_cell_s():
    labels = np.array([0, 0, 1, 1, 2, 2])
    left = amounts_off(np.array([1.0, 0, 2, 0, 9, 0]), Cells(labels), 2)
    np.testing.assert_array_equal(left.sizes, [3])
    nearest = amounts_off(np.array([1.0, 1, 3, 3, 7, 0]), Cells(labels), 2)
    np.testing.assert_array_equal(nearest.pools, [0, 1, 1])
    np.testing.assert_array_equal(nearest.sizes, [2, 2])
    np.testing.assert_array_equal(nearest.means, [1, 3])


@pytest.mark.parametrize("amounts", [[0.0, 4.0, 0.0, 0.0], [0.0, 0.0, np.nan, np.nan]])
def test_fewer_than_k_amounts_in_all_are_never_drawn_from(amounts):
    with pytest.raises(GuaranteeError, match="at least k = 2 records"):
        amounts_off(np.array(amounts), Cells(np.array([0, 0, 1, 1])), 2)


def test_amounts_keep_mean_and_variance_and_the_order_of_the_draws():
    rng = np.random.default_rng(0)
    n = 40_000
    values = np.where(rng.random(n) < 0.3, rng.gamma(2.0, 50.0, n), 0.0)
    latent = rng.normal(size=n)
    drawn = draw_around(ZERO, values, latent, Cells(np.zeros(n, dtype=np.int64)), 100, uniforms_from(1))
    off = drawn > 0
    assert off.sum() == (values > 0).sum()
    # 12,000 amounts of mean 100 and deviation 71: standard errors 0.65 and, log-normal, about 1.3; the seed is fixed.
    assert drawn[off].mean() == pytest.approx(values[values > 0].mean(), abs=3)
    assert drawn[off].std() == pytest.approx(values[values > 0].std(), abs=6)
    assert latent[off].min() > latent[~off].max()
    assert (np.diff(drawn[off][np.argsort(latent[off])]) >= 0).all()


def test_missing_draws_stay_missing_and_small_amounts_do_not_reach_the_spike():
    values = np.array([0.0, 0, 1, 1, 0, np.nan, 1, 1])
    labels = np.array([0, 0, 0, 0, 1, 1, 1, 1])
    latent = np.where(labels == 1, np.nan, np.arange(8.0))
    drawn = draw_around(ZERO, values * 1e-9, latent, Cells(labels), 2, uniforms_from(0), step=0.5)
    np.testing.assert_array_equal(drawn, [0, 0, 0.5, 0.5, *[np.nan] * 4])


def test_what_all_off_the_spike_share_is_drawn_as_it_is():
    values, labels = np.array([0.0, 7, 7, 0]), np.zeros(4, dtype=np.int64)
    drawn = draw_around(ZERO, values, np.array([3.0, 1, 2, 4]), Cells(labels), 2, uniforms_from(0))
    np.testing.assert_array_equal(drawn, [7, 0, 0, 7])


def test_sampling_weights_say_how_many_are_on_the_spike():
    n = 30_000
    labels = np.arange(n) // 3  # cells of three: of weight 4 three parts are off the spike, so 2.25 draws of three
    values = np.where(np.arange(n) % 3 == 0, 5.0, 0.0)
    weights = np.where(values > 0, 6.0, 1.0)
    uniforms = uniforms_from(2)
    drawn = draw_around(ZERO, values, uniforms(n), Cells(labels, weights), 2, uniforms)
    assert set(np.bincount(labels, weights=drawn > 0)) == {2.0, 3.0}
    # The standard error of the mean of 10,000 cells is 0.0043.
    assert np.bincount(labels, weights=drawn > 0).mean() == pytest.approx(2.25, abs=0.02)
