"""The whole way in a browser: the steward's tutorial by mouse and by keyboard, and what a page must never do."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

import microagg
from microagg.tables.reference.generated import generate_survey
from microagg.tables.write import write_table

AXE = Path(__file__).with_name("axe") / "axe.min.js"
PICTURES = os.environ.get("MICROAGG_STUDIO_PICTURES")
"""A folder for pictures of the screens; ``make studio-pictures`` writes those of the documentation."""
PICTURED = ("roles", "risk", "frontier", "release", "statement")
WIDE, HIGH = 1366, 860
_LONG = 60_000
RECIPE = """\
method = "mdav"
k = 3
[missing]
policy = "own_cell"
small = "merge_small"
[sweep]
methods = ["mdav", "pcp"]
k = [3, 5]
measures = ["SSE_SST", "distance_linkage"]
"""


class Visit:
    """A page of a studio, with all that went wrong on it."""

    def __init__(self, chromium, studio):
        self.studio = studio
        self.context = chromium.new_context(viewport={"width": WIDE, "height": HIGH}, accept_downloads=True)
        self.page = self.context.new_page()
        self.page.set_default_timeout(_LONG)
        self.faults, self.asked = [], set()
        self.page.on("console", lambda one: self.faults.append(one.text) if one.type in ("error", "warning") else None)
        self.page.on("pageerror", lambda one: self.faults.append(str(one)))
        self.page.on("dialog", lambda one: self.faults.append(f"dialog {one.message}") or one.dismiss())
        self.page.on("request", lambda one: self.asked.add(re.match(r"\w+://[^/]*", one.url)[0]))
        self.page.goto(studio.address)
        assert "token" not in self.page.url

    def wait(self):
        """Wait until no job runs and the page shows what it found."""
        self.page.wait_for_selector("#job:not(.running)", state="attached")

    def run(self, press):
        """Start a job and wait for its end."""
        press()
        self.page.wait_for_selector("#job.running, #told .error")
        self.wait()
        assert not self.page.query_selector("#job .told.error"), self.page.inner_text("#job")

    def look(self, name):
        """Nobody is shut out of this screen, in light or dark; and a picture of it, if pictures are wanted."""
        self.page.wait_for_load_state("load")  # a page without its style yet has colours of the browser's own
        self.page.evaluate(AXE.read_text(encoding="utf-8"))
        for scheme in ("dark", "light"):
            self.page.emulate_media(color_scheme=scheme, reduced_motion="reduce")
            found = self.page.evaluate("() => axe.run({resultTypes: ['violations']})")
            self.faults += [
                f"{name}, {scheme}: {one['id']}: {one['nodes'][0]['html'][:200]} {one['nodes'][0]['failureSummary']}"
                for one in found["violations"]
            ]
            if PICTURES and scheme == "light" and name in PICTURED:
                self.page.evaluate("() => scrollTo(0, 0)")
                self.page.screenshot(path=Path(PICTURES) / f"{name}.png", caret="initial")

    def follow(self, words, screen):
        """Click a link, and wait until its screen is there."""
        self.page.click(f"text={words}")
        self.page.wait_for_url(re.compile(rf"/{screen}\b"))

    def command(self):
        return self.page.inner_text(".command code")

    def tab_to(self, wanted):
        """Press Tab until the element of this id has the focus."""
        for _ in range(250):
            if self.page.evaluate("() => document.activeElement.id") == wanted:
                return
            self.page.keyboard.press("Tab")
        raise AssertionError(f"the keyboard does not reach {wanted}")

    def press(self, wanted, key="Enter"):
        self.tab_to(wanted)
        self.page.keyboard.press(key)

    def settled(self):
        """Wait until what was clicked or typed has been answered, and stands on the page."""
        # Not by a function: older versions of Playwright evaluate it as a string, which the pages forbid.
        self.page.wait_for_selector(".htmx-request, .htmx-swapping, .htmx-settling", state="detached")

    def close(self):
        assert self.faults == []
        assert self.asked == {self.studio.origin}
        self.context.close()


@pytest.fixture
def visit(chromium):
    visits = []

    def start(studio):
        visits.append(Visit(chromium, studio))
        return visits[-1]

    yield start
    for one in visits:
        one.close()


@pytest.fixture(scope="module")
def survey(tmp_path_factory):
    path = tmp_path_factory.mktemp("survey") / "survey.csv"
    write_table(generate_survey(2_000 if PICTURES else 300), path)
    return path


def unpacked(download, folder):
    """What was downloaded, in a folder."""
    with zipfile.ZipFile(download.path()) as packed:
        packed.extractall(folder)
    (found,) = folder.iterdir()
    return found


def microagg_says(*words, cwd=None):
    ended = subprocess.run([sys.executable, "-m", "microagg", *words], capture_output=True, text=True, cwd=cwd)
    return ended.returncode, ended.stderr


def make_again(command, folder, data):
    """Run the command that the page shows where the studio was started, with the file that was sent beside it."""
    if not (folder / data.name).exists():
        (folder / data.name).write_bytes(data.read_bytes())
    words = shlex.split(command)
    assert words[:2] == ["microagg", "release"]
    code, said = microagg_says(*words[1:], cwd=folder)
    assert code == 0, said
    return folder / words[words.index("-o") + 1]


def test_the_steward_s_way_by_mouse(running, visit, survey, tmp_path):
    steward = visit(running())
    page = steward.page
    steward.look("start")
    page.set_input_files("#file", survey)
    steward.run(lambda: page.click("#send"))
    assert "records of 8 columns" in page.inner_text("main")
    steward.look("table")

    steward.follow("Next: what each column means", "roles")
    page.select_option("#role-7", "confidential")  # health
    page.wait_for_selector(".role-cell.confidential #role-7")
    steward.settled()
    page.select_option("#kind-3", "ordinal")  # education
    steward.settled()
    page.click("#more-3")
    page.fill("#order", "primary\nsecondary\nvocational\nbachelor\nmaster")
    page.click("text=Set the order")
    steward.settled()
    steward.look("column")
    page.click("#all")
    page.click("#bulk-settle")
    steward.settled()
    page.select_option("#missing", "own_cell")
    steward.settled()
    page.select_option("#small", "merge_small")
    steward.settled()
    while page.query_selector(".asked button"):
        page.click(".asked button >> nth=0")
        steward.settled()
    assert page.query_selector(".way .count") is None
    steward.look("roles")

    steward.follow("Next: what the table gives away", "risk")
    steward.run(lambda: page.click("#count"))
    assert "are unique" in page.inner_text("main")
    steward.look("risk")

    steward.follow("Next: which release", "frontier")
    for name in ("near_optimal",):
        page.uncheck(f"#method-{name}")
    page.check("#method-pcp")
    page.fill("#try-k", "3, 5")
    page.select_option("#sample", "2000")
    steward.run(lambda: page.click("#measure"))
    assert page.locator("a.point").count() == 4
    page.click("a.point.best >> nth=0")
    page.wait_for_selector("#point")
    steward.look("frontier")
    page.click("#take")
    page.wait_for_url("**/release")

    page.fill("#k", "4")
    page.fill("#seed", "7")
    page.click("#make")  # right after typing: what was typed counts
    page.wait_for_selector("#job.running")
    steward.wait()
    assert page.query_selector(".verdict.research"), page.inner_text("main")
    assert "k = 4" in page.inner_text(".recipe")
    page.wait_for_selector(".attribute .figure")
    steward.look("release")
    command = steward.command()

    steward.follow("Next: what is promised", "statement")
    assert "k-anonymity (k = 4)" in page.inner_text("main")
    for field, words in {"title": "Survey", "holder": "Office", "purpose": "Research", "name": "A. Steward"}.items():
        page.fill(f"#s-{field}", words)
    page.click("#sign-off")
    page.wait_for_selector("text=is signed by A. Steward")
    steward.look("statement")

    steward.follow("Next: download", "download")
    steward.look("download")
    with page.expect_download() as download:
        page.click("#get-release")
    released = unpacked(download.value, tmp_path / "got")
    assert sorted(file.name for file in released.iterdir())[:1] == ["manifest.json"]
    assert not list(released.glob("*receipt*"))
    code, said = microagg_says("check", str(released))
    assert code == 0, said
    again = make_again(command, tmp_path, survey)
    assert (again / "table.csv").read_bytes() == (released / "table.csv").read_bytes()
    assert (again / "statement.json").read_bytes() == (released / "statement.json").read_bytes()

    steward.follow("Compare it with others", "compare")
    page.set_input_files("#file", released / "table.csv")
    page.click("#send")
    page.wait_for_selector("text=(another tool's)")
    steward.run(lambda: page.click("#compare"))
    assert page.locator(".side-by-side").count() == 2
    steward.look("compare")
    steward.follow("Edit as text", "recipe")
    steward.look("recipe")
    page.reload()
    assert 'method = "' in page.input_value("#text")


def test_the_steward_s_way_by_keyboard_alone(running, visit, survey, tmp_path):
    recipe = tmp_path / "given.toml"
    declared = {"person_id": "identifier", "income": "confidential", "health": "quasi_identifier"}
    kinds = {"age": "numeric", "hours": "numeric", "income": "numeric"}
    lines = [RECIPE]
    for name in ("person_id", "age", "region", "education", "occupation", "hours", "income", "health"):
        lines.append(f'[attributes.{name}]\nrole = "{declared.get(name, "quasi_identifier")}"')
        lines.append(f'kind = "{kinds.get(name, "nominal")}"' if name != "person_id" else "")
    recipe.write_text("\n".join(lines), encoding="utf-8")
    steward = visit(running(str(survey), "--recipe", str(recipe)))
    page, keys = steward.page, steward.page.keyboard
    steward.wait()

    page.goto(f"{steward.studio.origin}/roles")
    steward.tab_to("role-7")
    keys.press("c")  # confidential
    page.wait_for_selector(".role-cell.confidential #role-7")
    steward.settled()
    assert page.evaluate("() => document.activeElement.id") == "role-7"  # the focus stays where it was
    steward.press("undo")
    page.wait_for_selector(".role-cell.quasi_identifier #role-7")
    steward.press("redo")
    page.wait_for_selector(".role-cell.confidential #role-7")

    page.goto(f"{steward.studio.origin}/frontier")
    steward.run(lambda: steward.press("measure"))
    point = page.locator("a.point.best").first.get_attribute("id")
    steward.press(point)
    page.wait_for_selector("#point")
    steward.press("take")
    page.wait_for_url("**/release")
    steward.tab_to("seed")
    keys.type("11")
    steward.press("make")
    page.wait_for_selector("#job.running")
    steward.wait()
    assert page.query_selector(".verdict.research"), page.inner_text("main")
    command = steward.command()

    page.goto(f"{steward.studio.origin}/statement")
    for field, words in {"title": "Survey", "holder": "Office", "purpose": "Research", "name": "B. Steward"}.items():
        steward.tab_to(f"s-{field}")
        keys.type(words)
    keys.press("Enter")
    page.wait_for_selector("text=is signed by B. Steward")
    page.goto(f"{steward.studio.origin}/download")
    with page.expect_download() as download:
        steward.press("get-release")
    released = unpacked(download.value, tmp_path / "got")
    code, said = microagg_says("check", str(released))
    assert code == 0, said
    again = make_again(command, tmp_path, survey)
    assert (again / "table.csv").read_bytes() == (released / "table.csv").read_bytes()


def test_hostile_names_do_nothing(running, visit, tmp_path):
    path = tmp_path / "hostile <img src=x onerror=alert(0)>.csv"
    name = '"><script>alert(1)</script>'
    rows = "\n".join(f'"<svg onload=alert({i})>",{i % 3},b{i % 2}' for i in range(12))
    path.write_text(f'"{name.replace(chr(34), chr(34) * 2)}",age,{{{{7*7}}}}\n{rows}\n', encoding="utf-8")
    guest = visit(running(str(path)))
    guest.wait()
    guest.page.reload()
    for screen in ("table", "roles", "roles?column=0", "release", "recipe", "frontier"):
        guest.page.goto(f"{guest.studio.origin}/{screen}")
        assert name in guest.page.inner_text("#page") or screen in ("release", "frontier")
    guest.page.goto(f"{guest.studio.origin}/roles?column=0")
    guest.page.select_option("#role-0", "confidential")
    guest.page.wait_for_selector(".role-cell.confidential #role-0")
    guest.page.click(".tip >> nth=0")
    assert guest.page.query_selector("[popover]:popover-open")


def test_what_is_typed_outlives_a_job_and_narrow_pages_do_not_scroll_sideways(running, visit, survey):
    guest = visit(running(str(survey)))
    guest.wait()
    page = guest.page
    page.goto(f"{guest.studio.origin}/recipe")
    page.fill("#text", "# typed meanwhile")
    with page.expect_response("**/recipe"):
        page.evaluate("() => htmx.trigger(document.body, 'job-ended')")
    guest.settled()
    assert page.input_value("#text") == "# typed meanwhile"
    assert "# typed meanwhile" not in page.inner_text(".recipe")
    page.set_viewport_size({"width": 400, "height": 800})
    for screen in ("table", "roles", "roles?column=1"):
        page.goto(f"{guest.studio.origin}/{screen}")
        assert page.evaluate("() => document.documentElement.scrollWidth") <= 400, screen


def test_what_is_chosen_and_unfolded_outlives_a_job(running, visit, survey):
    guest = visit(running(str(survey)))
    guest.wait()
    page = guest.page

    def end_of_a_job():
        with page.expect_response(page.url):
            page.evaluate("() => htmx.trigger(document.body, 'job-ended')")
        guest.settled()

    page.goto(f"{guest.studio.origin}/frontier")
    page.uncheck("#method-mdav")
    page.check("#method-pcp")
    page.select_option("#sample", "20000")
    end_of_a_job()
    assert [page.is_checked(f"#method-{name}") for name in ("mdav", "pcp")] == [False, True]
    assert page.input_value("#sample") == "20000"
    page.goto(f"{guest.studio.origin}/roles")
    page.check("#tick-1")
    page.select_option("#bulk-role", "confidential")
    end_of_a_job()
    assert page.is_checked("#tick-1")
    assert page.input_value("#bulk-role") == "confidential"
    page.goto(f"{guest.studio.origin}/table")
    page.click("text=Read it otherwise")
    end_of_a_job()
    assert page.is_visible("#separator")


def test_a_studio_that_is_gone_is_told(running, visit, survey):
    studio = running(str(survey))
    guest = visit(studio)
    guest.wait()
    guest.page.goto(f"{studio.origin}/roles")
    studio.kill()
    guest.page.select_option("#role-7", "confidential")
    guest.page.wait_for_selector("#told >> text=does not answer")
    again = running(str(survey), "--port", studio.origin.rpartition(":")[2])
    guest.page.select_option("#role-6", "non_confidential")
    guest.page.wait_for_selector("#told >> text=was started anew")
    assert guest.page.is_visible("table.roles")  # a refusal is no page
    again.end()
    guest.faults.clear()  # the browser notes that nobody answered


def test_axe_is_the_published_file_with_its_licence():
    import hashlib

    assert hashlib.sha256(AXE.read_bytes()).hexdigest() == (
        "20c09fe157a8a34a30e241aaa1fcdade657734f08ab379ecfbeb7d45cc46e878"  # axe-core 4.14.0
    )
    assert "Mozilla Public License" in (AXE.parent / "LICENSE").read_text(encoding="utf-8")
    assert not list(Path(microagg.__file__).parent.rglob("axe*.js"))  # it is for tests, and in no package
