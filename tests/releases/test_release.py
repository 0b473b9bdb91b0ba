"""What a release keeps, drops, rounds, weighs and says."""

from __future__ import annotations

import datetime as dt

import numpy as np
import pyarrow as pa

import microagg
from declarations import nominal, numeric, ordinal
from microagg import Recipe
from optional_packages import pandas as pd
from optional_packages import polars as pl

KEPT = {"output": {"order": "kept"}}


def test_the_table_is_of_the_same_library_with_the_same_columns_in_the_same_order(constructor):
    table = constructor({"z": [1, 2, 3, 4], "id": ["a", "b", "c", "d"], "a": [0.5, 0.6, 0.7, 0.8], "s": ["x"] * 4})
    recipe = Recipe(k=2, attributes={"a": numeric(), "s": "confidential", "z": numeric(), "id": "identifier"})
    released = microagg.release(table, recipe).table
    assert type(released) is type(table)
    names = released.column_names if isinstance(released, pa.Table) else list(released.columns)
    assert names == ["z", "a", "s"]


def test_pandas_dtypes_are_kept():
    frame = pd.DataFrame(
        {
            "int8": np.array([1, 2, 3, 4], dtype=np.int8),
            "Int64": pd.array([1, 2, 3, 4], dtype="Int64"),
            "float32": np.array([1, 2, 3, 4], dtype=np.float32),
            "Float64": pd.array([1, 2, 3, 4], dtype="Float64"),
            "arrow": pd.array([1, 2, 3, 4], dtype="int32[pyarrow]"),
            "date": pd.to_datetime(["2020-01-01", "2020-01-03", "2021-06-01", "2021-06-03"]),
            "zoned": pd.to_datetime(["2020-01-01"] * 4).tz_localize("Europe/Paris"),
            "ordered": pd.Categorical(["b", "b", "a", "a"], categories=["b", "a"], ordered=True),
            "string": pd.array(["u", "u", "v", "v"], dtype="string"),
            "object": pd.Series(["u", "u", "v", "v"], dtype=object),
            "bool": [True, True, False, False],
        }
    )
    kinds = {"ordered": ordinal(), "string": nominal(), "object": nominal(), "bool": nominal()}
    recipe = Recipe(k=2, **KEPT, attributes={name: kinds.get(name, numeric()) for name in frame.columns})
    released = microagg.release(frame, recipe).table
    assert released.dtypes.to_dict() == frame.dtypes.to_dict()
    assert released["date"].tolist() == [pd.Timestamp("2020-01-02")] * 2 + [pd.Timestamp("2021-06-02")] * 2


def test_polars_dtypes_are_kept():
    frame = pl.DataFrame(
        {
            "u8": pl.Series([1, 2, 3, 4], dtype=pl.UInt8),
            "f32": pl.Series([1, 2, 3, 4], dtype=pl.Float32),
            "date": [dt.date(2020, 1, d) for d in (1, 3, 11, 13)],
            "time": [dt.datetime(2020, 1, d, 12) for d in (1, 3, 11, 13)],
            "cat": pl.Series(["x", "x", "y", "y"], dtype=pl.Categorical),
            "enum": pl.Series(["x", "x", "y", "y"], dtype=pl.Enum(["y", "x", "unused"])),
        }
    )
    kinds = {"cat": nominal(), "enum": ordinal()}
    recipe = Recipe(k=2, **KEPT, attributes={name: kinds.get(name, numeric()) for name in frame.columns})
    released = microagg.release(frame, recipe).table
    assert released.schema == frame.schema
    assert released["date"].to_list() == [dt.date(2020, 1, 2)] * 2 + [dt.date(2020, 1, 12)] * 2


def test_arrow_types_and_labels_are_kept():
    labelled = pa.field("x", pa.int16(), metadata={b"microagg.label": b"a label"})
    table = pa.table(
        [pa.array([1, 2, 8, 9], pa.int16()), pa.array(["1.10", "1.20", "5.00", "5.10"]).cast(pa.decimal128(6, 2))],
        schema=pa.schema([labelled, pa.field("money", pa.decimal128(6, 2))]),
    )
    released = microagg.release(table, Recipe(k=2, attributes={"x": numeric(), "money": numeric()})).table
    assert released.schema.equals(table.schema, check_metadata=True)
    assert sorted({str(value) for value in released["money"].to_pylist()}) == ["1.15", "5.05"]


def test_the_input_is_not_modified():
    frame = pd.DataFrame({"x": [1.0, np.nan, 3, 4], "c": ["a", "b", None, "d"]})
    before = frame.copy(deep=True)
    recipe = Recipe(k=2, missing={"policy": "impute"}, attributes={"x": numeric(), "c": nominal()})
    microagg.release(frame, recipe)
    pd.testing.assert_frame_equal(frame, before)


def test_rows_are_shuffled_unless_kept_and_a_seed_is_confessed():
    table = pa.table({"x": np.zeros(200), "y": np.arange(200)})
    recipe = Recipe(k=2, attributes={"x": numeric(), "y": "confidential"})
    orders = [microagg.release(table, recipe).table["y"].to_pylist() for _ in range(2)]
    # Two independent orders of 200 records agree, or one is the identity, with chance below 1e-300.
    assert orders[0] != orders[1]
    assert sorted(orders[0]) == list(range(200)) != orders[0]
    seeded = [microagg.release(table, recipe, seed=5) for _ in range(2)]
    assert seeded[0].table.equals(seeded[1].table)
    assert "for research, not for publication" in str(seeded[0].statement)
    assert not seeded[0].statement.for_publication
    kept = microagg.release(table, recipe.changed({"output.order": "kept"}))
    assert kept.table["y"].to_pylist() == list(range(200))
    assert any("order of the input" in text for text in kept.statement.guarantees[0].assumptions)


