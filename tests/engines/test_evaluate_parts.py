"""Evaluations and reports of releases in parts: the figures of one file where they fit, honest estimates where not."""

from __future__ import annotations

import datetime as dt
import itertools
import json

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as pacsv
import pyarrow.parquet as pq
import pytest
from typer.testing import CliRunner

import microagg
from microagg import InputError, Recipe
from microagg.cli.app import app
from microagg.engines.evaluation.evaluate_files import ComparedFiles, evaluate_files
from microagg.engines.evaluation.report_files import report_on_parts
from microagg.engines.evaluation.sample import choose_records, large_group
from microagg.errors import MicroaggError
from microagg.releases.input import read_table

NUMERIC = {"role": "quasi_identifier", "kind": "numeric"}
ATTRIBUTES = {
    "name": "identifier",
    "age": NUMERIC,
    "wage": NUMERIC,
    "born": NUMERIC,
    "school": {"role": "quasi_identifier", "kind": "ordinal", "categories": ["none", "some", "full"]},
    "job": {"role": "quasi_identifier", "kind": "nominal"},
    "ill": {"role": "confidential", "kind": "nominal"},
    "debt": {"role": "confidential", "kind": "numeric"},
    "id": "non_confidential",
}
SMALL = {"shard_records": 3_000, "block_records": 500, "sample_per_shard": 200}


def people(n: int = 8_000, seed: int = 0) -> pa.Table:
    rng = np.random.default_rng(seed)
    wage = rng.lognormal(7, 1, n).round(2)
    return pa.table(
        {
            "name": [f"p{i}" for i in range(n)],
            "age": rng.integers(18, 95, n),
            "wage": wage,
            "born": pa.array([dt.date(1950, 1, 1) + dt.timedelta(days=int(d)) for d in rng.integers(0, 9000, n)]),
            "school": rng.choice(["none", "some", "full"], n),
            "job": rng.choice(["smith", "baker", "clerk", "judge"], n, p=[0.6, 0.3, 0.08, 0.02]),
            "ill": rng.choice(["no", "yes"], n),
            "debt": (wage * rng.random(n)).round(1),
            "id": rng.permutation(n),
        }
    )


def recipe(**more) -> Recipe:
    return Recipe(**{"k": 5, "attributes": ATTRIBUTES, "engine": SMALL} | more)


def lay_out(table: pa.Table, folder, n_files: int, text: bool = False):
    folder.mkdir()
    ends = np.linspace(0, table.num_rows, n_files + 1).astype(int)
    for place, (start, end) in enumerate(itertools.pairwise(ends)):
        some = table.slice(start, end - start)
        pacsv.write_csv(some, folder / f"{place}.csv") if text else pq.write_table(some, folder / f"{place}.parquet")
    return folder


def joined(folder) -> pa.Table:
    return pa.concat_tables([pq.read_table(path) for path in sorted(folder.glob("table-*.parquet"))])


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """A table in three files, and its release in parts."""
    root = tmp_path_factory.mktemp("parts")
    lay_out(people(), root / "data", 3)
    microagg.release_files(root / "data", recipe(), root / "out", engine="outofcore", seed=1)
    return root


def figures(found, *names):
    return {one.name: (one.value, dict(one.details)) for one in found if not names or one.name in names}


def without_seconds(found):
    return {name: {k: v for k, v in one.items() if k != "seconds"} for name, one in found.as_dict().items()}


# Small tables


@pytest.mark.parametrize("key", [None, "id"])
def test_a_table_that_fits_has_the_figures_of_one_file(made, key):
    table = pa.concat_tables([pq.read_table(path) for path in sorted((made / "data").iterdir())])
    single = microagg.evaluate(table, joined(made / "out"), recipe(), key=key)
    parts = evaluate_files(made / "data", made / "out", key=key)
    assert parts.sampled is None
    assert figures(parts) == figures(single)
    assert parts["SSE_SST"].value is None if key is None else parts["SSE_SST"].value > 0


