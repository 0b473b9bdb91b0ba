"""Units with several records: cells of k persons, what is refused, what is stated, and what only the holder counts."""

from __future__ import annotations

import datetime as dt
import json
import re
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import csv

import microagg
from declarations import nominal, numeric
from microagg import Recipe
from microagg.engines.rules import refuse_unsupported
from microagg.errors import InputError, RecipeError, TableError
from microagg.evaluation.evaluate import evaluate
from microagg.releases.check.check import check_release, check_table
from microagg.releases.folder.receipt import Receipt
from microagg.releases.report_results import make_report
from microagg.reports.source import ReportRequest
from microagg.schema.alike import key_as_read
from microagg.schema.units import unit_codes
from microagg.tables.databases.spool import fetched
from microagg.tables.frames import Frame
from optional_packages import need
from optional_packages import polars as pl

OF_RECORDS = ("mdav", "vmdav", "near_optimal", "pcp", "zscores", "individual_ranking")
ATTRIBUTES = {"id": "identifier", "x": numeric(), "y": numeric(), "ill": nominal(role="confidential")}


def visits(n_others: int = 40, huge: int = 20) -> pa.Table:
    """One person with many records that are alike, and others with one to three."""
    rng = np.random.default_rng(0)
    keys = ["many"] * huge + [f"p{unit}" for unit in range(n_others) for _ in range(1 + unit % 3)]
    x = np.where(np.array(keys) == "many", 50.0, rng.normal(0, 20, len(keys)).round(1))
    y = np.where(np.array(keys) == "many", 50.0, rng.normal(0, 20, len(keys)).round(1))
    order = rng.permutation(len(keys))
    ill = rng.choice(["no", "flu", "gout"], len(keys))
    return pa.table({"id": np.array(keys)[order], "x": x[order], "y": y[order], "ill": ill[order]})


def recipe(**changes) -> Recipe:
    return Recipe(**({"k": 5, "unit": {"key": "id"}, "attributes": ATTRIBUTES} | changes))


def keys_by_class(made: microagg.Release, table: pa.Table, names: list[str]) -> list[set]:
    keys = np.array(table["id"].to_pylist())[made.origins]
    classes: dict[tuple, set] = {}
    for row, key in zip(zip(*(made.table[name].to_pylist() for name in names), strict=True), keys, strict=True):
        classes.setdefault(row, set()).add(key)
    return list(classes.values())


# --- cells


@pytest.mark.parametrize("together", [False, True])
@pytest.mark.parametrize("method", OF_RECORDS)
def test_a_person_with_twenty_records_is_never_alone(method, together):
    table = visits()
    made = microagg.release(table, recipe(method=method, unit={"key": "id", "together": together}), seed=1)
    blocks = [["x"], ["y"]] if method == "individual_ranking" else [["x", "y"]]
    for names in blocks:
        assert min(map(len, keys_by_class(made, table, names))) >= 5
    assert "id" not in made.table.column_names


def test_all_records_of_a_unit_share_one_cell_where_that_is_asked_for():
    table = visits()
    made = microagg.release(table, recipe(unit={"key": "id", "together": True}))
    combinations = {}
    for origin, row in zip(
        made.origins, zip(*(made.table[name].to_pylist() for name in "xy"), strict=True), strict=True
    ):
        combinations.setdefault(table["id"][int(origin)].as_py(), set()).add(row)
    assert {len(some) for some in combinations.values()} == {1}


@pytest.mark.parametrize("method", OF_RECORDS)
def test_where_every_unit_has_one_record_the_release_is_that_without_units(method):
    table = visits(huge=1)
    table = table.set_column(0, "id", pa.array(range(table.num_rows)))
    with_units, without = (
        microagg.release(table, recipe(method=method, unit=unit, output={"order": "kept"}), seed=3)
        for unit in ({"key": "id"}, None)
    )
    assert with_units.table.equals(without.table)


