"""Who made a release from what, and whether it is still the one: recomputed facts, receipts, signatures."""

from __future__ import annotations

import datetime as dt
import gzip
import hashlib
import json
import stat
from contextlib import nullcontext
from decimal import Decimal

import numpy as np
import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet
import pyreadstat
import pytest

import microagg
from declarations import nominal, numeric
from microagg import InputError, Recipe
from microagg.errors import TableError
from microagg.releases.check.check import check_release
from microagg.releases.folder.receipt import Receipt, receipt_beside
from microagg.releases.folder.signing import SIGNATURE, sign_manifest, write_key_pair
from microagg.statements.promises import NOISE_FROM_SEED, SEEDED_NOISE
from microagg.statements.statement import Statement
from microagg.tables.formats.registry import format_of
from microagg.tables.labels import Labels, with_labels
from optional_packages import need
from release_kinds import RECIPES, made, people


def rewritten(folder, name, change):
    """Change a JSON file of a release, and mend the hashes after, as a clever forger would."""
    content = json.loads((folder / name).read_text())
    change(content)
    (folder / name).write_text(json.dumps(content, indent=2, ensure_ascii=False) + "\n")
    mend_hashes(folder)


def mend_hashes(folder):
    manifest = json.loads((folder / "manifest.json").read_text())
    for name in manifest["output"]["sha256"]:
        manifest["output"]["sha256"][name] = hashlib.sha256((folder / name).read_bytes()).hexdigest()
    (folder / "manifest.json").write_text(json.dumps(manifest, indent=2, ensure_ascii=False) + "\n")


def told_anew(folder, change):
    """Change a statement, and its words with it."""
    rewritten(folder, "statement.json", change)
    try:
        words = str(Statement.from_dict(json.loads((folder / "statement.json").read_text())))
    except (TypeError, ValueError):  # of numbers that are none
        return
    (folder / "statement.txt").write_text(words)
    mend_hashes(folder)


def without_receipt(release, folder, **how):
    """Save a release as a reader gets it."""
    saved = release.save(folder, **how)
    release.receipt_path(saved).unlink()
    return saved


def failed(folder, **known):
    return {finding.name for finding in check_release(folder, **known) if not finding.holds}


@pytest.fixture
def folder(tmp_path):
    """A release as a reader has it: without its receipt."""
    release = made("representative")
    saved = release.save(tmp_path / "out", report=True)
    release.receipt_path(saved).rename(tmp_path / "kept.json")
    return saved


@pytest.mark.parametrize("kind", RECIPES)
def test_an_honest_release_of_every_kind_passes(tmp_path, kind):
    for seeded, file_format in ((False, "csv"), (True, "parquet")):
        saved = made(kind, seeded=seeded).save(tmp_path / file_format, format=file_format, report=True)
        assert failed(saved) == set()


def of_measure(report, name):
    return next(one for one in report["measures"]["risk"] if one["name"] == name)


