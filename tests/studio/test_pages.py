"""Pages and edits, without a browser: every click is an edit of the recipe, and names of columns are only words."""

from __future__ import annotations

import hashlib
import json
import re
import tomllib
from pathlib import Path

import pytest

import microagg
from studio_pages import RECIPE, SAID, SURVEY, open_studio, recipe_of, set_key, with_project

STATIC = Path(microagg.__file__).with_name("studio") / "static"
SCREENS = ("table", "roles", "risk", "frontier", "release", "statement", "download", "compare", "recipe")
HOSTILE = "<script>alert(1)</script>"


def test_htmx_is_the_published_file_with_its_licence():
    found = hashlib.sha256((STATIC / "htmx.min.js").read_bytes()).hexdigest()
    assert found == "d6fdc75f204e6bdefa99b69bf1e6d4ac69b8a364f77929f45c13476b4000f717"  # htmx.org 2.0.11
    assert "Zero-Clause BSD" in (STATIC / "htmx.LICENSE.txt").read_text(encoding="utf-8")


def test_every_page_has_the_recipe_and_a_command_and_nothing_inline(opened):
    _, browser, _ = opened
    for screen in SCREENS:
        page = browser.get(f"/{screen}")
        assert page.status == 200, screen
        assert "What was decided." in page.text
        assert not re.search(r"<script(?! src=\"/static/)|<style| style=| on\w+=|javascript:", page.text), screen
        assert not re.search(r"(src|href|action)=\"(?!/|#)", page.text), screen
        if screen not in ("statement", "download", "compare"):  # there is no release yet
            assert "The same on a command line" in page.text, screen


def test_the_first_page_is_small(tmp_path):
    studio, browser, _ = open_studio(tmp_path)
    page = browser.get("/table")
    linked = re.findall(r'(?:src|href)="(/static/[^"]+)"', page.text)
    assert len(linked) == 4
    assert len(page.body) + sum(len(browser.get(path).body) for path in linked) <= 150_000
    studio.close()


def test_a_click_edits_the_recipe_and_keeps_its_comments(opened):
    _, browser, project = opened
    assert set_key(browser, ["attributes", "age", "role"], "confidential").header("location") == "/roles"
    set_key(browser, ["k"], "7", "number")
    set_key(browser, ["attributes", "education", "kind"], "ordinal")
    set_key(browser, ["attributes", "education", "categories"], "low\nhigh", "lines")
    assert recipe_of(project)["attributes"]["age"]["role"] == "confidential"
    assert recipe_of(project)["k"] == 7
    assert recipe_of(project)["attributes"]["education"]["categories"] == ["low", "high"]
    assert "# What was decided." in project.recipe_text
    assert project.questions == []
    set_key(browser, ["attributes", "education", "kind"], "numeric")
    assert "categories" not in recipe_of(project)["attributes"]["education"]


def test_several_columns_are_edited_at_once(opened):
    _, browser, project = opened
    browser.post("/roles/columns", {"column": ["id", "income"], "role": "quasi_identifier", "do": "set", **SAID})
    assert {recipe_of(project)["attributes"][name]["role"] for name in ("id", "income")} == {"quasi_identifier"}
    assert recipe_of(project)["attributes"]["id"]["kind"] == "nominal"  # a quasi-identifier needs one
    assert project.checked()[0] is not None


def test_a_tree_is_drawn_and_taken_from_a_file(opened):
    _, browser, project = opened
    browser.post("/roles/taxonomy", {"name": "region", "outline": "land\n  north\n  south", **SAID})
    assert recipe_of(project)["attributes"]["region"]["taxonomy"] == {"north": "land", "south": "land"}
    assert "<li>land" in browser.get("/roles?column=2").text
    browser.send("/roles/taxonomy/send", "tree.txt", b"all\n  up\n    north\n  south\n", {"place": "2"})
    assert recipe_of(project)["attributes"]["region"]["taxonomy"]["north"] == "up"


