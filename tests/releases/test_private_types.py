"""What a file's reader guesses from values must not show in a private release: types come from the recipe."""

from __future__ import annotations

import datetime as dt

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from typer.testing import CliRunner

from declarations import nominal, numeric, ordinal
from microagg import Recipe
from microagg.cli.app import app
from microagg.errors import TableError
from microagg.releases.input import read_input
from microagg.releases.public_types import with_public_types
from microagg.tables.write import write_table


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
    assert "column 'x' published with all digits" in said
    assert "resolution = 1" in said


@pytest.mark.parametrize("replaced", ["3", "3.5"])
def test_a_declared_resolution_publishes_whole_numbers_whatever_the_records_are(tmp_path, replaced):
    (tmp_path / "x.csv").write_text("\n".join(["x", "1", "2", replaced, "4"]) + "\n")
    result = release(tmp_path, ranking(numeric(bounds=[0, 10], resolution=1)), "x.csv", "out")
    assert result.exit_code == 0, result.output
    assert "all digits" not in result.output
    lines = (tmp_path / "out" / "table.csv").read_text().splitlines()
    assert all(line.isdigit() for line in lines[1:])


@pytest.mark.parametrize("extension", ["sav", "xlsx"])
def test_formats_without_integers_of_their_own_are_typed_by_the_recipe(tmp_path, extension):
    path = tmp_path / f"x.{extension}"
    if extension == "sav":
        write_table(pa.table({"x": [1, 2, 3, 4]}), path)
    else:
        import openpyxl

        book = openpyxl.Workbook()
        for row in (["x"], [1], [2], [3], [4]):
            book.active.append(row)
        book.save(path)
    assert read_input(path, ranking(numeric(bounds=[0, 10])))["x"].type == pa.float64()


def test_a_file_that_states_its_types_keeps_them(tmp_path):
    write_table(pa.table({"x": pa.array([1, 2, 3, 4], pa.int16())}), tmp_path / "x.parquet")
    assert read_input(tmp_path / "x.parquet", ranking(numeric(bounds=[0, 10])))["x"].type == pa.int16()


MIDNIGHT, NOON = dt.datetime(2001, 1, 1), dt.datetime(2001, 1, 1, 12)
DAYS, TIMES = [dt.date(2000, 1, 1), dt.date(2010, 1, 1)], [dt.datetime(2000, 1, 1), dt.datetime(2010, 1, 1)]


@pytest.mark.parametrize(
    ("values", "declared", "kind"),
    [
        ([MIDNIGHT, MIDNIGHT], numeric(bounds=DAYS), pa.date32()),
        ([MIDNIGHT.date()] * 2, numeric(bounds=DAYS), pa.date32()),
        ([MIDNIGHT.date()] * 2, numeric(bounds=TIMES), pa.timestamp("us")),
        (pa.array([NOON, NOON], pa.timestamp("s")), numeric(bounds=TIMES), pa.timestamp("us")),
        ([dt.time(1), dt.time(2)], numeric(bounds=[0, 86400]), pa.time64("us")),
        ([1.0, 2.0], ordinal(categories=[1, 2]), pa.int64()),
        ([1, 2], ordinal(categories=[0.5, 1, 2]), pa.float64()),
        ([1.0, 2.5], ordinal(categories=[1, 2]), pa.float64()),  # refused later, as it is not declared
        (["1", "2"], nominal(categories=[1, 2]), pa.string()),
        (["a", "b"], nominal(taxonomy={"a": "r", "b": "r"}), pa.string()),
        (["1", "x"], numeric(bounds=[0, 1]), pa.string()),
    ],
)
def test_types_follow_from_the_declaration(values, declared, kind):
    table = with_public_types(pa.table({"x": values}), ranking(declared))
    assert table["x"].type == kind
    assert table["x"].cast(pa.string()).null_count == 0


def test_bounds_that_are_dates_take_no_times():
    with pytest.raises(TableError, match="column 'x' has 1 values with a time of day, and its bounds are dates"):
        with_public_types(pa.table({"x": [MIDNIGHT, NOON]}), ranking(numeric(bounds=DAYS)))
