"""Differentially private releases: what is refused, what is said, and that nothing but noise looks at the records."""

from __future__ import annotations

import datetime as dt
import json

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from typer.testing import CliRunner

import microagg
from constant_answers import ConstantAnswers
from declarations import nominal, numeric, ordinal
from microagg import Recipe
from microagg.cli.app import app
from microagg.errors import GuaranteeError, RecipeError, TableError
from microagg.methods.catalogue import METHODS
from microagg.privacy.noise import SeededNoise
from microagg.private.base import protect
from microagg.releases.check.check import check_release, check_table
from microagg.tables.frames import Frame
from optional_packages import pandas as pd
from optional_packages import polars as pl

TREE = {"clerk": "office", "manager": "office", "farmer": "field", "office": "work", "field": "work"}
MIXED = {
    "age": numeric(bounds=[0, 120], resolution=1),
    "level": ordinal(categories=["low", "middle", "high"]),
    "job": nominal(taxonomy=TREE, categories=["clerk", "manager", "farmer"]),
}
PRIVATE = [(name, form) for name, method in METHODS.items() if method.is_private for form in method.private.forms]
every_form = pytest.mark.parametrize(("name", "form"), PRIVATE)
# Given the partition: where the number of cells depends on the records, so does the number of draws.
FREE_CELLS = ("vmdav", "near_optimal", "pcp", "zscores", "optimal_univariate")


def people(n_records: int = 23, seed: int = 0) -> pa.Table:
    rng = np.random.default_rng(seed)
    return pa.table(
        {
            "age": rng.integers(0, 121, n_records),
            "level": rng.choice(["low", "middle", "high"], n_records),
            "job": rng.choice(["clerk", "manager", "farmer"], n_records),
        }
    )


def recipe_for(name: str, form: str | None = None, **more) -> Recipe:
    """A recipe that takes as many kinds of attributes as the method does."""
    method = METHODS[name]
    attributes = {key: one for key, one in MIXED.items() if one["kind"] in method.kinds}
    privacy = {"epsilon": 1.0, **({"form": form} if form else {}), **more.pop("privacy", {})}
    k = {"k": 5} if method.has_cells else {}
    return Recipe(**{"method": name, **k, "attributes": attributes, "privacy": privacy, **more})


def table_for(recipe: Recipe, table: pa.Table | None = None) -> pa.Table:
    return (people() if table is None else table).select(list(recipe.attributes))


# --- the whole way


@every_form
def test_every_form_is_released_saved_and_checked(tmp_path, name, form):
    recipe = recipe_for(name, form)
    made = microagg.release(table_for(recipe), recipe)
    folder = made.save(tmp_path / "out")
    findings = check_release(folder)
    assert all(finding.holds for finding in findings), findings
    assert all(finding.holds for finding in check_table(folder / "table.csv", recipe))
    statement = json.loads((folder / "statement.json").read_text())
    assert statement["for_publication"]
    assert statement["budget"]["spent"] == pytest.approx(1.0)
    assert statement["budget"]["spent"] <= 1.0
    (guarantee,) = statement["guarantees"]
    assert (guarantee["model"], guarantee["parameters"]) == ("epsilon-differential privacy", {"epsilon": 1.0})
    assert guarantee["unit"] == "replace one record"
    assert made.information_loss is None
    assert Recipe.loads(recipe.dumps()) == recipe


@every_form
def test_only_what_is_proved_names_the_original_records(name, form):
    guarantee = METHODS[name].private.guarantee(recipe_for(name, form))
    assert (guarantee.target == "the original records") == (form in ("marginals", "centroids", "records", "drawn"))


@pytest.mark.parametrize(("name", "form"), [(name, form) for name, form in PRIVATE if form != "moments"])
def test_output_keeps_types_columns_and_the_number_of_records(constructor, name, form):
    recipe = recipe_for(name, form)
    table = constructor(table_for(recipe).to_pydict())
    released = microagg.release(table, recipe).table
    assert type(released) is type(table)
    assert len(released) == 23
    assert list(Frame.wrap(released).names) == list(recipe.attributes)
    assert Frame.wrap(released).table.schema.types == Frame.wrap(table).table.schema.types