FORGERIES = {
    "more records": ("statement.json", lambda s: s.update(n_records=s["n_records"] + 40), "recounts"),
    "a better count": ("statement.json", lambda s: s["recounts"][0].update(smallest=9), "recounts"),
    "fewer caveats": ("statement.json", lambda s: s["guarantees"][0]["not_promised"].pop(0), "statement"),
    "fewer assumptions": ("statement.json", lambda s: s["guarantees"][0]["assumptions"].pop(), "statement"),
    "another target": ("statement.json", lambda s: s["guarantees"][0].update(target="everything"), "statement"),
    "another unit": ("statement.json", lambda s: s["guarantees"][0].update(unit="a household"), "statement"),
    "a larger k": ("statement.json", lambda s: s["guarantees"][0]["parameters"].update(k=30), "statement"),
    "one more promise": ("statement.json", lambda s: s["guarantees"].append(s["guarantees"][0]), "statement"),
    "an unknown key": ("statement.json", lambda s: s.update(certified_by="the ministry"), "statement"),
    "a budget": ("statement.json", lambda s: s.update(budget={"epsilon": 1, "spent": 1, "expenses": []}), "recounts"),
    "truth as a number": ("statement.json", lambda s: s.update(for_publication=1), "statement"),
    "a seed": ("manifest.json", lambda m: m.update(seeded=True), "seed"),
    "no seed key": ("manifest.json", lambda m: m.pop("seeded"), "manifest"),
    "a key of the manifest": ("manifest.json", lambda m: m.update(audited=True), "manifest"),
    "an option of the recipe": ("manifest.json", lambda m: m["recipe"]["space"].update(standardize="none"), "manifest"),
    "a key of the input": ("manifest.json", lambda m: m["input"].update(path="/home/x/people.csv"), "manifest"),
    "more input": ("manifest.json", lambda m: m["input"].update(n_records=61), "remarks"),
    "more columns": ("manifest.json", lambda m: m["input"].update(n_columns=9), "manifest"),
    "another method": ("manifest.json", lambda m: m["stages"][2].update(method="near_optimal"), "manifest"),
    "another role": ("manifest.json", lambda m: m["stages"][0]["roles"].update(pay="identifier"), "manifest"),
    "larger cells": ("manifest.json", lambda m: m["stages"][2]["blocks"][0].update(smallest_cell=50), "cells"),
    "more cells": ("manifest.json", lambda m: m["stages"][2]["blocks"][0].update(n_cells=50), "cells"),
    "a fact of cells": ("manifest.json", lambda m: m["stages"][2]["blocks"][0].update(diverse=True), "manifest"),
    "another representative": (
        "manifest.json",
        lambda m: m["stages"][3]["representatives"].update(x="medoid"),
        "manifest",
    ),
    "no version": ("manifest.json", lambda m: m["versions"].update(numpy="the newest"), "manifest"),
    "a verdict": ("report.json", lambda r: r["verdict"].update(text="Perfectly safe."), "report"),
    "a promise in the report": (
        "report.json",
        lambda r: r["promises"]["guarantees"][0].update(plain="Safe."),
        "report",
    ),
    "records in the report": ("report.json", lambda r: r.update(records=6000), "report"),
    "cells in the report": ("report.json", lambda r: r["cells"]["blocks"][0].update(smallest=12), "report"),
    "a correlation": ("report.json", lambda r: r.update(correlations=None), "report"),
    "a section": ("report.json", lambda r: r.update(certificate="gold"), "report"),
    "a share of a category": (
        "report.json",
        lambda r: r["attributes"]["described"][1]["distribution"]["bars"][0].update(after=0.99),
        "report",
    ),
    "a category": (
        "report.json",
        lambda r: r["attributes"]["described"][1]["distribution"]["bars"].append({"label": "zz", "after": 0.0}),
        "report",
    ),
    "a key of a distribution": (
        "report.json",
        lambda r: r["attributes"]["described"][1]["distribution"].update(certified="gold"),
        "report",
    ),
    "a larger k in the report": ("report.json", lambda r: of_measure(r, "k").update(value=30.0), "report"),
    "more records per combination": ("report.json", lambda r: of_measure(r, "k_prime").update(value=30.0), "report"),
    "a measure of no one": ("report.json", lambda r: of_measure(r, "k").update(name="safety"), "report"),
    "a key of a measure": ("report.json", lambda r: of_measure(r, "k").update(certified="gold"), "report"),
    "a key of the measures": ("report.json", lambda r: r["measures"].update(certified="gold"), "report"),
    "a key of the cells in the report": ("report.json", lambda r: r["cells"].update(certified="gold"), "report"),
    "a key of a block": ("report.json", lambda r: r["cells"]["blocks"][0].update(certified="gold"), "report"),
    "a key of the attributes": ("report.json", lambda r: r["attributes"].update(certified="gold"), "report"),
    "an internal report": ("report.json", lambda r: r.update(form="internal"), "report"),
}


@pytest.mark.parametrize("forgery", FORGERIES)
def test_what_can_be_worked_out_again_is(folder, forgery):
    name, change, found_by = FORGERIES[forgery]
    rewritten(folder, name, change)
    assert found_by in failed(folder)


def expense(**changes):
    return lambda s: s["budget"]["expenses"][-1].update(changes)


PRIVATE = ("private marginals", "private records", "private means", "private moments", "private draws")
OF_THE_LEDGER = {
    "a smaller scale": (expense(scale=0.001), "statement"),
    "a smaller sensitivity": (expense(sensitivity=0.5), "statement"),
    "both, in step": (expense(sensitivity=0.001, scale=0.0005), "statement"),
    "no scale": (expense(scale=None), "statement"),
    "scale as a text": (expense(scale="1.0"), "statement"),
    "another mechanism": (expense(mechanism="none"), "statement"),
    "fewer draws": (expense(draws=1), "statement"),
    "draws on something else": (expense(on="nothing of importance"), "statement"),
    "other attributes": (expense(attributes=["x", "y", "z"]), "statement"),
    "an expense less": (lambda s: s["budget"]["expenses"].pop(), "statement"),
    "spent otherwise": (lambda s: s["budget"].update(spent=s["budget"]["spent"] * 1.0000001), "statement"),
}