def test_undo_and_redo_are_the_recipe_s_history_also_after_a_restart(opened, tmp_path):
    from microagg.studio.history import History

    _, browser, project = opened
    set_key(browser, ["k"], "3", "number")
    set_key(browser, ["k"], "4", "number")
    browser.post("/recipe/undo", SAID)
    assert recipe_of(project)["k"] == 3
    again = History(project.folder)  # as after a crash
    assert tomllib.loads(again.text)["k"] == 3
    assert again.redo() == "k = 4"
    again.undo()
    (project.folder / "position").unlink()  # it died before this was written
    assert tomllib.loads(History(project.folder).text)["k"] == 3
    again.add(RECIPE, "given anew")
    assert not again.redoable
    assert again.recipe_file.read_text() == RECIPE


def test_a_text_that_is_no_recipe_is_not_taken_and_not_lost(opened):
    _, browser, project = opened
    before = project.recipe_text
    version = project.history.version
    browser.post("/recipe/write", {"text": "k = = 3 # mine", "version": version, "back": "/recipe"})
    assert project.recipe_text == before
    assert "k = = 3 # mine" in browser.get("/recipe").text
    set_key(browser, ["k"], "9", "number")
    browser.post("/recipe/write", {"text": before, "version": version, "back": "/recipe"})
    assert recipe_of(project)["k"] == 9  # another page was faster
    browser.post("/recipe/write", {"text": before, "version": project.history.version, "back": "/recipe"})
    assert project.recipe_text == before


def test_a_recipe_goes_out_and_comes_in(opened):
    _, browser, project = opened
    assert browser.get("/recipe.toml").text == project.recipe_text
    browser.send("/recipe/send", "other.toml", RECIPE.replace("k = 2", "k = 6").encode())
    assert recipe_of(project)["k"] == 6
    browser.send("/recipe/send", "other.toml", b"\xff\xfe")
    assert recipe_of(project)["k"] == 6


def test_a_recipe_that_cannot_be_used_is_said_to_be_so_and_starts_nothing(opened):
    studio, browser, _ = opened
    for name in ("age", "region", "education"):
        set_key(browser, ["attributes", name, "role"], "identifier")
    assert "Not usable yet: no attribute has role" in browser.get("/risk").text.replace("&#39;", "'")
    browser.post("/risk/count", {"back": "/risk"})
    assert studio.jobs.current is None
    assert "cannot be used yet" in browser.get("/risk").text


@pytest.mark.parametrize(
    "back", ["http://evil.example/", "//evil.example", "/enter?token=x", "/\\evil.example", "javascript:1"]
)
def test_a_form_leads_to_our_own_pages_only(opened, back):
    _, browser, _ = opened
    assert browser.post("/recipe/undo", {"back": back}).header("location") == "/table"


def test_names_and_categories_are_hostile_until_escaped(tmp_path):
    studio, browser, _ = open_studio(tmp_path)
    names = [HOSTILE, 'a"b', "x'; y", "${7*7}{{7*7}}", "\u202egro.elpmaxe", "café.né[0]"]
    quoted = ",".join('"' + name.replace('"', '""') + '"' for name in names)
    survey = (
        quoted
        + "\n"
        + "\n".join(",".join([f'"<img src=x onerror=alert({i})>"', "1", "2", "3", "4", "5"]) for i in range(8))
    )
    lines = []
    for name in names:
        lines += [f"[attributes.{json.dumps(name)}]", 'role = "quasi_identifier"', 'kind = "nominal"']
    project = with_project(studio, tmp_path, survey=survey, recipe="k = 2\n" + "\n".join(lines), name="<b>.csv")
    for screen in (*SCREENS, "roles?column=0", "roles?column=4"):
        text = browser.get(f"/{screen}").text
        assert "<script>alert" not in text
        assert "<img" not in text
        assert "<b>.csv" not in text
        assert "\u202e" not in text
        assert "4949" not in text
    for name in names:
        set_key(browser, ["attributes", name, "role"], "confidential")
    assert {one["role"] for one in recipe_of(project)["attributes"].values()} == {"confidential"}
    studio.close()


@pytest.mark.parametrize(
    ("name", "kept"),
    [
        ("../../etc/passwd.csv", "passwd.csv"),
        ("C:\\x\\.hidden.csv", "hidden.csv"),
        ("a\r\nb.csv", "ab.csv"),
        ("..", "table.csv"),
    ],
)
def test_a_file_is_kept_for_its_owner_under_a_harmless_name(tmp_path, name, kept):
    from microagg.studio.places import safe_name

    assert safe_name(name) == kept