class Recorded:
    """A source of noise that remembers what it was asked for."""

    def __init__(self, noise) -> None:
        self._noise = noise
        self.asked: list[tuple] = []

    def laplace(self, counts, **asked):
        self.asked.append(("laplace", counts.shape, *asked.values()))
        return self._noise.laplace(counts, **asked)

    def laplace_source(self, **asked):
        self.asked.append(("laplace_source", *asked.values()))
        add = self._noise.laplace_source(**asked)

        def answer(counts):
            self.asked.append(("of the source", counts.shape))
            return add(counts)

        return answer

    def max_norm(self, counts, **asked):
        self.asked.append(("max_norm", counts.shape, *asked.values()))
        return self._noise.max_norm(counts, **asked)

    def histograms(self, counts, **asked):
        self.asked.append(("histograms", counts.shape, *asked.values()))
        return self._noise.histograms(counts, **asked)

    def noisy_max(self, scores, **asked):
        self.asked.append(("noisy_max", scores.shape, *asked.values()))
        return self._noise.noisy_max(scores, **asked)

    def uniforms(self, count):
        self.asked.append(("uniforms", count))
        return self._noise.uniforms(count)


@pytest.mark.parametrize(("name", "form"), [one for one in PRIVATE if not one[0].endswith(FREE_CELLS)])
@settings(max_examples=15)
@given(data=st.data())
def test_the_same_randomness_on_neighbouring_tables_is_asked_for_in_the_same_way(name, form, data):
    """Replay: control flow, draws, sensitivities, scales and all that is told besides the table are the same.

    A method whose answers decide what it asks next gets the same answers; any other the same noise.
    """
    recipe = recipe_for(name, form)
    adaptive = recipe.entry.whole_table
    table = table_for(recipe, people(data.draw(st.integers(5, 23), label="n"), seed=data.draw(st.integers(0, 99))))
    other = table.to_pylist()
    place = data.draw(st.integers(0, len(other) - 1), label="replaced")
    other[place] = {key: data.draw(st.sampled_from(values)) for key, values in {
        "age": [0, 120, 60], "level": ["low", "middle", "high"], "job": ["clerk", "manager", "farmer"],
    }.items() if key in other[place]}  # fmt: skip
    told = []
    for one in (table, pa.Table.from_pylist(other, schema=table.schema)):
        noise = Recorded(ConstantAnswers(place) if adaptive else SeededNoise(3))
        protected = protect(Frame.wrap(one), recipe, noise)
        told.append((noise.asked, protected.budget.as_dict(), protected.stages, protected.remarks, protected.linked))
        arrays = protected.arrays
        assert all(array.null_count == 0 and len(array) == one.num_rows for array in arrays.values())
        if adaptive:
            told[-1] += (arrays,)
    assert told[0] == told[1]


def test_marginals_are_lists_in_rank_order_and_rows_mean_nothing():
    recipe = recipe_for("dp_individual_ranking", "marginals")
    made = microagg.release(people(), recipe)
    ages = made.table["age"].to_pylist()
    ranks = [("low", "middle", "high").index(level) for level in made.table["level"].to_pylist()]
    assert ages == sorted(ages)
    assert ranks == sorted(ranks)
    assert "a row is a rank: its values belong to no record and not to each other" in made.statement.remarks
    assert made.blocks == ()