@pytest.mark.parametrize("kind", PRIVATE)
@pytest.mark.parametrize("forgery", OF_THE_LEDGER)
def test_a_ledger_tells_of_the_noise_that_its_method_draws(tmp_path, kind, forgery):
    change, found_by = OF_THE_LEDGER[forgery]
    saved = without_receipt(made(kind), tmp_path / "out")
    told_anew(saved, change)
    assert found_by in failed(saved)


INVENTED = (
    "the release is also 0.01-differentially private",
    "3 records with a missing quasi-identifier were left out",
    "the index of the dataframe (all is safe) is not a column and was dropped; table.reset_index() makes it columns, "
    "to be declared in the recipe",
    "representatives are weighted by 'pay'",
    "no cell crosses the strata of 'x'",
    "missing values of column 'nobody' were replaced by the column's median (numeric, ordinal) or most frequent "
    "category (nominal) before cells were formed",
)


@pytest.mark.parametrize("kind", ["representative", "guided", "own cells", "sampled", *PRIVATE])
@pytest.mark.parametrize("remark", INVENTED)
def test_a_remark_that_no_release_makes_is_found(tmp_path, kind, remark):
    saved = without_receipt(made(kind), tmp_path / "out")
    told_anew(saved, lambda s: s["remarks"].insert(0, remark))
    assert "remarks" in failed(saved)


@pytest.mark.parametrize("names", [["it's"], ['a "b" of it\'s'], ["a\\", None], [None, None]])
def test_a_dropped_index_of_any_name_may_be_told(tmp_path, names):
    pandas = need("pandas")
    levels = [list(range(9))] * len(names)
    table = pandas.DataFrame({"x": range(9)}, index=pandas.MultiIndex.from_arrays(levels, names=names))
    with pytest.warns(UserWarning, match="index") if len(names) > 1 else nullcontext():
        release = microagg.release(table, Recipe(k=3, attributes={"x": numeric()}))
    assert "index" in release.statement.remarks[0]
    assert failed(without_receipt(release, tmp_path / "out")) == set()


@pytest.mark.parametrize("kind", RECIPES)
def test_a_remark_that_the_release_asks_for_is_missed(tmp_path, kind):
    saved = without_receipt(made(kind), tmp_path / "out")
    for place in range(len(json.loads((saved / "statement.json").read_text())["remarks"])):
        less = without_receipt(made(kind), tmp_path / f"out{place}")
        told_anew(less, lambda s, place=place: s["remarks"].pop(place))
        assert "remarks" in failed(less)


def stage(name, **changes):
    return lambda m: next(one for one in m["stages"] if one["stage"] == name).update(changes)


def of_guided(**changes):
    return lambda m: m["stages"][1]["guided"][0].update(changes)


OF_STAGES = {
    "a key of the cells": ("representative", stage("partition", promise="row 3 is somebody")),
    "a key of the space": ("representative", stage("space", promise="row 3 is somebody")),
    "a key of the aggregates": ("sampled", stage("aggregate", promise="row 3 is somebody")),
    "a key of guided cells": ("guided", of_guided(promise="row 3 is somebody")),
    "another lambda": ("guided", of_guided(**{"lambda": 0.25})),
    "other guides": ("guided", of_guided(attributes=["x"])),
    "a text for a distortion": ("guided", of_guided(D_X="none")),
    "another diversity": ("guided", lambda m: m["stages"][1]["guided"][0]["diversity"].update(n_cells=7)),
    "no guide": ("guided", lambda m: m["stages"][1].pop("guided")),
    "a key of the noise": ("private marginals", stage("noise", promise="any")),
    "another order of runs": ("private marginals", stage("partition", larger="first")),
    "another form": ("private means", stage("noise", form="aligned")),
    "noise on something else": ("private records", stage("noise", on="some values")),
    "another masking": ("private draws", stage("noise", masking="separate")),
    "more moments": ("private moments", stage("aggregate", m=2)),
    "other units": ("private moments", stage("space", units="raw")),
    "no noise": ("private draws", lambda m: m["stages"].pop()),
}


@pytest.mark.parametrize("forgery", OF_STAGES)
def test_stages_are_those_that_the_recipe_makes(tmp_path, forgery):
    kind, change = OF_STAGES[forgery]
    saved = without_receipt(made(kind), tmp_path / "out")
    rewritten(saved, "manifest.json", change)
    assert "manifest" in failed(saved)


