"""Whole tables under differential privacy: what is published, what is kept, what is refused."""

from __future__ import annotations

import datetime as dt
import json

import numpy as np
import pyarrow as pa
import pytest
from scipy.stats import spearmanr
from typer.testing import CliRunner

import microagg
from declarations import nominal, numeric, ordinal
from microagg import Recipe
from microagg.cli.app import app
from microagg.errors import RecipeError, TableError
from microagg.releases.check.check import check_release

N = 3000
CATEGORIES = ["clerk", "farmer", "nurse", "smith"]
DECLARED = {
    "name": "identifier",
    "age": numeric(bounds=[0, 120], resolution=1),
    "income": numeric(role="confidential", bounds=[0, 200_000], resolution=1),
    "level": ordinal(role="non_confidential", categories=["low", "middle", "high"]),
    "job": nominal(role="confidential", categories=CATEGORIES),
}


def people(n: int = N, seed: int = 0) -> pa.Table:
    rng = np.random.default_rng(seed)
    age = rng.integers(18, 90, n)
    income = np.rint(np.minimum(np.exp(8 + age / 40 + rng.normal(0, 0.4, n)), 200_000))
    level = np.array(["low", "middle", "high"])[np.digitize(income, np.quantile(income, [0.3, 0.8]))]
    job = np.where(age > 50, "farmer", "nurse")
    job = np.where(rng.random(n) < 0.2, "clerk", job)
    return pa.table({"name": [f"p{i}" for i in range(n)], "age": age, "income": income, "level": level, "job": job})


def strict(epsilon: float = 2.0, attributes: dict | None = None, method: str = "strict", **privacy) -> Recipe:
    return Recipe(method=method, privacy={"epsilon": epsilon, **privacy}, attributes=attributes or DECLARED)


def test_every_published_attribute_is_protected_whatever_its_role():
    table = people()
    made = microagg.release(table, strict(), seed=1)
    assert made.recipe.method == "dp_ranked_graph"
    assert made.table.column_names == ["age", "income", "level", "job"]
    (guarantee,) = made.statement.guarantees
    assert guarantee.attributes == ("age", "income", "level", "job")
    assert guarantee.target == "the original records"
    assert guarantee.unit == "replace one record"
    assert made.origins is None
    for name in made.table.column_names:
        assert made.table[name].to_pylist() != table[name].to_pylist()
    roles = made.manifest.stages[0]["roles"]
    assert roles["income"] == "confidential"


def test_distributions_and_dependence_are_kept():
    """Seeded, with bounds far beyond what other seeds gave (20 tried)."""
    table = people()
    made = microagg.release(table, strict(4.0), seed=2).table
    for name in ("age", "income"):
        before, after = np.sort(np.asarray(table[name], float)), np.sort(np.asarray(made[name], float))
        at = np.unique(np.concatenate([before, after]))
        gap = np.abs(np.searchsorted(before, at, "right") - np.searchsorted(after, at, "right")).max() / N
        assert gap < 0.08
    pairs = [spearmanr(np.asarray(one["age"]), np.asarray(one["income"])).statistic for one in (table, made)]
    assert abs(pairs[0] - pairs[1]) < 0.15
    older = [np.asarray(one["age"])[np.array(one["job"].to_pylist()) == "farmer"].mean() for one in (table, made)]
    assert abs(older[0] - older[1]) < 10
    jobs = made["job"].to_pylist()
    assert abs(jobs.count("clerk") / N - 0.2) < 0.05
    assert jobs.count("smith") / N < 0.02


def test_a_seed_repeats_the_release_and_another_does_not():
    first, again, other = (microagg.release(people(300), strict(), seed=seed).table for seed in (5, 5, 6))
    assert first.equals(again)
    assert not first.equals(other)


@pytest.mark.parametrize(
    "attributes",
    [
        {"age": DECLARED["age"]},
        {"job": DECLARED["job"]},
        {"job": DECLARED["job"], "level": nominal(categories=["low", "middle", "high"])},
        {"level": DECLARED["level"], "age": DECLARED["age"]},
    ],
)
@pytest.mark.parametrize("n", [1, 2, 40])
def test_few_attributes_of_any_kind_and_few_records(tmp_path, attributes, n):
    attributes = {name: {**one, "role": "quasi_identifier"} for name, one in attributes.items()}
    made = microagg.release(people(n).select(list(attributes)), strict(attributes=attributes))
    assert made.table.num_rows == n
    assert float(made.statement.budget["spent"]) <= 2.0
    assert all(finding.holds for finding in check_release(made.save(tmp_path / "out")))


def test_taxonomies_dates_and_one_value_alone():
    n = 200
    rng = np.random.default_rng(0)
    tree = {"physician": "health", "nurse": "health", "clerk": "office", "health": "all", "office": "all"}
    table = pa.table(
        {
            "job": rng.choice(["physician", "nurse", "clerk", "office"], n),
            "day": [dt.date(2020, 1, 1) + dt.timedelta(days=int(d)) for d in rng.integers(0, 300, n)],
            "only": ["x"] * n,
            "debt": -rng.lognormal(5, 1, n).clip(0, 9999).round(2),
        }
    )
    recipe = strict(
        attributes={
            "job": nominal(taxonomy=tree),
            "day": numeric(bounds=[dt.date(2020, 1, 1), dt.date(2020, 12, 31)]),
            "only": nominal(categories=["x"]),
            "debt": numeric(bounds=[-10_000, 0]),
        }
    )
    made = microagg.release(table, recipe).table
    assert set(made["job"].to_pylist()) <= {*tree, "all"}
    assert made.schema.field("day").type == pa.date32()
    assert set(made["only"].to_pylist()) == {"x"}
    debts = np.asarray(made["debt"])
    assert debts.min() >= -10_000
    assert debts.max() <= 0
    assert np.median(debts) > -3000  # crowded near the origin, which is the upper bound here


