"""The page about risk is true: its commands and its Python run, and its worked figures are those of the code."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from typer.testing import CliRunner

import microagg
from microagg.cli.app import app
from microagg.evaluation.disclosure.individual_risk import match_probability

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "risk.md").read_text(encoding="utf-8")
RECIPE = """
k = 3
[attributes]
ill = "confidential"
[attributes.age]
role = "quasi_identifier"
kind = "numeric"
[attributes.zip]
role = "quasi_identifier"
kind = "nominal"
"""


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rows = "\n".join(f"{20 + i % 17},{i % 3},{i % 2}" for i in range(30))
    for name in ("data.csv", "pop.csv"):
        Path(name).write_text(f"age,zip,ill\n{rows}\n")
    Path("recipe.toml").write_text(RECIPE)


def blocks(language):
    fenced = re.findall(r"^```(\w*)\n(.*?)^```$", PAGE, re.DOTALL | re.MULTILINE)
    return [text for name, text in fenced if name == language]


def test_its_commands_run():
    lines = [line.partition("#")[0].split()[1:] for line in blocks("")[0].splitlines()]
    assert len(lines) == 5
    for line in lines:
        result = CliRunner().invoke(app, line)
        assert result.exit_code == 0, result.output


def test_its_python_runs():
    recipe = microagg.Recipe.load("recipe.toml")
    (code,) = blocks("python")
    exec(code, {"microagg": microagg, "recipe": recipe, "table": microagg.read_table("data.csv", recipe)})


def test_its_figures_of_dis_suda_are_ours():
    """Four unique records with scores 6, 6, 10 and 12, and three pairs, of a hundredth of the population."""
    chance, _ = match_probability(4, 3, 0.01)
    told = ", ".join(f"{chance * 4 * score / 34:.4f}" for score in (6, 10, 12))
    assert told in PAGE