def test_with_a_large_budget_nothing_is_lost_but_what_runs_lose():
    table = pa.table(
        {"age": [10, 20, 30, 40, 50, 61], "job": ["clerk", "clerk", "clerk", "farmer", "farmer", "farmer"]}
    )
    attributes = {"age": MIXED["age"], "job": MIXED["job"]}
    for form, monotone in [("aligned", "steps"), ("aligned", "off"), ("marginals", "steps")]:
        privacy = {"epsilon": 1e6, "form": form, "monotone": monotone}
        recipe = Recipe(
            method="dp_individual_ranking", k=3, privacy=privacy, output={"order": "kept"}, attributes=attributes
        )
        released = microagg.release(table, recipe, seed=1).table
        assert released["age"].to_pylist() == [20] * 3 + [50] * 3
        # The public order of jobs starts with the most marginal one, the farmer.
        jobs = ["clerk"] * 3 + ["farmer"] * 3
        assert released["job"].to_pylist() == (jobs if form == "aligned" else jobs[::-1])


def test_a_published_category_may_be_any_node_of_the_public_tree():
    recipe = recipe_for("dp_individual_ranking", "marginals", privacy={"epsilon": 0.01})
    seen = set()
    for seed in range(20):
        seen |= set(microagg.release(people(), recipe, seed=seed).table["job"].to_pylist())
    assert seen == {*TREE, "work"}


def test_flat_categories_are_a_tree_of_depth_one_without_its_root():
    table = pa.table({"code": [1, 2, 3, 1, 2, 3]})
    recipe = Recipe(
        method="dp_individual_ranking",
        k=2,
        privacy={"epsilon": 0.01},
        attributes={"code": nominal(categories=[1, 2, 3, 4])},
    )
    seen = set()
    for seed in range(20):
        released = microagg.release(table, recipe, seed=seed).table
        assert released["code"].type == pa.int64()
        seen |= set(released["code"].to_pylist())
    assert seen == {1, 2, 3, 4}


def test_codes_declared_as_numbers_match_the_nodes_of_a_taxonomy():
    declared = nominal(taxonomy={"1": "r", "2": "r"}, categories=[1, 2.0])
    recipe = Recipe(method="dp_individual_ranking", k=2, privacy={"epsilon": 1e6}, attributes={"code": declared})
    released = microagg.release(pa.table({"code": ["1", "1", "2", "2"]}), recipe).table["code"].to_pylist()
    assert sorted(released) == ["1", "1", "2", "2"]


def test_dates_are_noised_on_their_public_scale():
    days = [dt.date(2000, 1, 1) + dt.timedelta(days=10 * i) for i in range(12)]
    declared = numeric(bounds=[dt.date(1990, 1, 1), dt.date(2010, 12, 31)])
    recipe = Recipe(method="dp_individual_ranking", k=4, privacy={"epsilon": 1e5}, attributes={"born": declared})
    released = microagg.release(pa.table({"born": days}), recipe).table["born"].to_pylist()
    assert abs((released[0] - dt.date(2000, 1, 16)).days) <= 1
    assert all(isinstance(day, dt.date) for day in released)


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_categorical_dtypes_take_published_nodes(library):
    jobs = ["clerk", "manager", "farmer", "farmer"] * 3
    table = (
        pd.DataFrame({"job": pd.Categorical(jobs)})
        if library == "pandas"
        else pl.DataFrame({"job": pl.Series(jobs, dtype=pl.Categorical)})
    )
    recipe = Recipe(method="dp_individual_ranking", k=2, privacy={"epsilon": 0.01}, attributes={"job": MIXED["job"]})
    released = microagg.release(table, recipe, seed=5).table
    assert set(released["job"]) <= {*TREE, "work"}
    assert released["job"].dtype == (
        table["job"].dtype if library == "polars" else pd.CategoricalDtype(sorted(set(released["job"])))
    )


# --- what is said


