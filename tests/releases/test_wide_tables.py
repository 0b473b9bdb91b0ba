"""Tables of thousands of columns: nothing is asked of all columns for each of them, and sentences stay short."""

from __future__ import annotations

import json

import numpy as np
import pyarrow as pa
import pytest
from typer.testing import CliRunner

import microagg
from declarations import numeric
from microagg import Recipe
from microagg.cli.app import app
from microagg.errors import TableError
from microagg.releases.check.check import check_release
from microagg.schema.attribute import Attribute

N_COLUMNS = 400
NAMES = tuple(f"column_{place}" for place in range(N_COLUMNS))
TABLE = pa.table({name: np.arange(20.0) * place for place, name in enumerate(NAMES)})


def recipe(names=NAMES, **more):
    return Recipe(**({"k": 3, "attributes": {name: numeric() for name in names}} | more))


@pytest.mark.parametrize("method", ["mdav", "individual_ranking"])
def test_sentences_name_a_few_columns_and_the_files_for_programs_all(method, tmp_path):
    folder = microagg.release(TABLE, recipe(method=method)).save(tmp_path / "out")
    text = (folder / "statement.txt").read_text(encoding="utf-8")
    assert len(text) < 5_000
    assert "388 more" in text
    statement = json.loads((folder / "statement.json").read_text(encoding="utf-8"))
    assert [name for one in statement["guarantees"] for name in one["attributes"]] == list(NAMES)
    findings = check_release(folder)
    assert all(finding.holds for finding in findings)
    assert max(len(finding.name) + len(finding.detail) for finding in findings) < 500


def test_the_terminal_shows_no_endless_line(tmp_path):
    from pyarrow import csv

    csv.write_csv(TABLE, tmp_path / "in.csv")
    recipe().save(tmp_path / "r.toml")
    arguments = [*map(str, (tmp_path / "in.csv", "-r", tmp_path / "r.toml", "-o", tmp_path / "out")), "--no-report"]
    ended = CliRunner().invoke(app, ["release", *arguments])
    assert ended.exit_code == 0, ended.output
    assert "and 388 more occurs at least 3 times" in ended.output
    assert max(map(len, ended.output.splitlines())) < 500


def test_refusals_name_a_few_columns_and_count_the_others():
    with pytest.raises(TableError) as refused:
        microagg.release(TABLE, recipe(NAMES[:10]))
    assert "378 more columns are not declared" in str(refused.value)
    with pytest.raises(TableError) as refused:
        microagg.release(TABLE.select(NAMES[:10]), recipe())
    assert "378 more columns are declared" in str(refused.value)
    gaps = pa.table({name: pa.array([None, *range(19)], pa.float64()) for name in NAMES})
    with pytest.raises(TableError) as refused:
        microagg.release(gaps, recipe())
    assert "and 388 more" in str(refused.value)
    assert len(str(refused.value)) < 1_000


def test_each_column_is_asked_for_its_role_a_few_times_only(monkeypatch, tmp_path):
    """With all columns asked for each column, 5,000 of them took a minute."""
    asked = 0
    plain = Attribute.__getattribute__

    def counting(self, name):
        nonlocal asked
        asked += name == "role"
        return plain(self, name)

    made_for = recipe()
    monkeypatch.setattr(Attribute, "__getattribute__", counting)
    microagg.release(TABLE, made_for).save(tmp_path / "out")
    assert 0 < asked < 60 * N_COLUMNS
