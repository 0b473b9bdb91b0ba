"""Columns of types that few programs write are released as what they hold, or refused by name."""

from __future__ import annotations

import datetime as dt
import subprocess
import sys

import numpy as np
import pyarrow as pa
import pytest

import microagg
from declarations import numeric
from microagg import Recipe
from microagg._notebook.values import shown_values
from microagg.errors import GuaranteeError, ParameterError, RecipeError, TableError
from microagg.tables.frames import Column
from optional_packages import pandas as pd
from optional_packages import polars as pl


def test_text_as_polars_writes_it_is_text(tmp_path):
    from microagg.tables.read import read_table

    pl.DataFrame({"x": [float(i) for i in range(12)], "c": ["a", "b", "d"] * 4}).write_ipc(tmp_path / "x.feather")
    recipe = Recipe(k=3, attributes={"x": numeric(), "c": "confidential"})
    made = microagg.release(read_table(tmp_path / "x.feather"), recipe)
    assert sorted(set(made.table["c"].to_pylist())) == ["a", "b", "d"]
    made.save(tmp_path / "out")


def test_bounds_that_are_no_moment_in_utc_are_refused_with_the_recipe():
    early = dt.datetime(1, 1, 1, tzinfo=dt.timezone(dt.timedelta(hours=5)))
    with pytest.raises(RecipeError, match="in UTC"):
        Recipe(k=3, attributes={"x": numeric(bounds=[early, dt.datetime(2020, 1, 1, tzinfo=dt.UTC)])})


@pytest.mark.parametrize("form", ["csv", "parquet", "dta"])
def test_private_moments_up_to_the_last_year_exist(tmp_path, form):
    ends = [dt.datetime(1, 1, 1), dt.datetime(9999, 12, 31, 23, 59, 59, 999999)]
    recipe = Recipe(method="dp_laplace", privacy={"epsilon": 0.1}, attributes={"x": numeric(bounds=ends)})
    table = pa.table({"x": pa.array([dt.datetime(2000 + i, 1, 1) for i in range(15)])})
    microagg.release(table, recipe).save(tmp_path / "out", format=form)


@pytest.mark.parametrize("code", ["9" * 400, -999.5, "x"], ids=["huge", "number", "text"])
def test_a_code_for_missing_may_be_any_number(code):
    recipe = Recipe(k=2, input={"missing": {"x": [code]}}, attributes={"x": numeric()})
    assert microagg.release(pa.table({"x": [1.0, 2.0, 3.0, 4.0]}), recipe).statement.n_records == 4


def test_text_with_a_nul_is_refused_by_name_and_count(tmp_path):
    recipe = Recipe(k=2, attributes={"x": numeric(), "c": "confidential"})
    made = microagg.release(pa.table({"x": [1.0, 2.0, 3.0, 4.0], "c": ["a\0b", "c", "d", "e"]}), recipe)
    with pytest.raises(TableError, match="'c' has 1 texts with a NUL"):
        made.save(tmp_path / "out")


@pytest.mark.parametrize(
    "given", [[["Alice Secret", 1.0]] * 6, [1.5, 2.5, 3.5, 4.5], np.array([[1j], [2j], [3j], [4j]])]
)
def test_partitioners_refuse_without_quoting_records(given):
    for partitioner in (microagg.MDAV(k=2), microagg.Mic1D(k=2), microagg.IndividualRanking(k=2)):
        with pytest.raises(ParameterError) as refused:
            partitioner.fit(given)
        assert "Alice" not in str(refused.value)
        assert "1.5" not in str(refused.value)


def test_noise_for_what_no_record_changes_is_refused():
    from microagg.privacy.noise import noise_from
    from microagg.private.ledger import CountedNoise

    with pytest.raises(GuaranteeError):
        CountedNoise(noise_from(1)).laplace(np.zeros(3, dtype=np.int64), scale=1e-9, sensitivity=0, epsilon=1.0)


def test_categories_that_cannot_be_sorted_are_refused_by_name_and_an_identifier_of_them_is_dropped():
    for values in (
        pd.cut(pd.Series(range(4)), 2),
        pd.Categorical([*pd.period_range("2020", periods=3, freq="M"), None]),
        pd.Categorical([(1, 2), (1, 3), (1, 2), (2, 2)]),
    ):
        table = pd.DataFrame({"x": [1.0, 2.0, 3.0, 4.0], "c": values})
        for role in ("confidential", {"role": "quasi_identifier", "kind": "nominal"}):
            with pytest.raises(TableError, match=r"column 'c' holds .* turn them into text or numbers first"):
                microagg.release(table, Recipe(k=2, attributes={"x": numeric(), "c": role}))
        made = microagg.release(table, Recipe(k=2, attributes={"x": numeric(), "c": "identifier"}))
        assert list(made.table.columns) == ["x"]


def test_categories_of_moments_are_released_and_drafted():
    for moments in (pd.date_range("2020", periods=4, tz="Europe/Berlin"), pd.to_timedelta([1, 2, 3, 4], unit="h")):
        table = pd.DataFrame({"x": [1.0, 2.0, 3.0, 4.0], "c": pd.Categorical(moments)})
        release = microagg.release(table, Recipe(k=2, attributes={"x": numeric(), "c": "confidential"}))
        assert release.frame.table.schema.field("c").type.value_type == pa.Array.from_pandas(pd.Series(moments)).type
        made = release.table
        assert sorted(made["c"].astype(table["c"].cat.categories.dtype)) == sorted(moments)
        assert set(microagg.init(table, k=2).recipe.attributes) == {"x", "c"}


NANOSECONDS = """
import pyarrow as pa, pyarrow.parquet as pq
import microagg
from microagg.studio.work.table import look

at = pa.array([1_600_000_000_000_000_001 + i for i in range(4)], pa.timestamp("ns"))
table = pa.table({"x": [1.0, 2.0, 3.0, 4.0], "at": at, "day": at})
pq.write_table(table, "x.parquet")
seen = look("x.parquet", {}, 2, print)
assert seen["first"][0][1] == seen["columns"][1]["categories"][0] == "2020-09-13 12:26:40.000000001", seen
assert set(microagg.init(table, k=2).recipe.attributes) == {"x", "at", "day"}

declared = {"x": "identifier", "at": {"role": "quasi_identifier", "kind": "numeric"}, "day": "confidential"}
made = microagg.release(table, microagg.Recipe(k=2, attributes=declared), seed=1)
assert made.table["day"].type == at.type
made.save("out", format="parquet", report=True)
declared["at"]["kind"] = "nominal"
try:
    microagg.release(table, microagg.Recipe(k=2, attributes=declared), seed=1)
except microagg.InputError as error:
    print(error)
"""


def test_nanoseconds_are_read_and_released_without_pandas_and_refused_as_categories(tmp_path):
    (tmp_path / "pandas.py").write_text("raise ModuleNotFoundError(name='pandas')")
    command = [sys.executable, "-c", NANOSECONDS]
    ended = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert not ended.stderr
    (said,) = ended.stdout.splitlines()[-1:]
    assert said.startswith("column 'at' holds timestamp[ns] values that Python cannot hold")
    assert "install pandas" in said
    assert "16000" not in said


def test_categories_that_python_cannot_hold_are_refused_without_a_value():
    column = Column("x", pa.array([3_000_000, None], pa.date32()))
    assert column.codes.tolist() == [0, -1]
    with pytest.raises(TableError, match=r"column 'x' holds date32\[day\] values that Python cannot hold"):
        _ = column.encoded
    assert shown_values(column.values) == ["10183-09-21", None]
