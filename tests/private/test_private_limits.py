"""Private releases at the edges of what types and numbers can hold: refused before any noise, or right."""

from __future__ import annotations

import datetime as dt

import pyarrow as pa
import pytest

import microagg
from declarations import nominal, numeric
from microagg import Recipe
from microagg.errors import MicroaggError

NOON = [dt.time(12)] * 4


def released(values, declared: dict, **privacy):
    recipe = Recipe(
        method="dp_individual_ranking", k=2, privacy={"epsilon": 1.0, **privacy}, attributes={"x": declared}
    )
    return microagg.release(pa.table({"x": values}), recipe)


@pytest.mark.parametrize(
    ("values", "declared", "privacy", "said"),
    [
        ([1.0, 2.0], numeric(bounds=[0, 10]), {"epsilon": 1e-300}, "epsilon = 1e-300 is too small"),
        (["a", "b"], nominal(categories=["a", "b"]), {"epsilon": 5e-324}, "is too small"),
        ([0, 1], numeric(bounds=[0.2, 0.8], resolution=1), {"clamp": True}, "no two of them lie within its bounds"),
        (pa.array([1, 2], pa.duration("s")), numeric(bounds=[0, 1e300]), {}, "cannot hold its bounds"),
        (NOON, numeric(bounds=[0, 90_000]), {}, "must lie within 0 and 86400 seconds"),
        ([0.5, float("inf")], nominal(categories=[0.5, 1.5]), {}, "1 categories that are not among the declared"),
    ],
)
def test_what_cannot_be_published_is_refused_with_its_reason(values, declared, privacy, said):
    with pytest.raises(MicroaggError) as refused:
        released(values, declared, **privacy)
    assert said in str(refused.value)


def test_a_taxonomy_that_does_not_fit_is_refused_with_the_column_and_what_is_wrong(tmp_path):
    with pytest.raises(MicroaggError, match="column 'x' has 1 categories that are not in its taxonomy"):
        released(["a", "z"], nominal(taxonomy={"a": "r", "b": "r"}))
    (tmp_path / "tree.txt").write_text("r\n  a\nsecond\n  b\n")
    (tmp_path / "recipe.toml").write_text(
        'method = "dp_individual_ranking"\nk = 2\n[privacy]\nepsilon = 1\n[attributes.x]\n'
        'role = "quasi_identifier"\nkind = "nominal"\ntaxonomy = "tree.txt"\n'
    )
    with pytest.raises(MicroaggError, match=r"attributes\.x\.taxonomy: line 3 .* second root; indent it"):
        Recipe.load(tmp_path / "recipe.toml")


def test_times_of_day_never_reach_the_next_day():
    made = released([dt.time(23, 59)] * 4, numeric(bounds=[0, 86_400]), epsilon=1e-3)
    assert all(isinstance(time, dt.time) for time in made.table["x"].to_pylist())
    assert max(made.table["x"].cast(pa.int64()).to_pylist()) < 86_400 * 10**6


def test_a_category_may_have_any_name():
    made = released(["any", "b", "b", "any"], nominal(categories=["any", "b"]))
    assert set(made.table["x"].to_pylist()) <= {"any", "b"}


def test_the_promise_speaks_of_protected_attributes_where_others_stand_beside():
    attributes = {"x": numeric(bounds=[0, 10]), "y": "confidential"}
    recipe = Recipe(method="dp_laplace", privacy={"epsilon": 1.0}, attributes=attributes)
    (guarantee,) = microagg.release(pa.table({"x": [1.0, 2.0], "y": ["a", "b"]}), recipe).statement.guarantees
    assert guarantee.target == "the protected attributes of the original records"
    assert "whatever that record says in the protected attributes" in guarantee.against


def test_the_promise_names_what_else_in_the_folder_depends_on_the_records():
    (guarantee,) = released([1.0, 2.0], numeric(bounds=[0, 10])).statement.guarantees
    said = " ".join(guarantee.assumptions)
    assert "none of these was read off the records" in said
    assert "the refusal is not published" in said
    assert "the receipt, which holds the input's fingerprint, stays with the data holder" in said
    (conditional,) = released([1.0, -2.0], numeric(), bounds="from_data").statement.guarantees
    assert "that leaves the bounds as they are" in conditional.against
    assert "where there are negative ones the smallest" in " ".join(conditional.assumptions)
