"""Recipes: errors that name the key, the allowed values and near misses; round trips."""

from __future__ import annotations

import datetime as dt

import pytest

from declarations import nominal, numeric, ordinal
from microagg import Recipe
from microagg.errors import RecipeError

MINIMAL = 'k = 3\n[attributes.age]\nrole = "quasi_identifier"\nkind = "numeric"\n'


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "k: this key is required"),
        (MINIMAL.replace("k = 3", "k = 1"), "k: input should be greater than or equal to 2. Got 1 instead"),
        (MINIMAL.replace("k = 3", "k = 2.5"), "k: "),
        (MINIMAL.replace("k = 3", 'k = "3"'), "k: "),
        (MINIMAL.replace("k = 3", "k = true"), "k: "),
        (
            MINIMAL.replace('"numeric"', '"numerical"'),
            "kind: must be one of 'numeric', 'ordinal', 'nominal'. Got 'numerical' instead. Did you mean 'numeric'?",
        ),
        (MINIMAL.replace("quasi_identifier", "quasi"), "role: must be one of 'identifier', 'quasi_identifier'"),
        (MINIMAL.replace("role", "rolle"), "rolle: unknown key. Did you mean 'role'?"),
        ('methd = "mdav"\n' + MINIMAL, "methd: unknown key. Did you mean 'method'?"),
        ('method = "mdv"\n' + MINIMAL, "Did you mean 'mdav'?"),
        (MINIMAL + '[space]\nstandardise = "zscore"', "space.standardise: unknown key. Did you mean 'standardize'?"),
        (MINIMAL + '[space]\nstandardize = "z-score"', "Did you mean 'zscore'?"),
        (
            MINIMAL + '[missing]\npolicy = "drop"',
            "missing.policy: must be one of 'error', 'own_cell', 'impute', 'suppress'",
        ),
        (
            MINIMAL + '[strata]\nby = ["aeg"]',
            "strata.by names 'aeg', which is not a declared quasi_identifier. Did you mean 'age'?",
        ),
        (
            MINIMAL + '[partition]\nvariants = "2k"',
            "partition.variants: mdav has no such parameter. Did you mean 'variant'?",
        ),
        (MINIMAL + '[partition]\nvariant = "3k"', "The 'variant' parameter of MDAV must be one of 'generic', '2k'"),
        (MINIMAL + '[aggregate]\nnumeric = "mode"', "numeric must be one of 'mean', 'median', 'medoid'"),
        ('sampling_weight = "w"\n' + MINIMAL, "sampling_weight: 'w' is not declared"),
        ('sampling_weight = "age"\n' + MINIMAL, "is a quasi_identifier"),
        (MINIMAL.replace("quasi_identifier", "confidential"), "no attribute has role = 'quasi_identifier'"),
        (MINIMAL + "bounds = [5, 5]", "the lower bound must be below the upper bound"),
        (MINIMAL + "bounds = [0, inf]", "bounds must be finite"),
        (MINIMAL + "weight = 0", "weight: input should be greater than 0"),
        (MINIMAL + "weight = nan", "weight: "),
        (MINIMAL + "resolution = -1", "resolution: input should be greater than 0"),
        (MINIMAL + 'categories = ["a"]', "categories is for attributes of kind ordinal or nominal"),
        (MINIMAL + 'representative = "mode"', "representative of a numeric attribute must be one of 'mean'"),
        (MINIMAL.replace('kind = "numeric"', ""), "a quasi_identifier needs a kind"),
        (MINIMAL + '[attributes.age]\nrole = "identifier"', "line 5 declares column 'age' a second time"),
        ('k = 2\n[attributes]\nage = "identifier"\nage = "confidential"', "line 4 declares column 'age' a second time"),
        (
            'k = 2\n[attributes]\nage = "identifier"\n[attributes.age]\nrole = "identifier"',
            "line 4 declares column 'age'",
        ),
        (MINIMAL + 'bounds = ["0", "5"]', "bounds must be two numbers or two dates"),
        (MINIMAL + "bounds = [07:00:00, 08:00:00]", "bounds must be two numbers or two dates"),
        (MINIMAL + "bounds = [2020-01-01T00:00:00Z, 2021-01-01]", "both have a time zone, or neither"),
        (MINIMAL.replace("numeric", "nominal") + 'categories = [["a"]]', "categories must be a list of texts"),
        (MINIMAL.replace("numeric", "nominal") + "taxonomy = { a = 1 }", "names each category's parent"),
        (MINIMAL.replace("numeric", "nominal") + 'taxonomy = "."', "is not a file"),
        ("k = ", "recipe: "),
    ],
)
def test_a_wrong_recipe_is_explained(text, message):
    with pytest.raises(RecipeError) as caught:
        Recipe.loads(text)
    assert any(part in str(caught.value) for part in message.split("|"))


def test_a_recipe_round_trips_through_toml_and_json():
    recipe = Recipe(
        k=4,
        sampling_weight="w",
        partition={"variant": "2k"},
        space={"standardize": "bounds"},
        missing={"policy": "own_cell", "small": "merge_small"},
        strata={"by": ["region"]},
        attributes={
            "id": "identifier",
            "w": "non_confidential",
            "region": nominal(taxonomy={"north": "all", "south": "all"}),
            "age": numeric(bounds=[0, 120], resolution=5, weight=2),
            "born": numeric(bounds=[dt.date(1900, 1, 1), dt.date(2020, 12, 31)]),
            "grade": ordinal(categories=["low", "high"]),
            'odd "name" [x]\n': nominal(representative="medoid"),
        },
    )
    assert Recipe.loads(recipe.dumps()) == recipe
    again = Recipe(**recipe.as_dict())
    assert again.as_dict() == recipe.as_dict()


def test_whole_numbers_of_numpy_and_date_categories_are_taken():
    import numpy as np

    days = [dt.date(2020, 1, 1), dt.date(2021, 1, 1)]
    recipe = Recipe(k=np.int64(3), attributes={"c": ordinal(categories=days)})
    assert recipe.k == 3
    assert Recipe.loads(recipe.dumps()) == recipe


def test_changes_are_validated_and_leave_the_rest(tmp_path):
    recipe = Recipe.loads(MINIMAL)
    changed = recipe.changed({"k": 7, "space.standardize": "minmax"})
    assert (changed.k, changed.space.standardize, recipe.k) == (7, "minmax", 3)
    with pytest.raises(RecipeError, match="standardize: must be one of"):
        recipe.changed({"space.standardize": "no"})


def test_taxonomy_files_are_looked_for_beside_the_recipe(tmp_path):
    (tmp_path / "jobs.txt").write_text("work\n  clerk\n  farmer\n")
    (tmp_path / "recipe.toml").write_text(
        'k = 2\n[attributes.job]\nrole = "quasi_identifier"\nkind = "nominal"\ntaxonomy = "jobs.txt"\n'
    )
    recipe = Recipe.load(tmp_path / "recipe.toml")
    assert recipe.attributes["job"].taxonomy.leaves == ("clerk", "farmer")
    assert "jobs.txt" not in str(recipe.as_dict())  # a published recipe holds the tree, not a path


def test_a_missing_recipe_file_is_named_without_its_folder(tmp_path):
    with pytest.raises(RecipeError, match=r"^no recipe file named 'none.toml'"):
        Recipe.load(tmp_path / "none.toml")
