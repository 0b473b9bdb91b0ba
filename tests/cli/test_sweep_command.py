"""``microagg sweep``: what it says, writes, and the commands it tells."""

from __future__ import annotations

import json
import re
import shlex
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from microagg.cli.app import app

RECIPE = """
k = 3
[sweep]
methods = ["mdav", "individual_ranking"]
k = [3, 5]
measures = ["SSE_SST", "distance_linkage"]
[attributes.age]
role = "quasi_identifier"
kind = "numeric"
[attributes.size]
role = "quasi_identifier"
kind = "numeric"
"""


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    x = np.random.default_rng(0).normal(size=(40, 2))
    lines = [f"{a:.3f},{b:.3f}" for a, b in x]
    Path("my data.csv").write_text("age,size\n" + "\n".join(lines) + "\n")
    Path("recipe.toml").write_text(RECIPE)


def run(*arguments, code=0):
    result = CliRunner().invoke(app, [str(argument) for argument in arguments])
    assert result.exit_code == code, result.output
    return result


def test_the_commands_it_tells_work_as_printed():
    said = run("sweep", "my data.csv", "-r", "recipe.toml", "-o", "frontier", "--workers", 1)
    assert "Internal, do not publish" in said.stderr
    commands = re.findall(r"^    microagg (release .*)$", said.stdout, flags=re.MULTILINE)
    assert len(commands) >= 2
    for command in commands:
        arguments = shlex.split(command)
        run(*arguments)
        run("check", arguments[-1])
    assert commands[0] in Path("frontier/which.txt").read_text()


def test_json_and_overrides():
    options = ("--workers", 1, "--methods", "mdav", "--k", "3:5:1", "--risk", "DR", "--json")
    found = json.loads(run("sweep", "my data.csv", "-r", "recipe.toml", "-o", "f", *options).stdout)
    assert [point["k"] for point in found["points"]] == [3, 4, 5]
    assert found["axes"] == {"utility": "SSE_SST", "risk": "DR"}
    assert set(found["points"][0]["values"]) == {"SSE_SST", "distance_linkage", "DR"}


def test_errors_are_sentences():
    said = run("sweep", "my data.csv", "-r", "recipe.toml", "-o", "f", "--k", "2.5", code=2)
    assert "sweep.k.0" in said.stderr
    said = run("sweep", "my data.csv", "-r", "recipe.toml", "-o", "f", "--risk", "KS", code=2)
    assert "risk must be a measure of risk" in said.stderr
    Path("full").mkdir()
    Path("full/mine.txt").write_text("x")
    said = run("sweep", "my data.csv", "-r", "recipe.toml", "-o", "full", code=2)
    assert "no sweep wrote" in said.stderr


def test_l_and_t_are_flags_of_the_sweep_and_of_the_commands_it_tells():
    recipe = "confidential".join(RECIPE.rsplit("quasi_identifier", 1))
    recipe += '[rearrange]\nby = "merge"\n[protect.size]\nmax_share = 0.9\n'
    Path("recipe.toml").write_text(recipe)
    flags = ("--methods", "mdav", "--k", 3, "--t", "0.3,0.4", "--l", "2", "--workers", 1)
    flags += ("--measures", "SSE_SST,t_closeness")
    said = run("sweep", "my data.csv", "-r", "recipe.toml", "-o", "frontier", *flags)
    commands = re.findall(r"^    microagg (release .*)$", said.stdout, flags=re.MULTILINE)
    assert commands
    assert all(re.search(r" --l 2 --t 0\.[34] ", command) for command in commands)
    arguments = shlex.split(commands[0])
    run(*arguments)
    run("check", arguments[-1])
    found = json.loads(run("sweep", "my data.csv", "-r", "recipe.toml", "-o", "frontier", *flags, "--json").stdout)
    assert [(point["l"], point["t"]) for point in found["points"]] == [(2, 0.3), (2, 0.4)]
    refused = run("sweep", "my data.csv", "-r", "recipe.toml", "-o", "frontier", "--l", "2.5", code=2)
    assert "sweep.l.0" in refused.stderr