@pytest.mark.parametrize("name", ["manifest.json", "report.json"])
def test_words_of_another_version_are_vouched_for_or_not_believed(tmp_path, name):
    need("cryptography")
    release, keys = made("representative"), write_key_pair(tmp_path / "keys")
    saved = without_receipt(release, tmp_path / "out", report=True)
    rewritten(saved, name, lambda content: content.update(microagg="0.0.1"))
    (saved / "statement.txt").write_text("Differentially private. Perfectly safe.\n")
    mend_hashes(saved)
    assert "version" in failed(saved)
    (saved / SIGNATURE).write_text(sign_manifest((saved / "manifest.json").read_bytes(), keys[0]))
    assert "version" in failed(saved)  # signed by anybody
    assert "version" not in failed(saved, signed_by=keys[1])
    files = {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in saved.iterdir()}
    (tmp_path / "kept.json").write_text(Receipt(release.digest, release.manifest.id, files).as_json())
    assert "version" not in failed(saved, receipt=tmp_path / "kept.json")


@pytest.mark.parametrize("part", ["model", "parameters", "unit", "target", "attributes"])
def test_a_private_promise_of_another_version_may_have_other_words_but_not_another_meaning(tmp_path, part):
    saved = without_receipt(made("private means"), tmp_path / "out")
    rewritten(saved, "manifest.json", lambda content: content.update(microagg="0.0.1"))

    def promise_otherwise(content):
        content["guarantees"][0]["not_promised"] = ["an older sentence"]

    rewritten(saved, "statement.json", promise_otherwise)
    assert failed(saved) == {"version"}
    other = {"parameters": {"epsilon": 0.1}, "attributes": ["x"]}.get(part, "the original records, and all else")
    rewritten(saved, "statement.json", lambda content: content["guarantees"][0].update({part: other}))
    assert "statement" in failed(saved)


def test_seeded_noise_of_another_version_is_known_by_its_first_words(tmp_path):
    saved = without_receipt(made("private means", seeded=True), tmp_path / "out")
    rewritten(saved, "manifest.json", lambda content: content.update(microagg="0.0.1"))
    words = f"{NOISE_FROM_SEED}: said in other words"

    def say_otherwise(content):
        content["remarks"] = [words if one == SEEDED_NOISE else one for one in content["remarks"]]

    rewritten(saved, "statement.json", say_otherwise)
    assert failed(saved) == {"version"}
    rewritten(saved, "statement.json", lambda content: content["remarks"].remove(words))
    assert "seed" in failed(saved)


@pytest.mark.parametrize("kind", ["representative", "private means"])
def test_a_statement_without_any_promise_is_found_and_not_stumbled_over(tmp_path, kind):
    saved = without_receipt(made(kind), tmp_path / "out", report=True)
    rewritten(saved, "statement.json", lambda content: content.update(guarantees=[]))
    assert {"statement", "report"} <= failed(saved)


def test_the_words_of_a_statement_are_those_of_its_numbers(folder):
    path = folder / "statement.txt"
    path.write_text(path.read_text().replace("Does not promise:", "Promises besides:"))
    mend_hashes(folder)
    assert failed(folder) == {"words of the statement", "report"}  # which tells its SHA-256


def test_the_page_of_a_report_is_that_of_its_numbers(folder):
    path = folder / "report.html"
    path.write_text(path.read_text().replace("3 records", "30 records"))
    mend_hashes(folder)
    assert failed(folder) == {"page of the report"}


def test_a_seeded_release_is_not_passed_off_for_one_to_publish(tmp_path):
    saved = made("representative", seeded=True).save(tmp_path / "out")
    rewritten(saved, "statement.json", lambda s: (s["remarks"].pop(), s.update(for_publication=True)))
    assert "seed" in failed(saved)


def test_records_left_out_are_told_and_add_up(tmp_path):
    saved = made("suppressed").save(tmp_path / "out")

    def tell_of_fewer(statement):
        statement["remarks"] = [remark.replace("6 records", "1 records") for remark in statement["remarks"]]

    rewritten(saved, "statement.json", tell_of_fewer)
    assert "remarks" in failed(saved)


def test_a_column_that_is_not_there_is_missed(folder):
    lines = (folder / "table.csv").read_text().splitlines()
    assert lines[0].endswith(',"note"')
    (folder / "table.csv").write_text("\n".join(line[: line.rindex(',"')] for line in lines) + "\n")
    mend_hashes(folder)
    assert "columns" in failed(folder)


