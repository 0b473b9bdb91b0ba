"""Releases that hide confidential values: what is promised holds for every reader of the file; forgeries are found."""

from __future__ import annotations

import hashlib
import json

import numpy as np
import pyarrow as pa
import pytest

import microagg
from microagg import Recipe
from microagg.errors import InputError, RecipeError, TableError
from microagg.privacy.within_cells import earth_movers_ordered
from microagg.releases.check.check import check_release, check_table
from microagg.tables.labels import Labels, with_labels

AGE = {"role": "quasi_identifier", "kind": "numeric"}


def recipe_of(kind="nominal", *, rearrange=None, **required):
    attributes = {"age": AGE, "c": {"role": "confidential", "kind": kind}}
    return Recipe(k=2, attributes=attributes, protect={"c": required}, rearrange={"effort": "fast"} | (rearrange or {}))


def people(n_records=40):
    rng = np.random.default_rng(0)
    return pa.table(
        {"age": rng.integers(20, 70, n_records), "c": rng.choice(["flu", "cold", "gout"], n_records).tolist()}
    )


def rewritten(folder, change):
    """The folder after one of its files was changed and all hashes were made to fit."""
    manifest = json.loads((folder / "manifest.json").read_text())
    statement = json.loads((folder / "statement.json").read_text())
    change(manifest, statement)
    (folder / "statement.json").write_text(json.dumps(statement, indent=2, ensure_ascii=False) + "\n")
    for name in manifest["output"]["sha256"]:
        manifest["output"]["sha256"][name] = hashlib.sha256((folder / name).read_bytes()).hexdigest()
    (folder / "manifest.json").write_text(json.dumps(manifest))
    for receipt in folder.parent.glob("*receipt*"):
        receipt.unlink()
    return [finding for finding in check_release(folder) if not finding.holds]


@pytest.mark.parametrize(
    ("one", "other"),
    [("1", "01"), ("0.5", "0.50"), ("1e3", "1000"), ("NA", None), ("", None), ("NaN", "null"), ("TRUE", "True"),
     ("x", "x "), ("+1", "1"), ("é", "e\u0301")],
)  # fmt: skip
def test_values_that_a_reader_takes_for_one_count_as_one(one, other):
    table = pa.table({"age": list(range(20)), "c": pa.array([one, other] * 10, pa.string())})
    with pytest.raises(InputError, match="all values are alike"):
        microagg.release(table, recipe_of(distinct_l=2))
    measured = microagg.evaluate(table, table, recipe_of(distinct_l=2), measures=["distinct_l_min"], aligned=True)
    assert measured["distinct_l_min"].value in (1.0, None)


def test_distances_of_millions_of_values_do_not_overflow():
    n_records = 3_000_000
    values, labels = np.arange(n_records, dtype=float), np.arange(n_records) * 2 // n_records
    np.testing.assert_allclose(earth_movers_ordered(values, labels), 0.25, rtol=1e-6)


def test_whole_numbers_that_floats_cannot_tell_apart_are_refused():
    large = [2**61 + i for i in range(10)]
    table = pa.table({"age": list(range(20)), "c": pa.array([*range(10), *large])})
    with pytest.raises(TableError, match=r"9 values of column 'c' differ from others only beyond the 15 digits"):
        microagg.release(table, recipe_of("numeric", t_closeness=0.3))


def test_value_labels_that_are_not_unique_are_refused():
    labels = Labels(value_labels=((1, "a" * 130 + "x"), (2, "a" * 130 + "y")))
    schema = pa.schema([pa.field("age", pa.int64()), with_labels(pa.field("c", pa.int64()), labels)])
    table = pa.table([list(range(20)), [1, 2] * 10], schema=schema)
    with pytest.raises(TableError, match="several values of column 'c' have the same value label"):
        microagg.release(table, recipe_of(distinct_l=2))


def test_ranges_of_dates_are_in_days_and_of_times_in_seconds(tmp_path):
    days = pa.array([10, 13] * 10, pa.int32()).cast(pa.date32())
    moments = pa.array([0, 3000] * 10, pa.timestamp("ms"))
    for values, bound in ((days, 3.0), (moments, 3.0)):
        table = pa.table({"age": list(range(20)), "c": values})
        made = microagg.release(table, recipe_of("numeric", min_range=bound))
        for name in ("csv", "parquet"):
            folder = made.save(tmp_path / f"{values.type}{name}".replace("[", "").replace("]", ""), format=name)
            assert all(finding.holds for finding in check_release(folder))
        with pytest.raises(InputError, match=r"The largest that can be is about min_range = 3$"):
            microagg.release(table, recipe_of("numeric", min_range=bound * 1.01))


