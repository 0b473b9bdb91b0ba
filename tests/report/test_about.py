"""What a release is called, whose it is and of which day: in the recipe, the statement, the manifest and the report."""

from __future__ import annotations

import datetime as dt
import json

import numpy as np
import pyarrow as pa
import pytest

import microagg
from declarations import numeric
from microagg import Recipe
from microagg.errors import RecipeError
from microagg.releases.check.check import check_release
from microagg.schema.infer import draft_recipe, guess_schema
from microagg.tables.frames import Frame

TABLE = pa.table({"x": np.random.default_rng(0).normal(size=40), "y": np.random.default_rng(1).normal(size=40)})
ATTRIBUTES = {"x": numeric(), "y": numeric()}
ABOUT = {
    "title": "Hostile <script>alert(1)</script> \u202eeltit",
    "holder": "مكتب الإحصاء",
    "purpose": "Research &\n   teaching",
    "contact": '"data"@example.org',
}


def released(folder, about, **more):
    made = microagg.release(TABLE, Recipe(k=5, attributes=ATTRIBUTES, about=about), **more)
    return made, made.save(folder, report=True)


def test_it_stands_in_statement_manifest_and_report_and_a_check_follows_it(tmp_path):
    _, folder = released(tmp_path / "out", ABOUT | {"date": "2026-03-31"})
    assert all(finding.holds for finding in check_release(folder))
    statement, manifest = (json.loads((folder / f"{name}.json").read_text()) for name in ("statement", "manifest"))
    assert statement["about"] == ABOUT | {"purpose": "Research & teaching", "date": "2026-03-31"}
    assert manifest["date"] == "2026-03-31"
    words, page = ((folder / name).read_text() for name in ("statement.txt", "report.html"))
    assert words.startswith("Title: Hostile <script>alert(1)</script> \\u202eeltit\nHolder: مكتب الإحصاء\n")
    assert "Hostile &lt;script&gt;alert(1)&lt;/script&gt; \\u202eeltit</h1>" in page
    assert '<dd dir="auto">مكتب الإحصاء</dd>' in page
    assert "<dt>Date</dt><dd" in page
    assert "2026-03-31" in page


def test_a_release_has_the_day_it_was_made_and_a_report_written_later_says_the_same(tmp_path, monkeypatch):
    made, folder = released(tmp_path / "out", {})
    first = (folder / "report.html").read_bytes()
    date = json.loads((folder / "manifest.json").read_text())["date"]
    assert abs((dt.datetime.now(dt.UTC).date() - dt.date.fromisoformat(date)).days) <= 1
    assert "about" not in json.loads((folder / "statement.json").read_text())
    monkeypatch.setattr("microagg.recipe.about.today", lambda: "2001-01-01")
    made.report(folder / "report.html")
    assert (folder / "report.html").read_bytes() == first
    assert date in first.decode()
    assert all(finding.holds for finding in check_release(folder))


@pytest.mark.parametrize(
    ("file", "change"),
    [
        ("manifest.json", lambda content: content | {"date": "2026-04-01"}),
        ("manifest.json", lambda content: content | {"date": "soon"}),
        ("statement.json", lambda content: content | {"about": content["about"] | {"holder": "somebody else"}}),
        ("statement.json", lambda content: {key: value for key, value in content.items() if key != "about"}),
    ],
)
def test_a_check_finds_another_date_or_holder(tmp_path, file, change):
    _, folder = released(tmp_path / "out", ABOUT | {"date": "2026-03-31"})
    content = json.loads((folder / file).read_text())
    (folder / file).write_text(json.dumps(change(content), ensure_ascii=False, indent=2) + "\n")
    faults = {finding.name for finding in check_release(folder) if not finding.holds}
    assert {"manifest.json": "manifest", "statement.json": "statement"}[file] in faults


@pytest.mark.parametrize(
    ("about", "said"),
    [
        ({"title": " \n "}, "about.title: is empty"),
        ({"holder": "x" * 201}, "about.holder: has 201 characters, and 200 are shown at most"),
        ({"purpose": "x" * 1001}, "about.purpose: has 1,001 characters"),
        ({"contact": 7}, "about.contact: input should be a valid string"),
        ({"date": "31.3.2026"}, "about.date: must be a day such as 2026-03-31"),
        ({"date": "2026-02-30"}, "about.date: is no day of the calendar"),
        ({"date": 20260331}, "about.date: must be a day such as 2026-03-31"),
        ({"date": dt.datetime(2026, 3, 31)}, "about.date: must be a day such as 2026-03-31"),
        ({"owner": "x"}, "about.owner: unknown key."),
    ],
)
def test_what_cannot_stand_on_top_of_a_page_is_refused_with_its_key(about, said):
    with pytest.raises(RecipeError, match="about") as refused:
        Recipe(k=5, attributes=ATTRIBUTES, about=about)
    assert said in str(refused.value)


def test_a_recipe_with_it_is_read_back_from_its_text():
    recipe = Recipe(k=5, attributes=ATTRIBUTES, about=ABOUT | {"date": dt.date(2026, 3, 31)})
    assert Recipe.loads(recipe.dumps()) == recipe
    assert "about" not in Recipe(k=5, attributes=ATTRIBUTES).as_dict()


def test_a_draft_shows_it_and_works_with_it_uncommented():
    draft = draft_recipe(guess_schema(Frame.wrap(TABLE)), table_name="data.csv", n_records=40)
    lines = draft.splitlines()
    first = next(i for i, line in enumerate(lines) if line.startswith("# [about]"))
    opened = [line.removeprefix("# ") if first <= i <= first + 4 else line for i, line in enumerate(lines)]
    assert Recipe.loads("\n".join(opened)).about.title == "..."