@pytest.mark.parametrize(
    "content", ["[" * 100_000, '{"k":' * 50_000, '{"recipe": 1' + "0" * 5000 + "}", "nan", '{"recipe":{},"recipe":{}}']
)
def test_a_hostile_manifest_is_called_damaged(folder, content):
    (folder / "manifest.json").write_text(content)
    with pytest.raises(TableError, match="is damaged"):
        check_release(folder)


def test_a_manifest_makes_no_check_read_another_file(tmp_path, folder):
    (tmp_path / "secret.txt").write_text("root\n  child\n")

    def name_a_file(manifest):
        manifest["recipe"]["attributes"]["c"]["taxonomy"] = str(tmp_path / "secret.txt")

    rewritten(folder, "manifest.json", name_a_file)
    with pytest.raises(TableError, match="is damaged"):
        check_release(folder)


# The form of the table's file


def in_first_record(change):
    def forge(path):
        lines = path.read_bytes().split(b"\n")
        lines[1:2] = change(lines[1])
        path.write_bytes(b"\n".join(lines))

    return forge


def first_field(change):
    return in_first_record(lambda line: [change(line.partition(b",")[0]) + b"," + line.partition(b",")[2]])


MARKS = {
    "quotes": first_field(lambda field: b'"' + field + b'"'),
    "a decimal": first_field(lambda field: field + b".0"),
    "a sign": first_field(lambda field: b"+" + field),
    "a zero": first_field(lambda field: b"0" + field),
    "a blank": first_field(lambda field: field + b" "),
    "an exponent": first_field(lambda field: field + b"e0"),
    "a blank line": in_first_record(lambda line: [line, b""]),
    "a return": in_first_record(lambda line: [line + b"\r"]),
    "no quotes": in_first_record(lambda line: [line.replace(b'"', b"")]),
    "returns throughout": lambda path: path.write_bytes(path.read_bytes().replace(b"\n", b"\r\n")),
    "no last line end": lambda path: path.write_bytes(path.read_bytes()[:-1]),
    "a line more": lambda path: path.write_bytes(path.read_bytes() + b"\n"),
    "a byte order mark": lambda path: path.write_bytes(b"\xef\xbb\xbf" + path.read_bytes()),
}
WHOLE = {"k": 3, "attributes": {"x": numeric(), "c": nominal()}}


@pytest.mark.parametrize("mark", MARKS)
def test_no_record_of_a_text_file_is_marked(tmp_path, mark):
    table = pa.table({"x": list(range(1, 10)), "c": ["u", "v", "w"] * 3})
    saved = without_receipt(microagg.release(table, Recipe(**WHOLE)), tmp_path / "out")
    before = (saved / "table.csv").read_bytes()
    MARKS[mark](saved / "table.csv")
    assert (saved / "table.csv").read_bytes() != before
    mend_hashes(saved)
    assert "form of table.csv" in failed(saved)


def with_comment(content):
    return content[:3] + b"\x10" + content[4:10] + b"row 3 is somebody\0" + content[10:]


@pytest.mark.parametrize(
    "change", [with_comment, lambda content: content + gzip.compress(b""), lambda content: content + b"somebody"]
)
def test_a_compressed_file_holds_its_text_alone(tmp_path, change):
    saved = without_receipt(made("representative"), tmp_path / "out", format="csv.gz")
    (saved / "table.csv.gz").write_bytes(change((saved / "table.csv.gz").read_bytes()))
    mend_hashes(saved)
    try:
        assert "form of table.csv.gz" in failed(saved)
    except TableError as error:  # bytes behind the end make some readers refuse the file
        assert "table.csv.gz" in str(error)  # noqa: PT017


def labelled(**labels):
    """A way to write a file of SPSS or Stata again, with more than it had."""

    def forge(path):
        need("pandas")  # pyreadstat reads into it by default
        read, write = (getattr(pyreadstat, f"{do}_{path.suffix[1:]}") for do in ("read", "write"))
        table, _ = read(str(path))
        write(table, str(path), **labels)
        format_of(path).forget_the_clock(path)

    return forge


def with_bytes_behind(path):
    path.write_bytes(path.read_bytes() + b"row 3 is somebody")


def with_a_category(path):
    table = pa.feather.read_table(path) if path.suffix == ".feather" else pa.parquet.read_table(path)
    encoded = table["c"].combine_chunks().cast(pa.string()).dictionary_encode()
    more = pa.DictionaryArray.from_arrays(encoded.indices, pa.array([*encoded.dictionary.to_pylist(), "somebody"]))
    table = table.set_column(table.column_names.index("c"), "c", more)
    pa.feather.write_feather(table, path) if path.suffix == ".feather" else pa.parquet.write_table(table, path)


