"""What a reader or a library guesses from values must not show in a private release: types come from the recipe."""

from __future__ import annotations

import datetime as dt
from decimal import Decimal

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from typer.testing import CliRunner

import microagg
from declarations import nominal, numeric, ordinal
from microagg import Recipe
from microagg.cli.app import app
from microagg.errors import TableError
from microagg.private.public_values import values_as_numbers
from microagg.tables.frames import Column


def release(folder, recipe: Recipe, data: str, output: str, *options: str):
    recipe.save(folder / "recipe.toml")
    arguments = ["release", folder / data, "-r", folder / "recipe.toml", "-o", folder / output, *options]
    return CliRunner().invoke(app, [str(one) for one in arguments])


def ranking(declared: dict, **privacy) -> Recipe:
    privacy = {"epsilon": 1e4, **privacy}
    return Recipe(method="dp_individual_ranking", k=2, privacy=privacy, attributes={"x": declared})


@pytest.mark.parametrize("replaced", ["3", "3.0", "3.5", "3e0"])
def test_one_record_with_a_fraction_does_not_change_the_type_of_what_is_published(tmp_path, replaced):
    (tmp_path / "x.csv").write_text("\n".join(["x", "1", "2", replaced, "4"]) + "\n")
    result = release(tmp_path, ranking(numeric(bounds=[0, 10])), "x.csv", "out", "--format", "parquet")
    assert result.exit_code == 0, result.output
    published = pq.read_table(tmp_path / "out" / "table.parquet")["x"]
    assert published.type == pa.float64()
    # Noise of scale 1/2000 with all its digits: the chance that these four are whole is below 1e-12.
    assert any(value != round(value) for value in published.to_pylist())
    said = " ".join(result.output.split())
    assert "column 'x' published unrounded" in said
    assert "resolution = 1" in said


@pytest.mark.parametrize("replaced", ["3", "3.5"])
def test_a_declared_resolution_publishes_whole_numbers_whatever_the_records_are(tmp_path, replaced):
    (tmp_path / "x.csv").write_text("\n".join(["x", "1", "2", replaced, "4"]) + "\n")
    result = release(tmp_path, ranking(numeric(bounds=[0, 10], resolution=1)), "x.csv", "out")
    assert result.exit_code == 0, result.output
    assert "all digits" not in result.output
    lines = (tmp_path / "out" / "table.csv").read_text().splitlines()
    assert all(line.isdigit() for line in lines[1:])


MIDNIGHT, NOON = dt.datetime(2001, 1, 1), dt.datetime(2001, 1, 1, 12)
DAYS, TIMES = [dt.date(2000, 1, 1), dt.date(2010, 1, 1)], [dt.datetime(2000, 1, 1), dt.datetime(2010, 1, 1)]
IN_UTC = [time.replace(tzinfo=dt.UTC) for time in TIMES]
TREE = {"a": "r", "b": "r", "1": "r", "2": "r"}


@pytest.mark.parametrize(
    ("values", "declared", "kind"),
    [
        ([1, 2], numeric(bounds=[0, 10]), pa.float64()),
        (pa.array([1, 2], pa.int16()), numeric(bounds=[0, 10]), pa.float64()),
        (pa.array([1, 2], pa.float32()), numeric(bounds=[0, 1e300]), pa.float64()),
        (pa.array([Decimal("1.10")] * 2, pa.decimal128(4, 2)), numeric(bounds=[0, 1e6]), pa.float64()),
        ([1.5, 2.0], numeric(bounds=[0, 10], resolution=1), pa.int64()),
        ([1.5, 2.0], numeric(bounds=[0, 10], resolution=0.5), pa.float64()),
        ([1, 2], numeric(bounds=[0, 1e17], resolution=1), pa.float64()),  # a double does not hold every whole one
        (["1", "2.5"], numeric(bounds=[0, 10]), pa.float64()),
        (pa.array([1, 2]).dictionary_encode(), numeric(bounds=[0, 10]), pa.float64()),
        ([MIDNIGHT, MIDNIGHT], numeric(bounds=DAYS), pa.date32()),
        ([MIDNIGHT.date()] * 2, numeric(bounds=DAYS), pa.date32()),
        (["2001-01-01", "2001-01-01T00:00:00"], numeric(bounds=DAYS), pa.date32()),
        ([MIDNIGHT.date()] * 2, numeric(bounds=TIMES), pa.timestamp("us")),
        (pa.array([NOON, NOON], pa.timestamp("s")), numeric(bounds=TIMES), pa.timestamp("us")),
        (pa.array([NOON, NOON], pa.timestamp("ns", "Asia/Tokyo")), numeric(bounds=TIMES), pa.timestamp("us")),
        (pa.array([NOON, NOON], pa.timestamp("ns")), numeric(bounds=IN_UTC), pa.timestamp("us", "UTC")),
        ([dt.time(1), dt.time(2)], numeric(bounds=[0, 86400]), pa.time64("us")),
        (pa.array([1, 2], pa.time32("s")), numeric(bounds=[0, 86400]), pa.time64("us")),
        (["01:00", "24:00:00.5"], numeric(bounds=[0, 86400]), pa.time64("us")),
        (pa.array([1, 2], pa.duration("s")), numeric(bounds=[0, 1e6]), pa.duration("us")),
        ([1.0, 2.0], ordinal(categories=[1, 2]), pa.int64()),
        (["1", "2"], ordinal(categories=[1, 2]), pa.int64()),
        ([1, 2], ordinal(categories=[0.5, 1, 2]), pa.float64()),
        (["1", "2"], nominal(categories=[1, 2]), pa.int64()),
        ([1, 2], nominal(categories=["1", "2"]), pa.string()),
        ([True, False], nominal(categories=[True, False]), pa.bool_()),
        (["a", "2"], nominal(categories=["a", 2]), pa.string()),
        (["a", "b"], nominal(taxonomy=TREE), pa.string()),
        ([1, 2], nominal(taxonomy=TREE), pa.string()),
        (pa.array(["a", "b"], pa.large_string()), nominal(categories=["a", "b"]), pa.string()),
        (
            pa.array(["a", "b"]).dictionary_encode(),
            nominal(categories=["a", "b"]),
            pa.dictionary(pa.int32(), pa.string()),
        ),
    ],
)
def test_types_follow_from_the_declaration(values, declared, kind):
    released = microagg.release(pa.table({"x": values}), ranking(declared, clamp=True)).table
    assert released["x"].type == (kind if not pa.types.is_dictionary(kind) else released["x"].type)
    assert pa.types.is_dictionary(released["x"].type) == pa.types.is_dictionary(kind)
    assert released["x"].null_count == 0