def test_text_files_have_the_figures_of_one_file(tmp_path):
    attributes = {name: one for name, one in ATTRIBUTES.items() if name != "born"}
    table, own = people(2_000).drop_columns(["born"]), recipe(attributes=attributes)
    lay_out(table, tmp_path / "data", 2, text=True)
    pacsv.write_csv(table, tmp_path / "all.csv")
    microagg.release_files(tmp_path / "data", own, tmp_path / "out", engine="outofcore", seed=1)
    pq.write_table(joined(tmp_path / "out"), tmp_path / "released.parquet")
    single = microagg.evaluate(
        read_table(tmp_path / "all.csv", own), read_table(tmp_path / "released.parquet", own), own
    )
    parts = evaluate_files(tmp_path / "data", tmp_path / "out")
    assert figures(parts) == figures(single)
    assert "debt" in parts["D_Y"].details


def test_why_rows_cannot_be_paired_is_said(made):
    found = evaluate_files(made / "data", made / "out", measures=["D_X", "distance_linkage"])
    assert all("keeps no record of which row" in one.note and one.value is None for one in found)


# Samples


def test_what_all_records_give_is_exact_and_the_rest_near(made):
    table = pa.concat_tables([pq.read_table(path) for path in sorted((made / "data").iterdir())])
    single = microagg.evaluate(table, joined(made / "out"), recipe(), key="id")
    some = evaluate_files(made / "data", made / "out", sample=4_000, key="id")
    exact = (
        *("variation_means", "variation_variances", "variation_covariances", "variation_correlations"),
        *("correlation_difference", "eigenvalue_difference", "categories_lost", "JSD", "distance_linkage_by_chance"),
        *("k", "k_prime", "singled_out", "unique_values", "agreement"),
    )
    for name in exact:
        assert name not in some.sampled.estimated
        assert some[name].value == pytest.approx(single[name].value, rel=1e-6, abs=1e-12), name
        assert some[name].details == pytest.approx(single[name].details, rel=1e-6, abs=1e-12), name
        assert some[name].high == single[name].high
    for name in ("KS", "wasserstein"):
        assert some[name].value <= single[name].value * (1 + 1e-9)
        at_most = float(some[name].note.rpartition(" ")[2])
        assert single[name].value - some[name].value <= 1.5 * at_most
    for name in ("D_Y", "IL1s", "relative_error", "l_avg", "label_purity", "interval_disclosure_rank"):
        assert name in some.sampled.estimated
        assert some[name].value == pytest.approx(single[name].value, rel=0.15), name


def test_every_chosen_class_is_whole_and_known_by_its_values(made):
    files = ComparedFiles.open(made / "data", made / "out", sample=2_000)
    names = list(recipe().schema.quasi_identifiers)
    chosen = files.together.after.table.select(names).group_by(names).aggregate([([], "count_all")])
    everything = joined(made / "out").select(names).group_by(names).aggregate([([], "count_all")])
    sizes = {tuple(row[name] for name in names): row["count_all"] for row in everything.to_pylist()}
    assert 0 < chosen.num_rows < everything.num_rows
    assert all(sizes[tuple(row[name] for name in names)] == row["count_all"] for row in chosen.to_pylist())
    assert abs(files.together.after.n_records - 2_000) < 400
    assert abs(files.together.before.n_records - 2_000) < 200


def test_figures_repeat_in_any_layout_and_other_seeds_choose_others(made, tmp_path):
    table = pa.concat_tables([pq.read_table(path) for path in sorted((made / "data").iterdir())])
    mixed = table.take(np.random.default_rng(5).permutation(table.num_rows))
    lay_out(mixed, tmp_path / "data", 7)
    first = evaluate_files(made / "data", made / "out", sample=2_000)
    again = evaluate_files(made / "data", made / "out", sample=2_000)
    assert without_seconds(first) == without_seconds(again)
    microagg.release_files(tmp_path / "data", recipe(), tmp_path / "out", engine="outofcore", seed=1)
    other = evaluate_files(tmp_path / "data", tmp_path / "out", sample=2_000)
    assert other.sampled == first.sampled
    for one in first:
        value = other[one.name].value
        same = value is None if one.value is None else value == pytest.approx(one.value, rel=1e-9, abs=1e-12)
        assert same, one.name
    assert evaluate_files(made / "data", made / "out", sample=2_000, seed=1)["D_Y"].value != first["D_Y"].value


def test_what_a_sample_does_not_show_has_no_value(made):
    names = ["t_closeness", "distinct_l_min", "distance_to_closest", "distance_linkage", "PIL", "SSE"]
    found = evaluate_files(made / "data", made / "out", sample=2_000, measures=names, key="id")
    assert all(one.value is None and "a sample does not show it" in one.note for one in found)
    assert found.sampled.estimated == ()
    assert "All figures are of all 8,000 released and 8,000 original records." in found.as_text()


