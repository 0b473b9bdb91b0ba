"""Drawn records where a unit has several: k counts units in what they are drawn from, and the holder recounts."""

from __future__ import annotations

import datetime as dt
import json

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import csv

import microagg
from declarations import nominal, numeric
from microagg import GuaranteeError, Recipe
from microagg.aggregate.centroid import Cells
from microagg.aggregate.pairing import odds_of_a_model
from microagg.aggregate.shared_values.intervals import find_shared_numbers
from microagg.aggregate.shared_values.model import fit_labels
from microagg.aggregate.shared_values.ranks import pool_rare
from microagg.aggregate.spikes import amounts_off, find_spike
from microagg.errors import TableError
from microagg.releases.check.check import check_release
from microagg.releases.drawing.shared import _equal_shares, _mean_labels
from microagg.tables.write import write_table

SHARED = {"form": "sampled", "paired_with": "ill"}
MOMENTS = {"form": "sampled"}
ATTRIBUTES = {"id": "identifier", "x": numeric(), "y": numeric(), "ill": nominal(role="confidential")}


def visits(n_others: int = 120, huge: int = 20) -> pa.Table:
    """One person with many records that are alike, and others with one to three."""
    rng = np.random.default_rng(0)
    keys = np.array(["many"] * huge + [f"p{unit}" for unit in range(n_others) for _ in range(1 + unit % 3)])
    is_many, n = keys == "many", len(keys)
    x = np.where(is_many, 50.0, rng.normal(0, 20, n).round(1))
    y = np.where(is_many, 50.0, np.where(rng.random(n) < 0.4, 0.0, rng.exponential(20, n).round(1)))
    order = rng.permutation(n)
    return pa.table({"id": keys, "x": x, "y": y, "ill": rng.choice(["no", "flu", "gout"], n)}).take(order)


def recipe(**changes) -> Recipe:
    return Recipe(**({"k": 5, "unit": {"key": "id"}, "attributes": ATTRIBUTES, "aggregate": SHARED} | changes))


def aggregate_of(made: microagg.Release) -> dict:
    (stage,) = (stage for stage in made.manifest.stages if stage["stage"] == "aggregate")
    return stage


# --- what is drawn from


def test_the_number_of_a_person_with_twenty_records_is_never_published_as_it_is():
    made, of_records = (microagg.release(visits(), recipe(**more), seed=1) for more in ({}, {"unit": None}))
    assert 50.0 not in made.table["x"].to_pylist()
    assert 50.0 in of_records.table["x"].to_pylist()
    assert 0.0 in made.table["y"].to_pylist()  # which many persons share
    values, units = np.array([7.0] * 20 + [1.0, 2.0, 8.0, 9.0]), np.array([0] * 20 + [1, 2, 3, 4])
    found = find_shared_numbers(values, 5, units=units)
    assert found.is_value.tolist() == [False]
    np.testing.assert_allclose(found.centres, (7 + 1 + 2 + 8 + 9) / 5)  # a person counts once, with or without twenty
    with pytest.raises(GuaranteeError, match=r"fewer than 5 units cannot be told: 4 units have a value of pay"):
        find_shared_numbers(values[:-1], 5, units=units[:-1], what="pay")


def test_intervals_are_cut_and_recounted_in_units():
    """Nine records of two persons are too few for an interval of five; k below five does not change that."""
    values = np.array([1.0, 1.1, 1.2, 1.3, 1.4, 1.5, 1.6, 1.7, 1.8, 2.0, 3.0, 4.0, 10.0, 11.0, 12.0, 13.0, 14.0])
    units = np.array([0, 1, 0, 1, 0, 1, 0, 1, 0, 2, 3, 4, 0, 1, 2, 3, 4])
    for k in (2, 5):
        found = find_shared_numbers(values, k, units=units)
        assert found.codes.tolist() == [0] * 12 + [1] * 5
    found = find_shared_numbers(np.append(values, 15.0), 5, units=np.append(units, 0))
    assert found.codes.tolist() == [0] * 12 + [1] * 6  # what is left over joins the last


def leaves(model, X: np.ndarray) -> list[np.ndarray]:
    """For each tree the leaf of each row, by a walk of its own."""
    found = []
    for tree in (tree for round_ in model._fitted._predictors for tree in round_):
        at = np.zeros(len(X), dtype=int)
        for row, point in enumerate(X):
            while not tree.nodes[at[row]]["is_leaf"]:
                node = tree.nodes[at[row]]
                at[row] = node["left" if point[node["feature_idx"]] <= node["num_threshold"] else "right"]
        found.append(at)
    return found


