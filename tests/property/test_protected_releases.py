"""What a recipe asks of confidential values holds on the written file by an oracle's count, or no cells satisfy it."""

from __future__ import annotations

import re
import zlib
from collections import Counter

import numpy as np
import pytest

import microagg
from declarations import nominal, numeric
from microagg import Recipe
from microagg.errors import InputError
from optional_packages import need
from optional_packages import pandas as pd
from protected_tables import (
    METHODS,
    WAYS,
    Protected,
    Refusal,
    confirm,
    random_protected,
    same_twice,
    try_named_bounds,
    try_protected,
    with_gaps,
)
from requirement_oracle import Asked, Scale


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("by", WAYS)
def test_the_file_satisfies_what_was_asked_or_no_cells_could(by, method, tmp_path):
    rng = np.random.default_rng(zlib.crc32(f"{by} {method}".encode()))
    ended: Counter[str] = Counter()
    while ended["released"] < 2:  # ends: most random tables can be protected
        one = random_protected(rng, by=by, method=method)
        ended[try_protected(one, tmp_path / str(ended.total()), seed=ended.total())] += 1
        assert ended.total() < 30
    assert same_twice(one, seed=1)


def plain(protect, n_records=60, seed=0, **more):
    """Two numbers and two confidential attributes, complete and in one group."""
    rng = np.random.default_rng(seed)
    columns = {
        "age": rng.normal(40, 10, n_records).tolist(),
        "rooms": rng.integers(1, 7, n_records).tolist(),
        "pay": np.round(rng.gamma(2.0, 8.0, n_records)).tolist(),
        "job": rng.choice(["clerk", "smith", "baker", "boss"], n_records, p=[0.4, 0.3, 0.2, 0.1]).tolist(),
    }
    recipe = Recipe(
        k=3,
        attributes={
            "age": numeric(),
            "rooms": numeric(),
            "pay": {**numeric(), "role": "confidential"},
            "job": {**nominal(), "role": "confidential"},
        },
        protect=protect,
        **{"rearrange": {"effort": "fast"}, **more},
    )
    scales = {"pay": Scale("numeric"), "job": Scale("nominal")}
    asked = [Asked(name, key, bound, scales[name]) for name, keys in protect.items() for key, bound in keys.items()]
    return Protected(columns, recipe, tuple(asked))


@pytest.mark.parametrize("by", WAYS)
def test_closeness_is_never_refused_where_all_records_may_share_a_cell(by, tmp_path):
    one = plain({"pay": {"t_closeness": 0.001}}, rearrange={"by": by, "effort": "fast"})
    assert try_protected(one, tmp_path) == "released"
    job = {} if by == "closeness_first" else {"job": {"t_closeness": 0.001}}
    two = plain({"pay": {"t_closeness": 0.1}, **job}, rearrange={"by": by, "effort": "fast"})
    assert try_protected(two, tmp_path / "two") == "released"


@pytest.mark.parametrize(
    ("attribute", "key", "bound"),
    [
        ("job", "distinct_l", 5),
        ("job", "p_sensitive", 9),
        ("pay", "entropy_l", 50.0),
        ("job", "max_share", 0.1),
        ("pay", "min_range", 1e6),
        ("job", "recursive_c_l", [0.1, 2]),
    ],
)
def test_a_refusal_is_right_and_names_a_bound_that_is_possible(attribute, key, bound):
    one = plain({attribute: {key: bound}})
    with pytest.raises(InputError, match="no partition satisfies") as caught:
        microagg.release(one.table, one.recipe, seed=0)
    refusal = Refusal.of(caught.value, one)
    confirm(refusal, one)
    try_named_bounds(one, refusal)
    if key != "min_range":  # that one is named coarsely
        best = refusal.asked.found(one.columns[attribute], one.columns[attribute])
        named = refusal.bound[0] if key == "recursive_c_l" else refusal.bound
        assert named == pytest.approx(best, abs=2e-4)