def test_two_samples_of_different_records_say_what_that_does(made):
    names = ["pMSE", "rank_correlation_difference", "range_query_error"]
    found = evaluate_files(made / "data", made / "out", sample=2_000, measures=names)
    assert found["pMSE"].value is None
    assert "name a key" in found["pMSE"].note
    assert all("rather too large" in found[name].note for name in names[1:])
    paired = evaluate_files(made / "data", made / "out", sample=2_000, measures=names, key="id")
    assert all(one.value is not None and "rather" not in one.note for one in paired)
    assert paired["range_query_error"].value < found["range_query_error"].value


def test_models_learn_from_a_sample(made, tmp_path):
    pq.write_table(people(500, seed=9), tmp_path / "test.parquet")
    asked = {"target": "ill", "test": tmp_path / "test.parquet", "measures": "k"}
    found = evaluate_files(made / "data", made / "out", sample=2_000, **asked)
    assert 0 < found["accuracy"].value <= 1
    assert "accuracy" in found.sampled.estimated


def test_large_classes_and_equal_records_have_their_share(tmp_path):
    rng = np.random.default_rng(3)
    x = np.concatenate([np.zeros(12_000), np.ones(6_000), rng.integers(2, 2_000, 12_000)])
    table = pa.table({"x": x, "y": np.concatenate([np.zeros(12_000), rng.random(18_000)])})
    mixed = table.take(rng.permutation(len(x)))

    def batches(of: pa.Table, size: int):
        return lambda: (of.slice(start, size) for start in range(0, of.num_rows, size))

    chosen = choose_records(batches(table, 7_000), 3_000, 0, classes=["x"])
    assert chosen.n_in_part == 2
    shares = [float(pc.mean(pc.equal(chosen.table["x"], value)).as_py()) for value in (0, 1)]
    assert shares == pytest.approx([0.4, 0.2], abs=0.03)
    assert chosen.table.equals(choose_records(batches(mixed, 999), 3_000, 0, classes=["x"]).table)
    sizes = {row["x"]: row["count_all"] for row in table.group_by("x").aggregate([([], "count_all")]).to_pylist()}
    for row in chosen.table.group_by("x").aggregate([([], "count_all")]).to_pylist():
        assert sizes[row["x"]] > large_group(3_000) or sizes[row["x"]] == row["count_all"]
    records = choose_records(batches(mixed, 999), 3_000, 0)
    assert float(pc.mean(pc.equal(records.table["x"], 0)).as_py()) == pytest.approx(0.4, abs=0.03)


def test_missing_values_ranks_without_an_order_and_constants(tmp_path):
    table = people(4_000)
    rng = np.random.default_rng(2)
    gaps = pa.array(rng.random(4_000) < 0.1)
    table = table.set_column(2, "wage", pc.if_else(gaps, None, table["wage"]))
    table = table.append_column("grade", pa.array(rng.integers(1, 6, 4_000)))
    table = table.append_column("same", pa.array(np.full(4_000, 7)))
    more = {"grade": {"role": "quasi_identifier", "kind": "ordinal"}, "same": NUMERIC}
    for extra, is_exact in ((["same"], True), (["same", "grade"], False)):
        attributes = ATTRIBUTES | {name: more[name] for name in extra}
        own = recipe(attributes=attributes, missing={"policy": "own_cell", "small": "merge_small"})
        root = tmp_path / str(is_exact)
        root.mkdir()
        lay_out(table.select(list(attributes)), root / "data", 2)
        microagg.release_files(root / "data", own, root / "out", engine="outofcore", seed=1)
        single = microagg.evaluate(table, joined(root / "out"), own)
        some = evaluate_files(root / "data", root / "out", sample=2_000)
        for name in ("variation_means", "variation_covariances", "correlation_difference", "JSD"):
            assert (name not in some.sampled.estimated) is is_exact
            if is_exact:
                assert some[name].value == pytest.approx(single[name].value, rel=1e-6, abs=1e-12), name
        assert some["categories_lost"].value == single["categories_lost"].value


# The command line and reports


def run(*words):
    return CliRunner().invoke(app, [str(word) for word in words], catch_exceptions=False)