@pytest.mark.parametrize("format", ["csv", "parquet", "sav", "dta"])
def test_what_is_required_is_counted_on_the_file_and_on_files_of_others(tmp_path, format):
    recipe = recipe_of(distinct_l=2, max_share=0.7)
    made = microagg.release(people(), recipe)
    folder = made.save(tmp_path / "out", format=format, report=True)
    findings = check_release(folder)
    assert [finding.detail for finding in findings if not finding.holds] == []
    assert sum("of 'c'" in finding.name for finding in findings) == 2
    assert [count.holds for count in made.statement.requirements] == [True, True]
    strict = recipe.changed({"protect.c.max_share": 0.4})
    broken = [finding for finding in check_table(folder / f"table.{format}", strict) if not finding.holds]
    assert [finding.name for finding in broken] == ["largest share (share = 0.4) of 'c'"]


def test_forged_promises_and_stages_are_found(tmp_path):
    made = microagg.release(people(), recipe_of(distinct_l=2, rearrange={"time_limit": 60.0}))

    def saved(name):
        return made.save(tmp_path / name, report=True)

    def stage_of(manifest):
        return next(stage for stage in manifest["stages"] if stage["stage"] == "rearrange")

    assert rewritten(saved("same"), lambda manifest, statement: None) == []
    forgeries = {
        "found": lambda _, statement: statement["requirements"][0].update(found=3.0),
        "bound": lambda _, statement: statement["requirements"][0].update(bound=1.0),
        "dropped": lambda _, statement: statement.pop("requirements"),
        "promise": lambda _, statement: statement["guarantees"][1]["parameters"].update(l=3),
        "share": lambda manifest, _: stage_of(manifest).update(share_of_steps="Ann has gout"),
        "ends": lambda manifest, _: stage_of(manifest).update(stopped_by={}),
        "many": lambda manifest, _: stage_of(manifest).update(stopped_by={"budget": 10**30}),
        "true": lambda manifest, _: stage_of(manifest).update(stopped_by={"budget": True}),
        "by": lambda manifest, _: stage_of(manifest).update(by="merge"),
        "stage": lambda manifest, _: manifest["stages"].remove(stage_of(manifest)),
    }
    for name, forge in forgeries.items():
        assert rewritten(saved(name), forge), name


def test_a_statement_explains_every_distance_that_was_used():
    table = people().append_column("income", pa.array(np.arange(40.0)))
    attributes = {
        "age": AGE,
        "c": {"role": "confidential", "kind": "nominal"},
        "income": {"role": "confidential", "kind": "numeric"},
    }
    protect = {"c": {"t_closeness": 0.5}, "income": {"t_closeness": 0.5}}
    recipe = Recipe(k=3, attributes=attributes, protect=protect, rearrange={"effort": "fast"})
    words = " ".join(str(microagg.release(table, recipe).statement).split())
    assert "T-closeness of c:" in words
    assert "T-closeness of income:" in words
    assert "(all values 1 apart)" in words
    assert "(values apart along their order" in words
    assert "repeats the method" in words


def test_strata_are_held_to_the_whole_table_and_refused_by_count():
    table = pa.table(
        {"age": list(range(40)), "s": ["a", "b"] * 20, "c": [x for i in range(20) for x in (float(i), float(i + 20))]}
    )
    attributes = {
        "age": AGE,
        "s": {"role": "quasi_identifier", "kind": "nominal"},
        "c": {"role": "confidential", "kind": "numeric"},
    }
    recipe = Recipe(k=2, attributes=attributes, strata={"by": ["s"]}, protect={"c": {"t_closeness": 0.1}})
    with pytest.raises(InputError, match=r"2 of 2 groups that no cell may cross do not\. The smallest that can be"):
        microagg.release(table, recipe)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"method": "mic1d"}, "does not put records into cells"),
        ({"blocks": {"form": "given", "attributes": [["age"]]}}, "leave \\[blocks\\] out"),
        ({"aggregate.form": "sampled"}, "cannot be counted on the file"),
        ({"method": "near_optimal", "partition": {"certificate": True}}, "certificate"),
        ({"rearrange.by": "closeness_first"}, "is for t_closeness of a numeric or ordinal attribute"),
        ({"protect": {"age": {"distinct_l": 2}}}, "not declared with role = 'confidential'"),
        ({"protect": {}, "rearrange.by": "merge"}, "nothing to rearrange"),
        ({"protect": {"c": {"distinct": 2}}}, "Known keys: distinct_l"),
    ],
)
def test_recipes_that_cannot_be_carried_out_are_explained(changes, words):
    with pytest.raises(RecipeError, match=words):
        recipe_of(distinct_l=2).changed(changes)