OF_BINARY_FILES = {
    "sav: file label": ("sav", labelled(file_label="row 3 is somebody")),
    "sav: note": ("sav", labelled(note="row 3 is somebody")),
    "sav: label of no value": ("sav", labelled(variable_value_labels={"x": {9999: "somebody"}})),
    "sav: a missing range": ("sav", labelled(missing_ranges={"x": [9999]})),
    "dta: file label": ("dta", labelled(file_label="row 3 is somebody")),
    "dta: label of no value": ("dta", labelled(variable_value_labels={"x": {9999: "somebody"}})),
    "feather: category": ("feather", with_a_category),
    "feather: more bytes": ("feather", with_bytes_behind),
    "parquet: category": ("parquet", with_a_category),
    "parquet: more bytes": ("parquet", with_bytes_behind),
}


def test_a_single_column_of_text_may_begin_with_a_missing_value(tmp_path):
    recipe = Recipe(k=2, missing={"policy": "own_cell"}, output={"order": "kept"}, attributes={"c": nominal()})
    table = pa.table({"c": [None, None, "a", "a", "b", "b"]})
    folder = microagg.release(table, recipe).save(tmp_path / "out")
    assert all(finding.holds for finding in check_release(folder))


@pytest.mark.parametrize("forgery", OF_BINARY_FILES)
def test_a_file_carries_nothing_that_its_table_does_not_show(tmp_path, forgery):
    file_format, forge = OF_BINARY_FILES[forgery]
    table = pa.table({"x": list(range(1, 10)), "c": ["u", "v", "w"] * 3})
    saved = without_receipt(microagg.release(table, Recipe(**WHOLE)), tmp_path / "out", format=file_format)
    forge(saved / f"table.{file_format}")
    mend_hashes(saved)
    try:
        assert f"form of table.{file_format}" in failed(saved)
    except TableError as error:
        assert f"table.{file_format}" in str(error)  # noqa: PT017


@pytest.mark.parametrize("file_format", ["sav", "dta", "parquet", "feather", "csv", "tsv", "csv.gz"])
def test_labels_truth_values_and_moments_are_no_marks(tmp_path, file_format):
    when = [dt.datetime(2020, 1, 1, 10, 30, second, 123_000) for second in range(9)]
    columns = {
        "x": pa.array(range(1, 10)),
        "c": pa.array([1, 2, 2] * 3),
        "yes": [True] * 9,
        "when": pa.array(when),
        "there": pa.array(when, pa.timestamp("ns", "Europe/Madrid")),
        "at": pa.array([one.time() for one in when]),
        "sum": pa.array([Decimal("1.50")] * 9),
        "half": pa.array([0.5, -0.0, 1e-7, 1e22, float("nan"), 3, 4, 5, None]),
        "said": ["", None, "NA", 'a "b"', "x\ny", " ", "1", "=1", "ü"],
    }
    if file_format in ("sav", "dta"):
        del columns["there"]  # which they cannot hold
    fields = pa.table(columns).schema
    labels = {"x": Labels("How many"), "c": Labels("Which", ((1, "one"), (2, "two"), (3, "none")))}
    schema = pa.schema([with_labels(field, labels.get(field.name, Labels())) for field in fields])
    plain = dict.fromkeys([name for name in columns if name not in labels], "non_confidential")
    recipe = Recipe(k=3, attributes={"x": numeric(), "c": nominal(), **plain})
    release = microagg.release(pa.table(columns).cast(schema), recipe)
    assert failed(without_receipt(release, tmp_path / "out", format=file_format)) == set()


# Receipts


def test_the_receipt_knows_every_file_and_finds_every_change(tmp_path, folder):
    receipt = tmp_path / "kept.json"
    assert set(Receipt.load(receipt).files) == {path.name for path in folder.iterdir()}
    assert failed(folder, receipt=receipt) == set()
    rewritten(folder, "report.json", lambda r: r["measures"]["notes"].append("Nobody was found again."))
    page = microagg.reports.document.Report(json.loads((folder / "report.json").read_text())).as_html()
    (folder / "report.html").write_text(page)
    mend_hashes(folder)
    assert failed(folder) == set()  # nobody can know without the original
    assert failed(folder, receipt=receipt) == {"receipt"}
    (folder / "report.html").unlink()
    said = {finding.name: finding.detail for finding in check_release(folder, receipt=receipt)}
    assert "lacks 'report.html'" in said["receipt"]


