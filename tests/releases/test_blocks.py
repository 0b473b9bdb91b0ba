"""Releases in blocks: each block is k-anonymous, their combination is not, and the statement says both."""

from __future__ import annotations

import json

import numpy as np
import pyarrow as pa
import pytest

import microagg
from declarations import nominal, numeric, ordinal
from microagg import Recipe
from microagg.errors import RecipeError
from microagg.releases.check.check import check_release

ATTRIBUTES = {
    "a": numeric(),
    "b": numeric(),
    "c": numeric(),
    "d": nominal(),
    "e": ordinal(categories=("low", "middle", "high")),
    "income": "confidential",
}


def survey(n_records: int = 60, seed: int = 0) -> pa.Table:
    rng = np.random.default_rng(seed)
    a, c = rng.normal(size=(2, n_records))
    return pa.table(
        {
            "a": a,
            "b": a + 0.1 * rng.normal(size=n_records),
            "c": c,
            "d": np.where(c > 0, "u", rng.choice(["v", "w"], n_records)),
            "e": rng.choice(["low", "middle", "high"], n_records),
            "income": rng.normal(1000, 100, n_records),
        }
    )


def recipe(**blocks) -> Recipe:
    return Recipe(k=4, attributes=ATTRIBUTES, blocks=blocks)


def rarest(table: pa.Table, names: tuple[str, ...]) -> int:
    return min(table.group_by(list(names)).aggregate([([], "count_all")])["count_all"].to_pylist())


@pytest.mark.parametrize(
    ("blocks", "expected"),
    [
        ({"form": "one"}, [("a", "b", "c", "d", "e")]),
        ({"form": "given", "attributes": [["c", "a"], ["b", "d", "e"]]}, [("c", "a"), ("b", "d", "e")]),
        ({"form": "contiguous", "size": 2}, [("a", "b"), ("c", "d"), ("e",)]),
        ({"form": "correlated", "size": 2}, [("a", "b"), ("c", "d"), ("e",)]),
        ({"form": "spread", "size": 3}, [("a", "c", "e"), ("b", "d")]),
    ],
    ids=lambda value: value["form"] if isinstance(value, dict) else "",
)
def test_every_block_has_cells_of_its_own_of_at_least_k_records(blocks, expected):
    made = microagg.release(survey(), recipe(**blocks))
    assert [block.attributes for block in made.blocks] == expected
    assert [guarantee.attributes for guarantee in made.statement.guarantees] == expected
    for block in made.blocks:
        assert np.bincount(block.labels).min() >= 4
        assert rarest(made.table, block.attributes) >= 4


def test_the_statement_says_what_is_k_anonymous_and_what_is_not():
    made = microagg.release(survey(), recipe(form="contiguous", size=2))
    text = " ".join(str(made.statement).split())
    for names in ("a, b", "c, d", "e"):
        assert f"k-anonymity (k = 4) on {names}." in text
    assert "combinations of attributes from different blocks" in text
    assert "together they can single out a record" in text
    # It is not said in vain: together the blocks do single out records of this table.
    assert rarest(made.table, ("a", "b", "c", "d", "e")) == 1
    assert made.statement.for_publication


def test_one_block_does_not_speak_of_blocks():
    assert "different blocks" not in str(microagg.release(survey(), recipe(form="one")).statement)


def test_a_blocked_release_is_checked_block_by_block(tmp_path):
    folder = microagg.release(survey(), recipe(form="contiguous", size=2)).save(tmp_path / "out")
    findings = check_release(folder)
    assert all(finding.holds for finding in findings)
    counted = [finding.name for finding in findings if finding.name.startswith("k-anonymity")]
    assert counted == [f"k-anonymity (k = 4) on {names}" for names in ("a, b", "c, d", "e")]


def test_a_block_missing_from_the_manifest_fails_the_check(tmp_path):
    folder = microagg.release(survey(), recipe(form="contiguous", size=2)).save(tmp_path / "out")
    manifest = json.loads((folder / "manifest.json").read_text())
    (partition,) = (stage for stage in manifest["stages"] if stage["stage"] == "partition")
    del partition["blocks"][0]
    (folder / "manifest.json").write_text(json.dumps(manifest))
    failed = [finding.name for finding in check_release(folder) if not finding.holds]
    assert failed == ["cells", "statement", "recounts", "receipt"]


