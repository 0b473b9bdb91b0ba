"""``microagg.read_table``: a program reads a file as the command line does."""

from __future__ import annotations

import pyarrow as pa
import pytest
from typer.testing import CliRunner

import microagg
from declarations import nominal, numeric
from microagg import Recipe
from microagg.cli.app import app
from microagg.errors import ParameterError, TableError
from microagg.tables.labels import Labels, labels_of, with_labels
from microagg.tables.write import write_table

RECIPE = Recipe(
    k=2,
    attributes={"name": "identifier", "age": numeric(), "town": nominal(), "note": "confidential"},
    input={"separator": ";", "decimal": ",", "missing": {"age": [-999]}},
)


@pytest.fixture
def path(tmp_path):
    file = tmp_path / "people.csv"
    rows = ["name;age;town;note", "007;20,5;08001;0.50", "008;20,5;08001;TRUE", "009;31,0;09001;x", "010;-999;09001;y"]
    file.write_text("\n".join([*rows, ""]))
    return file


@pytest.mark.parametrize("kind", [str, lambda path: path], ids=["str", "Path"])
def test_the_recipe_decides_types(path, kind):
    table = microagg.read_table(kind(path), RECIPE)
    assert table["name"].to_pylist() == ["007", "008", "009", "010"]
    assert table["town"].to_pylist() == ["08001", "08001", "09001", "09001"]
    assert table["age"].type == pa.float64()
    assert table["age"].to_pylist() == [20.5, 20.5, 31.0, None]


def test_a_program_releases_the_same_as_the_command(path, tmp_path):
    path.write_text(path.read_text().replace("-999", "31,0"))
    recipe = RECIPE.changed({"output.order": "kept"})
    recipe.save(tmp_path / "recipe.toml")
    words = ["release", path, "-r", tmp_path / "recipe.toml", "-o", tmp_path / "command", "--no-report"]
    result = CliRunner().invoke(app, [str(word) for word in words])
    assert result.exit_code == 0, result.output
    microagg.release(microagg.read_table(path, recipe, as_text=True), recipe, source=path).save(tmp_path / "program")
    written = (tmp_path / "program" / "table.csv").read_text()
    assert written == (tmp_path / "command" / "table.csv").read_text()
    assert '"08001","0.50"' in written


def test_labels_come_along(tmp_path):
    field = with_labels(pa.field("age", pa.int64()), Labels("Age in years"))
    table = pa.table([[1, 2], ["a", "b"]], schema=pa.schema([field, pa.field("town", pa.string())]))
    write_table(table, tmp_path / "people.sav")
    recipe = Recipe(k=2, attributes={"age": numeric(), "town": nominal()})
    assert labels_of(microagg.read_table(tmp_path / "people.sav", recipe).field("age")).label == "Age in years"


def test_what_cannot_be_read_is_refused_with_what_to_do(path):
    with pytest.raises(ParameterError, match=r"recipe must be a microagg\.Recipe"):
        microagg.read_table(path, {"k": 2})
    with pytest.raises(TableError, match="no such file"):
        microagg.read_table(path.with_name("nowhere.csv"), RECIPE)
    plain = RECIPE.changed({"input": {}})
    with pytest.raises(TableError, match='separator = ";"'):
        microagg.read_table(path, plain)
