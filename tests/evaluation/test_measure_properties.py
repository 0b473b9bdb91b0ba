"""What holds of every measure, whatever the tables: ranges, perfect releases, order of rows, odd columns."""

from __future__ import annotations

import datetime as dt
from decimal import Decimal

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import microagg
from declarations import nominal, numeric, ordinal
from microagg import Recipe
from microagg.evaluation.definition import Need
from microagg.evaluation.utility import UTILITY

RECIPE = Recipe(
    k=2,
    attributes={
        "n": numeric(),
        "i": numeric(bounds=[0, 10]),
        "o": ordinal(categories=["l", "m", "h"]),
        "c": nominal(),
        "pay": {"role": "confidential", "kind": "numeric"},
        "job": {"role": "confidential", "kind": "nominal"},
    },
)
TYPES = {
    "n": pa.float64(),
    "i": pa.int64(),
    "o": pa.string(),
    "c": pa.string(),
    "pay": pa.float64(),
    "job": pa.string(),
}
NUMBER = st.one_of(st.sampled_from([0.0, 1.0, -2.5, 1e9]), st.floats(-1e6, 1e6), st.none())
RECORD = st.tuples(
    NUMBER,
    st.one_of(st.integers(0, 10), st.none()),
    st.sampled_from(["l", "m", "h", None]),
    st.sampled_from(["a", "b", "d", None]),
    NUMBER,
    st.sampled_from(["x", "y", None]),
)
BY_ROWS = {one.name for one in UTILITY if Need.ROWS in one.needs}


def table(records):
    columns = zip(*records, strict=True)
    return pa.table({name: pa.array(list(values), t) for (name, t), values in zip(TYPES.items(), columns, strict=True)})


def utility(before, after, **options):
    return microagg.evaluate(before, after, RECIPE, measures="utility", **options)


def check_ranges(found):
    for measure in found:
        assert measure.value is not None or measure.note, measure.name
        for value in (measure.value, measure.baseline):
            if value is not None:
                assert measure.low is None or value >= measure.low - 1e-12, measure.name
                assert measure.high is None or value <= measure.high + 1e-12, measure.name
        for value in measure.details.values():
            assert value is None or np.isfinite(value)


@settings(max_examples=25)
@given(st.lists(st.tuples(RECORD, RECORD), min_size=1, max_size=12))
def test_values_stay_within_their_ranges(records):
    found = utility(table([one for one, _ in records]), table([two for _, two in records]), aligned=True)
    check_ranges(found)


@settings(max_examples=15)
@given(st.lists(RECORD, min_size=1, max_size=12), st.randoms(use_true_random=False))
def test_the_original_loses_nothing_and_the_order_of_rows_does_not_matter(records, random):
    found = utility(table(records), table(records), aligned=True)
    for measure in found:
        if measure.value is not None and measure.name not in ("D_Y", "D"):  # these speak of the cells
            assert measure.value == pytest.approx(0.0, abs=1e-9), measure.name
    mixed = random.sample(records, len(records))
    shuffled = utility(table(records), table(mixed), aligned=False)
    for measure in shuffled:
        if measure.name in BY_ROWS:
            assert measure.value is None
            assert "needs aligned rows" in measure.note
        elif measure.value is not None and measure.name != "D_Y":
            assert measure.value == pytest.approx(0.0, abs=1e-6), measure.name