@pytest.mark.parametrize(
    "key",
    [
        lambda unit: unit,
        lambda unit: float(unit),
        lambda unit: f"p{unit}",
        lambda unit: f" P{unit} " if unit % 2 else f"p{unit}",
        lambda unit: dt.date(2020, 1, 1) + dt.timedelta(days=unit),
        lambda unit: f"0{unit}",
        lambda unit: unit % 7 == 0,
    ],
    ids=["integers", "floats", "text", "blanks", "dates", "leading zeros", "booleans"],
)
def test_units_are_told_apart_by_keys_of_any_type(key):
    numbers = np.unique(visits()["id"].to_pylist(), return_inverse=True)[1]
    table = visits().set_column(0, "id", pa.array([key(int(number)) for number in numbers]))
    k = 2 if pa.types.is_boolean(table["id"].type) else 5
    made = microagg.release(table, recipe(k=k, output={"order": "kept"}))
    if k == 5:
        plain = visits().set_column(0, "id", pa.array(numbers))
        assert made.table.equals(microagg.release(plain, recipe(output={"order": "kept"})).table)
    assert min(map(len, keys_by_class(made, table, ["x", "y"]))) >= k


def in_pandas(table):
    need("pandas")
    return table.to_pandas()


@pytest.mark.parametrize(
    "given",
    [in_pandas, lambda table: in_pandas(table).astype({"id": "category"}), lambda table: pl.from_arrow(table)],
    ids=["pandas", "category", "polars"],
)
def test_dataframes_of_any_library_give_the_same_release(given):
    table, chosen = visits(), recipe(output={"order": "kept"})
    expected = microagg.release(table, chosen).table
    made = microagg.release(given(table), chosen).table
    columns = made.to_arrow() if hasattr(made, "to_arrow") else pa.Table.from_pandas(made, preserve_index=False)
    assert columns["x"].to_pylist() == expected["x"].to_pylist()


# --- what is refused


def test_fewer_units_than_k_are_refused_with_both_counts():
    table = pa.table({"id": ["a", "b", "c"] * 10, "x": list(range(30)), "y": list(range(30)), "ill": ["no"] * 30})
    with pytest.raises(TableError, match=r"k = 5 needs at least 5 units of 'id'; the table has 3 \(30 records\)"):
        microagg.release(table, recipe())


@pytest.mark.parametrize(
    "mark",
    [
        *("\ufeff", "\u200d", "\u2060", "\u200e", "\x00", "\x07", "\u00ad"),
        *("\ufe0f", "\u034f", "\u115f", "\u3164", "\uffa0", "\u2800", "\u180b", "\U000e0101"),
    ],
)
def test_keys_that_only_a_mark_nobody_sees_tells_apart_are_one(mark):
    keys = pa.table({"id": ["p1", f"{mark}p1", f"p{mark}1 ", "P2", f"p2{mark}"]})
    assert unit_codes(Frame.wrap(keys).column("id")).tolist() == [0, 0, 0, 1, 1]
    assert key_as_read(f"flu{mark}") == "flu"


@pytest.mark.parametrize("kind", [pa.binary(), pa.large_binary()])
def test_keys_stored_as_bytes_are_read_as_the_text_that_they_are(kind):
    def units(*keys: bytes) -> list[int]:
        return unit_codes(Frame.wrap(pa.table({"id": pa.array(keys, kind)})).column("id")).tolist()

    assert units(b"p1", b" P1", b"02", b"2", b"p1") == [0, 0, 1, 1, 0]
    assert units(b"\xff\x01", b"p1", b"\xff\x01", b"P1") == [0, 1, 0, 2]  # numbers of another sort: as they are
    with pytest.raises(TableError, match="1 of 2 records have no 'id'"):
        units(b"p1", b"")


def test_keys_stored_in_as_many_bytes_each_are_read_as_text_too():
    keys = pa.array([b"p1", b"P1", b"p\0", b"p2"], pa.binary(2))
    assert unit_codes(Frame.wrap(pa.table({"id": keys})).column("id")).tolist() == [0, 0, 1, 2]


