"""Files and values that have deceived the engine once, or would deceive who reads its release."""

from __future__ import annotations

import datetime as dt
import os
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import microagg
from microagg import Account, Recipe
from microagg.engines.outofcore import release_out_of_core
from microagg.errors import InputError, TableError
from microagg.releases.check.check import check_release
from microagg.statements.parts import count_parts

NUMERIC = {"role": "quasi_identifier", "kind": "numeric"}
NOMINAL = {"role": "quasi_identifier", "kind": "nominal"}
SMALL = {"shard_records": 100, "block_records": 40, "sample_per_shard": 50}


def recipe(**changes) -> Recipe:
    given = {"k": 5, "engine": SMALL, "attributes": {"x": NUMERIC, "y": NUMERIC, "s": "confidential"}}
    return Recipe(**(given | changes))


def numbers(n: int = 300, seed: int = 0) -> pa.Table:
    rng = np.random.default_rng(seed)
    return pa.table({"x": rng.normal(size=n), "y": rng.normal(size=n), "s": rng.normal(size=n)})


def put(tables: list[pa.Table], folder: Path) -> Path:
    folder.mkdir()
    for number, table in enumerate(tables):
        pq.write_table(table, folder / f"{number}.parquet")
    return folder


def written(folder: Path) -> pa.Table:
    return pa.concat_tables([pq.read_table(path) for path in sorted(folder.glob("table-*"))])


def faults(folder: Path) -> list[str]:
    return [finding.detail for finding in check_release(folder) if not finding.holds]


@pytest.mark.parametrize("how", ["twice in a pattern", "symlink", "hard link", "underscore"])
def test_every_file_counts_once(tmp_path, how):
    data = put([numbers()], tmp_path / "data")
    source: Path | str = data
    if how == "twice in a pattern":
        source = str(data / "**" / "**" / "*.parquet")
    elif how == "symlink":
        (data / "latest.parquet").symlink_to(data / "0.parquet")
    elif how == "hard link":
        os.link(data / "0.parquet", data / "1.parquet")
    else:
        pq.write_table(numbers(), data / "_tmp.parquet")
        source = str(data / "*.parquet")
    assert release_out_of_core(source, recipe(), tmp_path / "out").statement.n_records == 300


def test_copies_and_releases_are_no_records(tmp_path):
    data = put([numbers(), numbers()], tmp_path / "data")
    with pytest.raises(InputError, match="the same, byte for byte"):
        release_out_of_core(data, recipe(), tmp_path / "out")
    (data / "1.parquet").unlink()
    release_out_of_core(data, recipe(), data / "out")
    with pytest.raises(InputError, match="part of a release"):
        release_out_of_core(str(data / "**" / "*.parquet"), recipe(), data / "out", overwrite=True)
    empty = [numbers(), numbers(0), numbers(0)]
    assert release_out_of_core(put(empty, tmp_path / "e"), recipe(), tmp_path / "o").statement.n_records == 300


@pytest.mark.parametrize("batch", [50, 400_000])
@pytest.mark.parametrize("other", [["low", "mid", "high"], ["high", "low"]])
def test_orders_of_categories_must_agree(tmp_path, batch, other):
    def ranks(labels: list[str], seed: int) -> pa.Table:
        codes = pa.array(np.random.default_rng(seed).integers(0, 2, 300), pa.int8())
        return pa.table({"x": pa.DictionaryArray.from_arrays(codes, labels, ordered=True), "y": np.arange(300.0)})

    data = put([ranks(["low", "high"], 0), ranks(other, 1)], tmp_path / "data")
    for role in ({"role": "quasi_identifier", "kind": "ordinal"}, "confidential"):
        chosen = recipe(attributes={"x": role, "y": NUMERIC})
        with pytest.raises(TableError, match="not the same in all files"):
            release_out_of_core(data, chosen, tmp_path / "out", batch_records=batch)


def test_what_is_left_out_decides_nothing(tmp_path):
    day = dt.datetime(2024, 1, 1)
    days = [day + dt.timedelta(days=int(n)) for n in np.random.default_rng(0).integers(0, 400, 200)]
    kept = {"t": days, "y": np.random.default_rng(1).normal(size=200).tolist()}
    attributes = {"t": NUMERIC, "y": NUMERIC}
    chosen = recipe(attributes=attributes, missing={"policy": "suppress"}, space={"standardize": "minmax"})
    found = []
    for number, moment in enumerate([day, day + dt.timedelta(days=5_000, seconds=7)]):
        table = pa.table({"t": [*kept["t"], moment], "y": [*kept["y"], None]})
        folder = tmp_path / f"out{number}"
        made = release_out_of_core(put([table], tmp_path / f"data{number}"), chosen, folder, seed=1)
        found.append((written(folder), made.information_loss))
        assert not faults(folder)
    assert found[0][0].equals(found[1][0])
    assert found[0][1] == found[1][1]


