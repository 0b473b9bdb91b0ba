"""Differential privacy of all records of a unit: exact losses, which records take part, and what is refused."""

from __future__ import annotations

import math
from collections import Counter
from fractions import Fraction

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import microagg
from declarations import nominal, numeric
from microagg import Recipe
from microagg.errors import RecipeError, TableError
from microagg.privacy.noise import SeededNoise
from microagg.private import base, ledger
from microagg.private.base import protect
from microagg.private.strict import method as strict_method
from microagg.recipe.unit import epsilon_of_record
from microagg.releases.check.check import check_release
from microagg.releases.units import Units, keep_at_most
from microagg.tables.frames import Frame
from privacy_loss import Replayed, WrittenDown, losses

MOST = 3
DECLARED = {
    "id": "identifier",
    "x": numeric(bounds=[0, 1000], resolution=1),
    "job": nominal(categories=["clerk", "farmer", "nurse", "smith"]),
}


def recipe(epsilon: float = 2.0, **unit) -> Recipe:
    return Recipe(
        method="dp_ranked_graph",
        privacy={"epsilon": epsilon},
        unit={"key": "id", "max_records": MOST} | unit,
        attributes=DECLARED,
    )


# --- the exact loss where all records of a unit are replaced

values = st.fixed_dictionaries({"x": st.sampled_from([0, 1, 500, 1000]), "job": st.sampled_from(["clerk", "smith"])})


def loss_of_unit(rows: list[dict], instead: list[dict], made_by: Recipe, seed: int) -> float:
    """The privacy loss of one outcome where the first records, all those of one unit, say something else."""
    first = WrittenDown(SeededNoise(seed))
    published = dict(protect(_frame(rows), made_by, first).arrays)
    second = WrittenDown(Replayed(first.exchanges))
    again = dict(protect(_frame([*instead, *rows[len(instead) :]]), made_by, second).arrays)
    assert published == again  # the answers alone decide what is published
    return abs(math.fsum(losses(first.exchanges, second.exchanges).values()))


def _frame(rows: list[dict]) -> Frame:
    table = {"id": list(range(len(rows))), **{name: [row[name] for row in rows] for name in ("x", "job")}}
    return Frame.wrap(pa.table(table))


@settings(max_examples=40, deadline=None)
@given(
    others=st.lists(values, max_size=15),
    own=st.lists(st.tuples(values, values), min_size=1, max_size=MOST),
    epsilon=st.sampled_from([0.5, 2.0, 8.0]),
    seed=st.integers(0, 10**6),
)
def test_no_outcome_loses_more_than_epsilon_when_a_whole_unit_says_something_else(others, own, epsilon, seed):
    before, after = ([pair[side] for pair in own] for side in (0, 1))
    assert loss_of_unit([*before, *others], after, recipe(epsilon), seed) <= epsilon * (1 + 1e-9)


def worst_loss(made_by: Recipe) -> float:
    rows, instead = [{"x": 0, "job": "clerk"}] * 12, [{"x": 1000, "job": "smith"}] * MOST
    return max(loss_of_unit(rows, instead, made_by, seed) for seed in range(30))


def test_epsilon_of_a_whole_unit_that_each_of_its_records_gets_is_caught(monkeypatch):
    assert worst_loss(recipe(4.0)) <= 4.0
    for module in (base, ledger, strict_method):
        monkeypatch.setattr(module, "epsilon_of_record", lambda chosen: chosen.privacy.epsilon)
    assert worst_loss(recipe(4.0)) > 4.0


@given(epsilon=st.floats(1e-6, 1e4), most=st.integers(1, 10_000))
def test_what_all_records_of_a_unit_get_is_never_more_than_epsilon(epsilon, most):
    share = epsilon_of_record(recipe(epsilon, max_records=most))
    assert Fraction(share) * most <= Fraction(epsilon)
    assert share == pytest.approx(epsilon / most)


# --- which records take part


@given(codes=st.lists(st.integers(0, 5), min_size=1, max_size=40), most=st.integers(1, 4))
def test_no_unit_keeps_more_records_than_declared_and_none_loses_more_than_it_must(codes, most):
    units = Units(np.unique(codes, return_inverse=True)[1], "id")
    kept = keep_at_most(units, most, np.random.default_rng(0).random)
    before, after = Counter(units.codes.tolist()), Counter(units.codes[kept].tolist())
    assert after == {unit: min(size, most) for unit, size in before.items()}
    assert kept.tolist() == sorted(kept.tolist())


def test_every_record_of_a_large_unit_is_as_likely_to_be_kept():
    units, rng = Units(np.array([0] * 5 + [1]), "id"), np.random.default_rng(1)
    seen = Counter(place for _ in range(4_000) for place in keep_at_most(units, 2, rng.random).tolist())
    assert seen[5] == 4_000
    for place in range(5):
        assert abs(seen[place] - 1_600) < 200  # six standard deviations


def visits(n_units: int = 30) -> pa.Table:
    """Records of units of one to five, in turn."""
    sizes = [1 + unit % 5 for unit in range(n_units)]
    keys = [f"p{unit}" for unit, size in enumerate(sizes) for _ in range(size)]
    rng = np.random.default_rng(0)
    return pa.table(
        {
            "id": keys,
            "x": rng.integers(0, 1001, len(keys)),
            "job": rng.choice(DECLARED["job"]["categories"], len(keys)),
        }
    )