@pytest.mark.parametrize("classes", [True, False])
def test_every_leaf_of_a_model_holds_records_of_k_units(classes):
    """One person has a third of the records, and nobody else the label that they have."""
    rng = np.random.default_rng(1)
    units = np.concatenate([np.zeros(60, dtype=int), rng.permutation(np.repeat(np.arange(1, 71), 2))])
    X = np.where(units == 0, 9.0, rng.normal(size=200))[:, None] + 0.01 * rng.normal(size=(200, 2))
    y = (units == 0).astype(float)
    y[60:] = X[60:, 0] > 0
    found = fit_labels(X, y, 6, classes=classes, units=units)
    of_records = fit_labels(X, y, 6, classes=classes)
    fewest = [
        min(len(set(units[at == leaf])) for at in leaves(model, X)[:20] for leaf in set(at.tolist()))
        for model in (found, of_records)
    ]
    assert fewest[0] >= 6
    assert fewest[1] < 6
    few = np.where(np.arange(200) < 64, units == 0, np.nan)  # no more than the person and four others may have
    assert fit_labels(X, few, 6, classes=classes, units=units) is None
    wanted, _ = odds_of_a_model(X, few, X, 6, classes=classes, units=units)
    assert not wanted.any()
    assert fit_labels(X, few, 6, classes=classes) is not None


def test_places_follow_mean_labels_only_where_k_units_have_labels():
    rng = np.random.default_rng(1)
    X, y = rng.normal(size=(60, 1)), rng.normal(size=60)
    codes, units = np.repeat([0, 1], 30), np.concatenate([np.repeat(np.arange(4), 8)[:30], np.arange(30)])
    model = fit_labels(X, y, 5, classes=False)
    assert np.isnan(_mean_labels(codes, 2, model, 5, units)).ravel().tolist() == [True, False]
    assert not np.isnan(_mean_labels(codes, 2, model, 5, None)).any()


def test_spikes_and_amounts_off_them_are_those_of_k_units():
    values = np.array([0.0] * 6 + [1.0, 2.0, 3.0, 4.0])
    assert find_spike(values, 3) is not None
    assert find_spike(values, 3, np.array([0] * 6 + [1, 2, 3, 4])) is None
    assert find_spike(values, 3, np.array([0, 1, 2, 3, 4, 5, 6, 6, 6, 7])) is None
    assert find_spike(values, 3, np.array([0, 1, 2, 3, 4, 5, 6, 6, 7, 8])) == find_spike(values, 3)
    amounts = np.array([1.0, 1.0, 2.0, 3.0, 5.0, 7.0])
    cells, units = Cells(np.array([0, 0, 0, 1, 1, 1])), np.array([0, 0, 0, 0, 1, 2])
    assert amounts_off(amounts, cells, 3).pools.tolist() == [0, 1]
    found = amounts_off(amounts, cells, 3, units)  # the first cell has nobody to share a pool with
    assert (found.pools.tolist(), found.sizes.tolist(), found.means.tolist()) == ([0, 0], [3], [5.0])
    alike = amounts_off(amounts, cells, 2, np.array([0, 0, 0, 1, 1, 1]))
    assert (alike.pools.tolist(), alike.sizes.tolist()) == ([0, 0], [6])
    with pytest.raises(GuaranteeError, match="at least k = 3 units: 2 have one"):
        amounts_off(amounts, cells, 3, np.array([0, 0, 0, 1, 1, 1]))


def test_rare_categories_are_those_of_few_units():
    codes, units = np.array([0] * 6 + [1] * 3 + [2] * 4), np.array([0] * 6 + [1, 2, 3, 4, 5, 6, 7])
    pooled, n_pooled = pool_rare(codes, 3, Cells(np.zeros(13, dtype=int)), name="job", ordered=False, units=units)
    assert (pooled.tolist(), n_pooled) == ([2] * 6 + [1] * 3 + [2] * 4, 1)
    with pytest.raises(GuaranteeError, match="no category that at least 9 units have"):
        pool_rare(codes, 9, Cells(np.zeros(13, dtype=int)), name="job", ordered=False, units=units)


def test_another_record_of_the_same_unit_is_not_another():
    values, units = [np.array([1.0, 1.0, 2.0, 2.0, 3.0])], np.array([0, 0, 1, 2, 3])
    drawn = [np.array([1.0, 2.0, 3.0, 4.0, 4.0])]
    assert _equal_shares(values, drawn, units) == {
        "released": 0.6,
        "released_unique": 0.4,
        "untouched": 0.4,
        "untouched_unique": 0.4,
    }


