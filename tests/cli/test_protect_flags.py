"""Cells that hide confidential values, asked for on the command line: flags, what is said, and the draft's example."""

from __future__ import annotations

import json
import re
import tomllib
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from microagg import Recipe
from microagg.cli.app import app

RECIPE = """
k = 3
[attributes.age]
role = "quasi_identifier"
kind = "numeric"
[attributes.illness]
role = "confidential"
kind = "nominal"
[attributes.pay]
role = "confidential"
kind = "numeric"
"""


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    rows = zip(range(20, 80), rng.choice(["canary-a", "canary-b", "canary-c"], 60), rng.permutation(60), strict=True)
    Path("data.csv").write_text("age,illness,pay\n" + "".join(f"{a},{b},{c}\n" for a, b, c in rows))
    Path("recipe.toml").write_text(RECIPE)


def run(*arguments, code=0):
    result = CliRunner().invoke(app, [str(argument) for argument in arguments])
    assert result.exit_code == code, result.output
    assert "canary" not in result.output
    return result


def release(*arguments, code=0):
    return run("release", "data.csv", "-r", "recipe.toml", "-o", "out", "--no-report", *arguments, code=code).stderr


def released(key):
    return json.loads(Path("out/manifest.json").read_text())["recipe"].get(key)


def test_l_and_t_are_asked_of_all_confidential_attributes():
    release("--l", 2, "--t", 0.4)
    assert released("protect") == {
        "illness": {"distinct_l": 2, "t_closeness": 0.4},
        "pay": {"distinct_l": 2, "t_closeness": 0.4},
    }
    assert released("rearrange")["by"] == "search"
    run("check", "out")


def test_l_and_t_are_asked_of_what_the_recipe_protects_and_the_rest_of_it_stays():
    Path("recipe.toml").write_text(RECIPE + "[protect.illness]\nmax_share = 0.9\n")
    release("--l", 2, "--rearrange", "merge")
    assert released("protect") == {"illness": {"distinct_l": 2, "max_share": 0.9}}
    assert released("rearrange")["by"] == "merge"


def test_each_requirement_that_was_counted_is_a_line_after_the_one_on_k():
    lines = release("--l", 2, "--t", 0.4, "--rearrange", "merge").splitlines()
    about_k = next(i for i, line in enumerate(lines) if "every combination of age" in line)
    said = lines[about_k + 1 : about_k + 5]
    counts = json.loads(Path("out/statement.json").read_text())["requirements"]
    assert len(counts) == 4
    for line, count in zip(said, counts, strict=True):
        assert line.startswith("Counted on the written file: ")
        assert repr(count["attribute"]) in line
        assert line.endswith(f"is {count['found']:.6g}.")
    assert "t-closeness (t = 0.4) of 'pay' holds" in said[-1]


def test_cells_that_publish_means_are_not_said_to_be_drawn():
    assert "drawn from statistics" not in release("--l", 2, "--rearrange", "merge")


def test_without_requirements_nothing_is_said_of_them():
    lines = [line for line in release().splitlines() if line.startswith("Counted")]
    assert len(lines) == 1
    assert released("protect") is None


@pytest.mark.parametrize(
    ("flags", "said"),
    [
        (("--rearrange", "merge"), "nothing to rearrange"),
        (("--t", 0.3, "--rearrange", "mrge"), "Did you mean 'merge'"),
        (("--t", 2), "protect.illness.t_closeness"),
        (("--l", 1), "protect.illness.distinct_l"),
        (("--l", 2, "--method", "individual_ranking"), "cells that could be rearranged"),
    ],
)
def test_what_cannot_be_done_is_refused_before_anything_is_written(flags, said):
    assert said in release(*flags, code=2)
    assert not Path("out").exists()


def test_a_draft_shows_how_to_protect_a_confidential_attribute():
    run("init", "data.csv", "-o", "draft.toml")
    text = Path("draft.toml").read_text()
    assert not Recipe.loads(text).protect
    uncommented = re.sub(r"^# (?=\[protect\.|distinct_l|t_closeness)", "", text, flags=re.MULTILINE)
    assert list(tomllib.loads(uncommented)["protect"]) == ["illness"]
    assert set(Recipe.loads(uncommented).protect["illness"].model_dump(exclude_none=True)) == {
        "distinct_l",
        "t_closeness",
    }


def test_a_draft_without_confidential_attributes_has_no_example():
    Path("data.csv").write_text("age,zip\n" + "".join(f"{i},{i % 7}\n" for i in range(20)))
    run("init", "data.csv", "-o", "draft.toml")
    assert "protect." not in Path("draft.toml").read_text()


def test_a_tradeoff_shows_the_loss_against_t():
    Path("recipe.toml").write_text(RECIPE + '[rearrange]\nby = "merge"\n[protect.pay]\nmax_share = 0.9\n')
    found = json.loads(run("tradeoff", "data.csv", "-r", "recipe.toml", "--t", "0.2:0.4:0.1", "--json").stdout)
    assert [row["t"] for row in found["rows"]] == [0.2, 0.3, 0.4]
    losses = [row["information_loss"] for row in found["rows"]]
    assert losses == sorted(losses, reverse=True)
    refused = run("tradeoff", "data.csv", "-r", "recipe.toml", "--t", "0.2", "--lambda", "0.5", code=2)
    assert "--t 0.05:0.3:0.05" in refused.stderr