def test_uuids_tell_units_apart():
    table = visits()
    numbers = np.unique(table["id"].to_pylist(), return_inverse=True)[1]
    stored = pa.array([int(number).to_bytes(16, "big") for number in numbers], pa.binary(16))
    of_uuids = table.set_column(0, "id", pa.ExtensionArray.from_storage(pa.uuid(), stored))
    chosen = recipe(output={"order": "kept"})
    assert microagg.release(of_uuids, chosen).table.equals(microagg.release(table, chosen).table)


@pytest.mark.parametrize("kind", [pa.float16(), pa.float32(), pa.float64()])
def test_numbers_of_any_width_tell_units_apart(kind):
    keys = pa.array(np.array([1.0, 2.0, 1.0, 0.0, -0.0]).astype(kind.to_pandas_dtype()))
    assert unit_codes(Frame.wrap(pa.table({"id": keys})).column("id")).tolist() == [0, 1, 0, 2, 2]


@pytest.mark.parametrize(("keys", "codes"), [(["SECRET", None], {}), (["SECRET", " NA "], {}), ([7, -9], {"id": [-9]})])
def test_a_record_without_a_key_is_refused_and_only_counted(keys, codes):
    table = pa.table({"id": keys * 6, "x": list(range(12)), "y": list(range(12)), "ill": ["no"] * 12})
    with pytest.raises(TableError, match="6 of 12 records have no 'id'") as refused:
        microagg.release(table, recipe(k=2, input={"missing": codes}))
    assert "SECRET" not in str(refused.value)


@pytest.mark.parametrize(("written", "code"), [("-999.0", -999), ("-0999", -999), ("UNKNOWN ", "unknown"), ("9e0", 9)])
def test_a_code_for_a_missing_key_is_one_however_it_is_written(written, code):
    """Keys stay text in a CSV: who declares -999 may have a file that says -999.0 of many people."""
    table = pa.table(
        {"id": ["1.0", "2.0", written] * 4, "x": list(range(12)), "y": list(range(12)), "ill": ["no"] * 12}
    )
    chosen = recipe(k=2, input={"missing": {"id": [code]}})
    for count in (microagg.release, microagg.risk):
        with pytest.raises(TableError, match="4 of 12 records have no 'id'"):
            count(table, chosen)
    with pytest.raises(TableError, match="population table: 4 of 12 records have no 'id'"):
        microagg.risk(table.filter(pa.array([one != written for one in table["id"].to_pylist()])), chosen, table)


def test_units_that_lie_in_several_strata_cannot_stay_together():
    table = pa.table({"id": [f"p{i % 10}" for i in range(40)], "x": list(range(40)), "s": ["a", "b"] * 10 + ["b"] * 20})
    attributes = {"id": "identifier", "x": numeric(), "s": nominal()}
    chosen = {"attributes": attributes, "strata": {"by": ["s"]}, "k": 2}
    with pytest.raises(TableError, match=r"5 units of 'id' have records in several strata .* together = false"):
        microagg.release(table, recipe(**chosen, unit={"key": "id", "together": True}))
    made = microagg.release(table, recipe(**chosen))
    assert min(map(len, keys_by_class(made, table, ["x", "s"]))) >= 2


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"unit": {"key": "idd"}}, "'idd' is not declared. Did you mean 'id'"),
        ({"unit": {"key": "ill"}}, r"Set \[attributes.ill\] role = 'identifier'"),
        ({"unit": {"key": "id", "max_records": 3}}, "is for differential privacy. Leave it out"),
        ({"method": "mic1d"}, "has no cells of records that could hold k units; 'mdav' has"),
        (
            {"method": "near_optimal", "partition": {"certificate": True}},
            "about cells of k records, not of k units; leave it out",
        ),
        (
            {"unit": {"key": "id", "together": True}, "protect": {"ill": {"distinct_l": 2}}},
            r"Set \[rearrange\] by = 'merge'",
        ),
    ],
)
def test_what_cannot_count_units_is_refused_with_the_line_that_mends_it(changes, said):
    with pytest.raises(RecipeError, match=said):
        recipe(**changes)