def test_a_file_that_is_sent_lies_in_a_private_folder_until_the_end(tmp_path):
    studio, browser, _ = open_studio(tmp_path)
    studio.jobs.start = lambda *_: None  # reading it is another test's
    assert browser.send("/table/send", "people.csv", SURVEY.encode()).status == 303
    path = studio.project.source
    assert path.read_text() == SURVEY
    assert [folder.stat().st_mode & 0o777 for folder in (tmp_path, studio.run.path, path.parent)] == [0o700] * 3
    assert path.stat().st_mode & 0o777 == 0o600
    studio.close()
    assert not studio.run.path.exists()
    assert not list(tmp_path.rglob("people.csv"))


def test_a_file_that_is_too_large_is_refused_in_words_and_not_kept(tmp_path):
    studio, browser, _ = open_studio(tmp_path, max_upload=100)
    assert browser.send("/table/send", "people.csv", b"x" * 300_000).status == 303
    assert "larger than 100 bytes" in browser.get("/table").text
    assert studio.project is None
    assert not list(tmp_path.rglob("people.csv"))
    assert browser.ask("POST", "/table/send", b"--", content_type="text/plain").status == 303
    assert browser.send("/table/send", "", b"").status == 303
    studio.close()


def test_an_unforeseen_error_shows_no_value(opened, monkeypatch):
    from microagg.studio.screens import roles

    _, browser, _ = opened

    def fail(_):
        raise KeyError("secret income 4711")

    monkeypatch.setattr(roles, "columns_of", fail)
    answer = browser.get("/roles")
    assert answer.status == 500
    assert "KeyError" in answer.text
    assert "4711" not in answer.text


def test_dead_studios_are_swept_and_living_ones_left_alone(tmp_path):
    from microagg.studio.places import RunFolder

    living = RunFolder(tmp_path)
    (living.folder("uploads") / "a.csv").write_text("x")
    dead = tmp_path / "run-dead"
    (dead / "uploads").mkdir(parents=True)
    (dead / "uploads" / "b.csv").write_text("y")
    third = RunFolder(tmp_path)
    assert not dead.exists()
    assert (living.path / "uploads" / "a.csv").exists()
    for one in (living, third):
        one.remove()
    assert not list(tmp_path.glob("run-*"))


def test_a_studio_without_its_packages_says_what_to_install(monkeypatch):
    import importlib.util

    from typer.testing import CliRunner

    from microagg.cli.app import app

    found = importlib.util.find_spec
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None if name == "starlette" else found(name))
    ended = CliRunner().invoke(app, ["studio"])
    assert ended.exit_code == 2
    assert "pip install 'microagg[studio]'" in ended.output


def make_one(studio, project, folder_is_there=True):
    """What a job that makes a release was given, as if its process had got so far."""
    orders = []
    studio.jobs.start = lambda *order: orders.append(order)
    made = studio.make_release(seed=None, file_format="", sign="", name="survey")
    if folder_is_there:
        project.folder_of(made).mkdir()
    return made, orders[0]


def test_a_release_is_found_however_its_job_ended(opened):
    studio, browser, project = opened
    made, (*_, has_written) = make_one(studio, project, folder_is_there=False)
    assert project.releases == []
    assert not has_written()
    project.folder_of(made).mkdir()
    project.folder_of(made).with_name(f"{made.name}.receipt-0123.json").write_text("{}")
    assert has_written()
    assert [one.name for one in project.releases] == [made.name]
    assert "Written, not checked yet" in browser.get("/release").text
    assert "Receipt (internal)" in browser.get("/download").text
    assert browser.get("/download/1/receipt.json").body == b"{}"


def test_a_release_that_was_removed_while_it_was_looked_at_stays_removed(opened):
    studio, browser, project = opened
    _, (_, _, _, done, partial, _) = make_one(studio, project)
    browser.post("/release/forget", {"release": "1", "back": "/release"})
    found = {"engine": "local", "cells": 1, "loss": 0.0, "receipt": "r.json", "notes": []}
    partial(found)
    done({**found, "holds": True, "findings": [], "facts": {}})
    assert project.releases == []


