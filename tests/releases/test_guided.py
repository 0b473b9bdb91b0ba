"""Releases whose cells were formed with the help of attributes that are published as they are."""

from __future__ import annotations

import json

import numpy as np
import pyarrow as pa
import pytest

import microagg
from declarations import nominal, numeric
from microagg import Recipe
from microagg.errors import RecipeError, TableError

KEPT = {"output": {"order": "kept"}}
SALARY = {"role": "confidential", "kind": "numeric"}
ILLNESS = {"role": "confidential", "kind": "nominal"}


@pytest.fixture
def people():
    rng = np.random.default_rng(8)
    x, y = rng.normal(size=(2, 300))
    salary = 1000.0 + 100.0 * np.sin(5.0 * x) + rng.normal(size=300)
    illness = np.where(y + rng.normal(size=300) > 0, "flu", "gout")
    return pa.table({"x": x, "y": y, "job": rng.choice(["a", "b"], 300), "salary": salary, "illness": illness})


def declared(**space):
    return Recipe(
        k=5,
        space=space,
        **KEPT,
        attributes={"x": numeric(), "y": numeric(), "job": nominal(), "salary": SALARY, "illness": ILLNESS},
    )


def space_stage(made):
    return next(stage for stage in made.manifest.stages if stage["stage"] == "space")


def test_cells_keep_what_depends_on_them_and_the_statement_tells_the_price(people):
    plain = microagg.release(people, declared(dependence={"lambda": 0.0}))
    made = microagg.release(people, declared(dependence={"lambda": 0.6}))
    before, after = (space_stage(one)["guided"][0] for one in (plain, made))
    assert after["D_Y"] < before["D_Y"]
    assert after["D_X"] > before["D_X"]
    assert after["D"] == pytest.approx(0.4 * after["D_X"] + 0.6 * after["D_Y"])
    assert after["attributes"] == ["salary", "illness"]
    said = " ".join(str(made.statement).split())
    assert "cells were formed with the help of confidential attributes (dependence, lambda = 0.6)" in said
    assert "label diversity of 60 cells" in said
    assert "diversity of salary, illness within cells" in said
    assert "with the help of" not in str(plain.statement)
    assert made.information_loss > plain.information_loss
    assert made.table["salary"].equals(people["salary"])
    json.dumps(after, allow_nan=False)


@pytest.mark.parametrize("method", ["pcp", "zscores"])
@pytest.mark.parametrize("lambda_", [0.6, 1.0])
def test_a_projection_is_guided_by_categories_too(people, method, lambda_):
    """It takes no codes: categories of the guide are coordinates to it."""
    attributes = ["illness"]
    made = microagg.release(
        people, declared(dependence={"lambda": lambda_, "attributes": attributes}).changed({"method": method})
    )
    plain = microagg.release(
        people, declared(dependence={"lambda": 0, "attributes": attributes}).changed({"method": method})
    )
    after, before = (space_stage(one)["guided"][0]["D_Y"] for one in (made, plain))
    assert after < before


def test_lambda_0_is_the_plain_release(people):
    plain = microagg.release(people, declared())
    zero = microagg.release(people, declared(dependence={"lambda": 0}))
    assert zero.table.equals(plain.table)
    assert zero.information_loss == plain.information_loss


def test_lambda_1_sees_nothing_but_the_confidential_attributes(people):
    made = microagg.release(people, declared(dependence={"lambda": 1.0, "attributes": ["salary"]}))
    salary = people["salary"].to_numpy()
    expected = microagg.MDAV(k=5).fit((salary - salary.mean())[:, None] / salary.std()).labels_
    np.testing.assert_array_equal(made.partition, expected)
    assert json.loads(made.manifest.as_json())["stages"][1]["guided"][0]["beta"] is None