def test_the_order_of_rows_does_not_matter_to_a_changed_release():
    rng = np.random.default_rng(3)
    x = rng.normal(size=150)
    before = pa.table({"x": x, "y": x + rng.normal(size=150), "c": rng.choice(["a", "b", "d"], 150)})
    after = before.set_column(0, "x", pa.array(np.round(x))).set_column(2, "c", pa.array(["a"] * 100 + ["b"] * 50))
    recipe = Recipe(k=2, attributes={"x": numeric(), "y": numeric(), "c": nominal()})
    order = rng.permutation(150)
    here, there = (
        microagg.evaluate(before, one, recipe, measures="utility", aligned=False) for one in (after, after.take(order))
    )
    both = microagg.evaluate(before.take(order), after.take(order), recipe, measures="utility", aligned=True)
    straight = microagg.evaluate(before, after, recipe, measures="utility", aligned=True)
    for measure in here:
        # Random queries draw their ranges from rows of the original, whose order is the same here.
        assert measure.value is None or there[measure.name].value == pytest.approx(measure.value, rel=1e-6)
    assert sum(measure.value is not None for measure in here) >= 10
    for measure in straight:
        if measure.value is not None and "query" not in measure.name:
            assert both[measure.name].value == pytest.approx(measure.value, rel=1e-6), measure.name


def test_odd_types_and_scales_are_measured():
    n = 24
    rng = np.random.default_rng(0)
    days = [dt.date(2020, 1, 1) + dt.timedelta(int(d)) for d in rng.integers(0, 900, n)]
    before = pa.table(
        {
            "date": days,
            "money": pa.array([Decimal(int(v)).scaleb(-2) for v in rng.integers(0, 10_000, n)], pa.decimal128(9, 2)),
            "large": pa.array(2**60 + rng.integers(0, 1000, n)),
            "huge": rng.normal(size=n) * 1e200,
            "tiny": rng.normal(size=n) * 1e-200,
            "same": np.full(n, 3),
            "none": pa.nulls(n, pa.float64()),
            "flag": rng.random(n) < 0.5,
            "code": pa.array(rng.choice(["a", "b"], n)).dictionary_encode(),
        }
    )
    kinds = {name: numeric() for name in before.column_names} | {"flag": nominal(), "code": nominal()}
    recipe = Recipe(k=2, attributes=kinds)
    order = np.roll(np.arange(n), 1)
    found = microagg.evaluate(before, before.take(order), recipe, aligned=True, measures="utility")
    check_ranges(found)
    assert found["IL1s"].details["huge"] == pytest.approx(
        np.abs(np.diff(before["huge"].to_numpy() / 1e200, append=before["huge"][0].as_py() / 1e200)).mean()
        / (before["huge"].to_numpy() / 1e200).std()
        / 2**0.5
    )
    assert found["IL1s"].details["same"] is None
    assert "'same'" in found["IL1s"].note
    same = microagg.evaluate(before, before, recipe, aligned=True, measures="utility")
    assert all(measure.value is None or abs(measure.value) < 1e-12 for measure in same)
    floats = before.set_column(1, "money", before["money"].cast(pa.float64()))
    assert microagg.evaluate(before, floats, recipe, aligned=True)["relative_error"].value == pytest.approx(0.0)


def test_a_release_may_leave_the_declared_bounds_and_categories():
    before = pa.table({"x": [0.0, 5.0, 10.0], "c": ["a", "b", "b"]})
    after = pa.table({"x": [-3.0, 5.0, 14.0], "c": ["any", "b", "b"]})
    tree = {"a": "any", "b": "any"}
    recipe = Recipe(k=2, attributes={"x": numeric(bounds=[0, 10]), "c": nominal(categories=["a", "b"], taxonomy=tree)})
    found = microagg.evaluate(before, after, recipe, aligned=True)
    assert found["JSD"].value > 0
    assert found["semantic_distance"].value == pytest.approx(np.log2(1.5) / 3)


def test_tables_without_records_are_refused():
    full, empty = table([(1.0, 2, "l", "a", 3.0, "x")]), table([(1.0, 2, "l", "a", 3.0, "x")]).slice(1)
    for before, after, which in ((full, empty, "released"), (empty, full, "original")):
        with pytest.raises(microagg.InputError, match=f"the {which} table has no records"):
            utility(before, after)
    with pytest.raises(microagg.InputError, match="the holdout table has no records"):
        utility(full, full, holdout=empty)
