"""Interval disclosure against plain loops and the published values."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import microagg
from declarations import nominal, numeric, ordinal
from microagg import Recipe
from microagg.evaluation.risk.intervals import WINDOWS, interval_disclosure

CENSUS = ("AGI", "FICA", "INTVAL", "EMCONTRB", "TAXINC", "WSALVAL", "ERNVAL", "PEARNVAL", "POTHVAL")


@pytest.mark.parametrize(("k", "published"), [(5, 74.2), (25, 55.0), (50, 47.4)])
def test_rank_intervals_of_blocked_census(reference_data, k, published):
    census = reference_data("census").select(CENSUS)
    attributes = {name: numeric() for name in CENSUS}
    recipe = Recipe(k=k, output={"order": "kept"}, blocks={"form": "contiguous", "size": 3}, attributes=attributes)
    released = microagg.release(census, recipe).table
    found = microagg.evaluate(census, released, recipe, aligned=True, measures=["intervals"])
    assert 100 * found["interval_disclosure_rank"].value == pytest.approx(published, abs=0.1)
    assert found["interval_disclosure_rank"].baseline == pytest.approx(0.107, abs=0.002)


numbers = st.lists(st.one_of(st.integers(-5, 5).map(float), st.just(np.nan)), min_size=1, max_size=25)


@given(numbers, st.integers(0, 10**6))
def test_shares_and_their_chance_agree_with_loops(values, seed):
    original = np.array(values)
    rng = np.random.default_rng(seed)
    released = np.where(rng.random(len(original)) < 0.2, np.nan, original + rng.integers(-2, 3, len(original)))
    widths = [0.0, 1.0, 1.5]
    found = interval_disclosure(original, released, widths)
    there = [i for i, value in enumerate(original) if not np.isnan(value)]
    if not there:
        assert np.isnan(found.share)
        return
    inside = [[abs(original[i] - released[i]) <= width for width in widths] for i in there]
    assert found.share == pytest.approx(np.mean(inside))
    chance = [[abs(original[i] - released[j]) <= width for width in widths] for i in there for j in there]
    assert found.by_chance == pytest.approx(np.mean(chance))
    np.testing.assert_allclose(found.inside[there], np.mean(inside, axis=1))


def test_every_kind_and_odd_column_is_told():
    before = pa.table(
        {
            "x": [0.0, 1.0, 2.0, None],
            "grade": ["low", "mid", "high", "high"],
            "flat": [7.0] * 4,
            "city": ["p", "q", "p", "q"],
        }
    )
    after = before.set_column(0, "x", pa.array([0.0, None, 2.05, 3.0]))
    schema = Recipe(
        k=2,
        attributes={
            "x": numeric(),
            "grade": ordinal(categories=["low", "mid", "high"]),
            "flat": numeric(),
            "city": nominal(),
        },
    )
    found = microagg.evaluate(before, after, schema, aligned=True, measures="intervals", per_record=True)
    by_value = found["interval_disclosure_value"]
    assert list(by_value.details) == ["x", "grade", "flat"]
    # Of x, the first is exact, the second is not published, the third is 0.05 off, with deviation 0.8165.
    off = np.mean([window * np.std([0.0, 1.0, 2.0]) >= 0.05 for window in WINDOWS])
    assert by_value.details["x"] == pytest.approx((1 + 0 + off) / 3)
    assert by_value.details["flat"] == 1.0
    assert by_value.value == pytest.approx(np.mean(list(by_value.details.values())))
    # The last record has no x: its share is that of the other attributes.
    assert found.per_record["interval_disclosure_value"][3] == 1.0
    none = microagg.evaluate(
        before.select(["city"]),
        after.select(["city"]),
        Recipe(k=2, attributes={"city": nominal()}),
        aligned=True,
        measures="intervals",
    )
    assert "needs a numeric or ordinal" in none["interval_disclosure_rank"].note
    lost = pa.table({"x": pa.array([None, None], pa.float64())})
    empty = microagg.evaluate(lost, lost, Recipe(k=2, attributes={"x": numeric()}), aligned=True, measures="intervals")
    assert "missing" in empty["interval_disclosure_value"].note