@pytest.mark.parametrize("method", ["vmdav", "pcp", "zscores"])
def test_it_works_with_other_partitioners(people, method):
    bounds = {"bounds": [-10_000, 10_000]}
    attributes = {"x": numeric(**bounds), "y": numeric(**bounds), "salary": SALARY | bounds}
    recipe = Recipe(
        k=5,
        method=method,
        **KEPT,
        attributes=attributes,
        space={"standardize": "bounds", "dependence": {"lambda": 0.5}},
    )
    table = people.select(["x", "y", "salary"])
    guided = microagg.release(table, recipe)
    plain = microagg.release(table, recipe.changed({"space.dependence": None}))
    assert not np.array_equal(guided.partition, plain.partition)


def test_each_block_is_guided_by_all_of_them_with_a_common_lambda(people):
    recipe = declared(dependence={"lambda": 0.5}).changed({"blocks": {"form": "contiguous", "size": 2}})
    made = microagg.release(people, recipe)
    facts = space_stage(made)["guided"]
    assert [fact["beta"] for fact in facts] == [1.0, pytest.approx(np.sqrt(0.5))]
    assert "(cells of x, y)" in " ".join(str(made.statement).split())


def test_weights_standardisation_and_strata_still_count(people):
    made = microagg.release(
        people, declared(dependence={"lambda": 0.5}).changed({"strata": {"by": ["job"]}, "space.standardize": "minmax"})
    )
    jobs = np.array(people["job"].to_pylist())
    assert all(len(set(jobs[made.partition == cell])) == 1 for cell in range(made.n_cells))


def test_missing_confidential_values_follow_the_policy(people):
    salary = people["salary"].to_pylist()
    salary[3:7] = [None] * 4
    table = people.set_column(3, "salary", pa.array(salary))
    recipe = declared(dependence={"lambda": 0.5})
    with pytest.raises(TableError, match=r"help to form the cells have missing values: 'salary' \(4\)"):
        microagg.release(table, recipe)
    for policy, said in (("impute", "are published as missing"), ("own_cell", "with the help of")):
        made = microagg.release(table, recipe.changed({"missing.policy": policy}))
        assert made.table["salary"].null_count == 4
        assert said in " ".join(str(made.statement).split())
    left = microagg.release(table, recipe.changed({"missing.policy": "suppress"}))
    assert left.table.num_rows == 296
    assert (
        "4 records with a missing quasi-identifier or without column 'salary' were left out" in left.statement.remarks
    )


def test_numbers_kept_as_the_text_of_a_file_still_guide(people):
    text = pa.array([f"{value:.2f}" for value in people["salary"].to_pylist()])
    recipe = declared(dependence={"lambda": 0.5, "attributes": ["salary"]})
    made = microagg.release(people.set_column(3, "salary", text), recipe)
    assert made.table["salary"].combine_chunks().equals(text)
    words = pa.array(["much"] * 2 + ["1"] * 298)
    with pytest.raises(TableError, match=r"'salary' is declared numeric but holds text: 2 of 300"):
        microagg.release(people.set_column(3, "salary", words), recipe)


@pytest.mark.parametrize(
    ("dependence", "said"),
    [
        ({}, "space.dependence.lambda: this key is required"),
        ({"lambda": 1.5}, "space.dependence.lambda: input should be less than or equal to 1"),
        ({"lambda": -0.1}, "space.dependence.lambda: input should be greater than or equal to 0"),
        ({"lambda": float("nan")}, "space.dependence.lambda: "),
        ({"lambda": "0.2"}, "space.dependence.lambda: "),
        ({"lamda": 0.2, "lambda": 0.2}, "space.dependence.lamda: unknown key. Did you mean 'lambda'?"),
        ({"lambda": 0.2, "attributes": ["salry"]}, "'salry', which is not declared. Did you mean 'salary'?"),
        ({"lambda": 0.2, "attributes": ["x"]}, "names 'x', which is quasi_identifier"),
        ({"lambda": 0.2, "attributes": ["salary", "salary"]}, "named twice"),
        ({"lambda": 0.2, "attributes": []}, "space.dependence.attributes: "),
        (
            {"lambda": 0.2, "attributes": ["bare"]},
            'has no kind. Add: [attributes.bare] role = "non_confidential", kind = "..."',
        ),
    ],
)
def test_a_wrong_table_is_explained(dependence, said):
    attributes = {"x": numeric(), "salary": SALARY, "bare": "non_confidential"}
    with pytest.raises(RecipeError) as caught:
        Recipe(k=2, attributes=attributes, space={"dependence": dependence})
    assert said in str(caught.value)