@pytest.mark.parametrize("aggregate", [SHARED, MOMENTS, MOMENTS | {"moments": 2}, SHARED | {"draws": "moments"}])
def test_where_every_unit_has_one_record_the_release_is_that_without_units(aggregate):
    table = visits()
    table = table.set_column(0, "id", pa.array(range(table.num_rows)))
    with_units, without = (
        microagg.release(table, recipe(aggregate=aggregate, unit=unit, output={"order": "kept"}), seed=3)
        for unit in ({"key": "id"}, None)
    )
    assert with_units.table.equals(without.table)


@pytest.mark.parametrize("aggregate", [SHARED, MOMENTS])
def test_cells_of_fewer_units_are_never_drawn_from(aggregate, monkeypatch):
    from microagg.releases import cells

    monkeypatch.setattr(cells, "rearrange_groups", lambda points, labels, *given: cells_of_five(labels))
    with pytest.raises(GuaranteeError, match=r"at least k = 5 units: the smallest cell of columns 'x', 'y' has [1-4]"):
        microagg.release(visits(), recipe(aggregate=aggregate), seed=1)


def cells_of_five(labels):
    from microagg.releases.rearrangement import Rearrangement

    return Rearrangement(labels)


def test_the_default_of_draws_counts_units():
    for n_units, draws in ((49, "moments"), (50, "shared")):
        keys = np.repeat(np.arange(n_units), 4)
        table = pa.table(
            {"id": keys, "x": np.arange(len(keys)) % 37, "y": keys % 5, "ill": ["no", "flu"] * (2 * n_units)}
        )
        made = microagg.release(table, recipe())
        assert str(made.recipe.aggregate.draws) == draws
        size = "at least" if draws == "shared" else "fewer than"
        assert f"where a table has {size} 10 k = 50 units" in " ".join(str(made.statement).split())
    lacking = table.set_column(0, "id", pa.array([None, -9, *keys[2:].tolist()]))
    with pytest.raises(TableError, match="2 of 200 records have no 'id'"):
        microagg.release(lacking, recipe(input={"missing": {"id": [-9]}}))


# --- what is promised, stated and counted again


def said(made: microagg.Release) -> str:
    return " ".join(str(made.statement).split())


def test_the_statement_of_shared_draws_counts_units():
    made = microagg.release(
        visits(), recipe(aggregate=SHARED | {"share": 3, "rare": 2}, unit={"key": "id", "together": True})
    )
    (guarantee,) = made.statement.guarantees
    assert guarantee.counts_units
    text = said(made)
    for phrase in (
        "it was checked that every cell has records of at least k units.",
        "Unit: all records of one unit (a person, firm or household), by 'id'.",
        "each published number is one that at least 3 units of the table share, or is made of mean and spread of an "
        "interval with records of at least 5 units of the table, in which units count alike; "
        "each category is one that at least 2 units have; how "
        "often a cell with records of at least 5 units has each of them was kept",
        "every leaf of which holds records of at least 5 units",
        "that numbers come from records of at least k = 5 units: those that 3 to 4 units share are published as they "
        "are, and whoever knows 2 of these units learns that another has the number",
        "whoever knows all of its records but two, which may be those of two units or of one, can work out these two; "
        "whoever knows all but those of one unit can work out mean and spread of these",
        "equal parts of units in what was drawn from",
        "all of them are in one cell",
        "equal one that no other unit in the table equals",
        "judged by each record of the table and those of other units",
        "the data holder counted units before records were drawn",
    ):
        assert phrase in text
    assert "at least 5 records" not in text
    assert "each person or firm has one record" not in text


def test_the_statement_of_moments_counts_units():
    text = said(microagg.release(visits(), recipe(aggregate=MOMENTS)))
    assert "of a cell with records of at least 5 units, categories from its counts; for y, counts say how many" in text
    assert "from the mean and variance of records of at least 5 units with other values" in text
    assert "counted before records were drawn, and neither the file nor its receipt shows it" in text
    assert "at least 5 records" not in text
    assert "--original" not in text


def test_pooled_categories_are_told_in_units():
    table = visits(n_others=150)
    jobs = np.array(["clerk"] * table.num_rows, dtype=object)
    jobs[np.array(table["id"].to_pylist()) == "many"] = "diver"
    table = table.append_column("job", pa.array(jobs.tolist()))
    made = microagg.release(table, recipe(attributes=ATTRIBUTES | {"job": nominal()}))
    assert set(made.table["job"].to_pylist()) == {"clerk"}
    assert "that fewer than 5 units have were published as more frequent ones: fewer than 10 units have them" in said(
        made
    )
    assert aggregate_of(made)["paired"][0]["pooled"] == {"job": None}  # and not 20 records


