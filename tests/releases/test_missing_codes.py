"""Codes for missing, column by column: the same in files and in dataframes of every library."""

from __future__ import annotations

import datetime as dt

import numpy as np
import pyarrow as pa
import pytest

import microagg
from microagg.errors import InputError, RecipeError, TableError
from microagg.releases.input import read_table
from microagg.tables.missing_codes import replace_codes
from microagg.tables.write import write_table
from optional_packages import pandas as pd

AGES = [20, 21, 22, 23, -999, 25, -999, 27, -999, 29]
WORK = ["a", "b", "unknown", "a", "b", "a", "b", "a", "b", "unknown"]


def recipe(policy="own_cell", **codes):
    return microagg.Recipe(
        k=3,
        missing={"policy": policy, "small": "merge_small"},
        input={"missing": codes},
        attributes={
            "age": {"role": "quasi_identifier", "kind": "numeric"},
            "work": {"role": "confidential", "kind": "nominal"},
        },
    )


CODED = recipe(age=[-999], work="unknown")


def test_codes_act_in_every_library(constructor):
    released = microagg.release(constructor({"age": AGES, "work": WORK}), CODED, seed=1).table
    arrow = (
        released if isinstance(released, pa.Table) else pa.table({name: released[name] for name in released.columns})
    )
    ages = arrow["age"].to_pylist()
    assert ages.count(None) == 3
    assert -999 not in ages
    assert min(age for age in ages if age is not None) >= 20
    assert arrow["work"].null_count == 2


def test_a_code_is_refused_as_missing_by_the_default_policy():
    table = pa.table({"age": AGES, "work": WORK})
    with pytest.raises(InputError, match="missing"):
        microagg.release(table, recipe("error", age=[-999]))
    assert microagg.release(table, recipe("suppress", age=[-999])).statement.n_records == 7


@pytest.mark.parametrize("dtype", ["int8", "uint16", "int64", "float32", "float64"])
def test_pandas_numbers_with_codes_stay_numbers(dtype):
    frame = pd.DataFrame({"age": np.array([99, 20, 21, 22, 99, 24, 99, 26], dtype), "work": list("abababab")})
    released = microagg.release(frame, recipe(age=[99]), seed=1).table
    assert released["age"].isna().sum() == 3
    assert pd.api.types.is_numeric_dtype(released["age"])
    assert released["age"].max() < 99


@pytest.mark.parametrize("extension", ["csv", "tsv", "parquet", "feather", "dta", "sav"])
def test_codes_act_in_files_of_every_format(tmp_path, extension):
    path = tmp_path / f"table.{extension}"
    write_table(pa.table({"age": AGES, "work": WORK}), path)
    read = read_table(path, CODED)
    assert read["age"].null_count == 3
    assert read["work"].null_count == 2
    assert pa.types.is_integer(read["age"].type)


def test_evaluating_knows_the_codes_too():
    table = pa.table({"age": AGES, "work": WORK})
    kept = CODED.changed({"output.order": "kept"})
    released = microagg.release(table, kept).table
    found = microagg.evaluate(table, released, kept, aligned=True)
    again = microagg.evaluate(read_without_codes(table), released, kept, aligned=True)
    assert found["variation_means"].value == again["variation_means"].value


def read_without_codes(table):
    return pa.table({"age": [None if age == -999 else age for age in AGES], "work": table["work"]})


@pytest.mark.parametrize(
    ("array", "codes", "left"),
    [
        (pa.array([1, -999]), [-999.0], [1, None]),
        (pa.array([1, -999]), ["-999"], [1, None]),
        (pa.array([1, 2]), ["unknown", 0.5, 2**70], [1, 2]),
        (pa.array([0.5, 99.9], pa.float32()), [99.9], [0.5, None]),
        (pa.array(["x", " -999 ", "-999"]), [-999], ["x", None, None]),
        (pa.array(["x", "y", None]).dictionary_encode(), ["y"], ["x", None, None]),
        (pa.array([dt.date(1900, 1, 1), dt.date(2000, 1, 1)]), [dt.date(1900, 1, 1)], [None, dt.date(2000, 1, 1)]),
        (pa.array([dt.datetime(1900, 1, 1), None]), ["1900-01-01"], [None, None]),
        (pa.array([True, False]), [True], [None, False]),
        (pa.array([True, False]), [1], [True, False]),
        (pa.array([5, 9], pa.uint8()), [-9, 9], [5, None]),
    ],
)
def test_codes_are_compared_as_the_column_is(array, codes, left):
    made = replace_codes(array, codes)
    assert made.type == array.type
    assert made.to_pylist() == left


def test_codes_of_a_column_that_is_not_declared_are_refused():
    with pytest.raises(RecipeError, match=r"input.missing names 'agee', which is not declared. Did you mean 'age'\?"):
        recipe(agee=[1])


def test_a_recipe_with_codes_survives_its_own_text():
    assert microagg.Recipe.loads(CODED.dumps()) == CODED
    assert microagg.Recipe(**CODED.as_dict()) == CODED


def test_names_that_may_be_a_record_are_not_told_by_a_dataframe_either():
    frame = pd.DataFrame({"37": [1, 2, 3], "canary": [1, "x", dt.date(2020, 1, 1)]})
    with pytest.raises(TableError) as caught:
        microagg.release(frame, CODED)
    assert "canary" not in str(caught.value)
