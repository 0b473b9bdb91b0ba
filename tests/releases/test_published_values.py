"""What comes out of a cell, at the edges: imputed categories, steps of dates, odd dtypes, extreme weights."""

from __future__ import annotations

import datetime as dt

import numpy as np
import pyarrow as pa
import pytest

import microagg
from declarations import nominal, numeric, ordinal
from microagg import Recipe
from microagg.aggregate.centroid import Cells, cell_medians
from microagg.errors import InputError
from optional_packages import pandas as pd

DAYS = [dt.datetime(2000, 1, 1), dt.datetime(2000, 1, 2)]
KEPT = {"output": {"order": "kept"}}


def released(table, attributes, k=2, **more):
    return microagg.release(table, Recipe(k=k, attributes=attributes, **KEPT, **more)).table


@pytest.mark.parametrize(
    "declared", [nominal(), ordinal(categories=["a", "b"]), nominal(taxonomy={"a": "all", "b": "all"})]
)
def test_imputed_categories_are_published(declared):
    table = pa.table({"c": [None, "a", "a", "b", None, None]})
    result = released(table, {"c": declared}, missing={"policy": "impute"})
    assert result["c"].null_count == 0


def test_imputation_respects_sampling_weights():
    table = pa.table({"x": [1.0, 1.0, 1.0, 9.0, None, None], "w": [1, 1, 1, 1000, 1, 1]})
    attributes = {"x": numeric(), "w": "non_confidential"}
    result = released(table, attributes, k=3, missing={"policy": "impute"}, sampling_weight="w")
    assert result["x"].to_pylist()[4:] == [9.0, 9.0]


def test_steps_of_a_declared_resolution_do_not_start_at_the_smallest_value():
    days = [dt.date(2024, 1, 3) + dt.timedelta(days=i) for i in (0, 1, 9, 10, 30, 31)]
    result = released(pa.table({"d": days}), {"d": numeric(resolution=7)})
    epoch = dt.date(1970, 1, 1)
    assert {(day - epoch).days % 7 for day in result["d"].to_pylist()} == {0}
    large = released(
        pa.table({"n": [2**60 + 17, 2**60 + 18, 2**60 + 5000, 2**60 + 5003]}), {"n": numeric(resolution=1000)}
    )
    assert {number % 1000 for number in large["n"].to_pylist()} == {0}


def test_a_resolution_of_times_is_in_seconds():
    times = [dt.datetime(2024, 1, 1, 10, 0, s) for s in (1, 2, 31, 33)]
    table = pa.table({"t": pa.array(times, pa.timestamp("us"))})
    result = released(table, {"t": numeric(resolution=60)})
    assert {time.second for time in result["t"].to_pylist()} == {0}


def test_medoids_are_rounded_too():
    result = released(
        pa.table({"x": [13, 14, 15, 27, 28, 29]}), {"x": numeric(resolution=10, representative="medoid")}, k=3
    )
    assert result["x"].to_pylist() == [10, 10, 10, 30, 30, 30]


def test_integers_stay_within_fractional_bounds():
    result = released(pa.table({"x": [1, 1, 2, 2]}), {"x": numeric(resolution=10, bounds=[0.5, 2.5])}, k=4)
    assert set(result["x"].to_pylist()) == {1}


def test_a_narrow_integer_type_holds_what_is_rounded():
    table = pa.table({"x": pa.array([127, 126, 125, 124], pa.int8())})
    assert set(released(table, {"x": numeric(resolution=50)})["x"].to_pylist()) == {100, 127}


def test_extreme_integers_are_refused_not_wrapped():
    with pytest.raises(InputError, match="spans more than 64-bit arithmetic"):
        released(pa.table({"x": [-(2**63), 2**63 - 1, 0, 5]}), {"x": numeric()})


def test_huge_numbers_are_refused_not_overflowed():
    with pytest.raises(InputError, match="2 values beyond 1e\\+300"):
        released(pa.table({"x": [1.7e308, -1.7e308, 0.0]}), {"x": numeric()})


def test_weights_of_one_cell_do_not_reach_another():
    values = np.array([1.0, 2.0, 3.0, 100.0, 200.0, 300.0])
    weights = np.array([1e13] * 3 + [0.1] * 3)
    assert cell_medians(values, Cells(np.array([0, 0, 0, 1, 1, 1]), weights)).tolist() == [2.0, 200.0]
    table = pa.table({"x": values, "w": [1e308] * 6})
    result = released(table, {"x": numeric(), "w": "non_confidential"}, k=3, sampling_weight="w")
    assert result["x"].to_pylist() == [2.0] * 3 + [200.0] * 3


