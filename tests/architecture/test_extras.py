"""Without an extra, whatever needs it says which line installs it, and its tests are skipped by its name."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pyarrow as pa
import pytest
from typer.testing import CliRunner

import microagg
from microagg.cli.app import app
from microagg.errors import InputError
from microagg.frontier.frontier import Axes, Frontier, FrontierPoint
from optional_packages import need

ROOT = Path(__file__).resolve().parents[2]
EXTRAS = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["optional-dependencies"]
TABLE = pa.table({"age": [20, 21, 60, 61], "wage": [1, 2, 3, 4]})
RECIPE = microagg.Recipe(
    k=2, attributes={"age": {"role": "quasi_identifier", "kind": "numeric"}, "wage": "confidential"}
)
AXES = ("SSE_SST", "distance_linkage")
FRONTIER = Frontier((FrontierPoint("a", {"k": 2}, "k", values=dict.fromkeys(AXES, 0.1)),), Axes(*AXES), AXES)
RELEASE = ("release", "data.csv", "-r", "recipe.toml", "-o", "out")


def packages(extra):
    """What an extra installs, as Python imports it."""
    return {re.match(r"[\w.-]+", one)[0].lower().replace("-", "_") for one in EXTRAS[extra]} - {"microagg"}


def imported():
    """The packages that modules of src import, wherever in them."""
    for path in (ROOT / "src" / "microagg").rglob("*.py"):
        text = path.read_text(encoding="utf-8")
        yield from re.findall(r"^ *(?:from|import) (\w+)", text, re.MULTILINE)
        yield from re.findall(r'import_optional\("(\w+)"', text)


def run(*arguments):
    """Run a command that is refused, and raise what it says."""
    ended = CliRunner().invoke(app, arguments)
    assert ended.exit_code == 2, ended.output
    assert "Traceback" not in ended.output
    raise InputError(" ".join(ended.output.split()))


ASKS = {
    "datasets": [lambda: microagg.datasets.fetch("census"), lambda: run("datasets", "--fetch", "census")],
    "plot": [
        lambda: FRONTIER.plot(),
        lambda: FRONTIER.plot("frontier.png"),
        lambda: microagg.release(TABLE, RECIPE, seed=1).plot(),
        lambda: microagg.evaluate(TABLE, TABLE, RECIPE, measures=["SSE_SST"]).plot(),
    ],
    "sign": [
        lambda: microagg.make_keys("mine"),
        lambda: microagg.release(TABLE, RECIPE, seed=1).save("out", sign="data.csv"),
        lambda: run("keygen", "mine"),
        lambda: run(*RELEASE, "--sign", "data.csv"),
    ],
    "sql": [
        lambda: microagg.read_table("postgresql://u@localhost/db?table=t", RECIPE),
        lambda: run("release", "postgresql://u@localhost/db?table=t", *RELEASE[2:]),
    ],
    "spark": [
        lambda: microagg.release_files("data.csv", RECIPE, "out", engine="spark"),
        lambda: run(*RELEASE, "--engine", "spark"),
    ],
    "studio": [lambda: run("studio", "--no-browser")],
}


@pytest.fixture
def without(monkeypatch, tmp_path):
    """Let packages be absent from this machine, for what is called in the folder of a small table."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MICROAGG_CACHE", str(tmp_path / "cache"))
    monkeypatch.delenv("MICROAGG_DATA", raising=False)
    Path("data.csv").write_text("age,wage\n20,1\n21,2\n60,3\n61,4\n")
    Path("recipe.toml").write_text(RECIPE.dumps())

    def leave_out(absent):
        loaded = {name for name in sys.modules if name.partition(".")[0] in absent}
        for name in loaded | set(absent):
            monkeypatch.setitem(sys.modules, name, None)

    return leave_out


def test_every_extra_that_the_package_imports_is_asked_for_here():
    used = set(imported())
    assert {extra for extra in EXTRAS if packages(extra) & used} == set(ASKS) | {"test"}  # pandas and polars


@pytest.mark.parametrize(
    ("extra", "ask"), [(extra, ask) for extra, asks in ASKS.items() for ask in asks], ids=lambda one: str(one)[:8]
)
def test_what_needs_an_extra_says_how_to_install_it(without, extra, ask):
    without(packages(extra))
    with pytest.raises(InputError, match=rf"pip install ['\"]microagg\[{extra}\]['\"]"):
        ask()
    assert sorted(path.name for path in Path().iterdir()) == ["data.csv", "recipe.toml"]


@pytest.mark.parametrize("library", ["pandas", "polars"])
@pytest.mark.parametrize(
    "ask",
    [
        lambda kind: microagg.datasets.load_census(kind=kind),
        lambda kind: microagg.evaluate(TABLE, TABLE, RECIPE, measures=["SSE_SST"]).as_frame(kind),
        lambda kind: FRONTIER.frame(kind),
    ],
    ids=["reference", "evaluation", "frontier"],
)
def test_a_table_of_a_library_that_is_not_here_is_refused_with_its_name(without, library, ask):
    without({library})
    with pytest.raises(InputError, match=f'pip install "{library}"'):
        ask(library)


def collect(absent, *modules):
    """What pytest says of modules of src on a machine without some packages."""
    options = ["-rsE", "-p", "no:cacheprovider", *(f"src/microagg/{module}.py" for module in modules)]
    program = f"import sys; sys.modules.update(dict.fromkeys({sorted(absent)})); import pytest; pytest.main({options})"
    alone = {**os.environ, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}  # plugins come with packages that may be absent
    command = [sys.executable, "-c", program]
    return subprocess.run(command, cwd=ROOT, env=alone, capture_output=True, text=True, check=True).stdout


def test_doctests_of_modules_that_need_an_extra_are_skipped_by_its_name():
    said = collect(packages("studio"), "studio/app", "studio/screens/form", "errors")
    assert re.findall(r"^SKIPPED \[\d\] src/microagg/(.*): (.*)$", said, re.MULTILINE) == [
        ("studio/app.py:1", "needs starlette"),
        ("studio/screens/form.py:1", "needs starlette"),
    ]
    assert re.match(r"[1-9]\d* passed, \d+ skipped in", said.splitlines()[-1])


def test_modules_that_lack_more_than_an_extra_fail():
    need("starlette")
    said = collect({"anyio", "numpy"}, "studio/app", "tables/frames/column")
    assert set(re.findall(r"^ERROR src/microagg/(.*)$", said, re.MULTILINE)) == {
        "studio/app.py",
        "tables/frames/column.py",
    }