def test_the_statement_tells_what_each_mechanism_spent():
    weights = {"age": 0.5, "level": 0.3, "job": 0.2}
    recipe = recipe_for("dp_individual_ranking", privacy={"epsilon": 2.0, "weights": weights})
    made = microagg.release(people(), recipe)
    spent = {one["on"]: (one["mechanism"], one["epsilon"], one["draws"]) for one in made.statement.budget["expenses"]}
    assert spent == {
        "means of 4 runs of age": ("Laplace", 1.0, 4),
        "means of 4 runs of level": ("Laplace", pytest.approx(0.6), 4),
        "centroids of 4 runs of job": ("exponential", pytest.approx(0.4), 4),
    }
    assert made.statement.budget["expenses"][0]["scale"] == pytest.approx(120 / (5 * 1.0))
    text = " ".join(str(made.statement).split())
    assert "epsilon 1 by Laplace on means of 4 runs of age, scale 24, 4 draws" in text
    assert "Unit: replace one record." in text


def test_bounds_read_from_the_data_make_the_promise_conditional_and_their_scale_is_not_told():
    recipe = Recipe(
        method="dp_individual_ranking",
        k=5,
        privacy={"epsilon": 1.0, "bounds": "from_data"},
        attributes={"age": numeric()},
    )
    made = microagg.release(people().select(["age"]), recipe)
    (guarantee,) = made.statement.guarantees
    assert guarantee.target == "the original records, given the bounds that were read from them"
    assert any("the bounds of age were read from the data (1.5 x the largest value" in a for a in guarantee.assumptions)
    (expense,) = made.statement.budget["expenses"]
    assert expense["scale"] is expense["sensitivity"] is None
    largest = max(people()["age"].to_pylist())
    assert f"{1.5 * largest:g}" not in json.dumps(made.manifest.as_dict()["stages"])


def test_unprotected_attributes_weaken_the_unit():
    attributes = {"age": MIXED["age"], "level": "confidential", "job": "identifier"}
    recipe = Recipe(method="dp_laplace", privacy={"epsilon": 1.0}, attributes=attributes)
    (guarantee,) = microagg.release(people(), recipe).statement.guarantees
    assert guarantee.unit == "replace the protected attributes of one record"
    assert any("anything about level" in said for said in guarantee.not_promised)


def test_a_seed_is_for_research_and_the_statement_says_that_its_assumption_is_not_met(tmp_path):
    recipe = recipe_for("dp_individual_ranking")
    made = microagg.release(people(), recipe, seed=1)
    assert made.table.equals(microagg.release(people(), recipe, seed=1).table)
    assert not made.statement.for_publication
    text = " ".join(str(made.statement).split())
    assert "for research, not for publication" in text
    assert "what is assumed about the noise is not true for this table" in text
    (finding,) = [one for one in check_release(made.save(tmp_path / "out")) if one.name == "statement"]
    assert "for research" in finding.detail


def test_the_command_line_tells_the_promise(tmp_path):
    import pyarrow.csv

    pyarrow.csv.write_csv(people(), tmp_path / "data.csv")
    recipe_for("dp_individual_ranking").save(tmp_path / "recipe.toml")
    arguments = ["release", tmp_path / "data.csv", "-r", tmp_path / "recipe.toml", "-o", tmp_path / "out"]
    result = CliRunner().invoke(app, [str(one) for one in arguments])
    assert result.exit_code == 0, result.output
    said = " ".join(result.output.split())
    assert (
        "epsilon-differential privacy (epsilon = 1.0), unit: replace one record. Protects the original records" in said
    )
    assert "Information loss" not in said
    assert CliRunner().invoke(app, ["check", str(tmp_path / "out")]).exit_code == 0


