"""A file format is one file and one line: that of the docs goes through everything, and leaves no trace."""

from __future__ import annotations

import hashlib
import importlib
import json
import re
import sys
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

import microagg
from declarations import nominal, numeric
from microagg import Recipe
from microagg.cli.app import app
from microagg.errors import ParameterError, TableError
from microagg.releases.check.check import check_release
from microagg.tables.formats import format_of, register_format, registered_formats, unregister_format

PAGE = Path(__file__).parents[2] / "docs" / "file_formats.md"
RECIPE = Recipe(
    k=3,
    attributes={
        "person": "identifier",
        "age": numeric(),
        "town": nominal(),
        "pay": {"role": "confidential", "kind": "numeric"},
    },
    input={"missing": {"pay": [-999]}},
)
KNOWN = [one.name for one in registered_formats()]


@pytest.fixture
def json_rows(tmp_path, monkeypatch):
    """The format of the docs, as one file that is imported in one line."""
    (code,) = re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    (tmp_path / "modules").mkdir()
    (tmp_path / "modules" / "json_rows.py").write_text(code, encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path / "modules")
    kind = importlib.import_module("json_rows").JsonRows
    yield format_of("any.jsonrows")
    unregister_format(kind)
    del sys.modules["json_rows"]


@pytest.fixture
def data(tmp_path):
    rng = np.random.default_rng(0)
    records = [
        {
            "person": f"canary-{i}",
            "age": int(rng.integers(18, 90)),
            "town": str(rng.choice(["Ulm", "Köln", "08001"])),
            "pay": -999 if i == 7 else round(float(rng.normal(2000, 300)), 2),
        }
        for i in range(60)
    ]
    path = tmp_path / "survey.jsonrows"
    rows = [list(records[0]), *(list(record.values()) for record in records)]
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows), encoding="utf-8")
    return path


def failed(folder):
    return {finding.name for finding in check_release(folder) if not finding.holds}


def mend_hashes(folder):
    """Write the hashes of changed files into the manifest, as a clever forger would."""
    manifest = json.loads((folder / "manifest.json").read_text())
    hashes = manifest["output"]["sha256"]
    hashes |= {file: hashlib.sha256((folder / file).read_bytes()).hexdigest() for file in hashes}
    (folder / "manifest.json").write_text(json.dumps(manifest, indent=2, ensure_ascii=False) + "\n")


@pytest.fixture
def folder(json_rows, data, tmp_path):
    """A release as a reader has it: without its receipt."""
    release = microagg.release(microagg.read_table(data, RECIPE), RECIPE, source=data)
    saved = release.save(tmp_path / "out", format="jsonrows", report=True)
    release.receipt_path(saved).unlink()
    return saved


def test_a_release_is_read_saved_reported_and_checked(folder):
    assert sorted(path.suffix for path in folder.glob("table.*")) == [".jsonrows"]
    assert not failed(folder)
    form = next(one for one in check_release(folder) if one.name == "form of table.jsonrows")
    assert form.detail == "it is written as microagg writes, to the byte"
    lines = (folder / "table.jsonrows").read_text(encoding="utf-8").splitlines()
    names, *records = [json.loads(line) for line in lines]
    assert len(records) == 60
    assert names == ["age", "town", "pay"]
    assert sum(record[2] is None for record in records) == 1  # a code for missing, read as the recipe says
    assert (folder / "report.html").is_file()


@pytest.mark.usefixtures("json_rows")
def test_the_commands_take_it_as_any_other(data, tmp_path):
    def run(*words):
        result = CliRunner().invoke(app, [str(word) for word in words])
        assert result.exit_code == 0, result.output
        return result

    run("init", data, "-o", tmp_path / "draft.toml")
    RECIPE.save(tmp_path / "recipe.toml")
    run("release", data, "-r", tmp_path / "recipe.toml", "-o", tmp_path / "out")
    assert (tmp_path / "out" / "table.jsonrows").is_file()
    run("check", tmp_path / "out")
    judged = run("evaluate", data, tmp_path / "out", "-r", tmp_path / "recipe.toml", "--json")
    assert 0 < json.loads(judged.stdout)["SSE_SST"]["value"] < 100
    run("report", data, tmp_path / "out", "--internal", "-o", tmp_path / "internal.html")
    assert "Köln" in (tmp_path / "internal.html").read_text(encoding="utf-8")


MARKS = {
    "a blank": lambda lines: [lines[0], lines[1].replace(", ", ",  ", 1), *lines[2:]],
    "another way to write a letter": lambda lines: [lines[0].replace("a", "\\u0061", 1), *lines[1:]],
    "a blank at the end": lambda lines: [*lines[:-1], f"{lines[-1]} "],
}


@pytest.mark.parametrize("mark", MARKS)
def test_a_marked_record_is_found(folder, mark):
    path = folder / "table.jsonrows"
    path.write_text("".join(f"{line}\n" for line in MARKS[mark](path.read_text("utf-8").splitlines())), "utf-8")
    assert "file table.jsonrows" in failed(folder)
    mend_hashes(folder)
    assert failed(folder) >= {"form of table.jsonrows"}


def test_a_changed_value_is_found(folder):
    path = folder / "table.jsonrows"
    lines = path.read_text("utf-8").splitlines()
    lines[1] = json.dumps([17, *json.loads(lines[1])[1:]], ensure_ascii=False)
    path.write_text("".join(f"{line}\n" for line in lines), "utf-8")
    assert failed(folder) >= {"file table.jsonrows"}
    mend_hashes(folder)
    assert any("k-anonymity" in name for name in failed(folder))


def test_messages_of_libraries_are_withheld(json_rows, tmp_path):
    path = tmp_path / "broken.jsonrows"
    path.write_text('["age"]\n[canary]\n')
    with pytest.raises(TableError, match=r"^broken\.jsonrows cannot be read as JSON rows") as caught:
        json_rows.read(path)
    assert "canary" not in str(caught.value)
    assert caught.value.__suppress_context__


def test_unregistering_leaves_no_trace(folder, data):
    assert [one.name for one in registered_formats()] == [*KNOWN, "jsonrows"]
    kind = type(format_of(data))
    register_format(kind)
    assert len(registered_formats()) == len(KNOWN) + 1
    release = microagg.release(microagg.read_table(data, RECIPE), RECIPE)
    unregister_format(kind)
    assert [one.name for one in registered_formats()] == KNOWN
    with pytest.raises(TableError, match="unknown extension"):
        microagg.read_table(data, RECIPE)
    with pytest.raises(TableError, match="unknown extension"):
        check_release(folder)
    with pytest.raises(ParameterError, match="format must be one of csv, "):
        release.save(folder, format="jsonrows", overwrite=True)