def test_a_job_whose_result_cannot_be_kept_ends_and_the_next_one_is_heard(tmp_path):
    from types import SimpleNamespace

    from microagg.studio.jobs import FAILED, Job, Jobs

    def full(_):
        raise OSError(28, "No space left on device")

    jobs = Jobs(tmp_path)
    jobs._process = process = SimpleNamespace(is_alive=lambda: False, join=lambda *_: None, exitcode=-9, pid=2**30)
    for kind in ("partial", "done"):
        jobs.current, jobs._on_done, jobs._on_partial = Job("look", "one"), full, full
        jobs._hear(process, kind, {})
        assert (jobs.current.state, jobs.current.message) == (FAILED, "No space left on device")


@pytest.mark.parametrize("has_told", [False, True])
def test_what_a_job_has_finished_is_not_said_to_be_gone(tmp_path, has_told):
    from types import SimpleNamespace

    from microagg.studio.jobs import Job, Jobs

    jobs = Jobs(tmp_path)
    jobs.warm_up = lambda: None
    process = SimpleNamespace(is_alive=lambda: False, join=lambda *_: None, exitcode=-9, pid=2**30)
    gone = SimpleNamespace(recv=lambda: (_ for _ in ()).throw(EOFError))
    for end in (jobs.cancel, lambda: jobs._listen(process, gone)):
        jobs._process, jobs.current, jobs._on_partial = process, Job("frontier", "many"), None
        if has_told:
            jobs._hear(process, "partial", {})
        end()
        assert ("is kept" in jobs.current.message) is has_told
        assert ("othing" in jobs.current.message) is not has_told


def test_the_recipe_s_file_may_be_edited_outside(opened):
    from microagg.studio.history import History

    _, browser, project = opened
    file = project.history.recipe_file
    file.write_text(RECIPE.replace("k = 2", "k = 8"), encoding="utf-8")
    assert "k = 8" in browser.get("/roles").text
    set_key(browser, ["attributes", "age", "role"], "confidential")
    assert recipe_of(project)["k"] == tomllib.loads(file.read_text())["k"] == 8
    browser.post("/recipe/undo", SAID)
    browser.post("/recipe/undo", SAID)
    assert recipe_of(project)["k"] == 2
    file.write_text("k = 11\n", encoding="utf-8")
    assert History(project.folder).text == "k = 11\n"
    file.write_bytes(b"\xff")
    assert History(project.folder).text == "k = 11\n"


def test_a_move_that_was_cut_off_is_no_edit(opened):
    from microagg.studio.history import History

    _, browser, project = opened
    set_key(browser, ["k"], "3", "number")
    position = (project.folder / "position").read_text()
    set_key(browser, ["k"], "4", "number")
    (project.folder / "position").write_text(position)
    again = History(project.folder)
    assert (tomllib.loads(again.text)["k"], again.undoable, again.redoable) == (4, "k = 4", "")


@pytest.mark.parametrize(
    "text",
    [
        *("attributes = 5", 'attributes = "x"', "[attributes]\nage = 5", "method = 5", "missing = 5", "input = 5"),
        *("sweep = 5", "[sweep]\nepsilon = 1.0", '[sweep]\nmethods = "pcp"', "[sweep]\nmethods = {a = 1}", "unit = 5"),
        *("[attributes.age]\nkind = 'numeric'\nbounds = 5", "[attributes.age]\nkind = 'ordinal'\ncategories = 5"),
        *("protect = 5", "[attributes.age]\nrole = 'confidential'\n[protect]\nage = 5", "strata = 5", "about = 5"),
        *("[strata]\nby = 5", "[input]\ncolumns = 5\nmissing_values = 5", "k = = 5", ""),
    ],
)
def test_a_text_that_is_no_recipe_yet_is_shown_on_every_page(opened, text):
    _, browser, project = opened
    project.history.add(text, "edited as text")
    pages = [browser.get(f"/{screen}") for screen in (*SCREENS, "roles?column=1")]
    assert [page.status for page in pages] == [200] * len(pages)


def test_a_key_of_what_is_no_table_is_refused_in_words(opened):
    _, browser, project = opened
    project.history.add('missing = "x"\nprotect = 5\n' + RECIPE, "edited as text")
    before = project.recipe_text
    set_key(browser, ["missing", "policy"], "impute")
    assert "&#39;missing&#39; is no table in this recipe" in browser.get("/roles").text
    set_key(browser, ["protect", "income", "distinct_l"], "2", "number")
    assert "&#39;protect&#39; is no table in this recipe" in browser.get("/roles").text
    assert project.recipe_text == before