def test_a_release_in_parts_refuses_units():
    with pytest.raises(InputError, match=r"\[unit\], since records of one unit may lie in several parts"):
        refuse_unsupported(recipe())


def test_a_recipe_with_units_is_saved_and_loaded(tmp_path):
    chosen = recipe(unit={"key": "id", "together": True})
    chosen.save(tmp_path / "recipe.toml")
    assert Recipe.load(tmp_path / "recipe.toml") == chosen
    assert recipe().changed({"unit": None}) == recipe(unit=None)


# --- what is stated, attested and counted again


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    folder = tmp_path_factory.mktemp("units")
    csv.write_csv(visits(), folder / "visits.csv")
    chosen = recipe(protect={"ill": {"distinct_l": 2, "max_share": 0.9}}, rearrange={"by": "swap"})
    made = microagg.release(microagg.read_table(folder / "visits.csv", chosen), chosen, source=folder / "visits.csv")
    made.save(folder / "out")
    return folder, made


def test_the_statement_says_what_is_counted(saved):
    _, made = saved
    text = " ".join(str(made.statement).split())
    for said in (
        "Unit: all records of one unit (a person, firm or household), by 'id'.",
        "records of at least 5 units share it",
        "every cell holds records of at least 5 units by 'id', which is not published",
        "--receipt RECEIPT --original INPUT",
        "that different values are those of different units: one unit may have several of them",
        "shares are shares of records, so that one unit with many records weighs as much as they do",
    ):
        assert said in text
    assert "each person or firm has one record in the table" not in text


def _findings(out, name, **more):
    return [one for one in check_release(out, **more) if one.name == name]


def test_whoever_has_the_file_alone_is_told_that_units_are_not_counted(saved):
    (found,) = _findings(saved[0] / "out", "units")
    assert found.holds
    assert "stated, not counted here: every cell holds records of at least 5 units by 'id'" in found.detail


def test_the_holder_counts_units_again(saved, tmp_path):
    folder, _ = saved
    (found,) = _findings(folder / "out", "units", original=folder / "visits.csv")
    assert found.holds
    assert "at least 5 share every combination; 5 were promised" in found.detail
    (tmp_path / "other.csv").write_text((folder / "visits.csv").read_text() + "p1,1.0,1.0,no\n")
    (found,) = _findings(folder / "out", "units", original=tmp_path / "other.csv")
    assert not found.holds
    assert "is not the input that the receipt names" in found.detail
    with pytest.raises(InputError, match=r"there is no file named 'none\.csv'"):
        microagg.check(folder / "out", original=tmp_path / "none.csv")


@pytest.mark.parametrize("library", ["pyarrow", "pandas", "polars"])
def test_the_holder_of_a_dataframe_counts_units_again(tmp_path, library):
    """The statement of a release of a dataframe says that its holder can, too."""
    table = visits()
    given = {"pyarrow": lambda: table, "pandas": lambda: in_pandas(table), "polars": lambda: pl.from_arrow(table)}[
        library
    ]()
    chosen = recipe(input={"missing": {"x": [-999]}})
    out = microagg.release(given, chosen).save(tmp_path / "out")
    found = microagg.check(out, original=given)
    assert found.holds
    assert "counted again on columns 'x', 'y': at least 5 share every combination" in str(found)
    csv.write_csv(table, tmp_path / "visits.csv")
    (found,) = _findings(out, "units", original=tmp_path / "visits.csv")
    assert not found.holds
    assert "If that was a dataframe" in found.detail
    (found,) = _findings(out, "units", original=table.slice(1))
    assert not found.holds
    assert "the dataframe is not the input that the receipt names" in found.detail