def test_the_command_says_how_many_records_it_looked_at(made):
    asked = ["--sample", 2000, "--measures", "D_Y,k,t_closeness"]
    shown = run("evaluate", made / "data", made / "out", *asked)
    assert shown.exit_code == 0
    assert "of 8,000 released records (whole classes:" in shown.stdout
    assert "t_closeness: a sample does not show it" in shown.stderr
    found = json.loads(run("evaluate", made / "data" / "*.parquet", made / "out", *asked, "--json").stdout)
    assert found["sampled"]["of_released"] == found["sampled"]["of_original"] == 8_000
    assert found["sampled"]["estimated"] == ["D_Y"]
    assert found["k"]["value"] == 5
    other = json.loads(run("evaluate", made / "data", made / "out", *asked, "--json", "--seed", 4).stdout)
    assert other["D_Y"]["value"] != found["D_Y"]["value"]


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["--aligned"], "rows of a release in parts are shuffled"),
        (["--receipt", "receipt.json"], "does not say which record each row stands for"),
        (["--rows", "ranks"], "leave out --rows ranks"),
        (["--key", "nothing"], "is not a published column"),
        (["--target", "ill", "--splits", "3"], "give --test instead"),
    ],
)
def test_what_cannot_be_known_of_parts_is_refused(made, words, sentence):
    shown = run("evaluate", made / "data", made / "out", *words)
    assert shown.exit_code != 0
    assert sentence in " ".join(shown.stderr.split())


def test_other_refusals(made, tmp_path):
    assert "there is no file" in run("evaluate", tmp_path / "none", made / "out").stderr
    table = people(300)
    pq.write_table(table, tmp_path / "one.parquet")
    own = recipe()
    microagg.release(table, own, seed=1).save(tmp_path / "whole", format="parquet")
    shown = run("evaluate", tmp_path / "one.parquet", tmp_path / "whole", "--sample", 100)
    assert "--sample is for releases in parts" in " ".join(shown.stderr.split())
    shown = run("evaluate", made / "data", tmp_path / "whole")
    assert "names several files" in " ".join(shown.stderr.split())
    with pytest.raises(InputError, match="is not in parts"):
        evaluate_files(tmp_path / "one.parquet", tmp_path / "whole")
    with pytest.raises(MicroaggError, match="sample"):
        evaluate_files(made / "data", made / "out", sample=0)


def test_a_report_is_of_a_sample_and_says_so(made, tmp_path):
    report_on_parts(made / "data", made / "out", tmp_path / "page.html", sample=2_000)
    facts = json.loads((tmp_path / "page.json").read_text(encoding="utf-8"))
    assert facts["records"] == 8_000
    assert any("of 8,000 released records" in note for note in facts["measures"]["notes"])
    assert any(note.startswith("KS: counted on all records") for note in facts["measures"]["notes"])
    assert any("is not worked out" in note for note in facts["cells"]["notes"])
    assert [block["of"] for block in facts["cells"]["blocks"]] == ["cell"]
    assert {one["missing"]["after"] for one in facts["attributes"]["described"]} == {"none in the sample"}
    assert "of 8000 records" in facts["correlations"]["note"]
    shown = {one["name"]: one["value"] for one in facts["measures"]["risk"]}
    assert shown["k"] == 5
    report_on_parts(made / "data", made / "out", tmp_path / "holder.html", sample=2_000, internal=True)
    facts = json.loads((tmp_path / "holder.json").read_text(encoding="utf-8"))
    assert facts["form"] == "internal"
    assert any("Single records are not looked at" in note for note in facts["measures"]["notes"])
    assert facts["exposure"]["entries"]


def test_a_report_of_a_table_that_fits_is_that_of_one_table(made, tmp_path):
    shown = run("report", made / "data", made / "out", "-o", tmp_path / "page.html")
    assert shown.exit_code == 0
    facts = json.loads((tmp_path / "page.json").read_text(encoding="utf-8"))
    assert {block["of"] for block in facts["cells"]["blocks"]} == {"cell", "class"}
    assert not any("Estimated" in note for note in facts["measures"]["notes"])
    shown = run("report", made / "data", made / "out", "-o", made / "out" / "report.html")
    assert "is not written into the folder" in " ".join(shown.stderr.split())
    assert run("check", made / "out").exit_code in (0, 3)