@pytest.fixture(params=["csv", "parquet"])
def saved(request, tmp_path):
    """A table of many types, released, and its folder and input."""
    table = visits()
    days = [dt.date(2020, 1, 1) + dt.timedelta(days=int(x)) for x in table["x"].to_numpy()]
    table = table.append_column("day", pa.array(days))
    table = table.append_column("part", pa.array(table["x"].to_numpy().astype(np.float32)))
    table = table.append_column("n", pa.array(table["y"].to_numpy().astype(int)))
    table = table.append_column("able", pa.array([day.day % 2 == 0 for day in days]))
    ages = table["x"].to_pylist()
    ages[3:20] = [None] * 17
    table = table.append_column("age", pa.array(ages))
    source = tmp_path / f"input.{request.param}"
    write_table(table, source)
    more = {name: numeric() for name in ("day", "part", "n", "age")} | {"able": nominal()}
    chosen = recipe(attributes=ATTRIBUTES | more, missing={"policy": "impute"}, output={"order": "kept"})
    made = microagg.release(microagg.read_table(source, chosen), chosen, source=source)
    return made, made.save(tmp_path / "out", format=request.param), source


def test_the_holder_counts_again_what_was_drawn_from(saved):
    _, out, source = saved
    alone = {one.name: one for one in check_release(out)}
    assert all(one.holds for one in alone.values())
    assert "its holder counts units of numbers and categories with --original INPUT" in alone["units"].detail
    again = {one.name: one for one in check_release(out, original=source)}
    assert all(one.holds for one in again.values())
    assert "each published number is shared, or its interval made, by records of enough units" in again["units"].detail


@pytest.mark.parametrize("name", ["x", "day", "n", "age"])
def test_the_holder_finds_a_number_that_too_few_share(saved, name):
    made, out, source = saved
    (path,) = out.glob("table.*")
    column = made.table[name].to_pylist()
    column[0] = {"x": 50.0, "day": dt.date(2031, 1, 1), "n": 999, "age": 50.0}[name]
    place = made.table.column_names.index(name)
    forged = made.table.set_column(place, name, pa.array(column, made.table[name].type))
    path.unlink()
    write_table(forged, path)
    receipt = made.receipt_path(out)
    found = [one for one in check_release(out, receipt=receipt, original=source) if one.name == "units"]
    assert [one.holds for one in found] == [False]
    assert found[0].detail == f"values that not enough units of the input share or make: {name!r} (1)"


@pytest.mark.parametrize("aggregate", [SHARED, MOMENTS])
def test_forged_counts_of_units_are_found(tmp_path, aggregate):
    csv.write_csv(visits(), tmp_path / "in.csv")
    chosen = recipe(aggregate=aggregate)
    made = microagg.release(microagg.read_table(tmp_path / "in.csv", chosen), chosen, source=tmp_path / "in.csv")
    out = made.save(tmp_path / "out")
    findings = check_release(out, original=tmp_path / "in.csv")
    assert all(one.holds for one in findings)
    manifest = json.loads((out / "manifest.json").read_text())
    (partition,) = (stage for stage in manifest["stages"] if stage["stage"] == "partition")
    (cells,) = partition["blocks"]
    units = np.unique(visits()["id"].to_pylist(), return_counts=True)[1]
    most = int(np.minimum(units, cells["n_cells"]).sum()) // cells["n_cells"]  # that all cells could have
    smallest = cells["smallest_cell"]
    for forged in (4, None, smallest + 1):
        cells["fewest_units"] = forged
        (out / "manifest.json").write_text(json.dumps(manifest))
        assert not {one.name: one.holds for one in check_release(out)}["cells"]
    cells |= {"fewest_units": most + 1, "smallest_cell": max(smallest, most + 1)}
    (out / "manifest.json").write_text(json.dumps(manifest))
    again = {one.name: one for one in check_release(out, original=tmp_path / "in.csv")}
    assert f"cells of at least {most + 1} units are stated; there are units for {most}" in again["units"].detail
    assert not again["units"].holds


def test_a_report_of_drawn_records_of_units_counts_units(tmp_path):
    made = microagg.release(visits(), recipe())
    out = made.save(tmp_path / "out", report=True)
    page = (out / "report.html").read_text(encoding="utf-8")
    assert "drawn from statistics of records of at least 5 units" in page
    assert "drawn from statistics of at least 5 records" not in page
