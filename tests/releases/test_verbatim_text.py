"""Text that is published as it was written is for writing only: measures are of the numbers that it says."""

from __future__ import annotations

import json
import random
from pathlib import Path

import pytest
from typer.testing import CliRunner

import microagg
from microagg.cli.app import app
from microagg.recipe.recipe import Recipe
from microagg.releases.input import read_table

RECIPE = """
k = 3
method = "mdav"
[attributes]
age = { role = "quasi_identifier", kind = "numeric" }
price = PRICE
rent = { role = "confidential", kind = "numeric" }
"""
DECLARED = '{ role = "confidential", kind = "numeric" }'


def rows(form: str) -> str:
    rng = random.Random(1)
    lines = (
        f"{rng.randint(18, 90)},{format(rng.randint(10, 900) / 10, form)},{rng.randint(300, 2000)}" for _ in "x" * 90
    )
    return "age,price,rent\n" + "\n".join(lines) + "\n"


@pytest.mark.parametrize("price", [DECLARED, '"confidential"', '{ role = "non_confidential", kind = "numeric" }'])
@pytest.mark.parametrize("form", [".2f", "+.1f", ".3e"])
def test_a_report_measures_what_evaluate_measures(tmp_path: Path, price: str, form: str) -> None:
    data, recipe, out = tmp_path / "d.csv", tmp_path / "r.toml", tmp_path / "out"
    data.write_text(rows(form))
    recipe.write_text(RECIPE.replace("PRICE", price))
    run = CliRunner().invoke(app, ["release", str(data), "-r", str(recipe), "-o", str(out)])
    assert run.exit_code == 0, run.output
    written = sorted(line.split(",")[1].strip('"') for line in (out / "table.csv").read_text().splitlines()[1:])
    assert written == sorted(line.split(",")[1] for line in data.read_text().splitlines()[1:])  # verbatim
    run = CliRunner().invoke(app, ["evaluate", str(data), str(out), "--json"])
    assert run.exit_code == 0, run.output
    measured = json.loads(run.stdout)
    reported = json.loads((out / "report.json").read_text())["measures"]["utility"]
    compared = [one for one in reported if one["name"] in measured]
    assert "correlation_difference" in {one["name"] for one in compared}
    for one in compared:
        assert one["value"] == pytest.approx(measured[one["name"]]["value"], rel=0.06), one["name"]  # two digits


def test_a_release_made_in_python_of_text_is_measured_as_numbers_too(tmp_path: Path) -> None:
    data = tmp_path / "d.csv"
    data.write_text(rows(".2f"))
    recipe = Recipe.loads(RECIPE.replace("PRICE", DECLARED))
    pages = []
    for as_text in (True, False):
        made = microagg.release(read_table(data, recipe, as_text=as_text), recipe, seed=1)
        page = made.report(tmp_path / f"{as_text}.html")
        content = json.loads(page.with_suffix(".json").read_text())
        pages.append({one["name"]: one["value"] for one in content["measures"]["utility"]})
    assert pages[0] == pages[1]


@pytest.mark.parametrize(
    ("said", "values", "published"),
    [
        ('decimal = ","\nthousands = "."', ["1.234", "42.558", "7.001"], [1234, 42558, 7001]),
        ('date_format = { v = "%Y-%d-%m" }', ["2024-01-02", "2024-03-04", "2024-05-06"], None),
        ('date_format = { v = "%Y%m%d" }', ["20240102", "20240304", "20240506"], None),
    ],
)
def test_text_that_plainly_says_something_else_is_published_plainly(
    tmp_path: Path, said: str, values: list[str], published: list[int] | None
) -> None:
    data = tmp_path / "d.csv"
    data.write_text("age,v\n" + "".join(f"{20 + i},{value}\n" for i, value in enumerate(values)))
    recipe = Recipe.loads(
        f'k = 3\n[input]\n{said}\n[attributes]\nage = {{ role = "quasi_identifier", kind = "numeric" }}\n'
        'v = "confidential"\n'
    )
    table = read_table(data, recipe, as_text=True)
    assert table["v"].equals(read_table(data, recipe)["v"])
    assert published is None or table["v"].to_pylist() == published


@pytest.mark.parametrize("values", [["0.50", "1.00", "2.25"], ["12:30", "12:31", "01:00"], ["TRUE", "FALSE", "TRUE"]])
def test_what_says_the_same_plainly_stays_as_it_is_written(tmp_path: Path, values: list[str]) -> None:
    data = tmp_path / "d.csv"
    data.write_text("age,v\n" + "".join(f"{20 + i},{value}\n" for i, value in enumerate(values)))
    recipe = Recipe.loads(
        'k = 3\n[attributes]\nage = { role = "quasi_identifier", kind = "numeric" }\nv = "confidential"\n'
    )
    assert read_table(data, recipe, as_text=True)["v"].to_pylist() == values
