"""``microagg explain`` and ``microagg measures``, as text and as JSON."""

from __future__ import annotations

import json

import pytest
from typer.testing import CliRunner

from microagg.cli.app import app
from microagg.evaluation.measures import all_measures


def run(*arguments: str, code: int = 0) -> str:
    ended = CliRunner().invoke(app, list(arguments))
    assert ended.exit_code == code, ended.output
    return ended.output


def test_a_measure_is_explained():
    shown = run("explain", "SSE_SST")
    assert shown.startswith("SSE_SST (measure)\n")
    for part in (
        "formula: ",
        "range: 0 and above",
        "better: lower",
        "needs: ",
        "misleads: ",
        "reference: ",
        "read more: ",
    ):
        assert f"\n  {part}" in shown
    assert max(map(len, shown.splitlines())) <= 100


@pytest.mark.parametrize("name", ["mdav", "k-anonymity", "missing.policy"])
def test_methods_guarantees_and_keys_are_explained(name):
    shown = run("explain", name)
    assert shown.startswith(f"{name} (")
    assert "misleads: " in shown


def test_json_has_what_the_text_has():
    plain = json.loads(run("explain", "t_closeness", "--json"))
    assert plain["name"] == "t_closeness"
    assert [one["kind"] for one in plain["also"]] == ["guarantee", "recipe key"]
    assert plain["words"].split()[0] in run("explain", "t_closeness")


def test_an_unknown_name_offers_near_ones():
    assert "error: nothing is called 'mdva'. Did you mean 'mdav'" in run("explain", "mdva", code=2)


def test_without_a_name_all_are_listed_by_kind():
    shown = run("explain")
    heads = [line for line in shown.splitlines() if not line.startswith(" ")]
    assert heads == ["measures:", "methods:", "guarantees:", "recipe keys:"]
    plain = json.loads(run("explain", "--json"))
    assert list(plain) == ["measure", "method", "guarantee", "recipe key"]
    for names in plain.values():
        for name, summary in names.items():
            assert f"  {name}: {summary}\n" in shown


def test_every_name_that_is_listed_is_explained():
    for names in json.loads(run("explain", "--json")).values():
        for name in list(names)[::12]:
            assert f"{name} (" in run("explain", name)


def test_measures_are_listed():
    rows = json.loads(run("measures", "--json"))
    assert [row["name"] for row in rows] == [one.name for one in all_measures()]
    (row,) = [row for row in rows if row["name"] == "closer_than_holdout"]
    assert (row["about"], row["better"], row["needs"], row["range"]) == ("risk", "lower", ["a holdout"], "0 to 1")
    lines = run("measures").splitlines()
    assert sum(line.startswith("  ") for line in lines) == len(rows)
    (line,) = [line for line in lines if line.startswith("  closer_than_holdout ")]
    assert "lower" in line
    assert line.endswith("Needs a holdout.")


@pytest.mark.parametrize(
    ("which", "rule"),
    [
        (["utility"], lambda one: one.about == "utility"),
        (["Risk"], lambda one: one.about == "risk"),
        (["reidentification", "linkage"], lambda one: one.group in ("reidentification", "linkage")),
        (["default"], lambda one: one.default),
        (["sse_sst", "k"], lambda one: one.name in ("SSE_SST", "k")),
        (["all"], lambda _: True),
    ],
)
def test_measures_can_be_chosen(which, rule):
    rows = json.loads(run("measures", *which, "--json"))
    assert [row["name"] for row in rows] == [one.name for one in all_measures() if rule(one)]


def test_measures_that_are_not_there_are_refused_with_near_ones():
    said = run("measures", "linkge", code=2)
    assert "no measure is called 'linkge'. Did you mean 'linkage'" in said
    assert "reidentification" in said