def test_signs_of_zero_make_no_category_and_no_stratum(tmp_path):
    rng = np.random.default_rng(0)
    zeros = np.array([0.0, -0.0, 1.0])[rng.integers(0, 3, 300)]
    for first in (zeros, np.where(zeros == 0.0, -zeros, zeros)):
        folder = tmp_path / f"out{int(np.signbit(first[np.argmin(first)]))}"
        table = pa.table({"g": first, "y": rng.normal(size=300)})
        chosen = recipe(attributes={"g": NOMINAL, "y": NUMERIC}, strata={"by": ["g"]})
        release_out_of_core(put([table], tmp_path / f"d-{folder.name}"), chosen, folder)
        assert not faults(folder)
        assert not np.signbit(written(folder)["g"].to_numpy()).any()


def test_signs_of_zero_are_told_apart_where_they_are_published(tmp_path):
    table = numbers().set_column(2, "s", [pa.array([0.0, -0.0] + [1.0] * 298)])
    release_out_of_core(put([table], tmp_path / "data"), recipe(), tmp_path / "out")
    assert count_parts(sorted((tmp_path / "out").glob("table-*")), ["x", "y"], recipe()).singles == {"s": 2}


@pytest.mark.parametrize("method", ["near_optimal", "mdav"])
def test_a_table_of_few_rows_passes_its_check(tmp_path, method):
    table = pa.table({"g": ["a", "b", "c"] * 100})
    chosen = recipe(method=method, attributes={"g": NOMINAL}, strata={"by": ["g"]})
    release_out_of_core(put([table], tmp_path / "data"), chosen, tmp_path / "out")
    assert not faults(tmp_path / "out")


def test_not_a_number_is_not_missing_in_a_part(tmp_path):
    x = pa.array([None] * 4 + [float("nan")] + [1.0] * 5)
    pq.write_table(pa.table({"x": x}), tmp_path / "table-00000.parquet")
    found = count_parts([tmp_path / "table-00000.parquet"], ["x"], recipe(attributes={"x": NUMERIC}))
    assert (found.recount.smallest, found.recount.n_combinations) == (1, 3)


def test_a_number_that_stands_for_missing_elsewhere_is_a_number(tmp_path):
    marked = 0x6D697373696E67
    x = pa.array([marked] * 3 + [None] * 400 + list(range(50)))
    chosen = recipe(attributes={"x": NUMERIC}, missing={"policy": "own_cell"})
    release_out_of_core(put([pa.table({"x": x})], tmp_path / "data"), chosen, tmp_path / "out")
    assert not faults(tmp_path / "out")


@pytest.mark.parametrize(
    ("text", "given", "sentence"),
    [
        ("x,y,s\n" + '"1.234","1,5",a\n' * 20, {"decimal": ","}, "other points than"),
        ("x,y,s\n" + "99999999999999999999,1.5,a\n" * 20, {}, "beyond 64 bits"),
        ("x,x,y,s\n" + "1,2,1.5,a\n" * 20, {}, "more than once"),
    ],
)
def test_text_that_would_be_read_wrongly_is_refused(tmp_path, text, given, sentence):
    (tmp_path / "data.csv").write_text(text, encoding="utf-8")
    with pytest.raises(TableError, match=sentence):
        release_out_of_core(tmp_path / "data.csv", recipe(input=given), tmp_path / "out")


def test_other_encodings_are_named(tmp_path):
    (tmp_path / "data.csv").write_bytes("x,y,straße\n1,2,3\n".encode("latin-1"))
    with pytest.raises(TableError, match="encoding"):
        release_out_of_core(tmp_path / "data.csv", recipe(), tmp_path / "out")


def test_types_that_cannot_be_sorted_are_refused_and_others_taken(tmp_path):
    lists = numbers().set_column(2, "s", [pa.array([[1]] * 300)])
    with pytest.raises(TableError, match="lists or structures"):
        release_out_of_core(put([lists], tmp_path / "lists"), recipe(), tmp_path / "out")
    broken = pa.array([b"\xff"] * 300).cast(pa.binary()).view(pa.string())
    with pytest.raises(TableError, match="not UTF-8"):
        release_out_of_core(
            put([numbers().set_column(2, "s", [broken])], tmp_path / "broken"), recipe(), tmp_path / "out"
        )
    strict = pa.schema([pa.field("x", pa.float64(), nullable=False), ("y", pa.float64()), ("s", pa.float64())])
    mixed = [numbers(seed=1).cast(strict), numbers(seed=2)]
    for batch in (50, 400_000):
        made = release_out_of_core(
            put(mixed, tmp_path / f"mixed{batch}"), recipe(), tmp_path / f"out{batch}", batch_records=batch
        )
        assert made.statement.n_records == 600


def test_a_folder_of_one_file_can_be_held_in_memory(tmp_path):
    data = put([numbers()], tmp_path / "data")
    assert microagg.release_files(data, recipe(), tmp_path / "out", engine="local").statement.n_records == 300


