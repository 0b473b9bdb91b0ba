"""Which recipes a sweep tries, which it does not, and what it says of that."""

from __future__ import annotations

import pytest

from declarations import nominal, numeric
from microagg import Recipe
from microagg.errors import RecipeError
from microagg.frontier.grid import grid_of
from microagg.methods.catalogue import METHODS

AGE = {"age": numeric(bounds=[0, 100])}
PAY = {"pay": {"role": "confidential", "kind": "numeric"}}


def names(recipe, n_records=None):
    return [point.name for point in grid_of(recipe, n_records).points]


def test_without_a_table_the_grid_is_derived():
    grid = grid_of(Recipe(k=4, attributes=AGE), 60)
    assert grid.points[0].recipe.method == "mdav"
    assert {point.settings["k"] for point in grid.points} == {2, 3, 4, 5, 10, 25}
    methods = {point.recipe.method for point in grid.points}
    assert {"mdav", "near_optimal"} <= methods
    assert not any(METHODS[name].is_private for name in methods)
    assert {point.repeats for point in grid.points if point.recipe.method == "mdav"} == {1}
    assert {point.repeats for point in grid.points if point.recipe.method == "near_optimal"} == {3}
    assert all(point.recipe.sweep is None for point in grid.points)


def test_the_recipes_own_private_method_brings_its_budget():
    privacy = {"epsilon": 3, "monotone": "steps", "form": "aligned"}
    recipe = Recipe(method="dp_individual_ranking", k=5, privacy=privacy, attributes=AGE)
    points = grid_of(recipe, 20).points
    own = [point for point in points if point.recipe.method == recipe.method]
    assert {point.settings["epsilon"] for point in own} == {0.1, 1.0, 3.0, 10.0}
    assert all(point.recipe.privacy.options == {"monotone": "steps"} for point in own)
    assert all(point.recipe.privacy is None for point in points if point not in own)


def test_each_private_method_gets_what_it_understands():
    privacy = {"epsilon": 3, "monotone": "steps", "form": "marginals", "clamp": True}
    sweep = {"methods": ["dp_individual_ranking", "dp_laplace"], "k": 5, "epsilon": 2}
    recipe = Recipe(method="dp_individual_ranking", k=5, privacy=privacy, attributes=AGE, sweep=sweep)
    ranking, laplace = grid_of(recipe).points
    assert laplace.name == "dp_laplace-epsilon2"
    assert (laplace.recipe.k, laplace.settings["k"]) == (1, None)
    assert laplace.recipe.privacy.model_dump(exclude_none=True) == {"epsilon": 2.0, "bounds": "declared", "clamp": True}
    assert ranking.recipe.privacy.form == "marginals"


def test_guides_are_for_methods_that_can_be_guided():
    sweep = {"methods": ["mdav", "individual_ranking"], "k": 2}
    recipe = Recipe(k=2, space={"dependence": {"lambda": 0.3}}, attributes={**AGE, **PAY}, sweep=sweep)
    grid = grid_of(recipe)
    lambdas = ("lambda0", "lambda0.2", "lambda0.3", "lambda0.5")
    assert [point.name for point in grid.points] == [*(f"mdav-k2-{word}" for word in lambdas), "individual_ranking-k2"]
    assert grid.guided
    assert any("individual_ranking: made without a guide" in said for said in grid.left_out)
    assert grid.points[-1].recipe.space.dependence is None


def test_lambda_and_alpha_are_swept_one_at_a_time():
    space = {"discriminant": {"target": "pay", "alpha": "auto"}}
    sweep = {"methods": "mdav", "k": 3, "lambda": [0.1, 0.2]}
    recipe = Recipe(k=3, space=space, attributes={**AGE, **PAY}, sweep=sweep)
    words = ("lambda0.1", "lambda0.2", "alpha1", "alpha2", "alpha4", "alphaauto")
    assert names(recipe) == [f"mdav-k3-{word}" for word in words]
    unnamed = Recipe(k=3, attributes={**AGE, **PAY}, sweep={"lambda": 0.5, "methods": "mdav", "k": 3})
    assert names(unnamed) == ["mdav-k3-lambda0.5"]


