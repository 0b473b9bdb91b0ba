"""Failures that other tools pass over in silence; each is a fact about a release here."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

import microagg
from declarations import nominal, numeric, ordinal
from microagg import Recipe
from microagg.errors import InputError, TableError
from microagg.privacy.verify import recount
from optional_packages import pandas as pd


def test_a_stratum_of_one_record_never_comes_out_unchanged():
    table = pa.table({"region": ["a"] * 10 + ["b"], "x": [*range(10), 77]})
    attributes = {"region": nominal(), "x": numeric()}
    refusing = Recipe(k=3, strata={"by": ["region"]}, attributes=attributes)
    with pytest.raises(
        TableError, match=r"1 of 2 strata of 'region' have fewer than k = 3 records \(1 records in all\)"
    ):
        microagg.release(table, refusing)
    merging = Recipe(k=3, strata={"by": ["region"], "small": "merge_small"}, attributes=attributes)
    released = microagg.release(table, merging).table
    assert 77 not in released["x"].to_pylist()
    assert set(released["region"].to_pylist()) == {"a"}
    assert recount(released, ["region", "x"], 3).holds


def test_small_strata_are_pooled_with_each_other_before_anything_else():
    table = pa.table({"region": ["a"] * 10 + ["b"] * 2 + ["c"] * 2, "x": np.arange(14.0)})
    recipe = Recipe(
        k=3, strata={"by": ["region"], "small": "merge_small"}, attributes={"region": nominal(), "x": numeric()}
    )
    made = microagg.release(table, recipe)
    cells = {cell: set(np.flatnonzero(made.partition == cell)) for cell in range(made.n_cells)}
    assert {10, 11, 12, 13} in cells.values()
    told = "but for strata with fewer than k records (fewer than 10 in all)"
    assert any(told in remark for remark in made.statement.remarks)


@pytest.mark.parametrize("policy", ["own_cell", "impute", "suppress"])
def test_missing_values_never_split_a_cell_into_visible_classes_below_k(policy):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"x": rng.normal(size=60), "y": rng.normal(size=60), "c": rng.choice(["u", "v"], 60)})
    frame.loc[[3, 9, 20, 31], "x"] = np.nan
    frame.loc[[9, 40], "y"] = np.nan
    frame.loc[[11], "c"] = None
    recipe = Recipe(
        k=4,
        missing={"policy": policy, "small": "merge_small"},
        attributes={"x": numeric(), "y": numeric(), "c": nominal()},
    )
    released = microagg.release(frame, recipe).table
    sizes = released.groupby(["x", "y", "c"], dropna=False).size()
    assert sizes.min() >= 4
    assert len(released) == (60 - 6 if policy == "suppress" else 60)
    if policy != "own_cell":
        assert not released.isna().any().any()


def test_missing_stays_missing_in_cells_of_its_own():
    frame = pd.DataFrame({"x": [1.0, 2, 3, 4, 5, 6], "y": [1.0, 1, 1, np.nan, np.nan, np.nan]})
    recipe = Recipe(k=3, missing={"policy": "own_cell"}, attributes={"x": numeric(), "y": numeric()})
    released = microagg.release(frame, recipe).table
    assert released["y"].isna().sum() == 3
    assert set(released.loc[released["y"].isna(), "x"]) == {5.0}


def test_a_pattern_of_missing_values_below_k_is_refused_unless_merging_is_chosen():
    frame = pd.DataFrame({"x": np.arange(10.0), "y": [np.nan, *range(9)]})
    recipe = Recipe(k=3, missing={"policy": "own_cell"}, attributes={"x": numeric(), "y": numeric()})
    with pytest.raises(TableError, match="1 of 2 patterns of missing values have fewer than k = 3"):
        microagg.release(frame, recipe)
    merged = microagg.release(frame, recipe.changed({"missing.small": "merge_small"})).table
    sizes = merged.groupby(["x", "y"], dropna=False).size()
    assert sizes.min() >= 3


def test_missing_values_are_refused_by_default_with_counts_per_column():
    frame = pd.DataFrame({"x": [1.0, np.nan, 3, np.nan], "y": [1.0, 2, 3, 4]})
    with pytest.raises(TableError, match=r"'x' \(2\).*policy"):
        microagg.release(frame, Recipe(k=2, attributes={"x": numeric(), "y": numeric()}))


def test_a_nan_never_yields_a_cell_below_k():
    from optional_packages import polars as pl

    table = pl.DataFrame({"x": [1.0, 2.0, float("nan"), None, 5.0, 6.0, float("nan"), 8.0]})
    with pytest.raises(InputError, match=r"'x' \(3\)"):
        microagg.release(table, Recipe(k=2, attributes={"x": numeric()}))
    released = microagg.release(table, Recipe(k=3, missing={"policy": "own_cell"}, attributes={"x": numeric()})).table
    assert released["x"].null_count() == 3
    assert released["x"].is_nan().sum() == 0


def test_a_real_minus_999_is_a_number(tmp_path):
    (tmp_path / "data.csv").write_text("x\n" + "-999\n" * 3 + "-998\n5\n6\n7\n")
    from microagg.tables.read import read_table

    table = read_table(tmp_path / "data.csv")
    released = microagg.release(table, Recipe(k=3, attributes={"x": numeric()})).table
    assert min(released["x"].to_pylist()) == -999
    assert released["x"].null_count == 0


def test_a_permuted_or_repeated_index_changes_nothing():
    rng = np.random.default_rng(1)
    frame = pd.DataFrame({"x": rng.normal(size=30), "y": rng.normal(size=30)})
    recipe = Recipe(k=3, output={"order": "kept"}, attributes={"x": numeric(), "y": numeric()})
    expected = microagg.release(frame, recipe).table
    for index in (rng.permutation(30), np.zeros(30, dtype=int), [f"person {i}" for i in range(30)]):
        other = frame.set_axis(index, axis=0)
        pd.testing.assert_frame_equal(microagg.release(other, recipe).table, expected)


def test_the_index_is_dropped():
    frame = pd.DataFrame({"x": [1.0, 2, 3, 4]}, index=pd.Index(["ann", "bob", "cy", "di"], name="who"))
    released = microagg.release(frame, Recipe(k=2, attributes={"x": numeric()})).table
    assert released.index.equals(pd.RangeIndex(4))


def test_one_attribute_constant_columns_and_duplicate_rows_work(constructor):
    one = microagg.release(constructor({"x": [3, 1, 2, 9, 8]}), Recipe(k=2, attributes={"x": numeric()}))
    assert sorted(one.frame.table["x"].to_pylist()) == [2, 2, 2, 8, 8]
    constant = constructor({"x": [1.5] * 6, "c": ["same"] * 6})
    made = microagg.release(constant, Recipe(k=2, attributes={"x": numeric(), "c": nominal()}))
    assert made.statement.recounts[0].n_combinations == 1
    assert made.information_loss == 0.0
    duplicates = constructor({"x": [1, 1, 1, 1, 2, 2, 2, 2], "y": [0, 0, 0, 0, 5, 5, 5, 5]})
    made = microagg.release(duplicates, Recipe(k=4, attributes={"x": numeric(), "y": numeric()}))
    assert made.statement.recounts[0].smallest >= 4
    assert made.information_loss == 0.0


def test_rounding_never_splits_a_cell():
    table = pa.table({"x": pa.array([1, 2, 2, 7, 8, 8], pa.int8())})
    released = microagg.release(table, Recipe(k=3, attributes={"x": numeric()})).table
    assert released.schema == table.schema
    assert sorted(released["x"].to_pylist()) == [2, 2, 2, 8, 8, 8]


def test_a_category_that_no_published_record_has_is_not_listed_in_the_dtype():
    frame = pd.DataFrame({"c": pd.Categorical(["a"] * 5 + ["rare"]), "x": [1.0] * 6})
    released = microagg.release(frame, Recipe(k=3, attributes={"c": nominal(), "x": numeric()})).table
    assert list(released["c"].cat.categories) == ["a"]


@pytest.mark.parametrize("declared", [numeric(), nominal(), ordinal(categories=["a"])])
def test_an_attribute_without_any_value_stays_without(declared):
    table = pa.table({"x": pa.array([None] * 4, pa.float64() if declared["kind"] == "numeric" else pa.string())})
    made = microagg.release(table, Recipe(k=2, missing={"policy": "own_cell"}, attributes={"x": declared}))
    assert made.table.equals(table)
    with pytest.raises(TableError, match="column 'x' has no value at all to impute from"):
        microagg.release(table, Recipe(k=2, missing={"policy": "impute"}, attributes={"x": declared}))
