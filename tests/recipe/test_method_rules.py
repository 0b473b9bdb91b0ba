"""Recipes that a method cannot carry out are refused before any record is read, with what mends them."""

from __future__ import annotations

import pyarrow as pa
import pytest

import microagg
from declarations import nominal, numeric, ordinal
from microagg import Recipe
from microagg.errors import RecipeError

BOUNDED = {"x": numeric(bounds=[0, 10]), "y": ordinal(categories=[1, 2, 3])}
BY_BOUNDS = {"standardize": "bounds"}


@pytest.mark.parametrize(
    ("recipe", "said"),
    [
        ({"space": {"standardize": "zscore"}}, 'Set standardize = "bounds"'),
        ({"space": {"standardize": "none"}}, 'Set standardize = "bounds"'),
        ({"attributes": {"x": numeric()}}, r"attributes\.x: insensitive_mdav needs its declared bounds"),
        ({"attributes": {"x": ordinal()}}, r"attributes\.x: insensitive_mdav needs its declared categories"),
        ({"attributes": {"x": nominal()}}, "takes numeric and ordinal attributes only; not 'x'"),
        ({"missing": {"policy": "own_cell"}}, "use 'suppress'"),
        ({"missing": {"policy": "impute"}}, "use 'suppress'"),
        ({"strata": {"by": ["y"]}}, "the sizes of strata depend on the data"),
    ],
)
def test_insensitive_mdav_takes_nothing_of_its_space_from_the_data(recipe, said):
    whole = {"k": 2, "method": "insensitive_mdav", "space": BY_BOUNDS, "attributes": BOUNDED, **recipe}
    with pytest.raises(RecipeError, match=said):
        Recipe(**whole)


def test_insensitive_mdav_releases_a_declared_space():
    table = pa.table({"x": [1.0, 2.0, 9.0, 8.0], "y": [1, 1, 3, 3]})
    recipe = Recipe(k=2, method="insensitive_mdav", space=BY_BOUNDS, attributes=BOUNDED)
    assert microagg.release(table, recipe).partition.tolist() == [0, 0, 1, 1]


@pytest.mark.parametrize(
    ("recipe", "said"),
    [
        ({"missing": {"policy": "own_cell"}}, "has no cells of records"),
        ({"strata": {"by": ["x"]}}, "cannot keep strata apart"),
        ({"sampling_weight": "w"}, "does not weigh values"),
        ({"blocks": {"form": "contiguous", "size": 1}}, "has no use for blocks"),
        ({"attributes": {"x": ordinal(), "w": "confidential"}}, "takes numeric attributes only"),
    ],
)
def test_mic1d_refuses_what_needs_cells_of_records(recipe, said):
    whole = {"k": 2, "method": "mic1d", "attributes": {"x": numeric(), "w": "non_confidential"}, **recipe}
    with pytest.raises(RecipeError, match=said):
        Recipe(**whole)


def test_optimal_univariate_says_what_to_use_for_several_attributes():
    with pytest.raises(RecipeError, match=r'takes 1 attribute; this recipe gives it 2.*"individual_ranking"'):
        Recipe(k=2, method="optimal_univariate", attributes={"x": numeric(), "y": numeric()})
    blocks = {"form": "given", "attributes": [["x"], ["y"]]}
    Recipe(k=2, method="optimal_univariate", blocks=blocks, attributes={"x": numeric(), "y": numeric()})


def test_a_seed_is_never_part_of_a_recipe():
    with pytest.raises(RecipeError, match=r"partition\.random_state: near_optimal has no such parameter"):
        Recipe(k=2, method="near_optimal", partition={"random_state": 1}, attributes={"x": numeric()})


def test_a_preset_of_a_method_cannot_be_changed():
    with pytest.raises(RecipeError, match=r"partition\.axis: pcp has no such parameter. It has: cut"):
        Recipe(k=2, method="pcp", partition={"axis": "zscores"}, attributes={"x": numeric()})