def test_a_receipt_beside_the_folder_is_not_passed_over(tmp_path):
    release = made("private records")
    saved = release.save(tmp_path / "out")
    assert {finding.name for finding in check_release(saved)} >= {"receipt"}
    lines = (saved / "table.csv").read_text().splitlines()
    (saved / "table.csv").write_text("\n".join([lines[0], *reversed(lines[1:])]) + "\n")
    mend_hashes(saved)
    assert failed(saved) == {"receipt"}


def test_a_later_report_brings_the_receipt_up_to_date(tmp_path):
    release = made("representative")
    saved = release.save(tmp_path / "out")
    release.report(saved / "report.html")
    assert {path.name for path in saved.iterdir()} >= {"report.html", "report.json"}
    assert failed(saved, receipt=release.receipt_path(saved)) == set()
    assert receipt_beside(saved).origins is not None


@pytest.mark.parametrize("kind", [kind for kind in RECIPES if kind.startswith("private")])
def test_no_public_file_of_a_private_release_holds_a_fingerprint_of_its_input(tmp_path, kind):
    release = made(kind)
    saved = release.save(tmp_path / "out", report=True)
    receipt = Receipt.load(release.receipt_path(saved))
    everything = "".join(path.read_text() for path in saved.iterdir()) + release.receipt_path(saved).name
    for digest in (receipt.input.sha256, receipt.input.salted_sha256, receipt.input.salt):
        assert digest[:12] not in everything
    assert set(json.loads((saved / "manifest.json").read_text())["input"]) == {"n_records", "n_columns"}
    assert receipt.input.sha256 == microagg.statements.manifest.InputDigest.of(people(kind)).sha256


# Signatures


@pytest.fixture
def keys(tmp_path):
    need("cryptography")
    return write_key_pair(tmp_path / "ours"), write_key_pair(tmp_path / "theirs")


def test_a_signature_tells_who_published(tmp_path, keys):
    (ours, our_public), (_, their_public) = keys
    saved = made("representative").save(tmp_path / "out", sign=ours)
    assert failed(saved, signed_by=our_public) == set()
    assert failed(saved, signed_by=their_public) == {"signature"}
    said = {finding.name: finding.detail for finding in check_release(saved)}
    assert "proves nothing about who" in said["signature"]
    unsigned = made("representative").save(tmp_path / "unsigned")
    assert failed(unsigned, signed_by=our_public) == {"signature"}


def test_a_forger_cannot_sign_for_another(tmp_path, keys):
    (ours, our_public), (theirs, _) = keys
    saved = made("private records").save(tmp_path / "out", sign=ours)
    signature = json.loads((saved / "signature.json").read_text())
    rewritten(saved, "manifest.json", lambda m: m["versions"].update(numpy="1.0"))
    assert "signature" in failed(saved)
    forged = made("private records").save(tmp_path / "forged", sign=theirs)
    rewritten(forged, "signature.json", lambda s: s.update(public_key=signature["public_key"]))
    assert "signature" in failed(forged, signed_by=our_public)
    rewritten(forged, "signature.json", lambda s: s.update(signature="AAAA"))
    assert "signature" in failed(forged)


def test_a_signed_folder_changes_only_under_its_key(tmp_path, keys):
    (ours, our_public), _ = keys
    release = made("representative")
    saved = release.save(tmp_path / "out", sign=ours)
    before = {path.name: path.read_bytes() for path in saved.iterdir()}
    with pytest.raises(InputError, match="signed, and a new report would break the signature"):
        release.report(saved / "report.html")
    assert {path.name: path.read_bytes() for path in saved.iterdir()} == before
    release.report(saved / "report.html", sign=ours)
    assert failed(saved, signed_by=our_public) == set()


def test_a_key_is_for_its_owner_and_never_replaced(tmp_path, keys):
    (ours, public), _ = keys
    assert stat.S_IMODE(ours.stat().st_mode) == 0o600
    with pytest.raises(InputError, match="a key is never replaced"):
        write_key_pair(tmp_path / "ours")
    for wrong in (public, tmp_path / "none.pem"):
        with pytest.raises(InputError, match="key"):
            made("representative").save(tmp_path / "out", sign=wrong)
    assert not (tmp_path / "out").exists()


# Labels and formulas


