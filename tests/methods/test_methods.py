"""Every method of the catalogue as a release: saved, checked, and saying what it promises."""

from __future__ import annotations

import json

import numpy as np
import pyarrow as pa
import pytest

import microagg
from declarations import nominal, numeric, ordinal
from microagg import Recipe
from microagg.errors import ParameterError, RecipeError
from microagg.methods.catalogue import METHODS
from microagg.releases.check.check import check_release

K = 4
BOUNDED = {name: numeric(bounds=(-10, 10)) for name in ("x", "y", "z")}
NOT_PRIVATE = [name for name, method in METHODS.items() if not method.is_private]


def survey(n_records: int = 50, seed: int = 0) -> pa.Table:
    rng = np.random.default_rng(seed)
    columns = {name: rng.normal(size=n_records) for name in ("x", "y", "z")}
    return pa.table({**columns, "income": rng.normal(1000, 100, n_records)})


def recipe_for(name: str, **more) -> Recipe:
    """A recipe that the method can carry out on the survey's three numbers."""
    one_by_one = {"form": "contiguous", "size": 1} if name.endswith("optimal_univariate") else {"form": "one"}
    space = {"standardize": "bounds"} if name == "insensitive_mdav" else {}
    given = {"k": K, "blocks": one_by_one, "space": space, "attributes": {**BOUNDED, "income": "confidential"}}
    method = METHODS.get(name)
    if method is not None and method.whole_table:
        given["attributes"]["income"] = numeric(role="confidential", bounds=[0, 2000])
    if method is not None and method.is_private:
        linked = method.private.linked_forms
        given["privacy"] = {"epsilon": 1.0, **({"form": linked[0]} if linked else {})}
        if name.startswith("dp_moments"):
            given["privacy"]["m"] = 0  # six statistics of cells of four records would be warned of
    if method is not None and not method.has_cells:
        del given["k"]
    return Recipe(**{**given, "method": name, **more})


@pytest.mark.parametrize("name", METHODS)
def test_a_release_by_every_method_is_saved_and_passes_its_check(tmp_path, name):
    made = microagg.release(survey(), recipe_for(name))
    folder = made.save(tmp_path / "out")
    assert all(finding.holds for finding in check_release(folder))
    published = json.loads((folder / "statement.json").read_text())
    assert published["for_publication"] == (METHODS[name].partitions != "values")
    as_it_was = sorted(made.table["income"].to_pylist()) == sorted(survey()["income"].to_pylist())
    assert as_it_was != METHODS[name].whole_table


@pytest.mark.parametrize("name", [name for name in NOT_PRIVATE if METHODS[name].partitions == "records"])
def test_methods_of_records_publish_every_combination_of_a_block_at_least_k_times(name):
    made = microagg.release(survey(), recipe_for(name))
    for guarantee in made.statement.guarantees:
        counts = made.table.group_by(list(guarantee.attributes)).aggregate([([], "count_all")])["count_all"]
        assert min(counts.to_pylist()) >= K


@pytest.mark.parametrize("name", NOT_PRIVATE)
def test_the_cells_are_those_of_the_partitioner(name):
    table = survey()
    recipe = recipe_for(name, space={"standardize": "bounds"}, output={"order": "kept"})
    made = microagg.release(table, recipe, seed=7)
    seeded = {"random_state": 7} if METHODS[name].searches_by_chance else {}
    # Bounds of -10 and 10 map a value v to (v + 10) / 20; Mic1D takes raw values.
    X = np.column_stack([table[column].to_numpy() for column in BOUNDED])
    partitioner = METHODS[name].partitioner(K)
    if partitioner.partitions == "values":
        published = np.column_stack([made.table[column].to_numpy() for column in BOUNDED])
        np.testing.assert_allclose(published, partitioner.fit(X).published_)
        return
    scaled = (X + 10) / 20
    columns = [[0], [1], [2]] if len(made.blocks) == 3 else [[0, 1, 2]]
    for block, chosen in zip(made.blocks, columns, strict=True):
        expected = METHODS[name].partitioner(K, **seeded).fit(scaled[:, chosen]).labels_.reshape(len(X), -1)[:, 0]
        np.testing.assert_array_equal(block.labels, expected)


def test_individual_ranking_promises_each_attribute_alone():
    made = microagg.release(survey(), recipe_for("individual_ranking"))
    text = " ".join(str(made.statement).split())
    for name in BOUNDED:
        assert f"k-anonymity (k = {K}) on {name}." in text
    assert "combinations of attributes from different blocks" in text
    together = made.table.group_by(list(BOUNDED)).aggregate([([], "count_all")])["count_all"].to_pylist()
    assert min(together) < K


def test_mic1d_promises_nothing_and_says_so(tmp_path):
    made = microagg.release(survey(), recipe_for("mic1d", k=40))
    assert made.statement.guarantees == ()
    assert not made.statement.for_publication
    text = " ".join(str(made.statement).split())
    assert "No guarantee is stated" in text
    assert "no k-anonymity of records follows" in text
    assert made.blocks == ()
    folder = made.save(tmp_path / "out")
    assert "states no guarantee" in [finding.detail for finding in check_release(folder)]