def test_blocks_that_the_recipe_did_not_ask_for_fail_the_check(tmp_path):
    folder = microagg.release(survey(), recipe(form="contiguous", size=2)).save(tmp_path / "out")
    manifest = json.loads((folder / "manifest.json").read_text())
    manifest["recipe"]["blocks"] = {"form": "one"}
    (folder / "manifest.json").write_text(json.dumps(manifest))
    assert "cells" in [finding.name for finding in check_release(folder) if not finding.holds]


@pytest.mark.parametrize(
    ("blocks", "message"),
    [
        ({"form": "given", "attributes": [["a", "b"], ["b", "c", "d", "e"]]}, "overlap: 'b' must be in one block only"),
        ({"form": "given", "attributes": [["a", "b"]]}, "miss 'c', 'd', 'e': add to a block"),
        ({"form": "given", "attributes": [["a", "b", "c", "d", "e", "income"]]}, "names 'income', which is not"),
        ({"form": "given", "attributes": [["a", "b", "c", "d", "e"], []]}, "has an empty block: leave it out"),
        ({"form": "given"}, "needs the blocks: attributes = "),
        ({"form": "correlated"}, "needs the number of attributes per block: size = 3"),
        ({"form": "contiguous", "size": 0}, "blocks.size: "),
        ({"form": "contiguous", "size": 2, "attributes": [["a"]]}, "attributes is for form = 'given'"),
        ({"form": "one", "size": 2}, "size is not for form = 'one'"),
        ({"form": "corelated", "size": 2}, "Did you mean 'correlated'?"),
    ],
)
def test_blocks_that_do_not_fit_are_refused_with_the_line_that_mends_them(blocks, message):
    with pytest.raises(RecipeError) as refused:
        recipe(**blocks)
    assert message in str(refused.value)


def test_no_cell_of_any_block_crosses_a_stratum():
    table = survey().append_column("region", pa.array(["north", "south"] * 30))
    made = microagg.release(
        table,
        Recipe(
            k=4,
            attributes={**ATTRIBUTES, "region": nominal()},
            strata={"by": ["region"]},
            blocks={"form": "given", "attributes": [["a", "b"], ["c", "d", "e"], ["region"]]},
        ),
    )
    north = np.array([region == "north" for region in table["region"].to_pylist()])
    for block in made.blocks:
        assert not set(block.labels[north].tolist()) & set(block.labels[~north].tolist())


def test_missing_values_make_cells_of_their_own_in_their_block_only():
    table = survey()
    lacking = np.arange(60) < 10
    table = table.set_column(0, "a", pa.array(table["a"].to_numpy(), mask=lacking))
    made = microagg.release(
        table,
        Recipe(
            k=4,
            attributes=ATTRIBUTES,
            missing={"policy": "own_cell"},
            blocks={"form": "given", "attributes": [["a", "b"], ["c", "d", "e"]]},
        ),
    )
    first, second = (block.labels for block in made.blocks)
    assert not set(first[lacking].tolist()) & set(first[~lacking].tolist())
    assert set(second[lacking].tolist()) & set(second[~lacking].tolist())
    assert made.table["a"].null_count == 10
    for guarantee in made.statement.guarantees:
        assert rarest(made.table, guarantee.attributes) >= 4


def test_a_recipe_with_blocks_round_trips():
    chosen = recipe(form="given", attributes=[["c", "a"], ["b", "d", "e"]])
    assert Recipe.loads(chosen.dumps()) == chosen


@pytest.mark.parametrize("form", ["contiguous", "correlated", "spread"])
def test_a_nominal_attribute_without_any_value_is_put_into_a_block(form):
    table = survey().set_column(3, "d", pa.array([None] * 60, pa.string()))
    blocks = {"form": form, "size": 2}
    made = microagg.release(table, Recipe(k=4, attributes=ATTRIBUTES, missing={"policy": "own_cell"}, blocks=blocks))
    assert made.table["d"].null_count == 60
    assert sorted(name for block in made.blocks for name in block.attributes) == list("abcde")
