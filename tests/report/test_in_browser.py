"""Reports as people see them: for everybody, on one screen, on four sheets, in the dark, and printed by a command."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
from typer.testing import CliRunner

import microagg
from browser import DARK, axe_violations, browser, found_in, n_sheets
from declarations import nominal, numeric
from microagg import Recipe
from microagg.cli.app import app

ABOUT = {
    "title": "Income and work of adults, 1994",
    "holder": "Bureau of Examples",
    "purpose": "Teaching and research on methods",
    "contact": "data@example.org",
    "date": "2026-03-31",
}
NUMBERS = ("age", "education-num", "hours-per-week")
CATEGORIES = ("marital-status", "race", "sex", "native-country", "workclass", "education")
CONFIDENTIAL = {
    **{name: {"role": "confidential", "kind": "nominal"} for name in ("occupation", "relationship", "income")},
    **{name: {"role": "confidential", "kind": "numeric"} for name in ("capital-gain", "capital-loss")},
}


@pytest.fixture(scope="module")
def pages(tmp_path_factory):
    """Both forms of a report with every picture: requirements, missing values, categories, long and hostile names."""
    rng = np.random.default_rng(0)
    n = 400
    place = "<script>alert(1)</script> a column with a name that is much longer than any label of a picture"
    table = pa.table(
        {
            "age": rng.integers(18, 90, n),
            "دخل": rng.lognormal(8, 1, n).round(),
            place: rng.choice(["north", "south", "east of everything that has a name"], n, p=[0.6, 0.3, 0.1]),
            "sick": rng.choice(["yes", "no"], n),
            "weight": rng.normal(70, 9, n),
        }
    )
    recipe = Recipe(
        k=6,
        about=ABOUT | {"purpose": f"{ABOUT['purpose']} <img src=x onerror=alert(1)> \u202e"},
        attributes={
            "age": numeric(),
            "دخل": numeric(),
            place: nominal(),
            "sick": {"role": "confidential", "kind": "nominal"},
            "weight": numeric(role="confidential"),
        },
        protect={"sick": {"distinct_l": 2}},
    )
    made, folder = microagg.release(table, recipe), tmp_path_factory.mktemp("pages")
    public, internal = folder / "public.html", folder / "internal.html"
    made.report(public)
    made.report(internal, internal=True)
    private = Recipe(
        method="dp_laplace",
        attributes={"age": numeric(bounds=[0, 100]), "sick": {"role": "confidential", "kind": "nominal"}},
        privacy={"epsilon": 1.0},
    )
    noisy = folder / "private.html"
    microagg.release(table.select(["age", "sick"]), private).report(noisy)
    return {"public": public, "internal": internal, "private": noisy}


@pytest.mark.parametrize(("form", "options"), [("public", ()), ("internal", (DARK,)), ("private", (DARK,))])
def test_axe_finds_nothing(pages, form, options):
    assert axe_violations(pages[form], *options) == []


def test_axe_finds_what_is_wrong(pages, tmp_path):
    """The same look at a page that is spoilt: so it can fail."""
    spoilt = tmp_path / "spoilt.html"
    spoilt.write_text(
        pages["public"].read_text().replace("--soft: #55606f", "--soft: #d0d0d0").replace(' lang="en"', "")
    )
    found = " ".join(axe_violations(spoilt))
    assert "color-contrast" in found
    assert "html-has-lang" in found


@pytest.mark.parametrize("form", ["public", "private"])
def test_the_summary_fits_on_one_screen_and_nothing_is_wider(pages, form):
    script = (
        "return {bottom: document.querySelector('#summary').getBoundingClientRect().bottom,"
        " wider: document.documentElement.scrollWidth - document.documentElement.clientWidth}"
    )
    found = found_in(pages[form], script)
    assert found["bottom"] <= 768
    assert found["wider"] == 0
    assert found_in(pages[form], script, size=(500, 900))["wider"] == 0


def test_the_public_report_of_adult_prints_on_four_sheets(reference_data, tmp_path):
    kinds = {name: numeric() for name in NUMBERS} | {name: nominal() for name in CATEGORIES} | CONFIDENTIAL
    table = reference_data("adult")
    left_out = dict.fromkeys(set(table.column_names) - set(kinds), "identifier")
    table = table.take(np.arange(0, table.num_rows, 8))
    missing = {"policy": "own_cell", "small": "merge_small"}
    recipe = Recipe(k=10, about=ABOUT, attributes=kinds | left_out, missing=missing)
    folder = microagg.release(table, recipe).save(tmp_path / "out", report=True)
    assert n_sheets(folder / "report.html") <= 4
    found = found_in(folder / "report.html", "return document.querySelector('nav').getBoundingClientRect().bottom")
    assert found <= 768


def test_the_command_line_prints_a_report_for_its_owner_only_if_it_is_internal(tmp_path, monkeypatch):
    browser()
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    microagg.tables.write.write_table(
        pa.table({"x": rng.normal(size=30), "y": rng.normal(size=30)}), tmp_path / "in.csv"
    )
    Recipe(k=3, attributes={"x": numeric(), "y": numeric()}).save("recipe.toml")
    for flags, mode in ((["--internal"], 0o600), ([], 0o644)):
        done = CliRunner().invoke(
            app,
            [
                "report",
                "in.csv",
                "in.csv",
                "-r",
                "recipe.toml",
                "-o",
                "page.html",
                "--pdf",
                "page.pdf",
                *flags,
                "--overwrite",
            ],
        )
        assert done.exit_code == 0, done.output
        assert (tmp_path / "page.pdf").read_bytes().startswith(b"%PDF")
        assert (tmp_path / "page.pdf").stat().st_mode & 0o777 == mode