def test_parameters_of_a_partitioner_stay_with_its_method():
    recipe = Recipe(method="vmdav", k=3, partition={"gamma": 0.4}, attributes=AGE, sweep={"methods": ["mdav", "vmdav"]})
    options = {point.recipe.method: point.recipe.partition for point in grid_of(recipe).points}
    assert options == {"mdav": {}, "vmdav": {"gamma": 0.4}}


def test_what_makes_no_sense_is_left_out_and_said():
    attributes = {**AGE, "job": nominal()}
    sweep = {"methods": ["mdav", "individual_ranking", "dp_laplace"], "k": [3, 50]}
    grid = grid_of(Recipe(k=3, attributes=attributes, sweep=sweep), 20)
    assert [point.name for point in grid.points] == ["mdav-k3"]
    said = "\n".join(grid.left_out)
    assert "individual_ranking takes numeric and ordinal attributes only; not 'job'" in said
    assert "dp_laplace" in said
    assert "k = 50: the table has 20 records" in said
    assert len(grid.left_out) == 3  # each reason once


def test_a_private_method_is_made_without_tables_it_does_not_take():
    sweep = {"methods": ["mdav", "dp_laplace"], "k": 3, "epsilon": 1}
    grid = grid_of(Recipe(k=3, space={"standardize": "minmax"}, attributes=AGE, sweep=sweep))
    assert [point.name for point in grid.points] == ["mdav-k3", "dp_laplace-epsilon1"]
    assert "dp_laplace: made without [space], which it does not take" in grid.left_out


def test_a_sweep_of_nothing_is_refused():
    with pytest.raises(RecipeError, match="no point of the sweep can be released"):
        grid_of(Recipe(k=3, attributes={"job": nominal()}, sweep={"methods": ["pcp"], "k": 90}), 20)


@pytest.mark.parametrize("method", list(METHODS))
def test_every_method_of_the_catalogue_can_be_swept_or_says_why_not(method):
    recipe = Recipe(k=3, attributes=AGE, sweep={"methods": ["mdav", method], "k": 3, "epsilon": 1.0})
    grid = grid_of(recipe, 30)
    made = {point.recipe.method for point in grid.points}
    assert method in made or any(said.startswith(f"{method}: ") for said in grid.left_out)
    assert len({point.name for point in grid.points}) == len(grid.points)


@pytest.mark.parametrize(
    ("sweep", "said"),
    [
        ({"methods": ["mdvav"]}, "sweep.methods: no method named 'mdvav'. Did you mean 'mdav'"),
        ({"k": [1]}, r"sweep\.k\.0: input should be greater than or equal to 2"),
        ({"k": []}, r"sweep\.k: name at least one value"),
        ({"lambda": [2.0]}, r"sweep\.lambda\.0: input should be less than or equal to 1"),
        ({"lambda": []}, r"sweep\.lambda: name at least one value"),
        ({"alpha": [0.5]}, r"sweep\.alpha\.0: must be a number of at least 1"),
        ({"alpha": [2]}, r"sweep.alpha stretches towards a target. Name it: \[space.discriminant\]"),
        ({"epsilon": [-1]}, r"sweep\.epsilon\.0: epsilon must be a finite number above 0"),
        ({"repeats": 0}, "sweep.repeats"),
        ({"seed": 1}, r"sweep\.seed: unknown key"),
    ],
)
def test_a_sweep_that_is_none_is_explained(sweep, said):
    with pytest.raises(RecipeError, match=said):
        Recipe(k=3, attributes=AGE, sweep=sweep)


def test_the_table_survives_writing():
    sweep = {"methods": ["mdav"], "k": [2, 3], "epsilon": 1, "lambda": [0, 0.5], "repeats": 2, "measures": "risk"}
    recipe = Recipe(k=3, attributes={**AGE, **PAY}, sweep=sweep)
    assert Recipe.loads(recipe.dumps()) == recipe
