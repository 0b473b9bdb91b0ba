"""A released file of another tool is read as the recipe reads the input: an identical copy has lost nothing."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from microagg.cli.app import app
from microagg.recipe.recipe import Recipe
from microagg.releases.input import read_released, read_table

ATTRIBUTES = """
[attributes]
age = { role = "quasi_identifier", kind = "numeric" }
pay = { role = "ROLE", kind = "numeric" }
"""
PAYS = {
    "thousands": ('thousands = "."\ndecimal = ","', [f"{20 + 7 * i % 31}.{558 + i}" for i in range(30)]),
    "mixed thousands": (
        'thousands = "."\ndecimal = ","',
        [str(900 + i) if i % 3 else f"{i + 1}.{500 + i}" for i in range(30)],
    ),
    "percent": ('units = ["%"]', [f"{i}%" for i in range(30)]),
    "whole dates": ('date_format = { pay = "%Y%m%d" }', [f"202403{1 + i:02}" for i in range(30)]),
    "american dates": ('date_format = "%Y-%d-%m"', [f"2024-{1 + i % 12:02}-{1 + i % 9:02}" for i in range(30)]),
    "parentheses": ('negatives = "parentheses"', [f"({i})" for i in range(1, 31)]),
}


def written(folder: Path, pays: str, role: str) -> tuple[Path, Path]:
    said, values = PAYS[pays]
    (folder / "r.toml").write_text(f"k = 3\n[input]\n{said}\n{ATTRIBUTES.replace('ROLE', role)}")
    (folder / "d.csv").write_text("age,pay\n" + "".join(f"{20 + i},{pay}\n" for i, pay in enumerate(values)))
    return folder / "d.csv", folder / "r.toml"


@pytest.mark.parametrize("role", ["quasi_identifier", "confidential"])
@pytest.mark.parametrize("pays", PAYS)
def test_an_identical_copy_is_read_as_the_input(tmp_path: Path, pays: str, role: str) -> None:
    data, recipe = written(tmp_path, pays, role)
    copy = tmp_path / "copy.csv"
    copy.write_bytes(data.read_bytes())
    chosen = Recipe.load(recipe)
    assert read_released(copy, chosen).equals(read_table(data, chosen))
    command = ["evaluate", str(data), str(copy), "-r", str(recipe), "--aligned", "--json", "--measures", "SSE,SSE_SST"]
    run = CliRunner().invoke(app, command)
    assert run.exit_code == 0, run.output
    assert {one["value"] for one in json.loads(run.stdout).values()} == {0.0}
    said_so = "Read plainly it fits too" in run.stderr
    assert said_so == (pays in ("thousands", "mixed thousands", "whole dates", "american dates"))


@pytest.mark.parametrize("role", ["quasi_identifier", "confidential"])
@pytest.mark.parametrize("pays", ["percent", "parentheses", "mixed thousands"])
def test_a_copy_of_what_microagg_wrote_is_read_plainly(tmp_path: Path, pays: str, role: str) -> None:
    data, recipe = written(tmp_path, pays, role)
    out = tmp_path / "out"
    run = CliRunner().invoke(app, ["release", str(data), "-r", str(recipe), "-o", str(out)])
    assert run.exit_code == 0, run.output
    copy = tmp_path / "copy.csv"
    copy.write_bytes((out / "table.csv").read_bytes())
    chosen = Recipe.load(recipe)
    assert read_released(copy, chosen).equals(read_released(out / "table.csv", chosen))


def test_a_plain_copy_of_a_file_in_another_layout_keeps_its_header_and_its_encoding(tmp_path: Path) -> None:
    recipe = Recipe.loads(
        'k = 3\n[input]\nencoding = "latin-1"\nheader = false\ncolumns = ["sex", "town"]\n[attributes]\n'
        'sex = { role = "quasi_identifier", kind = "nominal" }\ntown = { role = "confidential", kind = "nominal" }\n'
    )
    plain, same = tmp_path / "plain.csv", tmp_path / "same.csv"
    plain.write_text("sex,town\nf,Köln\nm,Bern\n", encoding="utf-8")
    same.write_text("f,Köln\nm,Bern\n", encoding="latin-1")
    expected = {"sex": ["f", "m"], "town": ["Köln", "Bern"]}
    assert read_released(plain, recipe).to_pydict() == expected
    assert read_released(same, recipe).to_pydict() == expected