def test_what_cannot_be_guided_is_refused():
    for attributes, said in (
        ({"x": numeric(), "salary": "confidential"}, 'Add: [attributes.salary] role = "confidential", kind'),
        ({"x": numeric()}, "no attribute has role = 'confidential'"),
    ):
        with pytest.raises(RecipeError) as caught:
            Recipe(k=2, attributes=attributes, space={"dependence": {"lambda": 0.2}})
        assert said in str(caught.value)
    for method in ("individual_ranking", "optimal_univariate", "mic1d"):
        with pytest.raises(RecipeError, match="does not form cells of records from several attributes"):
            Recipe(k=2, method=method, attributes={"x": numeric(), "s": SALARY}, space={"dependence": {"lambda": 0.2}})


def test_the_recipe_round_trips_and_can_be_changed_inside():
    recipe = declared(dependence={"lambda": 0.2})
    assert Recipe.loads(recipe.dumps()) == recipe
    assert Recipe(**recipe.as_dict()) == recipe
    assert "lambda = 0.2" in recipe.dumps()
    assert recipe.changed({"space.dependence.lambda": 0.7}).space.dependence.lambda_ == 0.7
    assert declared().changed({"space.dependence.lambda": 0.7}).space.dependence.lambda_ == 0.7


def facts_of(made):
    return space_stage(made)["guided"][0]


def test_a_discriminant_makes_purer_cells_and_says_so(people):
    plain = microagg.release(people, declared(discriminant={"target": "illness", "alpha": 1}))
    made = microagg.release(people, declared(discriminant={"target": "illness", "alpha": 8.0}))
    assert facts_of(made)["diversity"]["purity"] > facts_of(plain)["diversity"]["purity"]
    assert facts_of(made)["n_directions"] == 1
    said = " ".join(str(made.statement).split())
    assert "with the help of confidential attributes (discriminant, alpha = 8" in said
    assert "formed without column 'illness'" in " ".join(str(plain.statement).split())
    assert plain.table.equals(microagg.release(people, declared()).table)


def test_alpha_auto_looks_only_at_the_data_that_is_released_and_prefers_the_plain_space(people):
    made = microagg.release(people, declared(discriminant={"target": "illness"}))
    facts = facts_of(made)
    assert len(facts["scores"]) == len(facts["tried"])
    assert facts["alpha"] in facts["tried"]
    assert "chosen by cross-validation among 1, 2, 4, 8, 16" in " ".join(str(made.statement).split())
    again = microagg.release(people, declared(discriminant={"target": "illness"}))
    assert facts_of(again)["alpha"] == facts["alpha"]
    rng = np.random.default_rng(0)
    noise = people.set_column(4, "illness", pa.array(rng.choice(["flu", "gout"], 300)))
    assert facts_of(microagg.release(noise, declared(discriminant={"target": "illness"})))["alpha"] == 1.0
    with pytest.raises(TableError, match="k = 299 needs at least 374 records to try on; the table has 300"):
        microagg.release(people, declared(discriminant={"target": "illness"}).changed({"k": 299}))


