"""Draws of what many share: nothing is told of fewer than k records, cells keep their codes, labels follow a model."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from microagg._random import uniforms_from
from microagg.aggregate.centroid import Cells
from microagg.aggregate.pairing import odds_of_a_model
from microagg.aggregate.shared_values.dealing import deal_quietly, neighbourhoods
from microagg.aggregate.shared_values.intervals import MISSING, find_shared_numbers, require_shared
from microagg.aggregate.shared_values.model import calibrated, fit_labels
from microagg.aggregate.shared_values.ranks import draw_codes, pool_rare
from microagg.aggregate.shared_values.tilt import steer, tilted_places
from microagg.errors import GuaranteeError


def as_they_are(numbers):
    return numbers


@st.composite
def numbers_with_ties(draw):
    """Numbers of at least k records, some missing; k; how many must share one."""
    k = draw(st.integers(2, 6))
    scale = draw(st.sampled_from([1.0, 0.1, 1e200, -3e-150]))
    some = st.one_of(st.integers(0, 12), st.sampled_from([0, 0, 3, 50, 1000]))
    values = np.array(draw(st.lists(some, min_size=max(k, 5), max_size=60)), dtype=float) * scale
    values = np.append(values, [np.nan] * draw(st.integers(0, 3)))
    share = draw(st.one_of(st.none(), st.integers(2, k)))
    return np.array(draw(st.permutations(values.tolist()))), k, share


@given(numbers_with_ties())
def test_every_published_number_is_shared_or_of_an_interval_of_k(case):
    values, k, share = case
    found = find_shared_numbers(values, k, share=share)
    places = found.places(as_they_are)
    np.testing.assert_array_equal(found.codes == MISSING, np.isnan(values))
    np.testing.assert_array_equal(found.speaks & np.isnan(values), False)
    for code, (centre, is_value) in enumerate(zip(found.centres, found.is_value, strict=True)):
        members = found.speaks & (found.codes == code)
        if is_value:
            assert members.sum() >= (k if share is None else share)
            assert (values[members] == centre).all()
            assert (places[code] == centre).all()
        else:
            assert members.sum() >= max(k, 5)
            scaled = values[members] / np.abs(values[members]).max()
            mean = scaled.mean()
            spread = scaled.std() * np.abs(values[members]).max()
            assert centre == pytest.approx(mean * np.abs(values[members]).max(), rel=1e-9)
            assert found.half_widths[code] <= np.sqrt(3) * spread * (1 + 1e-9)
            np.testing.assert_allclose(places[code].mean(), centre, rtol=1e-9)
    order = np.argsort(values[found.speaks], kind="stable")
    assert (np.diff(found.codes[found.speaks][order]) >= 0).all()  # codes stand in the order of the numbers
    # Places of an interval stay between the centres of its neighbours.
    assert (places[1:, 0] >= found.centres[:-1] * (1 - 1e-12 * np.sign(found.centres[:-1]))).all()


@given(numbers_with_ties(), st.data())
def test_records_of_a_short_gap_have_no_part_in_what_is_published(case, data):
    """Move one of them within its gap: no published number changes."""
    values, k, share = case
    found = find_shared_numbers(values, k, share=share)
    mute = np.flatnonzero(~found.speaks & ~np.isnan(values))
    if not len(mute):
        return
    record = data.draw(st.sampled_from(mute.tolist()))
    known = values[~np.isnan(values)]
    below, above = known[known < values[record]], known[known > values[record]]
    moved = values.copy()
    moved[record] = (values[record] + below.max()) / 2 if len(below) else (values[record] + above.min()) / 2
    again = find_shared_numbers(moved, k, share=share)
    np.testing.assert_array_equal(again.centres, found.centres)
    np.testing.assert_array_equal(again.half_widths, found.half_widths)


def test_what_comes_from_fewer_is_refused_before_anything_is_drawn():
    values = np.array([0.0] * 5 + [1.0, 2.0, 3.0, 4.0, 5.0])
    found = find_shared_numbers(values, 5)
    silent = found.speaks & ~((found.codes == 1) & (values == 5.0))
    with pytest.raises(GuaranteeError, match="1 intervals or shared values of a number come from fewer"):
        require_shared(replace(found, speaks=silent), values, 5)
    with pytest.raises(GuaranteeError, match="and 1 records have no part"):
        require_shared(found, np.where(np.arange(10) == 0, 0.5, values), 5)
    with pytest.raises(
        GuaranteeError, match="fewer than 5 records cannot be told: column 'age' has 4 values, and none"
    ):
        find_shared_numbers(np.array([1.0, 2.0, 3.0, 4.0, np.nan]), 3, what="column 'age'")
    with pytest.raises(GuaranteeError, match="an attribute has 4 values"):
        find_shared_numbers(np.array([1.0, 2.0, 3.0, 4.0, np.nan]), 5)


@pytest.mark.parametrize("k", [2, 3, 4])
def test_mean_and_spread_are_of_five_records_where_k_is_less(k):
    """Of two numbers, mean and spread tell both: m - s and m + s."""
    values = np.random.default_rng(k).permutation(1000)[:101] * 1.0
    found = find_shared_numbers(values, k)
    np.testing.assert_array_equal(found.sizes, [5] * 19 + [6])
    few = find_shared_numbers(np.array([0.0] * 4 + [1.0, 2.0, 3.0, 4.0]), k)
    np.testing.assert_array_equal(few.centres, [0.0])


def test_bounds_of_an_interval_are_not_told():
    """Two tables whose intervals begin and end elsewhere, with the same mean and spread, publish the same."""
    apart = 10 * np.sqrt([1.5, 0.5])
    one = np.array([0.0] * 9 + [10.0, 10.0, 20.0, 30.0, 30.0] + [40.0] * 9)
    two = np.array([0.0] * 9 + [*(20 - apart), 20.0, *(20 + apart)] + [40.0] * 9)
    places = [find_shared_numbers(values, 5).places(as_they_are) for values in (one, two)]
    assert len(places[0]) == 3
    np.testing.assert_allclose(*places, rtol=1e-12)


def test_numbers_far_smaller_than_others_stay_what_they_are():
    """Brought near 1 with the largest, the others would vanish: two shared values would be one that nobody has."""
    values = np.array([1e200] + [1e-200] * 50 + [2e-200] * 30 + [3e-200 + 1e-202 * one for one in range(10)])
    found = find_shared_numbers(values, 5)
    np.testing.assert_array_equal(found.centres[:2], [1e-200, 2e-200])
    np.testing.assert_array_equal(found.sizes, [50, 30, 5, 6])


def test_one_record_s_minus_zero_is_not_that_of_all():
    values = np.array([-0.0] + [0.0] * 40 + [1.0] * 40)
    for some in (values, values[::-1]):
        places = find_shared_numbers(some, 5).places(as_they_are)
        assert not np.signbit(places).any()


@st.composite
def coded_cells(draw):
    n_cells = draw(st.integers(1, 5))
    labels = np.repeat(np.arange(n_cells), draw(st.lists(st.integers(1, 9), min_size=n_cells, max_size=n_cells)))
    labels = labels[np.array(draw(st.permutations(range(len(labels)))))]
    labels = np.unique(labels, return_inverse=True)[1]
    codes = st.lists(st.integers(MISSING, 4), min_size=len(labels), max_size=len(labels))
    return np.column_stack([draw(codes), draw(codes)]).astype(np.int64), labels


@given(coded_cells(), st.integers(0, 99))
def test_every_cell_keeps_its_codes_of_every_attribute(case, seed):
    codes, labels = case
    drawn = draw_codes(codes, Cells(labels), uniforms_from(seed))
    for cell in range(labels.max() + 1):
        for before, after in zip(codes[labels == cell].T, drawn[labels == cell].T, strict=True):
            due = np.full(len(before), MISSING) if (before == MISSING).any() else np.sort(before)
            np.testing.assert_array_equal(np.sort(after), due)


def test_draws_keep_what_ties_two_attributes_within_cells():
    rng = np.random.default_rng(0)
    x = rng.normal(size=4000)
    codes = np.column_stack([np.rint(10 * x), np.rint(10 * (0.8 * x + 0.6 * rng.normal(size=4000)))]).astype(np.int64)
    codes -= codes.min(axis=0)
    drawn = draw_codes(codes, Cells(np.arange(4000) % 8), uniforms_from(1))
    assert (drawn != codes).any(axis=1).mean() > 0.9
    # The standard error of a correlation of 0.8 over 4000 records is 0.006; the seed is fixed.
    assert np.corrcoef(drawn.T)[0, 1] == pytest.approx(np.corrcoef(codes.T)[0, 1], abs=0.03)


def test_weighted_cells_keep_weighted_shares_up_to_one_record():
    rng = np.random.default_rng(2)
    codes, labels = rng.integers(0, 4, (300, 1)), np.repeat([0, 1, 2], 100)
    weights = rng.uniform(0.2, 5, 300)
    drawn = draw_codes(codes, Cells(labels, weights), uniforms_from(3))
    for cell in range(3):
        rows = labels == cell
        shares = np.bincount(codes[rows, 0], weights=weights[rows], minlength=4) / weights[rows].sum()
        assert (np.abs(np.bincount(drawn[rows, 0], minlength=4) - 100 * shares) <= 1 + 1e-9).all()
    same = draw_codes(codes, Cells(labels, np.full(300, 7.0)), uniforms_from(3))
    np.testing.assert_array_equal(np.sort(same[:100, 0]), np.sort(codes[:100, 0]))


@given(coded_cells(), st.integers(1, 5), st.booleans())
def test_no_category_of_fewer_records_is_published(case, least, ordered):
    (codes, labels), cells = case, Cells(case[1])
    column = codes[:, 0]
    counts = np.bincount(column[column != MISSING], minlength=5)
    if (counts > 0).any() and not (counts >= least).any():
        with pytest.raises(GuaranteeError, match=r"column 'job' has no category that at least .* records have"):
            pool_rare(column, least, cells, name="job", ordered=ordered)
        return
    pooled, n_pooled = pool_rare(column, least, cells, name="job", ordered=ordered)
    np.testing.assert_array_equal(pooled == MISSING, column == MISSING)
    assert (counts[pooled[pooled != MISSING]] >= least).all()
    assert n_pooled == (pooled != column).sum() == counts[counts < least].sum()
    for record in np.flatnonzero(pooled != column):
        frequent = np.flatnonzero(counts >= least)
        if ordered:
            assert abs(pooled[record] - column[record]) == np.abs(frequent - column[record]).min()
        else:
            within = np.bincount(column[(labels == labels[record]) & (column != MISSING)], minlength=5)[frequent]
            assert not within.any() or within[frequent == pooled[record]] == within.max()


def test_places_are_chosen_so_that_a_model_expects_the_labels_of_the_interval():
    rng = np.random.default_rng(4)
    odds = np.sort(rng.uniform(0, 1, (400, 5, 2)), axis=1)
    due = np.array([0.62, 0.55])
    strength = steer(odds, due)
    weights = np.exp(odds @ strength)
    weights /= weights.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(np.einsum("ij,ijt->t", weights, odds) / 400, due, atol=0.02)  # a ridge keeps it short
    places = tilted_places(odds, due, rng.random(400))
    # Expectations at chosen places have a deviation of about 0.25: standard error 0.0125; the seed is fixed.
    np.testing.assert_allclose(odds[np.arange(400), places].mean(axis=0), due, atol=0.05)
    far = steer(odds, np.array([5.0, -5.0]))
    assert np.abs(far).max() <= 15.0
    even = tilted_places(np.full((1000, 5, 1), 0.3), np.array([0.9]), (np.arange(1000) + 0.5) / 1000)
    np.testing.assert_array_equal(np.bincount(even), 200)  # nothing to choose: all places alike


def fitted_people(*, classes, n=1500):
    rng = np.random.default_rng(5)
    X = np.column_stack([rng.normal(size=n), rng.integers(0, 3, n)])
    score = X[:, 0] + (X[:, 1] == 1) + 0.5 * rng.normal(size=n)
    y = np.digitize(score, [-0.5, 0.8]).astype(float) if classes else 1e5 + 1e3 * score
    y[:7] = np.nan
    return X, y, fit_labels(X, y, 50, classes=classes, n_categories=[0, 3])


@pytest.mark.parametrize("classes", [True, False])
def test_expectations_add_up_to_the_labels_of_every_cell(classes):
    X, _, model = fitted_people(classes=classes)
    labels = np.arange(len(X)) % 12
    shifted = calibrated(model.expected(X), model, labels)
    for cell in range(12):
        rows = labels == cell
        due = model.labels[rows & model.known].mean(axis=0)
        np.testing.assert_allclose(shifted[rows].mean(axis=0), due, atol=1e-3)
    if classes:
        np.testing.assert_allclose(shifted.sum(axis=1), 1.0)
        assert shifted.min() >= 0.0


@pytest.mark.parametrize("classes", [True, False])
def test_dealing_keeps_cells_and_lowers_what_a_model_cannot_tell_where_draws_are_alike(classes):
    X, _, model = fitted_people(classes=classes)
    cells = Cells(np.arange(len(X)) % 12)
    odds = calibrated(model.expected(X), model, cells.labels)
    known = np.repeat(model.known[:, None], odds.shape[1], axis=1)
    ranks = np.column_stack([np.argsort(np.argsort(X[:, 0])), X[:, 1]]).astype(np.int64)
    before = np.arange(len(X))
    after = deal_quietly(model.labels, known, odds, ranks, before, cells, uniforms_from(6))
    np.testing.assert_array_equal(np.sort(after), before)
    np.testing.assert_array_equal(cells.labels[after], cells.labels)
    assert (after != before).mean() > 0.1
    other = neighbourhoods(ranks, odds, uniforms_from(7))  # neighbourhoods that dealing has not seen
    assert np.bincount(other.ravel()).min() >= 5

    def unrest(dealt):
        residuals = np.empty_like(odds)
        residuals[dealt] = np.where(known, model.labels - odds[dealt], 0.0)
        sums = [np.bincount(leaf, weights=term) ** 2 for leaf in other.T for term in residuals.T]
        return sum(one.sum() for one in sums)

    assert unrest(after) < 0.6 * unrest(before)


def test_exchanges_keep_the_sums_of_leaves():
    """The running sums of residuals against sums taken anew."""
    from microagg.aggregate._kernels.exchange import exchange, sum_residuals

    rng = np.random.default_rng(8)
    n, cells = 60, Cells(np.arange(60) % 4)
    labels, odds, known = rng.normal(size=(n, 2)), rng.normal(size=(n, 2)), rng.random((n, 2)) < 0.9
    leaves = np.column_stack([rng.integers(0, 6, n), 6 + rng.integers(0, 6, n)]).astype(np.int32)
    sums, dealt, weights = np.zeros((12, 2)), np.arange(n), rng.uniform(0.5, 2, 12)
    sum_residuals(labels, known, odds, dealt, leaves, sums)
    begun = (weights[:, None] * sums**2).sum()
    swaps = exchange(
        labels, known, odds, dealt, leaves, sums, weights, cells.order, cells.starts, cells.sizes, rng.random(n)
    )
    again = np.zeros_like(sums)
    sum_residuals(labels, known, odds, dealt, leaves, again)
    assert swaps > 0
    np.testing.assert_allclose(sums, again, atol=1e-9)
    assert (weights[:, None] * again**2).sum() < begun


def test_one_label_or_no_attribute_teaches_nothing():
    X = np.random.default_rng(9).normal(size=(50, 1))
    assert fit_labels(X, np.zeros(50), 5, classes=True) is None
    assert fit_labels(np.full((50, 1), np.nan), np.arange(50.0), 5, classes=False) is None


@pytest.mark.parametrize("classes", [True, False])
def test_labels_of_fewer_than_k_records_teach_nothing(classes):
    """A single leaf of all of them would hold fewer than every leaf is said to."""
    X, y = np.random.default_rng(9).normal(size=(90, 1)), np.full(90, np.nan)
    y[:29] = np.arange(29) % 2
    assert fit_labels(X, y, 30, classes=classes) is None
    wanted, offered = odds_of_a_model(X, y, X, 30, classes=classes)
    assert not wanted.any()
    assert not offered.any()
    y[29] = 0.0
    assert fit_labels(X, y, 30, classes=classes) is not None
    assert odds_of_a_model(X, y, X, 30, classes=classes)[0].any()