@pytest.mark.parametrize(
    ("key", "bound"),
    [("distinct_l", 2), ("p_sensitive", 2), ("entropy_l", 1.1), ("max_share", 0.9), ("min_range", 1.0)],
)
def test_where_a_group_has_one_value_only_no_bound_is_named_that_a_recipe_may_not_ask_for(key, bound):
    one = plain({"pay": {key: bound}})
    one = Protected({**one.columns, "pay": [7.0] * 60}, one.recipe, one.asked)
    with pytest.raises(InputError, match="no partition satisfies") as caught:
        microagg.release(one.table, one.recipe, seed=0)
    named = re.search(rf"{key} = (\S+)", str(caught.value).partition(" do not. ")[2])
    if named is not None:
        one.asking("pay", key, int(named[1]) if key in ("distinct_l", "p_sensitive") else float(named[1]))


def test_a_search_that_is_out_of_time_keeps_the_cells_that_merging_finds():
    def classes(rearrange):
        one = plain({"pay": {"t_closeness": 0.2}}, n_records=120, rearrange=rearrange)
        return microagg.release(one.table, one.recipe, seed=0).statement.requirements[0].n_classes

    assert classes({"by": "search", "time_limit": 1e-6}) >= classes({"by": "merge"}) > 1


@pytest.mark.parametrize("by", ["search", "swap", "merge"])
def test_a_taxonomy_with_leaves_at_several_depths_is_minded(by, tmp_path):
    # By the definition the first two records are 1/3 away from the table, and the others 1/6.
    parents = {"idle": "any", "field": "any", "smith": "field", "wood": "field", "joiner": "wood", "carver": "wood"}
    secret = {**nominal(taxonomy=parents), "role": "confidential"}
    recipe = Recipe(
        k=2,
        attributes={"age": numeric(), "job": secret},
        protect={"job": {"t_closeness": 0.25}},
        rearrange={"by": by, "effort": "fast"},
    )
    columns = {"age": [0.0, 0.0, 5.0, 5.0, 9.0, 9.0], "job": ["carver", "smith", "carver", "idle", "carver", "idle"]}
    one = Protected(columns, recipe, (Asked("job", "t_closeness", 0.25, Scale("nominal", parents=parents)),))
    assert try_protected(one, tmp_path) == "released"


def test_missing_values_count_as_one_value(tmp_path):
    one = plain({"job": {"distinct_l": 3}, "pay": {"t_closeness": 0.3}})
    rng = np.random.default_rng(5)
    columns = {**one.columns, "job": with_gaps(rng, ["clerk", "boss"] * 30, 0.3)}
    columns["pay"] = with_gaps(rng, columns["pay"], 0.2)
    assert try_protected(Protected(columns, one.recipe, one.asked), tmp_path) == "released"
    complete = {**columns, "job": ["clerk", "boss"] * 30}
    assert try_protected(Protected(complete, one.recipe, one.asked), tmp_path / "complete") == "refused"


@pytest.mark.parametrize("by", ["search", "swap", "merge"])
@pytest.mark.parametrize("seed", range(2))
def test_another_package_counts_the_same_on_the_file(by, seed, tmp_path):
    peer = need("pycanon.anonymity")
    one = plain(
        {"pay": {"distinct_l": 3, "t_closeness": 0.2}, "job": {"distinct_l": 2, "t_closeness": 0.35}},
        n_records=90,
        seed=seed,
        rearrange={"by": by, "effort": "fast"},
    )
    made = microagg.release(one.table, one.recipe, seed=seed)
    written = pd.read_csv(made.save(tmp_path / "out") / "table.csv")
    known = list(one.recipe.schema.quasi_identifiers)
    assert peer.k_anonymity(written, known) == made.statement.recounts[0].smallest
    found = {(count.attribute, count.requirement): count.found for count in made.statement.requirements}
    for name in ("pay", "job"):
        assert found[name, "distinct_l"] == peer.l_diversity(written, known, [name])
        assert found[name, "t_closeness"] == pytest.approx(peer.t_closeness(written, known, [name]))
