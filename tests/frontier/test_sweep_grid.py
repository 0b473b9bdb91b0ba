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
        ({"l": [1]}, r"sweep\.l\.0: input should be greater than or equal to 2"),
        ({"t": [1.0]}, r"sweep\.t\.0: input should be less than 1"),
        ({"t": []}, r"sweep\.t: name at least one value"),
        ({"repeats": 0}, "sweep.repeats"),
        ({"seed": 1}, r"sweep\.seed: unknown key"),
    ],
)
def test_a_sweep_that_is_none_is_explained(sweep, said):
    with pytest.raises(RecipeError, match=said):
        Recipe(k=3, attributes=AGE, sweep=sweep)


def test_the_table_survives_writing():
    sweep = {"methods": ["mdav"], "k": [2, 3], "epsilon": 1, "lambda": [0, 0.5], "repeats": 2, "measures": "risk"}
    sweep |= {"l": [2, 3], "t": 0.2}
    recipe = Recipe(k=3, attributes={**AGE, **PAY}, sweep=sweep)
    assert Recipe.loads(recipe.dumps()) == recipe


def test_l_and_t_are_combined_and_asked_of_all_confidential_attributes():
    sweep = {"methods": "mdav", "k": 3, "t": [0.05, 0.15], "l": [2, 3]}
    recipe = Recipe(k=3, attributes={**AGE, **PAY}, sweep=sweep)
    assert names(recipe) == ["mdav-k3-l2-t0.05", "mdav-k3-l2-t0.15", "mdav-k3-l3-t0.05", "mdav-k3-l3-t0.15"]
    last = grid_of(recipe).points[-1]
    assert (last.settings["l"], last.settings["t"]) == (3, 0.15)
    assert last.recipe.protect["pay"].model_dump(exclude_none=True) == {"distinct_l": 3, "t_closeness": 0.15}
    assert grid_of(recipe).protected


@pytest.mark.parametrize("method", [name for name in METHODS if not name.startswith("dp_moments")])
def test_every_method_is_swept_over_t_or_made_without_it(method):
    recipe = Recipe(k=3, attributes={**AGE, **PAY}, sweep={"methods": ["mdav", method], "k": 3, "t": 0.3, "epsilon": 1})
    grid = grid_of(recipe, 30)
    for point in (point for point in grid.points if point.recipe.method == method):
        made_without = any(said.startswith(f"{method}: made without t, as") for said in grid.left_out)
        assert (point.settings["t"] is None) is made_without is (not point.recipe.protect)


def test_methods_whose_cells_cannot_be_rearranged_are_made_without_what_is_swept():
    sweep = {"methods": ["mdav", "individual_ranking", "mic1d"], "k": 3, "l": 2, "t": 0.3}
    grid = grid_of(Recipe(k=3, attributes={**AGE, **PAY}, sweep=sweep))
    assert [point.name for point in grid.points] == ["mdav-k3-l2-t0.3", "individual_ranking-k3", "mic1d-k3"]
    without = [said for said in grid.left_out if "made without l and t" in said]
    assert [said.partition(":")[0] for said in without] == ["individual_ranking", "mic1d"]


def test_what_the_recipe_itself_protects_is_never_dropped():
    protect = {"pay": {"t_closeness": 0.3, "max_share": 0.9}}
    sweep = {"methods": ["mdav", "individual_ranking"], "k": 3, "l": 2}
    grid = grid_of(Recipe(k=3, protect=protect, attributes={**AGE, **PAY}, sweep=sweep))
    assert [point.name for point in grid.points] == ["mdav-k3-l2-t0.3"]
    kept = grid.points[0].recipe.protect["pay"].model_dump(exclude_none=True)
    assert kept == {"t_closeness": 0.3, "max_share": 0.9, "distinct_l": 2}
    assert any(said.startswith("individual_ranking: protect:") for said in grid.left_out)
    assert not any("made without" in said for said in grid.left_out)


def test_a_t_that_differs_between_attributes_is_no_setting_of_the_point():
    protect = {"pay": {"t_closeness": 0.3, "distinct_l": 2}, "debt": {"t_closeness": 0.4, "distinct_l": 2}}
    attributes = {**AGE, **PAY, "debt": PAY["pay"]}
    recipe = Recipe(k=3, protect=protect, attributes=attributes, sweep={"methods": "mdav", "k": 3})
    assert names(recipe) == ["mdav-k3-l2"]


def test_only_a_search_for_cells_that_hide_values_depends_on_chance():
    recipe = Recipe(k=3, attributes={**AGE, **PAY}, sweep={"methods": "mdav", "k": 3, "t": 0.3, "repeats": 2})
    assert [point.repeats for point in grid_of(recipe).points] == [2]
    merged = recipe.protecting(t_closeness=0.3).changed({"rearrange.by": "merge"})
    assert [point.repeats for point in grid_of(merged).points] == [1]


def test_t_without_confidential_attributes_is_refused():
    with pytest.raises(RecipeError, match="no attribute has role = 'confidential'"):
        grid_of(Recipe(k=3, attributes=AGE, sweep={"methods": "mdav", "k": 3, "t": 0.3}))
