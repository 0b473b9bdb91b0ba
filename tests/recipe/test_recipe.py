"""Recipes: errors that name the key, the allowed values and near misses; round trips."""

from __future__ import annotations

import contextlib
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


TREE = 'k = 2\n[attributes.job]\nrole = "quasi_identifier"\nkind = "nominal"\ntaxonomy = '


@pytest.mark.parametrize(
    "way", ["/etc/hostname", "../jobs.txt", "below/../../jobs.txt", "link.txt", "loop.txt", "a\\u0000b"]
)
def test_a_taxonomy_is_read_from_beside_its_recipe_only(tmp_path, way):
    home = tmp_path / "home"
    (home / "below").mkdir(parents=True)
    (tmp_path / "jobs.txt").write_text("secret-root\n  secret-leaf\n")
    (home / "link.txt").symlink_to(tmp_path / "jobs.txt")
    (home / "loop.txt").symlink_to(home / "loop.txt")
    (home / "recipe.toml").write_text(f'{TREE}"{way}"\n')
    with pytest.raises(RecipeError, match="does not lie beside the recipe") as refused:
        Recipe.load(home / "recipe.toml")
    assert "secret" not in str(refused.value)


def test_a_taxonomy_in_a_folder_below_is_read(tmp_path):
    (tmp_path / "trees").mkdir()
    (tmp_path / "trees" / "jobs.txt").write_text("work\n  clerk\n")
    (tmp_path / "recipe.toml").write_text(f'{TREE}"trees/jobs.txt"\n')
    assert Recipe.load(tmp_path / "recipe.toml").attributes["job"].taxonomy.root == "work"


def test_a_recipe_in_python_names_no_file():
    with pytest.raises(RecipeError, match=r"pass Taxonomy\.load\(path\)"):
        Recipe(k=2, attributes={"job": nominal(taxonomy="/etc/hostname")})


@pytest.mark.parametrize("name", ["data.txt", "data.json"])
def test_a_table_that_is_taken_for_a_taxonomy_is_not_quoted(tmp_path, name):
    for content in ("canary-1,34\ncanary-2,35\n", "canary-1\n canary-2\n canary-2\n", '{"canary": {"a": ["canary"]}}'):
        (tmp_path / name).write_text(content)
        (tmp_path / "recipe.toml").write_text(f'{TREE}"{name}"\n')
        with pytest.raises(RecipeError, match="taxonomy") as refused:
            Recipe.load(tmp_path / "recipe.toml")
        assert "canary" not in str(refused.value)


@pytest.mark.parametrize("depth", [40, 900, 100_000])
@pytest.mark.parametrize("form", ["{}", "k = 2\n[partition]\nx = {}", "k = 2\n[attributes.x]\ncategories = {}"])
def test_brackets_without_end_are_an_ordinary_error(depth, form):
    for opened, closed in (("[", "]"), ("{a=", "}")):
        with pytest.raises(RecipeError):
            Recipe.loads(form.format(opened * depth + closed * depth))
        with pytest.raises(RecipeError):
            Recipe.loads(form.format("x = " * (form == "{}") + opened * depth + "1" + closed * depth))


@pytest.mark.parametrize(("name", "deep"), [("t.json", 400), ("t.json", 200_000), ("t.txt", 20_000)])
def test_a_deep_taxonomy_is_read_or_an_ordinary_error(tmp_path, name, deep):
    as_json = '{"n0":' + "".join(f'{{"n{i}":' for i in range(1, deep)) + '["leaf"]' + "}" * deep
    as_text = "\n".join(" " * min(i, 1) * i + f"n{i}" for i in range(2000))
    (tmp_path / name).write_text(as_json if name == "t.json" else as_text)
    (tmp_path / "recipe.toml").write_text(f'{TREE}"{name}"\n')
    if deep > 100_000:
        with pytest.raises(RecipeError, match="nests too deep"):
            Recipe.load(tmp_path / "recipe.toml")
        return
    recipe = Recipe.load(tmp_path / "recipe.toml")
    assert Recipe(**recipe.as_dict()) == recipe


HUGE = ["1" + "0" * 400, "-1" + "0" * 400, "9" * 5000, "1e999", "-1e999", "0x" + "f" * 300, "99999999999999999999"]


@pytest.mark.parametrize("number", HUGE)
@pytest.mark.parametrize(
    "line",
    [
        "k = {}",
        "k = 3\nmethod = 'vmdav'\n[partition]\ngamma = {}",
        "k = 3\nmethod = 'near_optimal'\n[partition]\ntime_limit = {}",
        "k = 3\n[space.dependence]\nlambda = {}",
        "k = 3\n[space.discriminant]\ntarget = 'x'\nalpha = {}",
        "k = 3\n[blocks]\nform = 'contiguous'\nsize = {}",
        "k = 3\n[sweep]\nk = [{}]",
        "k = 3\n[sweep]\nepsilon = [{}]",
        "k = 3\n[sweep]\nalpha = [{}]",
        "method = 'dp_laplace'\n[privacy]\nepsilon = {}",
        "method = 'dp_laplace'\n[privacy]\nepsilon = 1\nweights = {{x = {}}}",
        "method = 'dp_moments'\nk = 5\n[privacy]\nepsilon = 1\nmasking = 'separate'\nstrategy = [{}]",
    ],
)
def test_huge_numbers_are_taken_or_an_ordinary_error_in_few_words(line, number):
    text = line.format(number) + '\n[attributes.x]\nrole = "quasi_identifier"\nkind = "numeric"\nbounds = [0, 9]\n'
    said = ""
    try:
        Recipe.loads(text)
    except RecipeError as error:
        said = str(error)
    assert len(said) < 400


@pytest.mark.parametrize("key", ["bounds = [0, {}]", "bounds = [{}, 0]", "resolution = {}", "weight = {}"])
@pytest.mark.parametrize("number", HUGE)
def test_huge_numbers_of_an_attribute_are_taken_or_an_ordinary_error(key, number):
    with contextlib.suppress(RecipeError):
        recipe = Recipe.loads(
            f'k = 3\n[attributes.x]\nrole = "quasi_identifier"\nkind = "numeric"\n{key.format(number)}\n'
        )
        assert Recipe.loads(recipe.dumps()) == recipe