def test_the_holder_of_a_table_in_a_database_counts_units_again(tmp_path):
    import sqlite3
    from contextlib import closing

    table, address = visits(), f"sqlite:///{tmp_path / 'visits.db'}?table=visits"
    with closing(sqlite3.connect(tmp_path / "visits.db")) as database:
        database.execute("create table visits (id text, x real, y real, ill text)")
        database.executemany("insert into visits values (?, ?, ?, ?)", zip(*table.to_pydict().values(), strict=True))
        database.commit()
    made_by = recipe()
    with fetched(address) as file:
        out = microagg.release(microagg.read_table(file, made_by), made_by, source=file).save(tmp_path / "out")
    assert "counted again on columns 'x', 'y'" in str(microagg.check(out, original=address))


def test_a_private_release_is_no_release_without_units(tmp_path):
    private = Recipe(
        method="dp_laplace",
        privacy={"epsilon": 1.0, "clamp": True},
        unit={"key": "id", "max_records": 2},
        attributes={"id": "identifier", "ill": "identifier"}
        | {name: numeric(bounds=[-100, 100], resolution=1) for name in ("x", "y")},
    )
    out = microagg.release(visits(), private).save(tmp_path / "out")
    with pytest.raises(InputError, match="has no cells that promise k units"):
        check_release(out, original=visits())


def test_the_holder_counts_nothing_where_there_are_no_units(tmp_path):
    csv.write_csv(visits(), tmp_path / "visits.csv")
    chosen = recipe(unit=None)
    table = microagg.read_table(tmp_path / "visits.csv", chosen)
    microagg.release(table, chosen, source=tmp_path / "visits.csv").save(tmp_path / "out")
    with pytest.raises(InputError, match=r"has no \[unit\]"):
        check_release(tmp_path / "out", original=tmp_path / "visits.csv")
    assert not _findings(tmp_path / "out", "units")


def _forged(saved, tmp_path, forge):
    """The release with a manifest that was changed, without the receipt that would tell."""
    import shutil

    out = shutil.copytree(saved[0] / "out", tmp_path / "forged")
    manifest = json.loads((out / "manifest.json").read_text())
    (stage,) = [one for one in manifest["stages"] if one["stage"] == "partition"]
    forge(manifest, stage["blocks"][0])
    (out / "manifest.json").write_text(json.dumps(manifest))
    return [finding for finding in check_release(out) if not finding.holds]


@pytest.mark.parametrize(
    ("forge", "said"),
    [
        (lambda manifest, block: block.update(fewest_units=4), "cells of 4 units, and k = 5"),
        (lambda manifest, block: block.update(fewest_units=6), "one is missing: every cell holds"),
        (lambda manifest, block: block.update(fewest_units=5.0), "cells of 5.0 units"),
        (lambda manifest, block: block.update(fewest_units=999), "cells of 999 units"),
        (lambda manifest, block: block.pop("fewest_units"), "states units, and its recipe has none"),
        (lambda manifest, block: manifest["recipe"].pop("unit"), "does not promise what the recipe makes true"),
    ],
)
def test_a_forged_count_of_units_is_found(saved, tmp_path, forge, said):
    broken = _forged(saved, tmp_path, forge)
    assert broken
    assert said in " ".join(one.detail for one in broken)


def test_a_holders_count_refuses_what_is_no_count_and_a_receipt_with_rows_of_one_record(saved, tmp_path):
    import shutil

    out = shutil.copytree(saved[0] / "out", tmp_path / "forged")
    manifest = (out / "manifest.json").read_text()
    (receipt,) = saved[0].glob("out.receipt-*.json")
    for instead in ('"9"', "null"):
        (out / "manifest.json").write_text(re.sub(r'"fewest_units": \d+', f'"fewest_units": {instead}', manifest))
        found = check_release(out, receipt=receipt, original=saved[0] / "visits.csv")
        assert "does not say how many units" in " ".join(one.detail for one in found if one.name == "units")
    kept = Receipt.load(receipt)
    twice = replace(kept, origins=np.append(kept.origins[:-1], kept.origins[0]))
    (tmp_path / "twice.json").write_text(twice.as_json())
    found = check_release(saved[0] / "out", receipt=tmp_path / "twice.json", original=saved[0] / "visits.csv")
    assert [one.detail for one in found if not one.holds] == ["by the receipt several rows stand for one record"]


