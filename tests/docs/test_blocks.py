"""Every block of code on every page is true: Python and commands run, recipes are read, outputs are what is printed."""

from __future__ import annotations

import ast
import doctest
import inspect
import re
import shlex
import shutil
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import typer
from typer.testing import CliRunner

import microagg
from documented import DOCS, PAGES, ROOT, Block, blocks_of, commands_of, named
from microagg.cli.app import app
from microagg.explanations.of_keys import explained_keys
from microagg.methods.catalogue import find_method
from microagg.tables.reference.generated import generate_survey
from microagg.tables.write import write_table
from optional_packages import need

ELSEWHERE = {
    "README.md": "test_readme.py",
    "docs/risk.md": "test_risk_page.py",
    "docs/tutorials/data_scientist.md": "test_tutorials.py",
    "docs/tutorials/researcher.md": "test_tutorials.py",
    "docs/tutorials/steward.md": "test_tutorials.py",
    "docs/architecture.md": "test_toys_of_the_house.py",
    "docs/algorithms/guided_spaces.md": "test_toy_guide.py",
    "docs/file_formats.md": "test_toy_format.py",
}
"""Pages whose blocks another test runs, because more is asked of them there."""

PARSED = {
    "studio": "it is a server: tests/studio",
    "reproduce": "takes minutes: tests/studies",
    "release -": "reads standard input: tests/cli",
    "demo": "tests/cli runs it, and it takes a minute",
    "sweep": "the README's runs; another takes seconds",
    "tradeoff": "the README's runs; another takes seconds",
    "spark": "needs a cluster: make test-spark",
    "--pdf": "needs a browser: tests/cli prints one",
    "[": "the brackets are for the reader",
    "--t 0.2": "the README's runs; another takes seconds",
    "--workers": "tests/engines runs it, and processes take seconds to start",
}
"""Words of commands that are read, but not run, and why."""

LANGUAGES = {"", "console", "pycon", "python", "sh", "text", "toml"}
CODED = [page for page in PAGES if blocks_of(page)]
RECIPE = """
k = 3
[attributes]
id = "identifier"
[attributes.age]
role = "quasi_identifier"
kind = "numeric"
bounds = [0, 120]
resolution = 1
[attributes.income]
role = "quasi_identifier"
kind = "numeric"
bounds = [0, 9000]
resolution = 1
[attributes.zip]
role = "quasi_identifier"
kind = "nominal"
categories = ["01", "02", "03"]
[attributes.ill]
role = "confidential"
kind = "nominal"
categories = ["no", "yes"]
"""
NUMBERS = {"zip": "identifier", "ill": "identifier"}
"""Roles for methods that take numbers alone, or publish nothing as it is."""


def test_every_block_is_of_a_language_that_is_tested():
    of_none = {
        named(page): block.language for page in PAGES for block in blocks_of(page) if block.language not in LANGUAGES
    }
    assert not of_none
    for page, test in ELSEWHERE.items():
        (file,) = (ROOT / "tests").rglob(test)
        text = file.read_text(encoding="utf-8")
        assert Path(page).name in text or Path(page).parent.name in text, page


def _subcommand(line: str) -> tuple[Any, list[str]]:
    """The command of a line, and its arguments."""
    _, *words = shlex.split(line.replace("[", "").replace("]", "").replace("...", ""))
    command: Any = typer.main.get_command(app)
    while words and hasattr(command, "commands") and words[0] in command.commands:
        command = command.commands[words.pop(0)]
    return command, words


