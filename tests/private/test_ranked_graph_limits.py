"""The ranked graph at its edges: epsilons, domains and origins that are small or large, and bounds from the data."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

import microagg
from declarations import nominal, numeric, ordinal
from microagg import Recipe
from microagg.errors import MicroaggError, ParameterError
from microagg.private.strict.marginals import lowering_of
from microagg.releases.check.check import check_release

DECLARED = {
    "x": numeric(role="confidential", bounds=[0, 1000], resolution=1),
    "y": numeric(role="non_confidential", bounds=[-50, 50]),
    "level": ordinal(categories=["low", "middle", "high"]),
    "job": nominal(role="confidential", categories=["clerk", "nurse", "smith"]),
}


def table(n_records: int) -> pa.Table:
    rng = np.random.default_rng(n_records)
    return pa.table(
        {
            "x": rng.integers(0, 1001, n_records),
            "y": rng.uniform(-50, 50, n_records),
            "level": rng.choice(["low", "middle", "high"], n_records),
            "job": rng.choice(["clerk", "nurse", "smith"], n_records),
        }
    )


@pytest.mark.parametrize("n_records", [1, 2, 2000])
@pytest.mark.parametrize("epsilon", [1e-300, 1e-100, 1e-18, 1e-9, 1e6])
def test_any_epsilon_and_any_number_of_records_makes_a_table(n_records, epsilon):
    """Noise beyond all records leaves nothing of them; it is no reason to fail after it was paid for."""
    recipe = Recipe(method="strict", privacy={"epsilon": epsilon}, attributes=DECLARED)
    made = microagg.release(table(n_records), recipe)
    assert made.table.num_rows == n_records
    assert sum(column.null_count for column in made.table.columns) == 0


@pytest.mark.parametrize("part", ["marginals", "choices", "tables"])
def test_a_share_next_to_nothing_is_spent_like_any_other(part):
    shares = dict.fromkeys(("marginals", "pairs", "choices", "tables"), 1 / 3) | {part: 1e-290}
    recipe = Recipe(method="strict", privacy={"epsilon": 1.0, "shares": shares}, attributes=DECLARED)
    budget = microagg.release(table(50), recipe).statement.budget
    assert budget is not None
    assert budget["spent"] <= 1.0


def test_a_tree_is_refused_where_lowering_by_less_would_break_its_proof():
    assert lowering_of(1.0) == 3
    with pytest.raises(ParameterError, match="too small for a tree"):
        lowering_of(1e-18)


@pytest.mark.parametrize("origin", [-1.7e308, 1.7e308])
def test_an_origin_beyond_the_bounds_is_the_bound(origin):
    privacy = {"epsilon": 1.0, "origins": {"y": origin}}
    recipe = Recipe(method="strict", privacy=privacy, attributes={"y": numeric(bounds=[1e-9, 1e-8])})
    made = microagg.release(pa.table({"y": np.full(300, 5e-9)}), recipe)
    assert made.table.num_rows == 300


@pytest.mark.parametrize("resolution", [1.0, 2.5, None])
def test_bounds_read_from_the_data_do_not_show_in_the_ledger_and_the_release_can_be_checked(tmp_path, resolution):
    declared = {"x": numeric(**({} if resolution is None else {"resolution": resolution})), "y": DECLARED["y"]}
    recipe = Recipe(method="strict", privacy={"epsilon": 1.0, "bounds": "from_data"}, attributes=declared)
    budgets = []
    for largest in (7, 18, 1000):
        x = np.arange(400.0) % largest + 1
        made = microagg.release(pa.table({"x": x, "y": x % 50}), recipe)
        budgets.append(made.statement.budget)
        made.save(tmp_path / str(largest))
        assert all(finding.holds for finding in check_release(tmp_path / str(largest)))
    assert budgets[0] == budgets[1] == budgets[2]


def test_an_epsilon_beyond_all_numbers_is_refused():
    with pytest.raises(MicroaggError):
        microagg.release(table(5), Recipe(method="strict", privacy={"epsilon": 5e-324}, attributes=DECLARED))