def test_numbers_in_a_categorical_dtype_stay_categorical():
    frame = pd.DataFrame({"x": pd.Categorical([1, 3, 11, 13])})
    result = released(frame, {"x": numeric()})
    assert isinstance(result["x"].dtype, pd.CategoricalDtype)
    assert result["x"].tolist() == [2, 2, 12, 12]
    table = pa.table({"x": pa.array([1, 3, 11, 13]).dictionary_encode()})
    assert pa.types.is_dictionary(released(table, {"x": numeric()}).schema.field("x").type)


def test_a_column_of_nothing_is_published_as_nothing():
    for declared in (numeric(), nominal(taxonomy={"a": "all", "b": "all"})):
        table = pa.table({"x": pa.nulls(4), "y": [1, 2, 3, 4]})
        result = released(table, {"x": declared, "y": numeric()}, missing={"policy": "own_cell"})
        assert result["x"].null_count == 4


def test_the_list_of_categories_does_not_tell_the_order_of_the_input(tmp_path):
    values = ["zebra", "ant", "mole", *["ant", "mole"] * 4, "zebra", "zebra"]
    table = pa.table({"x": range(13), "secret": pa.array(values).dictionary_encode()})
    made = microagg.release(table, Recipe(k=3, attributes={"x": numeric(), "secret": "confidential"}))
    assert made.table["secret"].chunk(0).dictionary.to_pylist() == ["ant", "mole", "zebra"]


def test_codes_match_a_taxonomy_however_they_are_typed():
    tree = {"1": "low", "2": "low", "3": "high", "low": "all", "high": "all"}
    for values in ([1.0, 2.0, 3.0, 3.0], [1, 2, 3, 3], ["1", "2", "3", "3"]):
        assert released(pa.table({"c": values}), {"c": nominal(taxonomy=tree)}).num_rows == 4


@pytest.mark.parametrize(
    ("column", "bounds", "said"),
    [
        (pa.array([dt.time(1), dt.time(2)]), [0, 7200], None),
        (pa.array([dt.timedelta(seconds=1), dt.timedelta(seconds=2)]), [0, 2], None),
        (pa.array([dt.time(1), dt.time(2)]), [dt.date(2000, 1, 1), dt.date(2001, 1, 1)], "must be seconds"),
        (pa.array(DAYS, pa.timestamp("ns")), [dt.date(1, 1, 1), dt.date(9999, 1, 1)], None),
        (pa.array(DAYS, pa.timestamp("us")), [dt.date(2000, 1, 1), dt.datetime(2000, 1, 1, 5)], "1 values outside"),
    ],
)  # fmt: skip
def test_bounds_of_times_are_understood(column, bounds, said):
    table, attributes = pa.table({"t": column}), {"t": numeric(bounds=bounds)}
    if said is None:
        assert released(table, attributes).num_rows == 2
    else:
        with pytest.raises(InputError, match=said):
            released(table, attributes)


def test_what_is_no_table_or_recipe_is_refused():
    from optional_packages import polars as pl

    recipe = Recipe(k=2, attributes={"x": numeric()})
    for wrong in (pd.Series([1, 2], name="x"), pl.Series("x", [1, 2]), pa.record_batch({"x": [1, 2]})):
        with pytest.raises(InputError, match="expected a pandas, polars or pyarrow table"):
            microagg.release(wrong, recipe)
    with pytest.raises(InputError, match=r"recipe must be a microagg\.Recipe"):
        microagg.release(pa.table({"x": [1, 2]}), {"k": 2})
    with pytest.raises(InputError, match="mixes types or holds objects"):
        microagg.release(pl.DataFrame({"x": [object(), object()]}), recipe)


def test_numbers_stored_as_text_are_named_as_such():
    with pytest.raises(InputError, match="numbers stored as text, or too long for 64 bits"):
        released(pa.table({"x": ["1", "2"]}), {"x": numeric()})


def test_too_many_categories_for_coordinates_are_refused_with_the_size():
    codes = pa.array(np.arange(40_000).astype(str))
    with pytest.raises(InputError, match=r"column 'c' has 40000 categories.*GiB"):
        released(pa.table({"c": codes}), {"c": nominal()}, method="pcp")


def test_a_method_of_codes_takes_any_number_of_categories():
    table = pa.table({"c": pa.array(np.arange(40_000).astype(str)), "x": np.arange(40_000.0)})
    result = released(table, {"c": nominal(), "x": numeric()}, k=3)
    assert len(result) == 40_000
    assert result.group_by(["c", "x"]).aggregate([([], "count_all")])["count_all"].to_numpy().min() >= 3