@pytest.mark.parametrize("typed", ["nan", "inf", "-1e999", "9" * 5000])
def test_what_is_no_number_is_refused_and_comments_stay(opened, typed):
    _, browser, project = opened
    before = project.recipe_text
    set_key(browser, ["attributes", "age", "resolution"], typed, "number")
    assert project.recipe_text == before
    project.history.add("weight = nan\n" + before, "edited as text")
    set_key(browser, ["k"], "3", "number")
    assert "# What was decided." in project.recipe_text


@pytest.mark.parametrize("end", ["\u2028", "\u0085", "\u2029"])
def test_a_name_that_holds_the_end_of_a_line_moves_no_question(opened, end):
    _, browser, project = opened
    asked = '[attributes."{}"]\n# DECIDE: is it known?\nrole = "quasi_identifier"\nkind = "nominal"\n'
    project.history.add(f"k = 2\n{asked.format(f'x{end}y')}{asked.format('age')}{asked.format('sex')}", "given")
    assert [one.column for one in project.questions] == [f"x{end}y", "age", "sex"]
    browser.post("/roles/columns", {"column": ["age"], "do": "settle", **SAID})
    assert [one.column for one in project.questions] == [f"x{end}y", "sex"]


def test_a_tree_too_deep_to_draw_is_kept_and_shown_as_text(opened):
    _, browser, project = opened
    outline = "\n".join(f"{' ' * depth}n{depth}" for depth in range(300))
    browser.post("/roles/taxonomy", {"name": "region", "outline": outline, **SAID})
    assert len(recipe_of(project)["attributes"]["region"]["taxonomy"]) == 299
    page = browser.get("/roles?column=2")
    assert page.status == 200
    assert "n299" in page.text
    assert "It cannot be drawn" in page.text


def test_results_and_releases_of_another_version_break_no_page(opened):
    from microagg.studio.project import Project

    studio, browser, project = opened
    for old in ({"title": "x", "digest": "y"}, [], {"points": [], "digest": "y", "made_by": "0.0.1"}):
        for name in ("risk", "frontier"):
            (project.folder / f"{name}.json").write_text(json.dumps(old))
        facts, studio.project = project.facts, Project(project.source, project.typed, project.folder)
        studio.project.facts = facts
        assert [browser.get(f"/{name}").status for name in ("risk", "frontier")] == [200, 200]
    for number, written in enumerate(('{"number": 1, "na', "[]", '{"number": 3, "name": "r", "recipe": "", "new": 1}')):
        folder = project.folder / "releases" / str(number + 1)
        (folder / "r").mkdir(parents=True)
        (folder / "made.json").write_text(written)
    assert [made.number for made in studio.project.releases] == [3]
    assert browser.get("/release").status == 200


def test_long_categories_are_whole_where_an_order_or_a_tree_is_made_of_them(tmp_path):
    studio, browser, _ = open_studio(tmp_path)
    long = [f"{'employed in a public office ' * 4}{end}" for end in "ab"]
    survey = "job,n\n" + "".join(f"{long[i % 2]},{i}\n" for i in range(6))
    recipe = 'k = 2\n[attributes.job]\nrole = "quasi_identifier"\nkind = "{}"\n[attributes.n]\nrole = "confidential"\n'
    project = with_project(studio, tmp_path, survey=survey, recipe=recipe.format("ordinal"))
    assert "\n".join(long) in browser.get("/roles?column=0").text
    project.history.add(recipe.format("nominal"), "given")
    assert f"any\n  {long[0]}\n  {long[1]}" in browser.get("/roles?column=0").text
    studio.close()


def test_files_of_other_tools_that_are_called_alike_are_all_compared(opened):
    _, browser, project = opened
    for content in (b"a", b"b", b"c"):
        browser.send("/compare/send", "table.csv", content)
    others = project.results["others"]
    assert list(others) == ["table.csv", "table.csv (2)", "table.csv (3)"]
    assert [Path(place).read_bytes() for place in others.values()] == [b"a", b"b", b"c"]
    browser.post("/compare/forget", {"other": "table.csv (2)"})
    assert list(others) == ["table.csv", "table.csv (3)"]