def test_what_a_recipe_overrides_is_spent_so():
    shares = {"marginals": 0.4, "pairs": 0.1, "choices": 0.1, "tables": 0.4}
    weights = {"age": 0.7, "income": 0.1, "level": 0.1, "job": 0.1}
    recipe = strict(1.0, shares=shares, tables=2, weights=weights, origins={"income": 30_000})
    made = microagg.release(people(400), recipe, seed=1)
    expenses = made.statement.budget["expenses"]
    of = lambda word: sum(one["epsilon"] for one in expenses if word in one["on"])  # noqa: E731
    assert of("a table of") == pytest.approx(0.4)
    assert of("a choice of") == pytest.approx(0.1)
    assert of("same side") == pytest.approx(0.1)
    assert of("of age") == pytest.approx(0.28)
    assert sum("a table of" in one["on"] for one in expenses) == 3  # one joins the jobs
    assert made.manifest.stages[-1]["plan"]["n_more"] == 2


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"income": "confidential"}, "every attribute needs a kind"),
        ({"income": numeric(role="confidential")}, "needs its public bounds"),
        ({"job": nominal(role="confidential")}, "needs its public categories"),
    ],
)
def test_what_is_not_declared_is_refused_with_the_line_that_mends_it(changes, words):
    with pytest.raises(RecipeError, match=words):
        strict(attributes=DECLARED | changes)


@pytest.mark.parametrize(
    ("privacy", "words"),
    [
        ({"shares": {"marginals": 1.0}}, "shares above 0 that sum to 1"),
        ({"tables": -1}, "whole number"),
        ({"origins": {"job": 1.0}}, "not a numeric attribute"),
        ({"origins": {"agee": 1.0}}, "'age'"),
        ({"monotone": "off"}, "no such key"),
    ],
)
def test_options_that_mean_nothing_are_refused(privacy, words):
    with pytest.raises(RecipeError, match=words):
        strict(**privacy)


def test_a_resolution_without_a_multiple_within_the_bounds_is_refused():
    recipe = strict(attributes={"x": numeric(bounds=[0.2, 0.8], resolution=1.0)})
    with pytest.raises(TableError, match="'x'"):
        microagg.release(pa.table({"x": [0.5, 0.6]}), recipe)


def test_missing_values_are_refused_without_naming_any():
    with pytest.raises(TableError, match="2 missing values"):
        microagg.release(
            pa.table({"age": [1, None, None]}), strict(attributes={"age": {**DECLARED["age"], "role": "confidential"}})
        )


def test_little_budget_is_said_to_hide_dependence():
    assert any(
        "hides nearly all dependence" in one for one in microagg.release(people(40), strict(1.0)).statement.remarks
    )
    enough = microagg.release(people(400), strict(2.0)).statement.remarks
    assert not any("dependence" in one for one in enough)


def test_the_command_line_makes_a_strict_release_of_a_k_anonymous_recipe(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    import pyarrow.csv

    pyarrow.csv.write_csv(people(200), "data.csv")
    Recipe(k=5, attributes=DECLARED).save("recipe.toml")
    result = CliRunner().invoke(
        app, ["release", "data.csv", "-r", "recipe.toml", "-o", "out", "--method", "strict", "--epsilon", "1"]
    )
    assert result.exit_code == 0, result.output
    assert "Protects the original records" in result.output
    assert json.loads((tmp_path / "out" / "statement.json").read_text())["budget"]["epsilon"] == 1.0
    checked = CliRunner().invoke(app, ["check", "out"])
    assert checked.exit_code == 0, checked.output


def test_evaluation_and_sweep_know_that_rows_were_drawn():
    table = people(300)
    made = microagg.release(table, strict(), seed=1)
    found = microagg.evaluate(table, made, measures=["KS", "rank_correlation_difference", "linkage"])
    values = {one.name: one for one in found}
    assert values["KS"].value is not None
    assert values["rank_correlation_difference"].value is not None
    unknown = [one for one in found if one.value is None]
    assert unknown
    assert all("drawn from a model" in one.note for one in unknown)
    recipe = Recipe(k=4, attributes=DECLARED).changed(
        {"sweep": {"methods": ["mdav", "strict"], "k": [4], "epsilon": [1.0], "measures": ["KS"]}}
    )
    frontier = microagg.sweep(table, recipe)
    assert {point.settings["method"] for point in frontier.points} == {"mdav", "dp_ranked_graph"}


def test_the_public_report_of_a_strict_release_shows_nothing_of_the_original(tmp_path):
    table = people(300)
    folder = microagg.release(table, strict()).save(tmp_path / "out", report=True)
    quoted = (folder / "report.json").read_text() + (folder / "report.html").read_text()
    assert "drawn from a model of noisy counts" in quoted
    assert "drawn anew, from noisy counts" in quoted
    overview = json.loads((folder / "report.json").read_text())["attributes"]["overview"]
    assert {one["name"]: one["role"] for one in overview}["income"] == "confidential"
    assert str(float(np.mean(np.asarray(table["income"]))))[:7] not in quoted
