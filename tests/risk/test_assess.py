"""An assessment against brute force: classes, agreement, population, intruders; and that it shows no value."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections import Counter

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import microagg
from declarations import nominal, numeric
from microagg import Recipe
from microagg.errors import ParameterError, TableError
from microagg.evaluation.disclosure.individual_risk import individual_risk
from microagg.risks.text import percent

RECIPE = Recipe(k=3, attributes={"age": numeric(), "zip": nominal(), "ill": "confidential"})
WEIGHTED = Recipe(
    k=3,
    sampling_weight="w",
    attributes={"age": numeric(), "zip": nominal(), "ill": "confidential", "w": "non_confidential"},
)
RECORD = st.tuples(
    st.one_of(st.integers(0, 3), st.none()), st.sampled_from(["a", "b", None]), st.sampled_from(["flu", "gout", None])
)


def people(records, **more):
    ages, zips, ills = zip(*records, strict=True)
    return pa.table(
        {"age": pa.array(ages, pa.int64()), "zip": pa.array(zips, pa.string()), "ill": pa.array(ills, pa.string())}
        | more
    )


@settings(max_examples=60)
@given(st.lists(RECORD, min_size=1, max_size=20), st.lists(RECORD, min_size=1, max_size=40), st.floats(0.01, 0.99))
def test_every_count_is_that_of_the_definition(records, others, threshold):
    n = len(records)
    found = microagg.risk(people(records), RECIPE, people(others), thresholds=[threshold])
    keys = [record[:2] for record in records]
    f, big_f = Counter(keys), Counter(record[:2] for record in others)
    counts = found.combinations
    assert (counts.classes, counts.smallest) == (len(f), min(f.values()))
    assert counts.unique == sum(f[key] == 1 for key in keys)
    assert counts.in_pairs == sum(f[key] == 2 for key in keys)
    assert counts.below_k == sum(f[key] < 3 for key in keys)
    of_one = {"zip": Counter(key[0] for key in keys), "age": Counter(key[1] for key in keys)}  # what is left to know
    assert counts.unique_without == {name: sum(n == 1 for n in left.values()) for name, left in of_one.items()}
    assert found.records_with_missing == sum(None in key for key in keys)
    (ill,) = found.agreeing
    agree = [len({record[2] for record in records if record[:2] == key}) == 1 for key in keys]
    assert ill.records == sum(agree)
    assert ill.in_shared_classes == sum(one and f[key] > 1 for one, key in zip(agree, keys, strict=True))
    there = found.population
    assert there.population == len(others)
    assert there.k_map == min((big_f[key] for key in keys if big_f[key]), default=0)
    assert there.without == sum(big_f[key] == 0 for key in keys)
    assert there.unique == sum(big_f[key] == 1 for key in keys)
    assert there.below_k == sum(0 < big_f[key] < 3 for key in keys)
    assert there.incomplete == sum(big_f[key] < f[key] for key in keys)
    prosecutor, journalist = [1 / f[key] for key in keys], [1 / max(big_f[key], f[key]) for key in keys]
    for scenario, risks in ((found.prosecutor, prosecutor), (found.journalist, journalist)):
        assert scenario.largest == max(risks)
        assert scenario.average == pytest.approx(sum(risks) / n)
        assert scenario.above == {threshold: sum(risk > threshold for risk in risks)}
    assert found.marketer["table"] == pytest.approx(len(f) / n)
    assert found.marketer["population"] == pytest.approx(sum(journalist) / n)
    assert json.loads(json.dumps(found.as_dict(), allow_nan=False))
    assert str(found)


@settings(max_examples=40)
@given(st.lists(RECORD, min_size=1, max_size=20), st.data())
def test_risk_from_weights_is_the_sum_over_classes(records, data):
    weights = data.draw(st.lists(st.floats(0.1, 1e4), min_size=len(records), max_size=len(records)))
    found = microagg.risk(people(records, w=weights), WEIGHTED, thresholds=[0.2], per_record=True)
    totals, f = Counter(), Counter(record[:2] for record in records)
    for record, weight in zip(records, weights, strict=True):
        totals[record[:2]] += weight
    keys = [record[:2] for record in records]
    risks = individual_risk(np.array([f[key] for key in keys]), np.array([totals[key] for key in keys]))
    assert found.estimated.expected == pytest.approx(risks.sum())
    assert found.estimated.spread == pytest.approx(np.sqrt((risks * (1 - risks)).sum()), abs=1e-9)
    assert found.estimated.above == {0.2: int((risks > 0.2).sum())}
    assert found.journalist.average == found.estimated.average == pytest.approx(risks.mean())
    assert found.estimated.records_underweighted == sum(totals[key] < f[key] * (1 - 1e-12) for key in keys)
    assert found.per_record.values["individual_risk"].values.tolist() == pytest.approx(risks.tolist())


def test_the_spread_is_that_of_guesses_in_populations_of_the_model():
    """Populations are drawn as the model has them, and one person of each combination is guessed."""
    rng = np.random.default_rng(1)
    weights = rng.uniform(1.5, 8.0, size=40)
    table = pa.table({"age": np.arange(40), "zip": ["a"] * 40, "ill": ["flu"] * 40, "w": weights})
    found = microagg.risk(table, WEIGHTED)
    sizes = rng.geometric(1 / weights, size=(20_000, 40))  # F given f = 1
    named = (rng.random(sizes.shape) < 1 / sizes).sum(axis=1)
    assert named.mean() == pytest.approx(found.estimated.expected, rel=0.01)
    assert named.std() == pytest.approx(found.estimated.spread, rel=0.03)


def test_an_estimate_from_weights_that_is_too_low_is_noted():
    """Nearly everyone is unique in the population, and weights cannot show it; counts of uniques and pairs can."""
    rng = np.random.default_rng(2)
    everyone = pa.table(
        {"age": rng.integers(0, 3000, 20_000), "zip": rng.integers(0, 50, 20_000).astype(str), "ill": ["flu"] * 20_000}
    ).append_column("w", pa.array(np.full(20_000, 5.0)))
    sample = everyone.slice(0, 4_000)
    found = microagg.risk(sample, WEIGHTED)
    counted = microagg.risk(sample, WEIGHTED, everyone)
    assert counted.journalist.average > 0.8
    assert found.estimated.average < 0.5
    assert found.estimated.is_understated
    assert counted.estimated.is_understated
    assert "Note: this estimate is too low." in str(found)


def test_an_estimate_that_can_be_right_is_not_doubted():
    """Of populations as the model has them, few are unique."""
    rng = np.random.default_rng(4)
    people = rng.zipf(1.3, 50_000) % 1_000
    sample = rng.choice(people, 5_000, replace=False)
    table = pa.table({"age": sample, "zip": ["a"] * 5_000, "ill": ["flu"] * 5_000, "w": [10.0] * 5_000})
    found = microagg.risk(table, WEIGHTED)
    assert not found.estimated.is_understated
    assert "too low" not in str(found)


CANARIES = {"age": [918271, 918272, 918273, 918273], "zip": ["canary1", "canary2", "canary3", "canary3"]}


@pytest.mark.parametrize("form", [str, lambda found: json.dumps(found.as_dict()), repr])
def test_no_form_shows_a_value_of_a_record(form):
    table = pa.table(
        CANARIES | {"ill": ["canary-flu"] * 3 + ["canary-gout"], "w": [77071.25, 77072.5, 77073.5, 77074.5]}
    )
    everyone = pa.table({name: values * 3 for name, values in CANARIES.items()})
    said = form(microagg.risk(table, WEIGHTED, everyone, per_record=True))
    for value in ("canary", "91827", "7707"):
        assert value not in said


def test_numbers_are_compared_as_they_are_whatever_their_type():
    table = people([(1, "a", "flu"), (2, "a", "flu")])
    everyone = pa.table({"age": [1.0, 1.0, 2.5], "zip": pa.array(["a", "a", "a"]).dictionary_encode()})
    found = microagg.risk(table, RECIPE, everyone).population
    assert (found.k_map, found.without) == (2, 1)


def test_codes_of_missing_values_are_missing():
    recipe = RECIPE.changed({"input.missing": {"age": [-9]}})
    found = microagg.risk(people([(-9, "a", "flu"), (None, "a", "flu")]), recipe)
    assert (found.combinations.classes, found.records_with_missing) == (1, 2)


def test_per_record_values_are_in_the_order_of_the_table():
    found = microagg.risk(
        people([(1, "a", "flu"), (2, "b", "flu"), (1, "a", "gout")]), RECIPE, per_record=True, sampling_fraction=0.5
    ).per_record
    assert found.values["class_size"].values.tolist() == [2.0, 1.0, 2.0]
    assert found.values["suda"].values.tolist() == [0.0, 2.0, 0.0]
    assert found.values["dis_suda"].values.tolist() == pytest.approx([0.0, 0.5 / 1.5, 0.0])


def test_dis_suda_deals_out_the_chance_by_scores():
    rng = np.random.default_rng(5)
    recipe = Recipe(k=3, attributes={name: nominal() for name in "abcde"})
    table = pa.table({name: rng.integers(0, 6, 3000).astype(str) for name in "abcde"})
    found = microagg.risk(table, recipe, sampling_fraction=0.01, per_record=True)
    shares = found.per_record.values["dis_suda"].values
    unique = found.per_record.values["class_size"].values == 1
    match = found.special_uniques.match
    assert shares[unique].mean() == pytest.approx(match.chance)
    assert shares.max() == pytest.approx(match.largest)
    assert not shares[~unique].any()


def test_a_column_may_have_the_name_of_a_figure():
    recipe = Recipe(k=2, attributes={"above": nominal(), "msus": nominal(), "by_size": nominal()})
    table = pa.table({"above": ["1", "2"], "msus": ["x", "x"], "by_size": ["x", "x"]})
    found = microagg.risk(table, recipe).as_dict()
    assert found["special_uniques"]["contributions"] == {"above": 1.0, "msus": 0.0, "by_size": 0.0}
    assert found["special_uniques"]["msus"] == [{"size": 1, "msus": 2}, {"size": 2, "msus": 0}]


@settings(max_examples=25)
@given(st.integers(1, 6), st.data())
def test_what_one_attribute_less_would_do_is_counted(n_attributes, data):
    rows = data.draw(st.lists(st.tuples(*[st.sampled_from("ab")] * n_attributes), min_size=1, max_size=12))
    names = [f"x{i}" for i in range(n_attributes)]
    table = pa.table(dict(zip(names, map(list, zip(*rows, strict=True)), strict=True)))
    found = microagg.risk(table, Recipe(k=2, attributes=dict.fromkeys(names, nominal())))
    for i, name in enumerate(names):
        left = Counter(row[:i] + row[i + 1 :] for row in rows)
        assert found.combinations.unique_without[name] == sum(count == 1 for count in left.values())
    counts = list(found.combinations.unique_without.values())
    assert counts == sorted(counts)


@pytest.mark.parametrize(
    ("here", "there"),
    [
        (["1", "2"], [1, 2]),
        ([1, 2], ["1", "2"]),
        ([1, 2], [1.0, 2.0]),
        (["x", None], pa.array(["x", None]).dictionary_encode()),
        (pa.array([1, 2], pa.date32()), pa.array([1, 2], pa.date32()).cast(pa.timestamp("us"))),
        (pa.array([1, 2], pa.date32()), ["1970-01-02", "1970-01-03"]),
    ],
    ids=["text and numbers", "numbers and text", "whole numbers and others", "categories", "days", "days as text"],
)
def test_values_are_found_in_a_population_that_stores_them_as_another_type(here, there):
    recipe = Recipe(k=2, attributes={"a": nominal()})
    found = microagg.risk(pa.table({"a": here}), recipe, pa.table({"a": there}))
    assert (found.population.k_map, found.population.without) == (1, 0)


def test_a_population_that_writes_values_otherwise_is_remarked_on():
    recipe = Recipe(k=2, attributes={"a": nominal()})
    found = microagg.risk(pa.table({"a": ["01", "02"]}), recipe, pa.table({"a": [1, 2]}))
    assert (found.population.k_map, found.population.without) == (0, 2)
    assert "See that both write their values alike" in str(found)


def test_tables_of_one_or_two_records_and_equal_records_are_described():
    recipe = Recipe(k=2, attributes={"age": numeric(), "zip": nominal()})
    one = str(microagg.risk(pa.table({"age": [3], "zip": ["a"]}), recipe))
    assert "1 record, known by" in one
    assert "The only record is unique" in one
    two = str(microagg.risk(pa.table({"age": [3, 4], "zip": ["a", "a"]}), recipe))
    assert "Both records are unique" in two
    assert "one of the 2 quasi-identifiers" in two
    alike = str(microagg.risk(pa.table({"age": [3] * 4, "zip": [None] * 4}), recipe, sampling_fraction=0.1))
    for said in ("No record is unique", "No record is in a pair", "There is one combination", "k of this table is 4"):
        assert said in alike
    for said in (one, two, alike):
        assert not re.search(r"None of|1 records|\bAll [12] ", said)


def test_many_quasi_identifiers_are_counted():
    rng = np.random.default_rng(6)
    names = [f"q{i}" for i in range(60)]
    table = pa.table({name: rng.integers(0, 3, 400).astype(str) for name in names})
    found = microagg.risk(table, Recipe(k=2, attributes=dict.fromkeys(names, nominal())))
    assert found.combinations.unique == 400
    assert len(found.combinations.unique_without) == 60
    assert not found.special_uniques.is_complete
    assert "and 48 more" in str(found)


def test_a_single_quasi_identifier_and_one_record():
    recipe = Recipe(k=2, attributes={"age": numeric()})
    found = microagg.risk(pa.table({"age": [3]}), recipe)
    assert found.special_uniques is None
    assert found.combinations.unique == 1
    assert "no confidential attribute" in str(found)
    assert found.agreeing == ()


def test_a_recipe_that_protects_the_whole_table_has_its_declared_roles():
    recipe = Recipe(
        method="dp_ranked_graph",
        privacy={"epsilon": 1.0},
        attributes={
            "age": numeric(bounds=[0, 100]),
            "pay": {"role": "confidential", "kind": "numeric", "bounds": [0, 9]},
        },
    )
    found = microagg.risk(pa.table({"age": [1, 2], "pay": [3, 4]}), recipe)
    assert found.quasi_identifiers == ("age",)


@pytest.mark.parametrize(
    ("error", "match", "arguments"),
    [
        (ParameterError, "recipe must be", {"recipe": RECIPE.schema}),
        (ParameterError, "at least 0 and below 1", {"thresholds": [1.0]}),
        (ParameterError, "at least 0 and below 1", {"thresholds": ["0.1"]}),
        (ParameterError, "largest_msu", {"largest_msu": 0}),
        (ParameterError, "sampling_fraction", {"sampling_fraction": 0.0}),
        (ParameterError, "it is counted", {"sampling_fraction": 0.5, "population": people([(1, "a", "flu")])}),
        (TableError, "lacks the quasi-identifiers column 'zip'", {"population": pa.table({"age": [1]})}),
        (TableError, "population table has no records", {"population": people([(1, "a", "flu")]).slice(1)}),
        (TableError, "cannot be compared", {"population": pa.table({"age": [True], "zip": ["a"]})}),
        (TableError, "no records", {"table": people([(1, "a", "flu")]).slice(1)}),
        (TableError, "no such column", {"table": people([(1, "a", "flu")]).drop_columns(["ill"])}),
        (ParameterError, "at least 0 and below 1", {"thresholds": None}),
        (ParameterError, "at least 0 and below 1", {"thresholds": [float("nan")]}),
        *(
            (TableError, message, {"table": people([(1, "a", "flu"), (1, "a", "flu")], w=weights), "recipe": WEIGHTED})
            for message, weights in [
                ("1 of 2 are missing or not above 0", [1.0, 0.0]),
                ("1 of 2 are missing or not above 0", [1.0, None]),
                ("2 of 2 are missing or not above 0", [float("nan"), -3.0]),
                ("more people than can be", [1e308, 1e308]),
            ]
        ),
    ],
)  # fmt: skip
def test_what_cannot_be_assessed_is_refused(error, match, arguments):
    with pytest.raises(error, match=match):
        microagg.risk(**({"table": people([(1, "a", "flu")]), "recipe": RECIPE} | arguments))


def test_shares_never_look_like_nothing_or_all():
    for count in range(1, 1000):
        assert percent(count / 1000) not in ("0 %", "100 %")


def test_an_assessment_needs_no_compiled_code():
    code = (
        "import sys, pyarrow as pa, microagg\n"
        "recipe = microagg.Recipe(k=2, attributes={'a': {'role': 'quasi_identifier', 'kind': 'nominal'}})\n"
        "microagg.risk(pa.table({'a': ['x', 'y']}), recipe)\n"
        "print('numba' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"


def test_units_of_a_population_count_once_and_units_that_differ_are_said_to_be_understated():
    attributes = {"id": "identifier", "age": numeric(), "day": numeric()}
    recipe = Recipe(k=2, unit={"key": "id"}, attributes=attributes)
    table = pa.table({"id": ["p1", "p1", "a"], "age": [30, 30, 90], "day": [1, 1, 1]})
    population = pa.table(
        {"id": [f"P{i // 10}" for i in range(100)] + ["a"], "age": [30] * 100 + [90], "day": [1] * 101}
    )
    found = microagg.risk(table, recipe, population)
    assert found.population.population == 11
    assert found.journalist.average == pytest.approx((1 / 10 + 1) / 2)
    alone = microagg.risk(table, recipe, population.select(["age", "day"]))
    assert alone.population.population == 101
    assert "may be too low" not in str(found)
    visits = pa.table({"id": ["a", "a", "b", "c"], "age": [90, 90, 30, 30], "day": [1, 2, 1, 2]})
    found = microagg.risk(visits, recipe)
    assert (found.unit.units, found.n_records) == (3, 4)
    assert "may be too low" in " ".join(str(found).split())


@pytest.mark.parametrize("order", [[0, 1, 2, 3], [1, 0, 3, 2], [3, 1, 0, 2]])
def test_weights_of_a_units_records_that_differ_count_the_same_in_any_order(order):
    attributes = {"id": "identifier", "age": numeric(), "w": "non_confidential"}
    recipe = Recipe(k=2, unit={"key": "id"}, attributes=attributes, sampling_weight="w")
    table = pa.table({"id": ["a", "a", "b", "A"], "age": [1, 1, 2, 2], "w": [9.0, 4.0, 5.0, 7.0]})
    found = microagg.risk(table.take(order), recipe, per_record=True)
    assert found.estimated.population == 4.0 + 5.0
    assert "which sum to 9 people" in " ".join(str(found).split())
    of_records = dict(zip(order, found.per_record["individual_risk"], strict=True))
    assert of_records[0] == of_records[1] > of_records[2] == of_records[3]


def test_a_missing_weight_of_any_record_of_a_unit_is_refused():
    attributes = {"id": "identifier", "age": numeric(), "w": "non_confidential"}
    recipe = Recipe(k=2, unit={"key": "id"}, attributes=attributes, sampling_weight="w")
    table = pa.table({"id": ["a", "a", "b"], "age": [1, 1, 2], "w": [9.0, None, 5.0]})
    with pytest.raises(TableError, match="1 of 3 are missing"):
        microagg.risk(table, recipe)


def test_a_population_whose_records_lack_keys_is_named():
    recipe = Recipe(k=2, unit={"key": "id"}, attributes={"id": "identifier", "age": numeric()})
    table = pa.table({"id": ["a"], "age": [1]})
    assert str(microagg.risk(table, recipe)).startswith("Risk of the table as it is: 1 record of units")
    with pytest.raises(TableError, match="the population table: 1 of 2 records have no 'id'"):
        microagg.risk(table, recipe, pa.table({"id": ["a", None], "age": [1, 1]}))
