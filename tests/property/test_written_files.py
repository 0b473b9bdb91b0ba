"""Whatever the table, every combination of quasi-identifiers in the written file occurs at least k times."""

from __future__ import annotations

import datetime as dt
import tempfile
from collections import Counter
from pathlib import Path

import pyarrow as pa
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

import microagg
from declarations import nominal, numeric, ordinal
from microagg import Recipe
from microagg.errors import InputError
from microagg.tables.read import read_table
from optional_packages import pandas as pd
from optional_packages import polars as pl

# Text that every format can hold: no control characters, no lone surrogates.
words = st.text(st.characters(codec="utf-8", exclude_categories=["C"]), min_size=1, max_size=6)
COLUMNS = {
    "whole": (st.integers(-(10**6), 10**6), numeric()),
    "real": (st.floats(-1e6, 1e6, allow_nan=False).map(lambda x: x + 0.0), numeric()),
    "coarse": (st.floats(0, 100), numeric(resolution=0.5, bounds=[0, 100])),
    "day": (st.dates(dt.date(1930, 1, 1), dt.date(2030, 1, 1)), numeric()),
    "grade": (st.sampled_from(["low", "mid", "high"]), ordinal(categories=["low", "mid", "high"])),
    "word": (words, nominal()),
    "flag": (st.booleans(), nominal()),
}


@st.composite
def tables_and_recipes(draw):
    names = draw(st.lists(st.sampled_from(sorted(COLUMNS)), min_size=1, max_size=4, unique=True))
    n_records = draw(st.integers(4, 25))
    with_missing = draw(st.booleans())
    data = {}
    for name in names:
        values = COLUMNS[name][0]
        cells = st.one_of(st.none(), values, values, values) if with_missing else values
        data[name] = draw(st.lists(cells, min_size=n_records, max_size=n_records))
    types = {"whole": pa.int64(), "real": pa.float64(), "coarse": pa.float64(), "day": pa.date32(), "flag": pa.bool_()}
    table = pa.table({name: pa.array(values, types.get(name, pa.string())) for name, values in data.items()})
    recipe = Recipe(
        k=draw(st.integers(2, 5)),
        space={"standardize": draw(st.sampled_from(["zscore", "minmax", "none"]))},
        missing={"policy": draw(st.sampled_from(["own_cell", "impute", "suppress"])), "small": "merge_small"},
        aggregate={"numeric": draw(st.sampled_from(["mean", "median", "medoid"]))},
        attributes={name: COLUMNS[name][1] for name in names},
    )
    library = draw(st.sampled_from(["pyarrow", "pandas", "polars"]))
    if library == "pandas":
        return table.to_pandas(types_mapper=pd.ArrowDtype), recipe
    return (pl.from_arrow(table) if library == "polars" else table), recipe


@pytest.mark.parametrize("file_format", ["csv", "csv.gz", "parquet", "feather", "sav", "dta"])
@given(drawn=tables_and_recipes())
@settings(max_examples=60, suppress_health_check=list(HealthCheck))
def test_every_written_combination_occurs_at_least_k_times(file_format, drawn):
    table, recipe = drawn
    try:
        made = microagg.release(table, recipe)
    except InputError as refusal:
        # Too few complete records, or a column without any value: refused in words.
        assume("records are complete" not in str(refusal) and "no value at all" not in str(refusal))
        assume("needs at least" not in str(refusal))
        raise
    with tempfile.TemporaryDirectory() as folder:
        saved = made.save(Path(folder) / "out", format=file_format)
        written = read_table(saved / f"table.{file_format}")
    combinations = Counter(zip(*(written[name].to_pylist() for name in recipe.attributes), strict=True))
    assert min(combinations.values()) >= recipe.k
    assert sum(combinations.values()) == made.statement.recounts[0].n_records
