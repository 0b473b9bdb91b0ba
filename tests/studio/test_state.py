"""What the studio keeps, and says of it: one studio per table, results of their own file, words that are true."""

from __future__ import annotations

import re
import tomllib
from dataclasses import replace

import pytest

from optional_packages import need
from studio_pages import RECIPE, SAID, SURVEY, open_studio, recipe_of, set_key


def test_a_table_is_open_in_one_studio_at_a_time(tmp_path):
    (tmp_path / "state").mkdir(mode=0o700)
    path = tmp_path / "survey.csv"
    path.write_text(SURVEY)
    first, second = (open_studio(tmp_path / "state")[0] for _ in range(2))
    for one in (first, second):
        one.jobs.start = lambda *_: None  # reading it is another test's
    first.open_file(path)
    first.open_file(path)  # again, in the same one
    with pytest.raises(ValueError, match="open in another studio"):
        second.open_file(path)
    assert second.project is None
    other = tmp_path / "other.csv"
    other.write_text(SURVEY)
    first.open_file(other)  # the first table is free again
    with pytest.raises(ValueError, match="no recipe named"):
        second.open_file(path, recipe=tmp_path / "no.toml")
    third, _, _ = open_studio(tmp_path / "state")
    third.jobs.start = lambda *_: None
    third.open_file(path)  # who failed to open it does not keep it
    third.close()
    second.open_file(path)
    for one in (first, second):
        one.close()


def test_a_run_folder_that_is_none_of_ours_stops_no_studio(tmp_path):
    from microagg.studio.places import RunFolder

    strange = tmp_path / "run-strange"
    strange.mkdir()
    (strange / "lock").symlink_to(tmp_path / "elsewhere")
    RunFolder(tmp_path).remove()
    assert not (tmp_path / "elsewhere").exists()


def test_results_of_a_file_that_has_changed_are_said_to_be_old(opened):
    from microagg.studio.project import Project

    studio, browser, project = opened
    project.keep_result("risk", {"title": "x"}, digest=project.digest)
    project.facts["file_state"] = project.file_state
    assert not project.result("risk")["is_old"]
    assert "has changed on disk" not in browser.get("/table").text
    project.source.write_text(SURVEY + "p7,64,north,low,20\n")
    assert project.result("risk")["is_old"]
    assert Project(project.source, project.typed, project.folder).result("risk")["is_old"]  # as after a restart
    assert "has changed on disk since it was read" in browser.get("/table").text
    asked = []
    studio.jobs.start = lambda *order: asked.append(order)
    browser.post("/table/read", {"as_before": "1", "back": "/table"})
    ((name, _, _, done),) = asked
    assert name == "look"
    done({"draft": "", "columns": [], "records": 7})
    assert not project.has_changed
    project.source.unlink()
    assert project.result("risk")["is_old"]


def test_a_file_that_is_sent_again_finds_its_results(tmp_path):
    from microagg.studio.project import Project

    found = []
    for name in ("a", "b"):  # another place, another time
        path = tmp_path / f"{name}.csv"
        path.write_text(SURVEY)
        project = Project(path, "survey.csv", tmp_path / "folder", content="survey.csv 120 abc")
        project.history.add(RECIPE, "given")
        found.append(project.digest)
    assert found[0] == found[1]


def test_signing_and_remarks_make_no_release_old(opened):
    _, _, project = opened
    made = project.new_release("survey")
    project.history.add("# a remark\n" + project.recipe_text + '[about]\ntitle = "x"\n[sweep]\nk = [2]\n', "given")
    assert not project.decides_otherwise(made)
    project.history.add(project.recipe_text.replace("k = 2 ", "k = 3 "), "given")
    assert project.decides_otherwise(made)