@pytest.mark.parametrize("how", ["empty", "symlink"])
def test_parts_that_no_release_has_are_found(tmp_path, how):
    release_out_of_core(put([numbers()], tmp_path / "data"), recipe(), tmp_path / "out")
    part = tmp_path / "out" / "table-00001.parquet"
    if how == "empty":
        pq.write_table(pq.read_table(part).slice(0, 0), part)
    else:
        part.rename(tmp_path / "elsewhere.parquet")
        part.symlink_to(tmp_path / "elsewhere.parquet")
    with pytest.raises(TableError, match="as no part of a release is"):
        faults(tmp_path / "out")


def test_the_receipt_says_what_it_holds(tmp_path):
    made = release_out_of_core(put([numbers()], tmp_path / "data"), recipe(), tmp_path / "out")
    assert "published row" not in made.receipt.read_text(encoding="utf-8")
    assert "published row" in microagg.release_files(
        tmp_path / "data", recipe(), tmp_path / "local", engine="local"
    ).receipt.read_text(encoding="utf-8")


@pytest.mark.parametrize("method", ["mdav", "individual_ranking"])
def test_empty_files_may_stand_anywhere(tmp_path, method):
    data = put([numbers(0), numbers(seed=1), numbers(0), numbers(seed=2)], tmp_path / "data")
    assert release_out_of_core(data, recipe(method=method), tmp_path / "out").statement.n_records == 600


@pytest.mark.parametrize("method", ["mdav", "individual_ranking"])
def test_few_categories_in_each_file_may_be_many_in_all(tmp_path, method):
    def words(first: int) -> pa.Table:
        codes = pa.array(np.repeat(np.arange(100), 5), pa.int8())
        labels = [f"w{number}" for number in range(first, first + 100)]
        return pa.table({"s": pa.DictionaryArray.from_arrays(codes, labels), "x": np.arange(500.0) + first})

    data = put([words(0), words(100)], tmp_path / "data")
    chosen = recipe(method=method, attributes={"x": NUMERIC, "s": "confidential"})
    release_out_of_core(data, chosen, tmp_path / "out")
    assert len(set(written(tmp_path / "out")["s"].to_pylist())) == 200


def test_half_precision_is_read(tmp_path):
    table = numbers().set_column(0, "x", [numbers()["x"].cast(pa.float32()).cast(pa.float16())])
    assert release_out_of_core(put([table], tmp_path / "data"), recipe(), tmp_path / "out").statement.n_records == 300


def test_an_attribute_without_any_value_is_released(tmp_path):
    table = numbers().set_column(0, "x", [pa.nulls(300, pa.float64())])
    chosen = recipe(method="individual_ranking", missing={"policy": "own_cell"})
    release_out_of_core(put([table], tmp_path / "data"), chosen, tmp_path / "out")
    assert written(tmp_path / "out")["x"].null_count == 300
    assert not faults(tmp_path / "out")


def test_files_of_a_ranking_do_not_tell_which_originals_were_equal(tmp_path):
    """Cells of 3 + 2 equal records: if files kept equal ones together, no cell would lie in three files or more."""
    values = np.repeat(np.arange(400.0), np.tile([3, 2], 200))
    data = put([pa.table({"x": values})], tmp_path / "data")
    chosen = recipe(method="individual_ranking", attributes={"x": NUMERIC}, engine={"shard_records": 50})
    release_out_of_core(data, chosen, tmp_path / "out", seed=1)
    places: dict[float, set[str]] = {}
    for path in sorted((tmp_path / "out").glob("table-*")):
        for value in pq.read_table(path)["x"].to_pylist():
            places.setdefault(value, set()).add(path.name)
    # Of 20 files, five rows at random lie in fewer than three with a chance of 0.03: 3 of 200 cells expected.
    assert sum(len(found) >= 3 for found in places.values()) > 150


def test_of_several_names_the_one_with_a_ledger_counts(tmp_path):
    data = put([numbers()], tmp_path / "data")
    os.link(data / "0.parquet", data / "-first.parquet")
    Account.start(data / "0.parquet", cap=1.0)
    release_out_of_core(data, recipe(), tmp_path / "out")
    assert len(Account.open(data / "0.parquet").entries) == 1


def test_what_stays_spent_is_said_when_memory_runs_out(tmp_path, monkeypatch):
    from microagg.engines import release_parts

    def none_left(*_, **__):
        raise MemoryError

    data = put([numbers()], tmp_path / "data")
    Account.start(data / "0.parquet", cap=5.0)
    bounded = NUMERIC | {"bounds": [-9, 9]}
    chosen = Recipe(
        method="dp_ranked_copula", privacy={"epsilon": 1.0}, attributes={"x": bounded, "y": bounded, "s": "identifier"}
    )
    monkeypatch.setattr(release_parts, "Release", none_left)
    with pytest.raises(InputError, match="not enough memory") as caught:
        release_out_of_core(data, chosen, tmp_path / "out")
    assert any("stays spent" in note for note in caught.value.__notes__)