def test_means_medians_and_medoids_are_published_on_request():
    table = pa.table({"x": [0.0, 1.0, 5.0]})
    published = {
        choice: microagg.release(table, Recipe(k=3, aggregate={"numeric": choice}, attributes={"x": numeric()}))
        for choice in ("mean", "median", "medoid")
    }
    assert {choice: set(made.table["x"].to_pylist()) for choice, made in published.items()} == {
        "mean": {2.0},
        "median": {1.0},
        "medoid": {1.0},
    }


def test_numbers_are_rounded_to_the_resolution_within_the_bounds():
    table = pa.table({"x": [90.0, 99.0, 99.0, 1.0, 2.0, 2.0]})
    recipe = Recipe(k=3, attributes={"x": numeric(resolution=10, bounds=[0, 99])})
    assert set(microagg.release(table, recipe).table["x"].to_pylist()) == {99.0, 0.0}


def test_ordinal_cells_publish_an_observed_category():
    table = pa.table({"c": ["low", "low", "high", "high"]})
    for choice in ("mean", "median", "medoid"):
        recipe = Recipe(k=4, attributes={"c": ordinal(categories=["low", "mid", "high"], representative=choice)})
        assert set(microagg.release(table, recipe).table["c"].to_pylist()) == {"low"}


def test_nominal_cells_publish_the_mode_or_the_taxonomic_centre():
    office = ["clerk", "guard", "manager", "porter", "teller"]
    table = pa.table({"c": [*office, "farmer", "farmer"]})
    tree = {**dict.fromkeys(office, "office"), "farmer": "field", "office": "work", "field": "work"}
    mode = microagg.release(table, Recipe(k=7, attributes={"c": nominal()}))
    assert set(mode.table["c"].to_pylist()) == {"farmer"}
    # Total semantic distance: of an office worker 4 log2(3/2) + 2 log2(9/5) = 4.04, of the farmer 5 log2(9/5) = 4.24.
    centre = microagg.release(table, Recipe(k=7, attributes={"c": nominal(taxonomy=tree)}))
    assert set(centre.table["c"].to_pylist()) == {"clerk"}


def test_sampling_weights_count():
    table = pa.table({"x": [0.0, 10.0], "c": ["a", "b"], "w": [1, 3]})
    recipe = Recipe(k=2, sampling_weight="w", attributes={"x": numeric(), "c": nominal(), "w": "non_confidential"})
    released = microagg.release(table, recipe).table
    assert set(released["x"].to_pylist()) == {7.5}
    assert set(released["c"].to_pylist()) == {"b"}


def test_weights_of_attributes_shape_the_cells():
    table = pa.table({"x": [0.0, 0.0, 1.0, 1.0], "y": [0.0, 1.0, 0.0, 1.0]})

    def pairs(weight):
        recipe = Recipe(k=2, attributes={"x": numeric(weight=weight), "y": numeric()})
        return microagg.release(table, recipe).partition.tolist()

    assert pairs(10.0) == [0, 0, 1, 1]
    assert pairs(0.1) == [0, 1, 0, 1]


def test_strata_are_never_crossed():
    rng = np.random.default_rng(3)
    table = pa.table({"g": rng.choice(["a", "b", "c"], 90), "x": rng.normal(size=90)})
    made = microagg.release(table, Recipe(k=4, strata={"by": ["g"]}, attributes={"g": nominal(), "x": numeric()}))
    groups = np.array(table["g"].to_pylist())
    assert all(len(set(groups[made.partition == cell])) == 1 for cell in range(made.n_cells))


def test_dates_far_from_the_epoch_lose_nothing():
    moments = [dt.datetime(2024, 5, 1, 10, 30, 0, 123457)] * 2 + [dt.datetime(1890, 5, 1, 0, 0, 0, 999999)] * 2
    table = pa.table({"t": pa.array(moments, pa.timestamp("us"))})
    released = microagg.release(table, Recipe(k=2, **KEPT, attributes={"t": numeric()})).table
    assert released["t"].to_pylist() == moments


def test_very_large_integers_lose_nothing():
    table = pa.table({"n": [2**62 + 1, 2**62 + 1, 2**62 + 3, 2**62 + 3]})
    released = microagg.release(table, Recipe(k=2, **KEPT, attributes={"n": numeric()})).table
    assert released.equals(table)


def test_suppressed_records_are_minus_one_in_the_partition():
    table = pa.table({"x": [1.0, None, 2.0]})
    made = microagg.release(table, Recipe(k=2, missing={"policy": "suppress"}, attributes={"x": numeric()}))
    assert made.partition.tolist() == [0, -1, 0]
    assert "1 records with a missing quasi-identifier were left out" in made.statement.remarks


def test_the_statement_says_what_is_not_promised():
    text = str(microagg.release(pa.table({"x": [1, 2]}), Recipe(k=2, attributes={"x": numeric()})).statement)
    assert "k-anonymity (k = 2) on x" in text
    assert "Does not promise:" in text
    assert "differential privacy" in text
    assert "the rarest shared by 2 records" in " ".join(text.split())
