"""The tutorials' lines are true: their Python runs, in order, and their commands do, on the recipe they show."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from typer.testing import CliRunner

from microagg.cli.app import app
from microagg.tables.reference.generated import generate_survey
from microagg.tables.write import write_table
from optional_packages import need

TUTORIALS = sorted((Path(__file__).resolve().parents[2] / "docs" / "tutorials").glob("*.md"))


def blocks(page: Path) -> list[tuple[str, str]]:
    return re.findall(r"^```(\w*)\n(.*?)^```$", page.read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE)


def test_there_is_one_for_each_kind_of_user():
    assert {page.stem for page in TUTORIALS} == {"steward", "data_scientist", "researcher"}


@pytest.mark.parametrize("page", TUTORIALS, ids=lambda page: page.stem)
def test_the_python_of_a_tutorial_runs(page):
    code = "\n".join(text for language, text in blocks(page) if language == "python")
    for package in re.findall(r"^import (pandas|polars)\b", code, re.MULTILINE):
        need(package)
    exec(compile(code, page.name, "exec"), {})


@pytest.mark.parametrize("page", TUTORIALS, ids=lambda page: page.stem)
def test_the_commands_of_a_tutorial_run(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    # Whole papers take hours; tests/studies runs the experiments. What is named here must exist all the same.
    monkeypatch.setattr("microagg.studies.reproduction.writing.reproduce", lambda chosen, **_: [])
    write_table(generate_survey(300), tmp_path / "survey.csv")
    for language, text in blocks(page):
        if language == "toml":
            Path("recipe.toml").write_text(text, encoding="utf-8")
        for line in text.splitlines() if language == "" else ():
            result = CliRunner().invoke(app, line.partition("#")[0].split()[1:])
            assert result.exit_code == 0, f"{line}\n{result.output}"
