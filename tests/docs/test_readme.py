"""The README's lines are true: its Python runs, its commands exist, its links lead somewhere."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from typer.testing import CliRunner

from microagg.cli.app import app
from optional_packages import pandas as pd

ROOT = Path(__file__).resolve().parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]


def blocks(language: str) -> list[str]:
    fenced = re.findall(r"^```(\w*)\n(.*?)^```$", README, re.DOTALL | re.MULTILINE)
    return [text for name, text in fenced if name == language]


def test_the_python_of_the_readme_runs(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    df = pd.DataFrame({"name": list("abcdefghij"), "illness": ["flu"] * 10, "age": range(20, 30)})
    (code,) = blocks("python")
    scope = {"df": df}
    exec(code, scope)
    assert (tmp_path / "out" / "table.csv").exists()
    assert type(scope["release"].table) is pd.DataFrame


def test_the_commands_of_the_readme_run(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rows = "\n".join(f"{20 + i},{i % 3},{i % 2}" for i in range(30))
    for name in ("data.csv", "ours.csv", "theirs.csv"):
        Path(name).write_text(f"age,zip,ill\n{rows}\n")
    # A small grid, and something to predict: what `init` writes needs a person to finish it.
    finished = '\n[sweep]\nmethods = ["mdav", "pcp"]\nk = [3]\nrepeats = 1\n'
    commands = [line.partition("#")[0].split()[1:] for block in blocks("") for line in block.splitlines()
                if line.startswith("microagg ")]  # fmt: skip
    assert [command[0] for command in commands] == [
        "init", "risk", "release", "check", "evaluate", "release", "budget", "budget", "sweep", "tradeoff", "evaluate",
    ]  # fmt: skip
    for command in commands:
        if command[0] == "release" and finished not in Path("recipe.toml").read_text():
            recipe = Path("recipe.toml").read_text()
            before, name, after = recipe.partition("[attributes.ill]")
            after = after.replace('role = "quasi_identifier"', 'role = "confidential"', 1)
            Path("recipe.toml").write_text(before + name + after + finished)
        result = CliRunner().invoke(app, command)
        assert result.exit_code == 0, result.output


@pytest.mark.parametrize("target", re.findall(r"^make (\w+)", "\n".join(blocks("")), re.MULTILINE))
def test_the_make_targets_of_the_readme_exist(target):
    assert re.search(rf"^{target}:", (ROOT / "Makefile").read_text(), re.MULTILINE)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_lead_somewhere(page):
    for link in re.findall(r"\]\(([^)#]+)\)", page.read_text(encoding="utf-8")):
        if "://" not in link:
            assert (page.parent / link).exists(), link
