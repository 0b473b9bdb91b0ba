"""Which engine is taken, what the command says, and the [engine] table of a recipe."""

from __future__ import annotations

import json

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from typer.testing import CliRunner

import microagg
from microagg import InputError, Recipe
from microagg.cli.app import app
from microagg.engines import release_files as choosing
from microagg.errors import ParameterError, RecipeError

NUMERIC = {"role": "quasi_identifier", "kind": "numeric"}
RECIPE = Recipe(k=3, attributes={"x": NUMERIC, "s": "confidential"})
TEXT = 'k = 3\n[attributes]\nx = { role = "quasi_identifier", kind = "numeric" }\ns = "confidential"\n'


@pytest.fixture
def room(tmp_path):
    table = pa.table({"x": np.random.default_rng(0).normal(size=200), "s": np.arange(200)})
    pq.write_table(table, tmp_path / "one.parquet")
    (tmp_path / "several").mkdir()
    for number in range(2):
        pq.write_table(table.slice(100 * number, 100), tmp_path / "several" / f"{number}.parquet")
    (tmp_path / "recipe.toml").write_text(TEXT, encoding="utf-8")
    return tmp_path


def run(room, data, *more):
    given = ["release", str(room / data), "-r", str(room / "recipe.toml"), "-o", str(room / "out"), *more]
    return CliRunner().invoke(app, given)


def test_a_small_file_is_released_in_memory_and_several_files_in_parts(room):
    assert choosing.choose_engine(room / "one.parquet", RECIPE, "auto") == ("local", "")
    engine, why = choosing.choose_engine(room / "several", RECIPE, "auto")
    assert engine == "outofcore"
    assert "2 files" in why


def test_a_file_that_would_not_fit_is_released_in_parts_and_that_is_said(room, monkeypatch):
    monkeypatch.setattr(choosing, "memory_of_machine", lambda: 1_000.0)
    said = []
    made = microagg.release_files(room / "one.parquet", RECIPE, room / "out", tell=said.append)
    assert made.engine == "outofcore"
    assert "more than 25 % of memory" in said[0]
    sampled = RECIPE.changed({"aggregate.form": "sampled"})  # which can only be made in memory
    assert choosing.choose_engine(room / "one.parquet", sampled, "auto") == ("local", "")


def test_local_is_the_way_of_release(room):
    made = microagg.release_files(room / "one.parquet", RECIPE, room / "out", engine="local", seed=1)
    assert (made.engine, made.folder) == ("local", room / "out")
    same = microagg.release(pq.read_table(room / "one.parquet"), RECIPE, seed=1)
    assert pq.read_table(room / "out" / "table.parquet").equals(same.table)
    with pytest.raises(InputError, match="2 files; engine = 'local' takes one"):
        microagg.release_files(room / "several", RECIPE, room / "other", engine="local")


def test_unknown_engines_and_arguments(room):
    with pytest.raises(ParameterError, match="Did you mean 'outofcore'"):
        microagg.release_files(room / "several", RECIPE, room / "out", engine="out-of-core")
    with pytest.raises(ParameterError, match="seed"):
        microagg.release_files(room / "several", RECIPE, room / "out", seed=-1)
    with pytest.raises(ParameterError, match="Recipe"):
        microagg.release_files(room / "several", {}, room / "out")


def test_the_command_releases_and_checks_a_folder(room):
    result = run(room, "several")
    assert result.exit_code == 0, result.output
    assert "Counted on the written files together" in result.output
    assert "makes the report of a" in result.output
    checked = CliRunner().invoke(app, ["check", str(room / "out")])
    assert checked.exit_code == 0, checked.output
    page = str(room / "x.html")
    reported = CliRunner().invoke(app, ["report", str(room / "several"), str(room / "out"), "-o", page])
    assert reported.exit_code == 0, reported.output


def test_the_command_prints_json(room):
    result = run(room, "one.parquet", "--engine", "outofcore", "--json")
    found = json.loads(result.stdout)
    assert found["n_records"] == 200
    assert "table-00000.parquet" in found["files"]


def test_the_command_writes_parquet_only(room):
    result = run(room, "several", "--format", "csv")
    assert result.exit_code != 0
    assert "written as Parquet" in result.output
    assert not (room / "out").exists()


def test_sizes_of_parts_are_in_the_recipe_only_if_chosen():
    assert "engine" not in RECIPE.as_dict()
    chosen = Recipe.loads("k = 3\n[engine]\nshard_records = 1000\n" + TEXT.removeprefix("k = 3\n"))
    assert chosen.as_dict()["engine"]["shard_records"] == 1_000
    assert Recipe.loads(chosen.dumps()) == chosen
    with pytest.raises(RecipeError, match=r"engine\.shard_record: unknown key. Did you mean 'shard_records'"):
        Recipe(k=3, attributes={"x": NUMERIC}, engine={"shard_record": 5_000})
    with pytest.raises(RecipeError, match=r"engine\.block_records: input should be greater than or equal to 10"):
        Recipe(k=3, attributes={"x": NUMERIC}, engine={"block_records": 1})