def test_a_text_that_is_not_saved_outlives_a_reload_and_belongs_to_its_table(opened, tmp_path):
    studio, browser, project = opened
    before, version = project.recipe_text, project.history.version
    browser.post("/recipe/write", {"text": "k = = 3 # mine", "version": version, "back": "/recipe"})
    assert all("k = = 3 # mine" in browser.get("/recipe").text for _ in range(3))
    set_key(browser, ["k"], "9", "number")
    browser.post("/recipe/write", {"text": before + "# mine\n", "version": version, "back": "/recipe"})
    assert recipe_of(project)["k"] == 9  # what was set meanwhile is not overwritten unread
    page = browser.get("/recipe").text
    assert "changed on another page meanwhile" in page
    shown = re.search(r'name="version" value="(\d+)"', page)[1]
    browser.post("/recipe/write", {"text": before + "# mine\n", "version": shown, "back": "/recipe"})
    assert project.recipe_text == before + "# mine\n"
    assert "not saved yet" not in browser.get("/recipe").text
    browser.post("/recipe/write", {"text": "k = = 4", "version": shown, "back": "/recipe"})
    browser.post("/recipe/write", {"text": "k = = 4", "version": shown, "do": "discard", "back": "/recipe"})
    assert "k = = 4" not in browser.get("/recipe").text
    browser.post("/recipe/write", {"text": "k = = 5", "version": shown, "back": "/recipe"})
    (tmp_path / "second").mkdir()
    studio.project = project.__class__(project.source, project.typed, tmp_path / "second")
    assert "k = = 5" not in browser.get("/recipe").text


def test_a_question_is_settled_also_after_another_edit(opened):
    _, browser, project = opened
    asked = next(one for one in project.questions if one.column is None)
    set_key(browser, ["attributes", "income", "weight"], "2", "number")
    project.history.add("# one more line\n" + project.recipe_text, "given")
    fields = {"line": str(asked.line), "topic": asked.topic, "asked": asked.text, "back": "/roles"}
    browser.post("/recipe/settle", fields)
    assert [one.column for one in project.questions] == ["age"]
    version = project.history.version
    browser.post("/recipe/settle", fields)  # twice is once
    assert project.history.version == version


def test_a_role_answers_what_is_asked_about_it_and_not_how_values_are_read(opened):
    _, browser, project = opened
    asked = "# DECIDE: does '-' (3 records) stand for missing, or is it a category?\n# DECIDE: is it known?\n"
    project.history.add(RECIPE.replace("[attributes.region]\n", f"[attributes.region]\n{asked}"), "given")
    set_key(browser, ["attributes", "region", "role"], "confidential")
    left = [one.text for one in project.questions if one.column == "region"]
    assert left == ["does '-' (3 records) stand for missing, or is it a category?"]
    browser.post("/roles/columns", {"column": ["region"], "do": "settle", **SAID})
    assert not [one for one in project.questions if one.column == "region"]


def test_who_ends_a_job_stays_on_the_page(opened):
    _, browser, _ = opened
    for came, led in (
        ("http://127.0.0.1:8765/frontier?point=a", "/frontier?point=a"),
        ("http://evil.example/frontier", "/frontier"),
        ("http://127.0.0.1:8765/nothing", "/table"),
        ("", "/table"),
    ):
        assert browser.post("/job/cancel", {}, referer=came).header("location") == led


def made_here(studio, project, recipe=None, seed=None):
    """A release that was made and checked, without a process that does it."""
    from microagg.studio.work.release import make_release

    if recipe is not None:
        project.history.add(recipe, "given")
    made = replace(project.new_release("survey"), seed=seed)
    facts = studio.run.folder("internal") / "facts.html"
    found = make_release(
        str(project.source), project.recipe_text, str(project.folder), str(project.folder_of(made)),
        seed, None, None, False, str(facts), lambda _: None,
    )  # fmt: skip
    project.described[made.number] = found.pop("facts")
    project.keep_release(replace(made, **found))
    return project.release(made.number)


def test_a_recipe_to_publish_has_no_remarks_about_the_original(opened):
    studio, browser, project = opened
    made_here(studio, project, project.recipe_text + "# 4711 values are missing in the original\n")
    text = browser.get("/download/1/recipe.toml").text
    assert tomllib.loads(text)["k"] == 2
    assert "#" not in text
    assert "4711" in browser.get("/recipe.toml").text  # for the table's holder


PRIVATE = """\
method = "dp_individual_ranking"
k = 2
[privacy]
epsilon = 1.0
[attributes.id]
role = "identifier"
[attributes.age]
role = "quasi_identifier"
kind = "numeric"
bounds = [0, 120]
[attributes.region]
role = "identifier"
[attributes.education]
role = "identifier"
[attributes.income]
role = "identifier"
"""