# --- what is refused


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"privacy": {"epsilon": 0}}, "privacy.epsilon: epsilon must be a finite number above 0"),
        ({"privacy": {"epsilon": -1.0}}, "above 0"),
        ({"privacy": {"epsilon": float("inf")}}, "finite"),
        ({"privacy": {"epsilon": float("nan")}}, "finite"),
        ({"privacy": {"epsilon": 1e6 + 1}}, "at most 1e+06"),
        ({"privacy": {"epsilon": "1"}}, "epsilon must be"),
        ({"privacy": {}}, "privacy.epsilon: this key is required"),
        ({"privacy": None}, "needs a budget. Add: [privacy] epsilon = 1"),
        ({"k": 1}, "k: input should be greater than or equal to 2"),
        ({"privacy": {"epsilon": 1, "weights": {"x": 0.5, "y": 0.4}}}, "must sum to 1; these sum to 0.9"),
        ({"privacy": {"epsilon": 1, "weights": {"x": 1.5, "y": -0.5}}}, "above 0: look at 'y'"),
        ({"privacy": {"epsilon": 1, "weights": {"x": 1.0}}}, "privacy.weights: no share for 'y'"),
        (
            {"privacy": {"epsilon": 1, "weights": {"x": 0.5, "yy": 0.5}}},
            "'yy' is not a quasi_identifier. Did you mean 'y'?",
        ),
        ({"privacy": {"epsilon": 1, "form": "marginal"}}, "Did you mean 'marginals'?"),
        ({"privacy": {"epsilon": 1, "monotone": "yes"}}, "must be one of 'interpolated', 'steps', 'off'"),
        ({"privacy": {"epsilon": 1, "monoton": "off"}}, "Did you mean 'monotone'?"),
        ({"privacy": {"epsilon": 1, "clamp": 1}}, "privacy.clamp"),
        ({"attributes": {"x": numeric()}}, "attributes.x: dp_individual_ranking needs its public bounds"),
        ({"attributes": {"x": ordinal()}}, "needs its public categories"),
        ({"attributes": {"x": nominal()}}, "needs its public categories. Add: categories = [...], or a taxonomy"),
        ({"attributes": {"x": numeric(bounds=[0, 1]), "z": "confidential"}}, "publishes nothing as it is; not 'z'"),
        ({"attributes": {"x": nominal(taxonomy={"a": "b", "b": "a"})}}, "a cycle"),
        ({"attributes": {"x": nominal(taxonomy={"a": "r", "b": "s"})}}, "this one has 2: 'r', 's'"),
        ({"attributes": {"x": nominal(taxonomy={"a": "r"}, categories=["a", "c"])}}, "are not in the taxonomy: 'c'"),
        ({"attributes": {"x": numeric(bounds=[0, 1], weight=2)}}, "To divide the budget: [privacy] weights"),
        ({"attributes": {"x": numeric(bounds=[0, 1], representative="median")}}, "leave representatives out"),
        ({"aggregate": {"form": "sampled"}}, "leave representatives out"),
        ({"space": {"standardize": "minmax"}}, "leave [space] out"),
        ({"blocks": {"form": "contiguous", "size": 1}}, "leave [blocks] out"),
        ({"strata": {"by": ["x"]}}, "their sizes depend on the data"),
        ({"missing": {"policy": "suppress"}}, "takes complete records only"),
        ({"partition": {"cut": "optimal"}}, "partition.cut: dp_individual_ranking has no such parameter"),
        ({"method": "mdav"}, "mdav adds no noise; leave [privacy] out"),
        ({"method": "dp_laplace"}, "k: dp_laplace takes every record alone; leave k out"),
    ],
)
def test_a_recipe_that_cannot_be_kept_is_refused_with_what_mends_it(changes, said):
    whole = {
        "method": "dp_individual_ranking",
        "k": 2,
        "privacy": {"epsilon": 1.0},
        "attributes": {"x": numeric(bounds=[0, 1]), "y": numeric(bounds=[0, 1])},
    }
    with pytest.raises(RecipeError) as refused:
        Recipe(**{**whole, **changes})
    assert said in str(refused.value)


BOUNDED = {"x": numeric(bounds=[0, 10])}