def test_mic1d_with_k_above_the_number_of_values_is_refused():
    with pytest.raises(ParameterError, match=r"k = 151 is larger than the number of values, 150 \(50 records x 3"):
        microagg.release(survey(), recipe_for("mic1d", k=151))


def test_mic1d_may_have_more_values_per_partition_than_there_are_records():
    assert microagg.release(survey(), recipe_for("mic1d", k=75)).table.num_rows == 50


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("vmdav", {"gamma": "auto"}),
        ("vmdav", {"gamma": 1.1}),
        ("pcp", {"cut": "fixed"}),
        ("zscores", {"cut": "fixed"}),
        ("individual_ranking", {"cut": "optimal"}),
        ("individual_ranking", {"larger": "first"}),
        ("mic1d", {"cut": "optimal"}),
    ],
)
def test_options_of_the_partitioner_reach_it(name, options):
    plain, changed = (
        microagg.release(survey(), recipe_for(name, partition=chosen, output={"order": "kept"}))
        for chosen in ({}, options)
    )
    assert plain.table["x"].to_pylist() != changed.table["x"].to_pylist()


@pytest.mark.parametrize(
    ("name", "changes", "message"),
    [
        ("optimal_univariate", {"blocks": {"form": "one"}}, "takes 1 attribute; this recipe gives it 3. One by one: "),
        ("optimal_univariate", {"blocks": {"form": "contiguous", "size": 2}}, "this recipe gives it 2"),
        ("individual_ranking", {"blocks": {"form": "contiguous", "size": 2}}, "leave [blocks] out"),
        ("mic1d", {"blocks": {"form": "contiguous", "size": 2}}, "leave [blocks] out"),
        ("mic1d", {"missing": {"policy": "own_cell"}}, "use 'impute' or 'suppress'"),
        ("mic1d", {"strata": {"by": ["x"]}}, "leave [strata] out"),
        ("mic1d", {"sampling_weight": "income"}, "does not weigh values; leave it out"),
        ("insensitive_mdav", {"space": {"standardize": "zscore"}}, 'Set standardize = "bounds"'),
        ("insensitive_mdav", {"space": {"standardize": "none"}}, 'Set standardize = "bounds"'),
        ("pcp", {"partition": {"axis": "zscores"}}, "partition.axis: pcp has no such parameter"),
        ("vmdav", {"partition": {"gamma": -1}}, "The 'gamma' parameter of VMDAV must be"),
        ("vmdav", {"partition": {"gama": 1}}, "Did you mean 'gamma'?"),
        ("mic1d", {"partition": {"cut": "shortest_path"}}, "must be one of 'fixed', 'optimal'"),
        ("individual_rankin", {}, "Did you mean 'individual_ranking'?"),
    ],
)
def test_a_recipe_the_method_cannot_carry_out_is_refused_with_the_line_that_mends_it(name, changes, message):
    with pytest.raises(RecipeError) as refused:
        recipe_for(name, **changes)
    assert message in str(refused.value)


@pytest.mark.parametrize(
    ("name", "declared", "allowed"),
    [
        ("optimal_univariate", nominal(), "numeric and ordinal"),
        ("individual_ranking", nominal(), "numeric and ordinal"),
        ("mic1d", ordinal(categories=("a", "b")), "numeric"),
        ("insensitive_mdav", nominal(), "numeric and ordinal"),
    ],
)
def test_kinds_the_method_does_not_take_are_refused_by_name(name, declared, allowed):
    with pytest.raises(RecipeError, match=rf"{name} takes {allowed} attributes only; not 'sort'"):
        recipe_for(name, attributes={**BOUNDED, "sort": declared})


def test_insensitive_mdav_keeps_its_cells_when_a_coordinate_stops_being_constant():
    rng = np.random.default_rng(8)
    n_records = 40
    table = pa.table({"x": rng.random(n_records) * 1e-9, "y": rng.random(n_records) * 1e-9, "z": np.ones(n_records)})
    z = np.ones(n_records)
    z[0] = 0.5
    attributes = {name: numeric(bounds=(0, 1)) for name in "xyz"}
    recipe = Recipe(k=K, method="insensitive_mdav", space={"standardize": "bounds"}, attributes=attributes)
    before = microagg.release(table, recipe).partition
    after = microagg.release(table.set_column(2, "z", pa.array(z)), recipe).partition
    cells = [[set(np.flatnonzero(labels == cell).tolist()) for cell in range(10)] for labels in (before, after)]
    # Only one record is another: each cell has a counterpart from which it differs in one record at most.
    assert all(min(len(cell - other) for other in cells[0]) <= 1 for cell in cells[1])


def test_ordinal_attributes_are_ranked_and_publish_categories():
    levels = ("low", "middle", "high")
    table = pa.table({"level": [*["low"] * 5, *["middle"] * 5, *["high"] * 5]})
    recipe = Recipe(k=5, method="optimal_univariate", attributes={"level": ordinal(categories=levels)})
    assert sorted(microagg.release(table, recipe).table["level"].to_pylist()) == sorted(table["level"].to_pylist())