def test_only_labels_that_a_published_record_needs_travel(tmp_path):
    from microagg.tables.labels import Labels, labels_of, with_labels
    from microagg.tables.read import read_table

    codes = Labels(
        "Region", ((1, "north"), (2, "south"), (9, "the one in exile")), missing_ranges=({"lo": 97, "hi": 99},)
    )
    fields = [
        with_labels(pa.field("region", pa.int64()), codes),
        with_labels(pa.field("ward", pa.int64()), codes),
        pa.field("x", pa.float64(), metadata={"microagg.source": "people.sav", "note": "by hand"}),
    ]
    n = 12
    table = pa.table(
        [[1] * 6 + [2] * 5 + [9], [1] * 12, np.arange(n, dtype=float)],
        schema=pa.schema(fields, metadata={"pandas": "{}", "source": "people.sav"}),
    )
    recipe = Recipe(k=3, attributes={"region": nominal(), "ward": "confidential", "x": numeric()})
    release = microagg.release(table, recipe)
    assert 9 not in release.table["region"].to_pylist()
    assert release.table.schema.metadata is None
    for file_format in ("parquet", "feather", "sav", "dta"):
        saved = release.save(tmp_path / file_format, format=file_format)
        assert failed(saved) == set()
        schema = read_table(saved / f"table.{file_format}").schema
        for name in ("region", "ward"):
            labels = labels_of(schema.field(name))
            assert labels.label == "Region"
            assert "exile" not in str(labels)
            assert labels.missing_ranges == ()
        assert b"people.sav" not in (saved / f"table.{file_format}").read_bytes()
        assert b"by hand" not in (saved / f"table.{file_format}").read_bytes()


TEXTS = ["=1+1", "+x", "-2", "@me", "\tx", "\rx", "'=1", "plain", "a=b", "＝1"]


def formulas(policy):
    table = pa.table({"x": [-1.0] * 10, "note": TEXTS, "=head": [-5] * 10})
    attributes = {"x": numeric(), "note": "non_confidential", "=head": "non_confidential"}
    return microagg.release(table, Recipe(k=3, attributes=attributes, output={"formulas": policy, "order": "kept"}))


def test_formulas_are_kept_escaped_or_refused_as_the_recipe_says(tmp_path):
    kept = formulas("keep").save(tmp_path / "kept", report=True)
    assert '"=1+1"' in (kept / "table.csv").read_text()
    remarks = json.loads((kept / "statement.json").read_text())["remarks"]
    assert any("text begins with = + - @" in remark and "'note'" in remark for remark in remarks)
    escaped = formulas("escape").save(tmp_path / "escaped", report=True)
    lines = (escaped / "table.csv").read_bytes().decode().split("\n")
    assert lines[0] == '"x","note","\'=head"'
    assert lines[1] == '-1,"\'=1+1",-5'
    assert "\"''=1\"" in (escaped / "table.csv").read_text()
    with pytest.raises(TableError, match=r"8 cells or headers of columns 'note', '=head' begin") as refused:
        formulas("refuse").save(tmp_path / "refused")
    assert "1+1" not in str(refused.value)
    assert not (tmp_path / "refused").exists()
    formulas("refuse").save(tmp_path / "parquet", format="parquet")
    for saved in (kept, escaped, tmp_path / "parquet"):
        assert failed(saved) == set()


def test_an_escape_is_undone_on_reading(tmp_path):
    from microagg.releases.release import read_as_written

    release = formulas("escape")
    saved = release.save(tmp_path / "out")
    again = read_as_written(saved / "table.csv", release.recipe)
    assert again["note"].to_pylist() == TEXTS
    assert again.column_names == ["x", "note", "=head"]


def test_a_formula_slipped_into_an_escaped_table_is_found(tmp_path):
    saved = formulas("escape").save(tmp_path / "out")
    text = (saved / "table.csv").read_bytes()
    (saved / "table.csv").write_bytes(text.replace(b'"\'=1+1"', b'"=1+1"'))
    mend_hashes(saved)
    assert "remarks" in failed(saved)


def test_negative_numbers_are_no_formulas(tmp_path):
    release = microagg.release(
        pa.table({"x": [-1.0, -2.0, -3.0], "y": [-1, -2, -3]}),
        Recipe(k=3, attributes={"x": numeric(), "y": "confidential"}, output={"formulas": "refuse"}),
    )
    assert failed(release.save(tmp_path / "out")) == set()


def test_a_statement_read_again_is_the_same():
    from microagg.statements.statement import Statement

    for kind in RECIPES:
        statement = made(kind).statement
        again = Statement.from_dict(json.loads(statement.as_json()))
        assert (again.as_json(), str(again)) == (statement.as_json(), str(statement))
