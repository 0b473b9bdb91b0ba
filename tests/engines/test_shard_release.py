"""One shard: the same whatever order its records come in, its cells of at least k, its order by chance."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

from microagg import Recipe
from microagg.engines.planning.constants import Constants
from microagg.engines.planning.plan import Plan, Sampling
from microagg.engines.planning.survey import HeavyRows, Survey, column_of, group_keys
from microagg.engines.shard_release import canonical_order, release_shard
from microagg.errors import GuaranteeError
from microagg.partition.base import within_cell_sse
from microagg.releases.prepare import prepare
from microagg.space.mixed import mixed_points
from microagg.tables.frames import Frame

NUMERIC = {"role": "quasi_identifier", "kind": "numeric"}
RECIPE = Recipe(k=4, attributes={"x": NUMERIC, "y": NUMERIC, "s": "confidential"})


def constants_for(table: pa.Table, recipe: Recipe = RECIPE, batch: int = 10_000) -> Constants:
    return plan_for(table, recipe, batch).constants


def plan_for(table: pa.Table, recipe: Recipe = RECIPE, batch: int = 10_000) -> Plan:
    survey = Survey(recipe, 1)
    batches = [table.slice(start, batch) for start in range(0, table.num_rows, batch)]
    for one in batches:
        survey.add(one)
    survey.refuse()
    sampling = Sampling(survey, key=2)
    for one in batches:
        columns = {name: column_of(one, name) for name in survey.columns}
        sampling.add(columns, sampling.constants.groups.number(*group_keys(columns, recipe, one.num_rows)))
    return sampling.finish()


def records(n: int = 600) -> pa.Table:
    rng = np.random.default_rng(0)
    return pa.table({"x": rng.normal(3, 2, n), "y": rng.integers(0, 9, n), "s": rng.integers(0, 4, n)})


def test_constants_are_those_of_the_whole_whatever_the_batches():
    table = records()
    whole, parts = constants_for(table), constants_for(table.take(np.arange(600)[::-1]), batch=7)
    assert whole.columns == parts.columns
    x = table["x"].to_numpy()
    one = whole.columns["x"]
    assert np.ldexp(one.centre, -one.exponent) == pytest.approx(x.mean(), rel=1e-8)
    assert np.ldexp(one.unit, -one.exponent) == pytest.approx(x.std(), rel=1e-6)


def test_a_shard_repeats_itself_whatever_order_its_records_come_in():
    table = records()
    constants = constants_for(table)
    first, facts = release_shard(table, constants, b"secret", 3, 100)
    other, same = release_shard(table.take(np.random.default_rng(1).permutation(600)), constants, b"secret", 3, 100)
    assert first.equals(other)
    assert facts == same
    assert facts.n_records == 600
    assert facts.n_blocks >= 6
    assert facts.smallest >= 4
    elsewhere, _ = release_shard(table, constants, b"secret", 4, 100)
    assert not first.equals(elsewhere)


def test_a_small_cell_is_an_error():
    table = records(10)
    constants = constants_for(table)
    with pytest.raises(GuaranteeError, match="a cell of 3 records was formed"):
        release_shard(pa.table({"x": [1.0] * 3, "y": [1] * 3, "s": [1] * 3}), constants, b"secret", 0, 100)


def test_orders_tell_minus_zero_and_missing_apart():
    table = pa.table({"x": [0.0, -0.0, None, float("nan"), 0.0, -0.0]})
    order = canonical_order(table)
    again = canonical_order(table.take([5, 4, 3, 2, 1, 0]))
    signs = [str(table["x"][int(place)].as_py()) for place in order]
    assert signs == [str(table["x"][5 - int(place)].as_py()) for place in again]
    assert sorted(order.tolist()) == list(range(6))
    assert canonical_order(pa.table({"n": pa.nulls(3)})).tolist() == [0, 1, 2]


def test_no_row_that_is_frequent_enough_is_missed():
    rng = np.random.default_rng(4)
    heavy = HeavyRows(capacity=50)
    rows = np.concatenate([rng.integers(1_000, 10**9, 9_000), np.repeat([7, 8], 500)]).astype(np.uint64)
    rng.shuffle(rows)
    for start in range(0, len(rows), 333):
        heavy.add(rows[start : start + 333])
    assert {7, 8} <= set(heavy.hashes.tolist())
    assert len(heavy.hashes) <= 50


@pytest.mark.parametrize("standardize", ["zscore", "minmax", "none", "bounds"])
@pytest.mark.parametrize("missing", [False, True])
def test_the_spread_is_that_of_all_records_around_their_mean(standardize, missing):
    rng = np.random.default_rng(0)
    n = 2_000
    lacking = [rng.random(n) < (0.2 if missing else 0.0) for _ in range(3)]
    table = pa.table(
        {
            "x": pa.array(rng.lognormal(size=n), mask=lacking[0]),
            "y": pa.array(rng.choice(["low", "mid", "high"], n), mask=lacking[1]),
            "z": pa.array(rng.choice(["a", "b", "c", "d"], n), mask=lacking[2]),
        }
    )
    ordinal = {"role": "quasi_identifier", "kind": "ordinal", "categories": ["low", "mid", "high"], "weight": 2.0}
    recipe = Recipe(
        k=4,
        space={"standardize": standardize},
        missing={"policy": "own_cell"},
        attributes={
            "x": NUMERIC | {"bounds": [0, 1_000]},
            "y": ordinal,
            "z": {"role": "quasi_identifier", "kind": "nominal", "weight": 0.5},
        },
    )
    measured = prepare(Frame.wrap(table), recipe).measured
    points = mixed_points(list(measured.values()), recipe.space.standardize)
    expected = within_cell_sse(points, np.zeros(n, dtype=np.int64), 1)
    assert plan_for(table, recipe).spread == pytest.approx(expected, rel=1e-5)