def test_a_statement_says_counted_only_of_what_can_be_counted(opened):
    studio, browser, project = opened
    made_here(studio, project)
    assert "they were counted on the written file, and hold" in browser.get("/statement").text
    made_here(studio, project, PRIVATE)
    text = browser.get("/statement").text
    assert "they follow from how the table was made, and cannot be counted on it" in text
    assert "counted on the written file, and hold" not in text


def test_a_release_whose_check_fails_is_nowhere_said_to_hold(opened):
    studio, browser, project = opened
    made = made_here(studio, project)
    assert 'class="verdict holds"' in browser.get("/release").text
    project.keep_release(replace(made, holds=False, findings=[{"name": "table", "holds": False, "detail": "x"}]))
    for screen in ("release", "statement"):
        text = browser.get(f"/{screen}").text
        assert 'class="verdict fails"' in text
        assert "and holds" not in text
        assert "and hold." not in text
    assert "do not publish them" in browser.get("/download").text


def test_a_frontier_that_fills_in_shows_no_points_of_an_earlier_one(opened, tmp_path):
    from microagg.studio.work.frontier import measure_frontier

    _, _, project = opened
    swept = '[sweep]\nmethods = ["mdav"]\nk = [2, 3]\nmeasures = ["SSE_SST", "distance_linkage"]\n'
    told = []

    def measure(recipe):
        into = str(tmp_path / "frontier")
        return measure_frontier(str(project.source), recipe, str(tmp_path), into, None, None, None, 1, told.append)

    measure(RECIPE + swept)
    told.clear()
    project.source.write_text(SURVEY.replace(",31,", ",91,").replace(",62,", ",12,"))
    found = measure(RECIPE + swept)
    values = {one["name"]: one["values"] for one in found["points"]}
    assert told
    for partial in told:
        for one in partial["points"]:
            assert one["values"] == values[one["name"]]


def test_thousands_of_categories_stop_no_page(opened):
    import time

    _, browser, project = opened
    parents = {f'town "{i}"': f"land {i // 100}" for i in range(8_000)} | {f"land {i}": "all" for i in range(80)}
    outline = ["all"]
    for place, town in enumerate(list(parents)[:8_000]):
        outline += [f"  land {place // 100}"] if place % 100 == 0 else []
        outline.append(f"    {town}")
    began = time.process_time()
    browser.post("/roles/taxonomy", {"name": "region", "outline": "\n".join(outline), **SAID})
    set_key(browser, ["attributes", "education", "kind"], "ordinal")
    order = [f"grade {i}" for i in range(8_000)]
    set_key(browser, ["attributes", "education", "categories"], "\n".join(order), "lines")
    assert time.process_time() - began < 12  # minutes, if it grew by the square
    declared = recipe_of(project)["attributes"]
    assert declared["region"]["taxonomy"] == parents
    assert declared["education"]["categories"] == order
    assert "# What was decided." in project.recipe_text


def test_a_form_that_nests_without_end_is_refused_in_words(opened):
    _, browser, _ = opened
    browser.post("/recipe/set", {"key": "[" * 100_000, "value": "1", **SAID})
    assert "a key that cannot be read" in browser.get("/roles").text


def test_a_form_whose_names_never_end_is_refused(tmp_path):
    need("starlette")
    from microagg.studio.uploads import Upload

    hear = Upload(tmp_path, 100).callbacks()["on_header_field"]
    hear(b"a" * 10_000, 0, 10_000)
    with pytest.raises(ValueError, match="a form that cannot be read"):
        hear(b"a" * 10_000, 0, 10_000)


def test_units_that_nobody_can_see_on_the_file_are_not_said_to_be_counted_on_it(opened):
    studio, browser, project = opened
    made_here(studio, project, RECIPE + '[unit]\nkey = "id"\n')
    release, statement = browser.get("/release").text, browser.get("/statement").text
    assert "units were counted when it was made, and cannot be counted on it" in release
    assert "units only when it was made" in statement
    assert "and hold." not in statement


def test_diversity_is_counted_too(opened):
    studio, browser, project = opened
    made_here(studio, project, RECIPE + "[protect.income]\ndistinct_l = 2\n")
    assert "they were counted on the written file, and hold" in browser.get("/statement").text