@pytest.mark.parametrize(
    ("values", "declared", "said"),
    [
        ([MIDNIGHT, NOON], numeric(bounds=DAYS), "has 1 values with a time of day, and its bounds are dates"),
        (["2001-01-01", "2001-01-01T12:00"], numeric(bounds=DAYS), "has 1 values with a time of day"),
        (["1", "x"], numeric(bounds=[0, 10]), "declared numeric but holds text: 1 of 2 values are not numbers"),
        (["1", "nan"], numeric(bounds=[0, 10]), "1 of 2 values are not numbers"),
        (["2001-01-01", "x"], numeric(bounds=DAYS), "1 of 2 values are not dates"),
        (["01:00", "02:00", "3600"], numeric(bounds=[0, 86400]), "1 of 3 values are not times of day"),
        ([MIDNIGHT] * 2, numeric(bounds=[0, 10]), "its bounds must be dates"),
        ([1, 2], numeric(bounds=DAYS), "its bounds must be numbers"),
        ([True, False], numeric(bounds=[0, 1]), "declared numeric but holds bool values"),
        ([1.0, 2.5], ordinal(categories=[1, 2]), "1 categories that are not among the declared ones"),
        (["a", " a"], nominal(categories=["a", "b"]), "1 categories that are not among the declared ones"),
        ([1, 3], nominal(taxonomy=TREE), "1 categories that are not in its taxonomy"),
    ],
)
def test_values_that_the_declared_type_cannot_hold_are_counted_and_refused(values, declared, said):
    with pytest.raises(TableError) as refused:
        microagg.release(pa.table({"x": values}), ranking(declared))
    assert said in str(refused.value)


def test_values_finer_than_a_microsecond_are_cut_each_by_itself():
    column = Column("x", pa.array([-1, 1_999, 2_000], pa.timestamp("ns")))
    assert values_as_numbers(column, pa.timestamp("us"), "").tolist() == [-1, 1, 2]


def test_pandas_gets_dates_as_it_had_them():
    from optional_packages import pandas as pd

    declared = ranking(numeric(bounds=DAYS))
    moments = pd.DataFrame({"x": pd.to_datetime(["2001-01-01"] * 4)})
    assert str(microagg.release(moments, declared).table["x"].dtype) == "datetime64[us]"
    objects = pd.DataFrame({"x": [dt.date(2001, 1, 1)] * 4})
    assert isinstance(microagg.release(objects, declared).table["x"][0], dt.date)


def test_a_polars_enum_holds_every_public_category():
    from optional_packages import polars as pl

    frame = pl.DataFrame({"x": pl.Series(["a", "b", "a", "b"], dtype=pl.Enum(["a", "b"]))})
    released = microagg.release(frame, ranking(nominal(categories=["a", "b", "c"]))).table
    assert released["x"].dtype == pl.Enum(["a", "b", "c"])


@pytest.mark.parametrize(
    ("root", "file_format"), [("", "sav"), ("", "dta"), ("  ", "sav")], ids=["spss", "stata", "blanks in spss"]
)
def test_whether_a_file_can_hold_the_root_of_a_taxonomy_does_not_hang_on_whether_noise_drew_it(
    tmp_path, root, file_format
):
    made = microagg.release(pa.table({"x": ["a", "b"] * 2}), ranking(nominal(taxonomy={"a": root, "b": root})))
    with pytest.raises(TableError, match="no empty text, which is a category of column 'x'"):
        made.save(tmp_path / "out", format=file_format)


@pytest.mark.parametrize("file_format", ["sav", "dta"])
def test_an_empty_category_is_refused_by_name_where_a_file_cannot_hold_it(tmp_path, file_format):
    made = microagg.release(pa.table({"x": ["", "b", "", "b"]}), ranking(nominal(categories=["", "b"])))
    with pytest.raises(TableError, match=r"no empty text, which is a category of column 'x'.*parquet"):
        made.save(tmp_path / "out", format=file_format)
    assert not (tmp_path / "out").exists()
    assert made.save(tmp_path / "out", format="parquet").is_dir()