def test_a_release_counts_units_in_statement_ledger_and_check(tmp_path):
    table, data = visits(), tmp_path / "visits.csv"
    from pyarrow import csv

    csv.write_csv(table, data)
    microagg.Account.start(data, cap=6)
    made = microagg.release(table, recipe(), source=data)
    out = made.save(tmp_path / "out")
    assert made.table.num_rows == 6 * (1 + 2 + 3 + 3 + 3)
    assert "id" not in made.table.column_names
    (guarantee,) = made.statement.guarantees
    assert guarantee.counts_units
    assert guarantee.covers_records
    assert guarantee.unit == "replace all records of one unit by 'id' (at most 3)"
    text = " ".join(str(made.statement).split())
    assert "how many records each unit has is public" in text
    assert "18 records of units with more than 3 records were left out by chance" in text
    assert made.statement.budget["epsilon"] == epsilon_of_record(recipe())
    assert all(finding.holds for finding in check_release(out))
    account = microagg.Account.open(data)
    assert float(account.spent) == 2.0
    assert "count all records of one unit by 'id' together, so it holds for each unit, too" in " ".join(
        str(account).split()
    )
    alone = recipe().changed({"unit": None})
    microagg.release(table, alone, source=data).save(tmp_path / "alone")
    said = " ".join(str(microagg.Account.open(data)).split())
    assert "Number 1 of these count all records of one unit by 'id' together, and spent 2 on each unit." in said


@pytest.mark.parametrize("key", ["person's id", 'a "b" c', 'it\'s "both"', "one (at most 2)"])
def test_the_ledger_knows_units_whatever_their_key_is_called(tmp_path, key):
    from pyarrow import csv

    csv.write_csv(pa.table({key: [0, 0, 1, 1], "x": [1, 2, 3, 4]}), tmp_path / "a.csv")
    microagg.Account.start(tmp_path / "a.csv", cap=6)
    made_by = Recipe(
        method="dp_laplace",
        privacy={"epsilon": 1.0},
        unit={"key": key, "max_records": 2},
        attributes={key: "identifier", "x": DECLARED["x"]},
    )
    microagg.release(microagg.read_table(tmp_path / "a.csv", made_by), made_by, source=tmp_path / "a.csv")
    said = " ".join(str(microagg.Account.open(tmp_path / "a.csv")).split())
    assert f"All of them count all records of one unit by {key!r} together" in said


# --- what is refused


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"unit": {"key": "id"}}, r"Add: \[unit\] max_records = 5"),
        ({"unit": {"key": "id", "max_records": 3, "together": True}}, "publishes no cells that a unit could share"),
        ({"unit": {"key": "id", "max_records": 0}}, "max_records"),
        ({"unit": {"key": "x", "max_records": 3}}, r"Set \[attributes.x\] role = 'identifier'"),
        ({"privacy": {"epsilon": 1.0, "bounds": "from_data"}}, "may rest on several records of one unit"),
    ],
)
def test_a_recipe_that_promises_nothing_of_units_is_refused_with_what_mends_it(changes, said):
    with pytest.raises(RecipeError, match=said):
        recipe().changed(changes)


@pytest.mark.parametrize(
    ("method", "privacy"),
    [
        ("dp_insensitive_mdav", {"form": "aligned"}),
        ("dp_individual_ranking", {"form": "aligned"}),
        ("dp_moments", {}),
    ],
)
def test_a_promise_about_single_records_given_the_cells_is_refused(method, privacy):
    attributes = {"id": "identifier", "x": DECLARED["x"]}
    with pytest.raises(RecipeError, match="says nothing about a unit with several"):
        Recipe(
            method=method,
            k=3,
            privacy={"epsilon": 1.0} | privacy,
            unit={"key": "id", "max_records": 3},
            attributes=attributes,
        )


@pytest.mark.parametrize("method", ["dp_individual_ranking", "dp_laplace", "dp_ranked_copula"])
def test_methods_whose_promise_adds_up_over_records_count_units(method, tmp_path):
    attributes = {"id": "identifier", "x": DECLARED["x"]}
    has_cells = {"k": 3} if method == "dp_individual_ranking" else {}
    made_by = Recipe(
        method=method,
        privacy={"epsilon": 2.0},
        unit={"key": "id", "max_records": 2},
        attributes=attributes,
        **has_cells,
    )
    made = microagg.release(visits().drop_columns(["job"]), made_by)
    assert made.statement.budget["epsilon"] == 1.0
    assert made.statement.guarantees[0].parameters == {"epsilon": 2.0}
    assert all(finding.holds for finding in check_release(made.save(tmp_path / "out")))


@pytest.mark.parametrize("method", ["dp_individual_ranking", "dp_insensitive_mdav"])
def test_too_few_records_left_of_large_units_are_refused(method):
    """k is at most the records of the table, and more than those that take part."""
    attributes = {"id": "identifier", "x": DECLARED["x"]}
    unit = {"key": "id", "max_records": 1}
    made_by = Recipe(method=method, k=13, privacy={"epsilon": 2.0}, unit=unit, attributes=attributes)
    table = pa.table({"id": [record // 2 for record in range(24)], "x": list(range(24))})
    with pytest.raises(
        TableError, match=r"k = 13 needs at least 13 records.*which leaves 12\. Lower k, or raise \[unit\]"
    ):
        microagg.release(table, made_by)
    assert microagg.release(table, made_by.changed({"k": 12})).table.num_rows == 12