def test_alpha_auto_takes_a_stretch_that_pays():
    """One direction of twelve decides; the others are noise that plain cells must share their room with."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(600, 12))
    label = np.where(X[:, 0] > 0, "yes", "no")
    table = pa.table({f"x{j}": X[:, j] for j in range(12)} | {"label": label})
    attributes = {f"x{j}": numeric() for j in range(12)} | {"label": ILLNESS}
    recipe = Recipe(k=30, attributes=attributes, space={"discriminant": {"target": "label", "alpha": "auto"}})
    facts = facts_of(microagg.release(table, recipe))
    assert facts["alpha"] > 1
    assert max(facts["scores"]) > facts["scores"][0] + 0.02


def test_predictions_make_purer_cells_than_the_plain_space(people):
    x, y = people["x"].to_numpy(), people["y"].to_numpy()
    bent = people.set_column(4, "illness", pa.array(np.where(x * y > 0, "flu", "gout")))
    plain = microagg.release(bent, declared(dependence={"lambda": 0, "attributes": ["illness"]}))
    made = microagg.release(bent, declared(prediction={"target": "illness", "weight": 4}))
    assert facts_of(made)["diversity"]["purity"] > facts_of(plain)["diversity"]["purity"] + 0.02
    said = " ".join(str(made.statement).split())
    assert "predictions by gradient boosting, each record's from 4 of 5 folds without it, weight = 4" in said
    several = microagg.release(people, declared(prediction={"target": ["illness", "salary"]}))
    assert facts_of(several)["attributes"] == ["illness", "salary"]


def test_unknown_labels_need_a_policy_and_are_never_made_up(people):
    illness = people["illness"].to_pylist()
    illness[:9] = [None] * 9
    table = people.set_column(4, "illness", pa.array(illness))
    recipe = declared(discriminant={"target": "illness", "alpha": 4})
    with pytest.raises(TableError, match=r"'illness' \(9\)"):
        microagg.release(table, recipe)
    made = [microagg.release(table, recipe.changed({"missing.policy": policy})) for policy in ("impute", "own_cell")]
    np.testing.assert_array_equal(made[0].partition, made[1].partition)
    assert made[0].table["illness"].null_count == 9


def test_a_target_with_one_value_cannot_guide(people):
    table = people.set_column(4, "illness", pa.array(["flu"] * 300))
    for space in ({"discriminant": {"target": "illness", "alpha": 2}}, {"prediction": {"target": "illness"}}):
        with pytest.raises(TableError, match="target 'illness' has 1 different values"):
            microagg.release(table, declared(**space))


@pytest.mark.parametrize(
    ("space", "said"),
    [
        ({"discriminant": {}}, "space.discriminant.target: this key is required"),
        ({"discriminant": {"target": "s", "alpha": 0.5}}, 'alpha: must be a number of at least 1, or "auto". Got 0.5'),
        ({"discriminant": {"target": "s", "alpha": "best"}}, "or \"auto\". Got 'best' instead"),
        ({"discriminant": {"target": "x"}}, "space.discriminant.target names 'x', which is quasi_identifier"),
        ({"prediction": {"target": []}}, "space.prediction.target: "),
        ({"prediction": {"target": "s", "weight": 0}}, "space.prediction.weight: input should be greater than 0"),
        ({"prediction": {"target": "t"}}, "space.prediction.target names 't', which is not declared"),
        ({"prediction": {"target": ["s", "s"]}}, "space.prediction.target: an attribute is named twice"),
        (
            {"prediction": {"target": "s"}, "dependence": {"lambda": 0.1}},
            "the space is guided in one way: keep one of dependence, prediction",
        ),
    ],
)
def test_wrong_discriminants_and_predictions_are_explained(space, said):
    with pytest.raises(RecipeError) as caught:
        Recipe(k=2, attributes={"x": numeric(), "s": SALARY}, space=space)
    assert said in str(caught.value)


def test_an_insensitive_method_is_not_guided_by_a_model():
    with pytest.raises(RecipeError, match="needs a space that does not depend on the data"):
        Recipe(
            k=2,
            method="insensitive_mdav",
            attributes={"x": numeric(bounds=[0, 1]), "s": SALARY},
            space={"standardize": "bounds", "prediction": {"target": "s"}},
        )


@pytest.mark.parametrize(
    "space", [{"discriminant": {"target": "salary", "alpha": 3}}, {"prediction": {"target": "salary"}}]
)
def test_guided_recipes_round_trip(space):
    recipe = declared(**space)
    assert Recipe.loads(recipe.dumps()) == recipe
    assert Recipe(**recipe.as_dict()) == recipe
