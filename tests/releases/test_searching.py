"""What a release says about a search: what cut it, what it began with, and that an interrupted one is none."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pyarrow as pa
import pytest

import microagg
from declarations import nominal, numeric
from microagg import Recipe
from microagg.methods.searches import Searches, require_uninterrupted


def people(n_records: int = 3_000) -> pa.Table:
    rng = np.random.default_rng(0)
    sexes = rng.choice(["f", "m"], n_records)
    return pa.table({"sex": sexes, "a": rng.normal(size=n_records), "b": rng.normal(size=n_records)})


def recipe(**more) -> Recipe:
    given = {"k": 3, "method": "near_optimal", "attributes": {"sex": nominal(), "a": numeric(), "b": numeric()}}
    return Recipe(**{**given, **more})


def search(reason: str = "budget", share: float = 1.0, start: str = "mdav") -> SimpleNamespace:
    return SimpleNamespace(stopped_by_=reason, searched_=share, start_=start)


def facts_of(made: microagg.Release) -> dict:
    (stage,) = (stage for stage in made.manifest.as_dict()["stages"] if stage["stage"] == "partition")
    return stage["blocks"][0]["search"]


def test_a_search_cut_by_its_limit_says_so_in_statement_and_manifest(tmp_path):
    cut = recipe(partition={"effort": "best", "time_limit": 0.2})
    made = microagg.release(people(), cut)
    (said,) = (remark for remark in made.statement.remarks if "time limit" in remark)
    assert "was stopped by its time limit of 0.2 s after" in said
    assert "with more time less might be lost" in said
    assert "a seed does not repeat it" in said
    facts = facts_of(made)
    assert facts["stopped_by"] == {"time limit": 1}
    assert facts["time_limit"] == 0.2
    assert 0.0 <= facts["share_of_steps"] < 1.0
    folder = made.save(tmp_path / "out")
    assert "stopped by its time limit" in " ".join((folder / "statement.txt").read_text().split())


def test_a_search_that_ended_by_itself_says_only_in_the_manifest_what_it_was():
    made = microagg.release(people(200), recipe(partition={"effort": "fast", "time_limit": 10_000}))
    assert not any("search" in remark for remark in made.statement.remarks)
    assert facts_of(made) == {"searches": 1, "stopped_by": {"budget": 1}, "started_from": {"mdav": 1}}


def test_groups_that_were_cut_are_counted():
    made = microagg.release(people(), recipe(strata={"by": ["sex"]}, partition={"effort": "best", "time_limit": 0.1}))
    assert any("in 2 of 2 groups of records" in remark for remark in made.statement.remarks)
    assert facts_of(made)["stopped_by"] == {"time limit": 2}


def test_methods_that_do_not_search_say_nothing():
    made = microagg.release(people(60), recipe(method="mdav"))
    (stage,) = (stage for stage in made.manifest.as_dict()["stages"] if stage["stage"] == "partition")
    assert "search" not in stage["blocks"][0]
    assert Searches([object()]).facts == {}
    assert Searches([object()]).remarks(["a"]) == []


def test_other_starts_and_the_solvers_limit_are_remarked():
    several = Searches([search(), search(start="split"), search("solver limit"), search("time limit", 0.5)], 3.0)
    cut, solver, start = several.remarks(["a", "b"])
    assert "time limit of 3 s after 50 % of its steps in 1 of 4 groups of records" in cut
    assert "with the same seed another machine may find other cells" in solver
    assert "did not begin with MDAV's cells" in start
    assert "likely, not certain" in start
    assert several.facts["started_from"] == {"mdav": 3, "split": 1}


def test_an_interrupted_search_is_no_release():
    with pytest.raises(KeyboardInterrupt):
        require_uninterrupted(search("interrupt"))
    require_uninterrupted(search("time limit"))
    require_uninterrupted(object())


def test_a_private_release_tells_its_limit_but_not_what_a_record_could_have_changed():
    attributes = {"a": numeric(bounds=(-5, 5)), "b": numeric(bounds=(-5, 5))}
    private = Recipe(
        k=20,
        method="dp_moments_near_optimal",
        partition={"effort": "fast", "time_limit": 10_000},
        privacy={"epsilon": 1.0, "m": 0},
        attributes=attributes,
    )
    made = microagg.release(people(200).select(["a", "b"]), private)
    assert any("searches for cells had a time limit of 10000 s each" in remark for remark in made.statement.remarks)
    assert "share_of_steps" not in made.manifest.as_json()
