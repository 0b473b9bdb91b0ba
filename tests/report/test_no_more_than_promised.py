"""No sentence of a report says more than the statement proves, and no number has another unit than it was taken in."""

from __future__ import annotations

import math

import numpy as np
import pyarrow as pa
import pytest

import microagg
from declarations import nominal, numeric
from microagg import Recipe
from microagg.releases.report_results import make_report
from microagg.reports.figures import bar_chart, rows_of_bars
from microagg.reports.source import ReportRequest
from microagg.tables.frames import Frame
from release_kinds import RECIPES, made

RNG = np.random.default_rng(3)
N = 4000
PEOPLE = pa.table(
    {
        "age": np.repeat(RNG.integers(18, 90, N // 10), 10),
        "hours": np.repeat(RNG.integers(0, 60, N // 10), 10),
        "sick": ["flu"] * 10 + [f"illness {i % 7}" for i in range(N - 10)],
    }
)
AGED = {"age": numeric(), "hours": numeric()}


def facts_of(release, *, internal=False):
    return release._report({}, internal=internal).facts


def lines_of(facts):
    return {one["name"]: one["text"] for one in facts["summary"]}


def release_of(table=PEOPLE, **more):
    recipe = Recipe(**({"k": 5, "attributes": AGED} | more))
    return microagg.release(table.select(list(recipe.attributes)), recipe)


PRIVATE = [kind for kind in RECIPES if "private" in kind]


@pytest.mark.parametrize("kind", PRIVATE)
def test_the_summary_narrows_a_promise_as_the_statement_does(kind):
    release = made(kind)
    [guarantee] = release.statement.guarantees
    facts = facts_of(release)
    for said in (lines_of(facts)["Promised"], facts["promises"]["guarantees"][0]["plain"]):
        given = "Given which records were put together, which is not protected"
        assert (given in said) == ("given the partition" in guarantee.target)
        assert ("in the protected columns" in said) == ("protected attributes" in guarantee.unit)
    plain = facts["promises"]["guarantees"][0]["plain"]
    assert ("are not what is protected" in plain) == ("not the original records" in guarantee.target)


def test_a_promise_of_one_table_or_of_bounds_read_from_it_says_so_in_the_summary():
    table = PEOPLE.select(["age", "hours"])
    bounds = {"age": numeric(bounds=[0, 120]), "hours": numeric(bounds=[0, 60])}
    individual = release_of(table, k=50, method="cross_moment:14", privacy={"epsilon": 1}, attributes=bounds)
    assert "not for every possible table" in lines_of(facts_of(individual))["Promised"]
    read = release_of(table, k=50, method="dp_individual_ranking", privacy={"epsilon": 1, "bounds": "from_data"})
    assert "given bounds that were read from the data" in lines_of(facts_of(read))["Promised"]


def test_only_protected_columns_are_said_to_be_drawn():
    facts = facts_of(made("sampled"))
    assert lines_of(facts)["Promised"].startswith("The 2 protected columns of every row were drawn")
    assert "lost" not in lines_of(facts)["Cost: values"]


def said_of(facts, name):
    every = [*facts["measures"]["utility"], *facts["measures"]["risk"]]
    return next(one for one in every if one["name"] == name)


def test_records_alike_bound_the_chance_of_a_guess_only_where_each_is_of_another_unit():
    assert said_of(facts_of(release_of()), "k")["text"].endswith("by guessing")
    several = PEOPLE.append_column("who", pa.array([f"p{i // 2}" for i in range(N)]))
    pairs = release_of(several, k=4, unit={"key": "who", "together": True}, attributes=AGED | {"who": "identifier"})
    assert "by guessing" not in said_of(facts_of(pairs), "k")["text"]
    for kind in ("sampled", "values mixed"):
        text = said_of(facts_of(made(kind)), "k")["text"]
        assert "alone" not in text
        assert "guessing" not in text


@pytest.mark.parametrize("internal", [False, True])
def test_a_typical_change_is_in_standard_deviations_of_the_column(internal):
    release = release_of(PEOPLE.slice(0, 2000))
    found = said_of(facts_of(release, internal=internal), "IL1s")
    names = ("age", "hours")
    origins = release.origins
    before = [PEOPLE.slice(0, 2000).column(name).to_numpy().astype(float) for name in names]
    after = [release.table.column(name).to_numpy() for name in names]
    typical = np.mean([np.abs(a - b[origins]).mean() / b.std() for a, b in zip(after, before, strict=True)])
    text = f"{typical:.2g} standard deviations" if internal else "standard deviations"
    assert found["text"].endswith(text)
    assert float(found["text"].split("= ")[1].split()[0]) == pytest.approx(found["value"] * math.sqrt(2), rel=0.06)
    assert found["text"].split("= ")[1] in lines_of(facts_of(release, internal=internal))["Cost: values"]


def test_a_share_that_rounds_to_nothing_is_not_called_nothing():
    table = pa.table({"age": np.repeat(np.arange(N // 10), 10), "sick": PEOPLE["sick"]})
    sick = {"sick": nominal(role="confidential")}
    facts = facts_of(release_of(table, k=10, attributes={"age": numeric()} | sick))
    [bars] = [one["bars"] for one in facts["alike"]["confidential"]]
    agreeing = bars[-1]
    assert (agreeing["label"], agreeing["share"]) == ("all agree", 0.0)
    assert rows_of_bars(bars)["rows"][-1]["bars"][0]["text"] == "<1 %"


def test_where_no_class_agrees_the_internal_summary_does_not_say_that_some_do():
    sick = {"sick": nominal(role="confidential")}
    table = PEOPLE.set_column(2, "sick", pa.array(["flu", "cold"] * (N // 2)))
    release = release_of(table, attributes=AGED | sick, protect={"sick": {"distinct_l": 2}})
    assert "agree in sick" not in lines_of(facts_of(release, internal=True))["Left: what it says"]


def test_nearly_all_is_not_all():
    age = np.r_[1, 1, 1000 + np.arange(998)]
    table = Frame.wrap(pa.table({"age": age}))
    facts = make_report(ReportRequest(table, Recipe(k=5, attributes={"age": numeric()}), table)).facts
    assert said_of(facts, "singled_out")["text"] == "99 % of the records"
    bars = [{"label": "a", "after": 1.0}, {"label": None, "after": 0.0}]
    told = [row["bars"][0]["text"] for row in bar_chart(bars)["rows"]]
    assert told == [">99 %", "<1 %"]