def test_a_file_alone_and_its_report_say_that_units_were_not_counted(saved):
    table = next((saved[0] / "out").glob("table.*"))
    (said,) = [one for one in check_table(table, recipe()) if one.name == "units"]
    assert "counts units by 'id', and the file shows records" in said.detail
    assert not [one for one in check_table(table, recipe(unit=None)) if one.name == "units"]
    facts = make_report(ReportRequest(saved[1].frame, recipe(), saved[1].original)).facts
    assert "in records, and not in units" in facts["verdict"]["text"]
    assert "Records were counted, and not units, of which one may have several." in facts["light"]["because"]


def test_remarks_on_small_strata_and_patterns_count_units_and_tell_no_units_size():
    keys = ["many"] * 37 + [f"p{i}" for i in range(40)]
    region = ["rare"] * 37 + ["n"] * 40
    x = [None] * 37 + list(range(40))
    attributes = {"id": "identifier", "x": numeric(), "region": nominal()}
    small = {"small": "merge_small"}
    for more in ({"strata": {"by": ["region"]} | small}, {"missing": {"policy": "own_cell"} | small}):
        given = pa.table({"id": keys, "x": list(range(77)) if "strata" in more else x, "region": region})
        made = microagg.release(given, recipe(attributes=attributes, **more))
        said = " ".join(str(made.statement).split())
        assert "fewer than k units (fewer than 10 in all)" in said
        assert "37" not in said


def test_a_public_report_names_no_category_of_one_unit_with_many_records():
    keys = ["many"] * 40 + [f"p{i // 2}" for i in range(160)]
    ill = ["RARE"] * 40 + ["flu", "cold"] * 80
    given = pa.table({"id": keys, "x": list(range(200)), "ill": ill})
    attributes = {"id": "identifier", "x": numeric(), "ill": nominal(role="confidential")}
    for unit, named in (({"key": "id"}, False), (None, True)):
        made = microagg.release(given, recipe(attributes=attributes, unit=unit))
        facts = made._report({}, internal=False).facts
        assert ("RARE" in json.dumps(facts)) is named
        assert "flu" in json.dumps(facts)


def test_an_evaluation_says_what_k_counts(saved):
    _, made = saved
    found = evaluate(made.original.table, made, measures=["k"])["k"]
    assert "records are counted; those that share a combination are of at least 5 units by 'id'" in found.note
    assert found.details["units"] >= 5.0
    foreign = evaluate(visits(), made.table, recipe(), measures=["k"], aligned=False)["k"]
    assert "units are not" in foreign.note


def test_measures_of_reidentification_say_that_they_count_records_and_an_assessment_counts_units():
    weights = {"w": "non_confidential"}
    table = visits().append_column("w", pa.array([3.0] * visits().num_rows))
    chosen = recipe(attributes=ATTRIBUTES | weights, sampling_weight="w")
    names = ["in_pairs", "marketer_risk", "records_at_risk", "special_uniques", "individual_risk"]
    for given, said in ((chosen, True), (chosen.schema, False)):
        found = evaluate(table, table, given, aligned=True, measures=names if said else names[:-1])
        assert {"microagg risk counts units" in one.note for one in found} == {said}
    assert found["records_at_risk"].details["original"] < microagg.risk(table, chosen).prosecutor.average == 1.0


def test_rows_left_out_leave_their_units_with_the_records_they_have():
    table = visits()
    x = [None if place % 6 == 0 else value for place, value in enumerate(table["x"].to_pylist())]
    table = table.set_column(1, "x", pa.array(x))
    for policy in ("suppress", "own_cell", "impute"):
        for together in (False, True):
            chosen = recipe(
                unit={"key": "id", "together": together}, missing={"policy": policy, "small": "merge_small"}
            )
            made = microagg.release(table, chosen)
            assert min(map(len, keys_by_class(made, table, ["x", "y"]))) >= 5
