"""Values that a file declares as missing are read as missing, and the data holder is told how many there are."""

from __future__ import annotations

import pyarrow as pa
import pyreadstat
import pytest
from typer.testing import CliRunner

from declarations import nominal, numeric
from microagg import Recipe
from microagg.cli.app import app
from microagg.tables.formats.declared_missing import count_declared_missing
from microagg.tables.read import read_table
from microagg.tables.write import write_table
from optional_packages import pandas as pd


@pytest.fixture
def survey(tmp_path):
    path = tmp_path / "survey.sav"
    frame = pd.DataFrame(
        {"age": [20.0, -9, 40, -8, 99, None] * 3, "job": ["a", "NA", "b", "b", "NA", "a"] * 3, "x": [1.0] * 18}
    )
    ranges = {"age": [{"lo": -9, "hi": -8}, 99], "job": ["NA"], "x": [-1]}
    pyreadstat.write_sav(frame, str(path), missing_ranges=ranges)
    return path


def test_user_missing_codes_of_spss_are_counted_as_they_are_read(survey):
    assert count_declared_missing(survey) == {"age": 9, "job": 6}
    table = read_table(survey)
    assert (table["age"].null_count, table["job"].null_count) == (9 + 3, 6)


def test_tagged_missing_values_of_stata_are_counted(tmp_path):
    path = tmp_path / "s.dta"
    frame = pd.DataFrame({"x": [1, None, "a", 4, "z"], "text": ["a", "b", "z", "", "a"]})
    pyreadstat.write_dta(frame, str(path), version=14, missing_user_values={"x": ["a", "z"]})
    assert count_declared_missing(path) == {"x": 2}
    assert read_table(path)["x"].null_count == 3


@pytest.mark.parametrize("extension", ["csv", "parquet", "sav", "dta"])
def test_files_that_declare_none_have_none(tmp_path, extension):
    write_table(pa.table({"x": [1.0, None], "job": ["a", "b"]}), tmp_path / f"t.{extension}")
    assert count_declared_missing(tmp_path / f"t.{extension}") == {}


def test_init_and_release_say_how_many_and_publish_no_count(survey, tmp_path):
    attributes = {"age": "identifier", "job": nominal(), "x": numeric()}
    Recipe(k=3, missing={"policy": "own_cell"}, attributes=attributes).save(tmp_path / "recipe.toml")
    drafted = CliRunner().invoke(app, ["init", str(survey), "-o", str(tmp_path / "draft.toml")])
    made = CliRunner().invoke(
        app, ["release", str(survey), "-r", str(tmp_path / "recipe.toml"), "-o", str(tmp_path / "out")]
    )
    for result in (drafted, made):
        assert result.exit_code == 0, result.output
        said = " ".join(result.stderr.split())
        assert "declares as missing codes were read as missing: 'age' (9), 'job' (6)" in said
    statement = (tmp_path / "out" / "statement.txt").read_text()
    assert "declares as missing" not in statement