@pytest.mark.parametrize(
    ("values", "attributes", "said"),
    [
        ([1.0, 11.0, -2.0, 3.0], BOUNDED, "column 'x' has 2 values outside its declared bounds"),
        ([1.0, None, 2.0, 3.0], BOUNDED, "column 'x' has 1 missing values"),
        ([1.0, float("inf"), 2.0, 3.0], BOUNDED, "1 values that are infinite"),
        ([1.0], BOUNDED, "k = 2 needs at least 2 records"),
        ([1.0, 2.0], {"x": numeric(bounds=[-1.7e308, 1.7e308])}, "its bounds are too far apart"),
        (
            ["a", "b", "z", "z"],
            {"x": nominal(categories=["a", "b"])},
            "1 categories that are not among the declared ones",
        ),
    ],
)
def test_a_table_that_does_not_fit_is_refused_without_naming_values(values, attributes, said):
    recipe = Recipe(method="dp_individual_ranking", k=2, privacy={"epsilon": 1.0}, attributes=attributes)
    with pytest.raises(microagg.InputError) as refused:
        microagg.release(pa.table({"x": values}), recipe)
    assert said in str(refused.value)


def test_values_outside_the_bounds_are_clamped_only_when_the_recipe_says_so():
    table = pa.table({"x": [-5.0, 0.0, 10.0, 99.0]})
    privacy = {"epsilon": 1e6, "clamp": True, "monotone": "steps"}
    recipe = Recipe(method="dp_individual_ranking", k=2, privacy=privacy, attributes=BOUNDED)
    assert microagg.release(table, recipe).table["x"].to_pylist() == pytest.approx([0, 0, 10, 10], abs=1e-3)
    with pytest.raises(TableError, match=r"set \[privacy\] clamp = true"):
        microagg.release(table, Recipe(method="dp_individual_ranking", k=2, privacy={"epsilon": 1}, attributes=BOUNDED))


def test_bounds_cannot_be_read_from_zeros_or_dates():
    recipe = Recipe(method="dp_laplace", privacy={"epsilon": 1, "bounds": "from_data"}, attributes={"x": numeric()})
    with pytest.raises(TableError, match="zero throughout"):
        microagg.release(pa.table({"x": [0.0, 0.0]}), recipe)
    with pytest.raises(TableError, match="must be declared"):
        microagg.release(pa.table({"x": [dt.date(2000, 1, 1)] * 2}), recipe)


def test_a_table_that_the_method_could_not_have_made_is_not_written(tmp_path):
    recipe = recipe_for("dp_individual_ranking", attributes={"age": MIXED["age"]})
    made = microagg.release(people().select(["age"]), recipe)
    made.save(tmp_path / "good")
    broken = pa.table({"age": [500] * 23})
    object.__setattr__(made, "frame", Frame.wrap(broken))
    with pytest.raises(GuaranteeError, match="public values: outside in column 'age'"):
        made.save(tmp_path / "out")
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("damage", ["target", "budget", "twice", "not a number", "table"])
def test_check_finds_a_release_that_says_more_than_it_may(tmp_path, damage):
    import hashlib

    recipe = recipe_for("dp_individual_ranking", "aligned", attributes={"age": MIXED["age"]})
    folder = microagg.release(people().select(["age"]), recipe).save(tmp_path / "out")
    name = "table.csv" if damage == "table" else "statement.json"
    text = (folder / name).read_text()
    if damage == "table":
        text = text.replace("\n", "\n999", 2)
    else:
        statement = json.loads(text)
        if damage == "target":
            statement["guarantees"][0]["target"] = "the original records"
        elif damage == "twice":  # each within the budget, together beyond it
            statement["budget"]["expenses"] *= 2
        elif damage == "not a number":
            statement["budget"]["spent"] = float("nan")
        else:
            statement["budget"]["expenses"][0]["epsilon"] = 1.5
        text = json.dumps(statement)
    (folder / name).write_text(text)
    manifest = json.loads((folder / "manifest.json").read_text())
    manifest["output"]["sha256"][name] = hashlib.sha256(text.encode()).hexdigest()
    (folder / "manifest.json").write_text(json.dumps(manifest))
    assert not all(finding.holds for finding in check_release(folder))