@pytest.mark.parametrize("page", CODED, ids=named)
def test_flags_of_commands_exist(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for line in (line for block in blocks_of(page) for line in commands_of(block)):
        first, *words = line.split()
        if first == "microagg":
            command, arguments = _subcommand(line)
            assert not hasattr(command, "commands") or {"-h", "--help", "--version"} & set(arguments), line
            if not hasattr(command, "commands"):
                command.make_context(line, arguments)  # raises what the command line would say
        elif first == "make":
            assert re.search(rf"^{words[0]}:", (ROOT / "Makefile").read_text(), re.MULTILINE), line
        elif first == "python" and words[0].endswith(".py"):
            assert (ROOT / words[0]).exists(), line


def _people(n_records: int) -> str:
    """A CSV of people, among them many who are alike."""
    rows = (
        f"p{i},{20 + i % 29},{1000 + 37 * i % 4000},{i * 7 % 3 + 1:02d},{'yes' if i % 3 else 'no'}"
        for i in range(n_records)
    )
    return "\n".join(["id,age,income,zip,ill", *rows, ""])


@pytest.fixture(scope="module")
def tables(tmp_path_factory) -> Path:
    """A folder with every file that a page speaks of, made once."""
    folder = tmp_path_factory.mktemp("tables")
    for name in ("data", "ours", "theirs", "original", "released", "other", "pop"):
        (folder / f"{name}.csv").write_text(_people(60))
    (folder / "recipe.toml").write_text(RECIPE)
    (folder / "private.toml").write_text(
        f'method = "strict"\n{RECIPE.replace("k = 3", "")}\n[privacy]\nepsilon = 1.0\n'
    )
    (folder / "data").mkdir()
    read = microagg.read_table(folder / "data.csv", microagg.Recipe.loads(RECIPE))
    pq.write_table(read.to_arrow() if hasattr(read, "to_arrow") else read, folder / "data" / "part.parquet")
    write_table(generate_survey(200), folder / "survey.csv")
    return folder


@pytest.fixture
def folder(page, tables, tmp_path, monkeypatch) -> Path:
    """The files of a page, with as many people as its largest k asks for."""
    shutil.copytree(tables, tmp_path, dirs_exist_ok=True)
    asked = [int(k) for block in blocks_of(page) for k in re.findall(r'(?:--k |"k": )(\d+)', block.text)]
    if page.parent.name == "methods" and max(asked, default=0) > 60:
        (tmp_path / "data.csv").write_text(_people(max(asked) + 20))
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize("page", [page for page in CODED if named(page) not in ELSEWHERE], ids=named)
def test_commands_run(page, folder):
    if page.parent.name == "methods":
        (folder / "recipe.toml").write_text(_recipe_for(page).dumps(), encoding="utf-8")
    for block in blocks_of(page):
        if block.language == "toml" and "[attributes]" in block.text and "attributes.age" in block.text:
            (folder / "recipe.toml").write_text(block.text, encoding="utf-8")
        for line in commands_of(block):
            if line.startswith("microagg ") and not any(word in line for word in PARSED):
                _run(line, folder)


def _recipe_for(page: Path) -> microagg.Recipe:
    """The recipe that a page takes for given."""
    recipe = microagg.Recipe.loads(RECIPE)
    if page.parent.name != "methods":
        return recipe
    return recipe.changed({f"attributes.{name}": role for name, role in NUMBERS.items()})


def _run(line: str, folder: Path) -> None:
    words = shlex.split(line)[1:]
    if "--sign" in words or "keygen" in words:
        need("cryptography")
    if words[0] in ("release", "report"):  # lines of a page stand for themselves, and may write the same place
        for flag in {"-o", "--internal-report"} & set(words):
            place = folder / words[words.index(flag) + 1]
            shutil.rmtree(place, ignore_errors=True)
            for written in (place, place.with_suffix(".json")):
                written.unlink(missing_ok=True)
    if words[0] == "init":
        (folder / "recipe.toml").rename(folder / "finished.toml")
    made = {word for word in words[1:] if word.endswith("/") and words[0] in ("check", "evaluate", "report")}
    for place in made:
        if not (folder / place).exists():
            _run(f"microagg release data.csv -r recipe.toml -o {place}", folder)
    done = CliRunner().invoke(app, words)
    assert done.exit_code == 0, f"{line}\n{done.output}"
    if words[0] == "init":
        (folder / "finished.toml").replace(folder / "recipe.toml")


@pytest.fixture
def names(folder) -> dict[str, Any]:
    """What the Python of pages takes for given."""
    df = need("pandas").read_csv("data.csv", dtype={"zip": str})
    return {
        "microagg": microagg,
        "pa": pa,
        "df": df,
        "recipe": microagg.Recipe.loads(RECIPE),
        "X": df[["age", "income"]].to_numpy(float),
    }


@pytest.mark.parametrize(
    "page",
    [page for page in CODED if named(page) not in ELSEWHERE and any(b.language == "python" for b in blocks_of(page))],
    ids=named,
)
def test_python_runs(page, folder, names):
    given = _given(page, folder, names)
    for block in blocks_of(page):
        if block.language == "python" and not _needs_a_cluster(block):
            exec(compile(block.text, f"{named(page)}:{block.line}", "exec"), given)


def _given(page: Path, folder: Path, names: dict[str, Any]) -> dict[str, Any]:
    """The names that a page takes for given: a release, tables, and other things only where they are spoken of."""
    text = page.read_text(encoding="utf-8")
    names["recipe"] = _recipe_for(page)
    if re.search(r"^(release|found = microagg.evaluate\(original|frontier)", text, re.MULTILINE):
        names["release"] = microagg.release(names["df"], names["recipe"])
        names |= {"original": names["df"], "table": names["release"].table, "released": names["release"].table}
        names["another"] = microagg.evaluate(names["df"], names["release"])
    if "frontier" in text:
        need("matplotlib")
        names["recipe"] = names["recipe"].changed({"sweep": {"methods": ["mdav"], "k": [3], "repeats": 1}})
    return names


def _needs_a_cluster(block: Block) -> bool:
    return "SparkSession" in block.text


@pytest.mark.parametrize("page", CODED, ids=named)
def test_python_that_is_not_run_names_parameters_that_exist(page):
    for block in blocks_of(page):
        for call in ast.walk(ast.parse(block.text)) if block.language == "python" else ():
            if not isinstance(call, ast.Call) or not ast.unparse(call.func).startswith("microagg."):
                continue
            called = ast.unparse(call.func).split(".")
            if len(called) == 2 and called[1] in microagg.__all__:
                parameters = inspect.signature(getattr(microagg, called[1])).parameters
                open_ended = any(one.kind is one.VAR_KEYWORD for one in parameters.values())
                unknown = {one.arg for one in call.keywords if one.arg} - set(parameters)
                assert open_ended or not unknown, f"{named(page)}:{block.line}"


@pytest.mark.parametrize("page", [p for p in CODED if any(b.language == "pycon" for b in blocks_of(p))], ids=named)
def test_what_is_printed_is_what_is_shown(page):
    need("pandas")
    text = page.read_text(encoding="utf-8")
    session = doctest.DocTestParser().get_doctest(text, {}, named(page), str(page), 0)
    runner = doctest.DocTestRunner(verbose=False)
    told: list[str] = []
    runner.run(session, out=told.append)
    assert runner.summarize(verbose=False).failed == 0, "".join(told)
    assert session.examples


def _keys_in(table: Mapping[str, Any], above: str = "") -> Iterator[str]:
    """Every key of a recipe, columns called ``<column>``."""
    for name, value in table.items():
        called = "<column>" if above in ("attributes", "protect") else name
        path = f"{above}.{called}" if above else called
        yield path
        if isinstance(value, dict):
            yield from _keys_in(value, path)


FREE = ("attributes.<column>.taxonomy.", "input.missing.", "input.date_format.", "privacy.weights.", "privacy.shares.",
        "privacy.origins.", "space.spread")  # fmt: skip
"""Tables whose keys are names of columns or categories; [space.spread] is the guide that a page adds."""


@pytest.mark.parametrize("page", [p for p in CODED if any(b.language == "toml" for b in blocks_of(p))], ids=named)
def test_keys_of_recipes_exist(page):
    known = {one.name for one in explained_keys()} | {"attributes", "protect"}
    for block in blocks_of(page):
        if block.language == "toml":
            recipe = tomllib.loads(block.text)
            keys = [key for key in _keys_in(recipe) if not key.startswith(FREE)]
            assert not [key for key in keys if key not in known], f"{named(page)}:{block.line}"
            assert "method" not in recipe or find_method(recipe["method"]) is not None


def test_recipes_that_are_whole_are_read():
    every = [block for page in CODED if page != DOCS / "recipe.md" for block in blocks_of(page)]
    whole = [block.text for block in every if block.language == "toml" and block.text.count("[attributes") > 2]
    assert len(whole) >= 2
    for text in whole:
        microagg.Recipe.loads(text)


def test_the_recipe_of_ten_minutes_is_enough_for_what_other_pages_do_with_it():
    (text,) = (block.text for block in blocks_of(DOCS / "start" / "ten_minutes.md") if block.language == "toml")
    recipe = microagg.Recipe.loads(text)
    recipe.changed({"protect.income": {"t_closeness": 0.2}, "protect.health": {"distinct_l": 2}})
    recipe.changed({"space.dependence": {"lambda": 0.5, "attributes": ["income", "health"]}})
