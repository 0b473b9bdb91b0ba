"""Cross-moment releases: every numbered method, what its statement says, and what is refused."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

import microagg
from declarations import numeric
from microagg import InputError, Recipe
from microagg.methods.catalogue import METHODS, PAPERS, method_named
from microagg.methods.cross_moment import COEFFICIENTS_PROMISE, SPECTRA_PROMISE
from microagg.private.moments.method import CrossMoment
from microagg.releases.check.check import check_release

K = 30
PAPER = PAPERS["cross_moment"]
BOUNDED = {"x": numeric(bounds=(0, 10)), "y": numeric(bounds=(-5, 5))}


def survey(n_records=100, seed=0, **columns):
    rng = np.random.default_rng(seed)
    x = rng.gamma(2.0, 1.0, n_records).clip(0, 10)
    return pa.table({"x": x, "y": (x - 2 + rng.normal(size=n_records)).clip(-5, 5), **columns})


def recipe_for(method="dp_moments", k=K, attributes=None, **more):
    privacy = None if not method_named(method).is_private else {"epsilon": 2.0, **more.pop("privacy", {})}
    given = {"method": method, "k": k, "attributes": attributes or BOUNDED, **more}
    return Recipe(**given if privacy is None else {**given, "privacy": privacy})


@pytest.mark.parametrize("number", PAPER)
def test_every_numbered_method_makes_a_release_that_passes_its_check(tmp_path, number):
    # So little noise that a variance truncated to 0 in every cell, or draws clamped in every record, do not happen.
    recipe = recipe_for(f"cross_moment:{number}", **({} if number.startswith("B") else {"privacy": {"epsilon": 1e5}}))
    assert recipe.method == PAPER[number].name
    made = microagg.release(survey(), recipe)
    assert all(finding.holds for finding in check_release(made.save(tmp_path / "out")))
    x, y = made.table["x"].to_numpy(), made.table["y"].to_numpy()
    assert x.min() >= 0
    assert x.max() <= 10
    assert y.min() >= -5
    assert y.max() <= 5
    assert len(x) == 100
    # The mean alone gives equal values to a cell; drawn records differ.
    drawn = "mean" not in PAPER[number].name.removesuffix("mean_first")
    assert (len(np.unique(x)) > 50) == drawn
    assert Recipe.loads(recipe.dumps()) == recipe
    assert Recipe(**recipe.as_dict()) == recipe


@pytest.mark.parametrize("base", [name for name in METHODS if name.startswith("dp_moments")])
def test_moments_over_the_cells_of_any_partitioner(base):
    one_by_one = {"blocks": {"form": "contiguous", "size": 1}} if base.endswith("univariate") else {}
    made = microagg.release(survey(), recipe_for(base, privacy={"m": 2, "content": "pure"}, **one_by_one), seed=1)
    assert made.table.num_rows == 100
    assert made.n_cells >= 2
    again = microagg.release(survey(), made.recipe, seed=1)
    assert made.table.equals(again.table)


def test_the_catalogue_has_26_methods_and_five_baselines():
    assert list(PAPER) == [*map(str, range(1, 27)), "B1", "B2", "B3", "B4", "B5"]
    assert len({method.name for method in PAPER.values()}) == 31
    # What the paper says of single numbers in its text.
    assert PAPER["6"].stages["noise"] == "Laplace separately (0.5, 0.5)"
    assert "variances" in PAPER["6"].stages["aggregate"]
    assert all(PAPER[str(n)].guarantee.startswith("epsilon-individual-DP") for n in range(14, 20))
    assert all("not of the original records" in m.guarantee for m in PAPER.values() if m.is_private)
    assert all("each attribute alone" in PAPER[str(n)].space for n in range(20, 27))
    with pytest.raises(InputError, match="no method named 'cross_moment:27'"):
        Recipe(method="cross_moment:27", k=5, attributes=BOUNDED)


def test_statements_say_what_is_protected_and_what_is_not():
    coefficients = microagg.release(survey(), recipe_for("cross_moment:3")).statement
    said = coefficients.as_dict()
    assert said["remarks"][0] == COEFFICIENTS_PROMISE
    assert said["guarantees"][0]["model"] == "epsilon-differential privacy"
    assert "not the original records" in said["guarantees"][0]["target"]
    assert said["budget"]["spent"] == said["budget"]["epsilon"] == 2.0
    assert said["for_publication"]
    assert "given the partition" in str(coefficients)

    spectra = microagg.release(survey(), recipe_for("cross_moment:15")).statement
    said = spectra.as_dict()
    assert said["remarks"][0] == SPECTRA_PROMISE
    assert said["guarantees"][0]["model"] == "epsilon-individual differential privacy"
    caveats = " ".join(said["guarantees"][0]["not_promised"])
    assert "gaps between the eigenvalues" in caveats
    assert "false as printed" in caveats
    # Its scale is private: no promise against someone who knows all of the method.
    assert "noise had the same scale" in said["guarantees"][0]["against"]
    assert "all of the method" not in said["guarantees"][0]["against"]
    # A mean alone has no spectrum.
    plain = microagg.release(survey(), recipe_for(privacy={"m": 0, "statistics": "spectra"})).statement
    assert plain.guarantees[0].model == "epsilon-differential privacy"


def test_a_seeded_release_is_for_research():
    first = microagg.release(survey(), recipe_for("cross_moment:12"), seed=5)
    second = microagg.release(survey(), recipe_for("cross_moment:12"), seed=5)
    assert first.table.equals(second.table)
    assert not first.statement.for_publication
    assert not first.table.equals(microagg.release(survey(), recipe_for("cross_moment:12"), seed=6).table)


@pytest.mark.parametrize("method", ["cross_moment:8", "cross_moment:17", "cross_moment:24", "cross_moment:1"])
def test_the_moments_themselves_can_be_published(tmp_path, constructor, method):
    table = constructor(survey().to_pydict())
    made = microagg.release(table, recipe_for(method, privacy={"form": "moments"}))
    assert type(made.table) is type(table)
    folder = made.save(tmp_path / "out")
    assert all(finding.holds for finding in check_release(folder))
    rows = made.frame.table.to_pylist()
    assert {row["block"] for row in rows} == ({0, 1} if method == "cross_moment:24" else {0})
    cells = {(row["block"], row["cell"]): row["n_records"] for row in rows}
    assert sum(cells.values()) == 100 * len({block for block, _ in cells})
    moments = {row["moment"] for row in rows}
    assert (
        moments
        == {
            "cross_moment:1": {"mean"},
            "cross_moment:8": {"mean", "variance", "covariance", "coskewness"},
            "cross_moment:17": {"mean", "variance", "covariance", "coskewness"},
            "cross_moment:24": {"mean", "variance", "coskewness"},
        }[method]
    )
    if method == "cross_moment:8":
        assert sum(row["moment"] == "coskewness" and row["cell"] == 0 for row in rows) == 4
    # A mean moved out of its bounds is noticed.
    text = (folder / "table.csv").read_text().splitlines()
    place = next(i for i, line in enumerate(text) if '"mean","x",' in line)
    text[place] = text[place].rpartition(",")[0] + ",10.5"
    (folder / "table.csv").write_text("\n".join(text) + "\n")
    assert not all(finding.holds for finding in check_release(folder) if finding.name == "table of moments")


def test_published_moments_approach_those_of_the_cells_as_noise_vanishes():
    table = survey(400)
    privacy = {"epsilon": 1e6, "content": "pure", "form": "moments"}
    made = microagg.release(table, recipe_for(k=100, privacy=privacy, output={"order": "kept"}))
    values = np.column_stack([table["x"].to_numpy(), table["y"].to_numpy()])
    (block,) = made.blocks
    for cell in range(block.n_cells):
        own = values[block.labels == cell]
        found = {
            (row["moment"], row["attributes"]): row["value"] for row in made.table.to_pylist() if row["cell"] == cell
        }
        assert found["mean", "y"] == pytest.approx(own[:, 1].mean(), abs=1e-3)
        assert found["variance", "x x x"] == pytest.approx(own[:, 0].var(ddof=1), abs=1e-3)
        assert found["covariance", "x x y"] == pytest.approx(np.cov(own.T)[0, 1], abs=1e-3)


def test_cells_of_a_table_of_moments_come_in_a_random_order():
    table = survey(3000)
    privacy = {"epsilon": 1e6, "m": 0, "form": "moments"}
    kept = microagg.release(table, recipe_for(privacy=privacy, output={"order": "kept"}), seed=1).table
    first, second = (microagg.release(table, recipe_for(privacy=privacy), seed=seed).table for seed in (1, 2))
    said = recipe_for(privacy=privacy, output={"order": "kept"})
    assert any("which cell holds the first records" in line for line in CrossMoment().guarantee(said).not_promised)
    assert not any("which cell" in line for line in CrossMoment().guarantee(recipe_for(privacy=privacy)).not_promised)
    columns = [[round(one, 2) for one in made["value"].to_pylist()[::2]] for made in (kept, first, second)]
    assert columns[0] != columns[1] != columns[2]
    assert sorted(columns[0]) == pytest.approx(sorted(columns[1]), abs=0.02)


def test_groups_of_attributes_share_the_budget():
    blocks = {"form": "given", "attributes": [["y"], ["x"]]}
    made = microagg.release(survey(), recipe_for(blocks=blocks, privacy={"weights": {"x": 0.25, "y": 0.75}}))
    spent = {one["on"]: one["epsilon"] for one in made.statement.as_dict()["budget"]["expenses"]}
    assert spent == {"k times mean and moments of y": 1.5, "k times mean and moments of x": 0.5}
    assert [block.attributes for block in made.blocks] == [("y",), ("x",)]


def test_confidential_attributes_stand_beside_draws_of_their_own_cell_only():
    table = survey(income=pa.array(np.arange(100.0)))
    recipe = recipe_for(attributes={**BOUNDED, "income": "confidential"}, output={"order": "kept"})
    made = microagg.release(table, recipe)
    assert made.table["income"].equals(table["income"])
    assert any("income" in line for line in made.statement.guarantees[0].not_promised)


def test_constant_and_dependent_attributes_are_taken():
    n = 90
    x = np.random.default_rng(0).random(n)
    table = pa.table({"x": x, "y": np.full(n, 3.0), "z": 2 * x})
    attributes = {"x": numeric(bounds=(0, 1)), "y": numeric(bounds=(0, 5)), "z": numeric(bounds=(0, 2))}
    for privacy in ({"m": 1, "content": "pure"}, {"m": 2, "content": "pure"}, {"m": 2, "statistics": "spectra"}):
        made = microagg.release(table, recipe_for(attributes=attributes, privacy=privacy, k=45), seed=1)
        assert all(np.isfinite(made.table[name].to_numpy()).all() for name in "xyz")
    # Without noise worth speaking of, what does not vary is drawn without variation.
    made = microagg.release(table, recipe_for(attributes=attributes, k=45, privacy={"m": 2, "epsilon": 1e6}), seed=1)
    np.testing.assert_allclose(made.table["y"].to_numpy(), 3.0, atol=0.02)


def test_more_statistics_than_records_is_said_aloud_and_in_the_statement():
    with pytest.warns(UserWarning, match="9 statistics .* smallest has 4 records"):
        made = microagg.release(survey(), recipe_for(k=4, privacy={"m": 2, "content": "pure", "coskewness": "all"}))
    assert any("more numbers than records" in remark for remark in made.statement.remarks)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"k": 3, "privacy": {"m": 2}}, "cells of at least 4 records. Got k = 3"),
        ({"k": 3, "method": "cross_moment:12"}, "cells of at least 4 records. Got k = 3"),
        ({"k": 1}, "greater than or equal to 2"),
        (
            {"attributes": {"x": numeric(), "y": numeric(bounds=(0, 1))}},
            "attributes.x: .* needs its public bounds",
        ),
        ({"privacy": {"masking": "separate", "strategy": [0.5, 0.4]}}, "weights above 0 that sum to 1"),
        ({"privacy": {"masking": "separate", "strategy": [0.5, 0.3, 0.2]}}, "m = 1 needs 2 weights"),
        ({"privacy": {"masking": "separate", "strategy": "even"}}, "'balanced', 'mean_first'"),
        ({"privacy": {"strategy": "balanced"}}, 'strategy: is for masking = "separate"'),
        ({"privacy": {"m": 3}}, "whole number of at least 0 and at most 2"),
        ({"privacy": {"moments": 1}}, "dp_moments has no such key"),
        ({"privacy": {"statistics": "spectra", "content": "variances"}}, "spectra are of whole matrices"),
        ({"privacy": {"coskewness": "all"}}, "is for m = 2"),
        ({"privacy": {"weights": {"x": 0.5, "y": 0.5}}}, "groups of attributes"),
        ({"method": "cross_moment:6", "privacy": {"m": 2}}, "is method 6 of the paper, which fixes it"),
        ({"method": "cross_moment:6", "blocks": {"form": "contiguous", "size": 1}}, "no use for \\[blocks\\]"),
        ({"blocks": {"form": "correlated", "size": 1}}, "reads from the records"),
        ({"space": {"standardize": "minmax"}}, "leave \\[space\\] out"),
        ({"aggregate": {"form": "sampled"}}, "aggregate"),
        ({"method": "cross_moment:B4", "aggregate": {"form": "sampled", "moments": 1}}, "aggregate.moments"),
        ({"method": "cross_moment:B1", "space": {"standardize": "zscore"}}, "fixes it to 'bounds'"),
        ({"aggregate": {"moments": 2}, "method": "mdav"}, "moments is for form = 'sampled'"),
    ],
)
def test_recipes_that_cannot_be_carried_out_are_refused(change, message):
    with pytest.raises(InputError, match=message):
        recipe_for(**{"method": "dp_moments", **change})


def test_a_method_can_be_changed_by_number():
    recipe = Recipe(method="mdav", k=K, attributes=BOUNDED)
    assert recipe.changed({"method": "cross_moment:B5"}).aggregate.moments == 2
    assert recipe.changed({"method": "cross_moment:B1"}).space.standardize == "bounds"


def test_sampled_records_keep_the_skewness_of_their_cells():
    n = 40_000
    x = np.random.default_rng(0).gamma(8.0, 1.0, n)  # skewness 0.71
    attributes = {"x": numeric(bounds=(0, 60))}
    for number, expected in (("B3", 0.0), ("B5", 0.707)):
        recipe = recipe_for(f"cross_moment:{number}", k=n, attributes=attributes)
        drawn = microagg.release(pa.table({"x": x}), recipe, seed=1).table["x"].to_numpy()
        found = ((drawn - drawn.mean()) ** 3).mean() / drawn.std() ** 3
        # Standard error of a skewness near sqrt(6 / n) = 0.012, a little more if skewed.
        assert found == pytest.approx(expected, abs=0.1)


def test_the_matching_of_the_study_is_named_in_studies_alone():
    """Whatever imports studies at all is listed in tests/studies/test_reproduction.py."""
    package = Path(microagg.__file__).parent
    named = {
        path.relative_to(package).parts[0]
        for path in package.rglob("*.py")
        if "rank_matched" in path.read_text(encoding="utf-8")
    }
    assert named == {"studies"}


def test_the_manifest_tells_the_stages():
    made = microagg.release(survey(), recipe_for("cross_moment:12"))
    stages = {stage["stage"]: stage for stage in json.loads(made.manifest.as_json())["stages"]}
    assert stages["aggregate"]["m"] == 2
    assert stages["noise"]["shares"] == [0.5, 0.3, 0.2]
    assert stages["space"]["units"] == "domain"
    assert stages["noise"]["truncation"] == "by_width"  # as published; the general method does better
    general = microagg.release(survey(), recipe_for())
    stages = {stage["stage"]: stage for stage in json.loads(general.manifest.as_json())["stages"]}
    assert stages["noise"]["truncation"] == "by_mean"
