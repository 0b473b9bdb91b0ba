"""Releases in parts: the same for any layout of the files, counted on all of them, and right on nasty tables."""

from __future__ import annotations

import datetime as dt
import itertools
import json
import shutil
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as pacsv
import pyarrow.parquet as pq
import pytest

import microagg
from microagg import GuaranteeError, InputError, Recipe
from microagg.engines import tasks
from microagg.engines.outofcore import release_out_of_core
from microagg.releases.check.check import check_release

NUMERIC = {"role": "quasi_identifier", "kind": "numeric"}
NOMINAL = {"role": "quasi_identifier", "kind": "nominal"}
SMALL = {"shard_records": 1_000, "block_records": 200, "sample_per_shard": 100}


def people(n: int = 6_000, seed: int = 0) -> pa.Table:
    rng = np.random.default_rng(seed)
    return pa.table(
        {
            "name": [f"p{i}" for i in range(n)],
            "age": rng.integers(18, 95, n),
            "wage": rng.lognormal(7, 1, n).round(2),
            "job": rng.choice(["smith", "baker", "clerk", "judge"], n, p=[0.6, 0.3, 0.08, 0.02]),
            "sick": rng.random(n) < 0.1,
            "note": rng.choice(["a", "b", "c"], n),
        }
    )


def recipe(**more) -> Recipe:
    attributes = {
        "name": "identifier",
        "age": NUMERIC,
        "wage": NUMERIC,
        "job": NOMINAL,
        "sick": "confidential",
        "note": "non_confidential",
    }
    return Recipe(**{"k": 5, "attributes": attributes, "engine": SMALL} | more)


def numbers_recipe(names: str, **more) -> Recipe:
    return Recipe(
        **{"k": 5, "attributes": dict.fromkeys(names, NUMERIC) | {"s": "confidential"}, "engine": SMALL} | more
    )


def put(table: pa.Table, folder: Path, n_files: int = 1, seed: int | None = None) -> Path:
    """Write a table as files, in another order if a seed says so."""
    folder.mkdir()
    if seed is not None:
        table = table.take(np.random.default_rng(seed).permutation(table.num_rows))
    ends = np.linspace(0, table.num_rows, n_files + 1).astype(int)
    for number, (start, stop) in enumerate(itertools.pairwise(ends)):
        pq.write_table(table.slice(start, stop - start), folder / f"{number}.parquet", row_group_size=777 + number)
    return folder


def tables_of(folder: Path) -> pa.Table:
    return pa.concat_tables(
        [pq.read_table(path) for path in sorted(folder.glob("table-*"))], promote_options="permissive"
    )


def hashes(folder: Path) -> dict[str, str]:
    found = json.loads((folder / "manifest.json").read_text())["output"]["sha256"]
    return {name: one for name, one in found.items() if name.startswith("table-")}


def smallest_class(table: pa.Table, names: list[str]) -> int:
    return pc.min(table.group_by(names).aggregate([([], "count_all")])["count_all"]).as_py()


def require_whole(folder: Path) -> None:
    wrong = [one for one in check_release(folder) if not one.holds]
    assert not wrong, wrong


def test_a_release_in_parts_holds_and_passes_its_check(tmp_path):
    table = people()
    made = release_out_of_core(put(table, tmp_path / "data", 3), recipe(), tmp_path / "out")
    released = tables_of(tmp_path / "out")
    assert released.num_rows == table.num_rows == made.statement.n_records
    assert released.column_names == ["age", "wage", "job", "sick", "note"]
    assert released.schema.types == table.schema.types[1:]
    assert smallest_class(released, ["age", "wage", "job"]) >= 5
    assert len(hashes(tmp_path / "out")) > 3
    for name in ("sick", "note"):
        assert sorted(released[name].to_pylist()) == sorted(table[name].to_pylist())
    assert abs(pc.mean(released["wage"]).as_py() / pc.mean(table["wage"]).as_py() - 1) < 0.01
    assert any("within" in remark and "blocks" in remark for remark in made.statement.remarks)
    assert made.statement.for_publication
    require_whole(tmp_path / "out")
    assert [path.name for path in tmp_path.glob(".*")] == []
    assert made.receipt.is_file()


@pytest.mark.parametrize("n_files", [1, 2, 7])
@pytest.mark.parametrize("batch", [333, 100_000])
def test_layout_order_and_batches_change_nothing(tmp_path, n_files, batch):
    table = people()
    first = put(table, tmp_path / "first")
    second = put(table, tmp_path / "second", n_files, seed=n_files)
    release_out_of_core(first, recipe(), tmp_path / "one", seed=3)
    release_out_of_core(second, recipe(), tmp_path / "two", seed=3, batch_records=batch)
    assert hashes(tmp_path / "one") == hashes(tmp_path / "two")
    assert (tmp_path / "one" / "statement.json").read_bytes() == (tmp_path / "two" / "statement.json").read_bytes()


def test_other_chance_is_another_release(tmp_path):
    data = put(people(2_000), tmp_path / "data")
    for name, seed in (("one", 1), ("two", 2), ("three", None)):
        release_out_of_core(data, recipe(), tmp_path / name, seed=seed)
    found = [hashes(tmp_path / name) for name in ("one", "two", "three")]
    assert found[0] != found[1] != found[2] != found[0]


def test_with_one_block_the_loss_is_that_of_the_local_release(tmp_path):
    table = people(1_500)
    plain = recipe(engine={"shard_records": 5_000, "block_records": 5_000})
    made = release_out_of_core(put(table, tmp_path / "data"), plain, tmp_path / "out")
    # Ties fall by chance, so the cells need not be the same.
    assert made.information_loss == pytest.approx(microagg.release(table, plain).information_loss, rel=0.05)


@pytest.mark.parametrize(
    ("method", "partition"),
    [("vmdav", {}), ("near_optimal", {"effort": "fast"}), ("pcp", {}), ("zscores", {})],
)
def test_other_methods(tmp_path, method, partition):
    rng = np.random.default_rng(0)
    table = pa.table({"x": rng.normal(size=3_000), "y": rng.normal(size=3_000), "s": rng.normal(size=3_000)})
    chosen = numbers_recipe("xy", method=method, partition=partition)
    data = put(table, tmp_path / "data", 2)
    for name in ("one", "two"):
        release_out_of_core(data, chosen, tmp_path / name, seed=4)
    assert hashes(tmp_path / "one") == hashes(tmp_path / "two")
    require_whole(tmp_path / "one")


def nasty() -> dict[str, pa.Table]:
    rng = np.random.default_rng(5)
    n = 5_000
    zeros = {name: np.where(rng.random(n) < 0.92, 0.0, rng.lognormal(size=n)) for name in "xyz"}
    some = rng.random(n) < 0.6
    return {
        "92 % zeros": pa.table(zeros | {"s": rng.normal(size=n)}),
        "60 % identical": pa.table({x: np.where(some, 7.0, rng.normal(size=n)) for x in "xyz"} | {"s": rng.random(n)}),
        "60 % identical, few others": pa.table(
            {x: np.where(some, 7.0, rng.normal(size=n)) for x in "xyz"} | {"s": rng.integers(0, 2, n)}
        ),
        "all but three identical": pa.table(
            {x: np.where(np.arange(n) < 3, rng.normal(size=n), 1.0) for x in "xyz"} | {"s": rng.random(n)}
        ),
        "all identical": pa.table({x: np.full(n, 3) for x in "xyz"} | {"s": np.zeros(n)}),
        "Cauchy": pa.table({x: rng.standard_cauchy(n) for x in "xyz"} | {"s": rng.random(n)}),
        "huge": pa.table({x: rng.normal(size=n) * 1e200 for x in "xyz"} | {"s": rng.random(n)}),
        "tiny": pa.table({x: rng.normal(size=n) * 1e-200 for x in "xyz"} | {"s": rng.random(n)}),
        "two values": pa.table({x: rng.integers(0, 2, n) for x in "xyz"} | {"s": rng.random(n)}),
        "large integers": pa.table({x: 2**60 + rng.integers(0, 50, n) for x in "xyz"} | {"s": rng.random(n)}),
        "minus zero": pa.table({x: np.where(rng.random(n) < 0.5, -0.0, 0.0) for x in "xyz"} | {"s": rng.random(n)}),
        "five records": pa.table({x: [1.0, 2, 3, 4, 5] for x in "xyz"} | {"s": [1.0] * 5}),
    }


@pytest.mark.parametrize("name", list(nasty()))
@pytest.mark.parametrize("standardize", ["zscore", "none"])
def test_nasty_tables_are_right(tmp_path, name, standardize):
    table = nasty()[name]
    chosen = numbers_recipe("xyz", space={"standardize": standardize})
    release_out_of_core(put(table, tmp_path / "data", 2, seed=1), chosen, tmp_path / "out", seed=1)
    release_out_of_core(put(table, tmp_path / "again", 3, seed=2), chosen, tmp_path / "same", seed=1, batch_records=500)
    released = tables_of(tmp_path / "out")
    assert released.num_rows == table.num_rows
    assert smallest_class(released, ["x", "y", "z"]) >= 5
    assert sorted(released["s"].to_pylist()) == sorted(table["s"].to_pylist())
    assert hashes(tmp_path / "out") == hashes(tmp_path / "same")
    require_whole(tmp_path / "out")


def test_frequent_rows_pass_through_unchanged(tmp_path):
    table = nasty()["60 % identical"]
    release_out_of_core(put(table, tmp_path / "data"), numbers_recipe("xyz"), tmp_path / "out")
    n_before, n_after = (int(pc.sum(pc.equal(one["x"], 7.0)).as_py()) for one in (table, tables_of(tmp_path / "out")))
    assert n_after == n_before > 2_500


def test_a_stratum_of_three_records_is_refused_or_merged(tmp_path):
    table = people(3_000)
    job = ["king"] * 3 + table["job"].to_pylist()[3:]
    data = put(table.set_column(3, "job", pa.array(job)), tmp_path / "data", 2)
    with pytest.raises(InputError, match="1 of 5 strata of 'job' have fewer than k = 5 records"):
        release_out_of_core(data, recipe(strata={"by": ["job"]}), tmp_path / "out")
    assert not (tmp_path / "out").exists()
    merged = recipe(strata={"by": ["job"], "small": "merge_small"})
    made = release_out_of_core(data, merged, tmp_path / "out")
    assert any("which were merged" in remark for remark in made.statement.remarks)
    require_whole(tmp_path / "out")


def test_no_cell_crosses_strata(tmp_path):
    table = people(4_000)
    release_out_of_core(put(table, tmp_path / "data"), recipe(strata={"by": ["job"]}), tmp_path / "out")
    counts = [
        {one["values"]: one["counts"] for one in some["job"].value_counts().to_pylist()}
        for some in (table, tables_of(tmp_path / "out"))
    ]
    assert counts[0] == counts[1]
    require_whole(tmp_path / "out")


def with_missing(n: int = 3_000) -> pa.Table:
    rng = np.random.default_rng(8)
    x, y = rng.normal(size=n), rng.normal(size=n)
    return pa.table(
        {
            "x": pa.array(x, mask=rng.random(n) < 0.1),
            "y": pa.array(y, mask=rng.random(n) < 0.1),
            "s": rng.normal(size=n),
        }
    )


def test_missing_values_follow_the_policy(tmp_path):
    data = put(with_missing(), tmp_path / "data", 3)
    with pytest.raises(InputError, match=r"quasi-identifiers have missing values: 'x' \(\d+\), 'y' \(\d+\)"):
        release_out_of_core(data, numbers_recipe("xy"), tmp_path / "out")
    with pytest.raises(InputError, match="impute"):
        release_out_of_core(data, numbers_recipe("xy", missing={"policy": "impute"}), tmp_path / "out")
    release_out_of_core(data, numbers_recipe("xy", missing={"policy": "suppress"}), tmp_path / "left_out")
    released = tables_of(tmp_path / "left_out")
    assert released["x"].null_count == 0
    assert released.num_rows == with_missing().drop_null().num_rows
    require_whole(tmp_path / "left_out")
    release_out_of_core(data, numbers_recipe("xy", missing={"policy": "own_cell"}), tmp_path / "own")
    released = tables_of(tmp_path / "own")
    assert [released[x].null_count for x in "xy"] == [with_missing()[x].null_count for x in "xy"]
    assert smallest_class(released, ["x", "y"]) >= 5
    require_whole(tmp_path / "own")


def test_dates_ranks_decimals_dictionaries_and_weights(tmp_path):
    rng = np.random.default_rng(2)
    n = 2_500
    days = [dt.date(1950, 1, 1) + dt.timedelta(days=int(d)) for d in rng.integers(0, 20_000, n)]
    moments = [dt.datetime(2020, 1, 1) + dt.timedelta(minutes=int(m)) for m in rng.integers(0, 50_000, n)]
    table = pa.table(
        {
            "born": pa.array(days),
            "seen": pa.array(moments, pa.timestamp("us")),
            "grade": pa.array(rng.choice(["low", "mid", "high"], n)).dictionary_encode(),
            "paid": pa.array([round(float(x), 2) for x in rng.lognormal(3, 1, n)]).cast(
                pa.decimal128(9, 2), safe=False
            ),
            "w": rng.uniform(1, 5, n),
            "s": rng.integers(0, 9, n),
        }
    )
    chosen = Recipe(
        k=4,
        sampling_weight="w",
        engine=SMALL,
        attributes={
            "born": NUMERIC,
            "seen": NUMERIC,
            "grade": {"role": "quasi_identifier", "kind": "ordinal", "categories": ["low", "mid", "high"]},
            "paid": NUMERIC | {"bounds": [0, 10_000]},
            "w": "non_confidential",
            "s": "confidential",
        },
    )
    release_out_of_core(put(table, tmp_path / "data", 2), chosen, tmp_path / "out", seed=1)
    release_out_of_core(put(table, tmp_path / "data2", 3, seed=9), chosen, tmp_path / "out2", seed=1, batch_records=400)
    released = tables_of(tmp_path / "out")
    assert released.schema.types == table.schema.types
    assert {moment.second for moment in released["seen"].to_pylist()} == {0}
    assert smallest_class(released.drop(["w", "s"]), ["born", "seen", "paid"]) >= 4
    assert hashes(tmp_path / "out") == hashes(tmp_path / "out2")
    require_whole(tmp_path / "out")


def test_csv_files_and_patterns(tmp_path):
    table = people(3_000)
    (tmp_path / "data").mkdir()
    pacsv.write_csv(table.slice(0, 1_000), tmp_path / "data" / "a.csv")
    pacsv.write_csv(table.slice(1_000), tmp_path / "data" / "b.csv")
    made = microagg.release_files(tmp_path / "data" / "*.csv", recipe(), tmp_path / "out", engine="outofcore", seed=1)
    assert made.statement.n_records == 3_000
    released = tables_of(tmp_path / "out")
    assert released.schema.field("age").type == pa.int64()
    assert released.schema.field("wage").type == pa.float64()
    require_whole(tmp_path / "out")
    pacsv.write_csv(table, tmp_path / "whole.csv")
    release_out_of_core(tmp_path / "whole.csv", recipe(), tmp_path / "same", seed=1)
    assert hashes(tmp_path / "out") == hashes(tmp_path / "same")


def test_codes_for_missing_are_missing(tmp_path):
    table = pa.table({"x": np.r_[np.full(50, -999.0), np.arange(950.0)], "s": np.arange(1_000)})
    chosen = numbers_recipe("x", missing={"policy": "suppress"}, input={"missing": {"x": [-999]}})
    made = release_out_of_core(put(table, tmp_path / "data"), chosen, tmp_path / "out")
    assert made.statement.n_records == 950
    assert "50 records with a missing quasi-identifier were left out" in made.statement.remarks


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"method": "individual_ranking", "partition": {"cut": "optimal"}}, "cut = 'optimal'"),
        ({"method": "insensitive_mdav", "space": {"standardize": "bounds"}}, "insensitive_mdav"),
        ({"output": {"order": "kept"}}, "order = 'kept'"),
        ({"aggregate": {"form": "sampled"}}, "form = 'sampled'"),
        ({"blocks": {"form": "contiguous", "size": 1}}, r"\[blocks\]"),
        ({"protect": {"s": {"distinct_l": 2}}}, r"\[protect\]"),
        ({"method": "near_optimal", "partition": {"effort": "best"}}, "effort"),
        ({"method": "near_optimal", "partition": {"certificate": True}}, "certificate"),
        ({"missing": {"policy": "impute"}}, "impute"),
        ({"space": {"dependence": {"lambda": 0.5}}}, "guided"),
    ],
)
def test_what_cannot_be_done_in_parts_is_refused(tmp_path, change, sentence):
    bounded = {x: NUMERIC | {"bounds": [-9, 9]} for x in "xy"} | {"s": {"role": "confidential", "kind": "numeric"}}
    chosen = Recipe(**{"k": 5, "attributes": bounded} | change)
    with pytest.raises(InputError, match=sentence):
        release_out_of_core(tmp_path / "nowhere", chosen, tmp_path / "out")


def test_private_methods_are_refused(tmp_path):
    bounded = {x: NUMERIC | {"bounds": [-9, 9]} for x in "xy"} | {"s": "confidential"}
    chosen = Recipe(method="dp_laplace", privacy={"epsilon": 1.0}, attributes=bounded)
    with pytest.raises(InputError, match="asks more than counts"):
        release_out_of_core(tmp_path / "nowhere", chosen, tmp_path / "out")


def test_files_that_do_not_fit_are_refused_without_a_value(tmp_path):
    with pytest.raises(InputError, match="there is no file"):
        release_out_of_core(tmp_path / "nowhere", recipe(), tmp_path / "out")
    data = put(people(100), tmp_path / "data")
    with pytest.raises(InputError, match="are not declared"):
        release_out_of_core(data, numbers_recipe("xy"), tmp_path / "out")
    pq.write_table(people(100).set_column(1, "age", pa.array(np.arange(100.0))), data / "more.parquet")
    with pytest.raises(InputError, match=r"column 'age' is double in more\.parquet and int64 in 0\.parquet"):
        release_out_of_core(data, recipe(), tmp_path / "out")
    infinite = pa.table({"x": [1.0, np.inf] * 50, "s": np.arange(100)})
    with pytest.raises(InputError, match="50 infinite values"):
        release_out_of_core(put(infinite, tmp_path / "infinite"), numbers_recipe("x"), tmp_path / "out")
    bounded = Recipe(k=5, attributes={"x": NUMERIC | {"bounds": [0, 10]}, "s": "confidential"})
    outside = pa.table({"x": np.arange(100.0), "s": np.arange(100)})
    with pytest.raises(InputError, match="89 values outside its declared bounds"):
        release_out_of_core(put(outside, tmp_path / "outside"), bounded, tmp_path / "out")
    with pytest.raises(InputError, match="k = 5 needs at least 5 records; the table has 4"):
        release_out_of_core(put(people(4), tmp_path / "few"), recipe(), tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_k_is_counted_on_all_files_together(tmp_path, monkeypatch):
    made = tasks.release_shard

    def spoiled(table, constants, secret, shard, block_records):
        released, facts = made(table, constants, secret, shard, block_records)
        if shard == 1:
            wage = released["wage"].to_numpy().copy()
            wage[0] += 0.25
            released = released.set_column(released.column_names.index("wage"), "wage", pa.array(wage))
        return released, facts

    monkeypatch.setattr(tasks, "release_shard", spoiled)
    data = put(people(3_000), tmp_path / "data")
    with pytest.raises(GuaranteeError, match="does not hold on the written files together"):
        release_out_of_core(data, recipe(), tmp_path / "out")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["data"]


def test_classes_that_lie_in_several_files_are_counted_whole(tmp_path):
    from microagg.statements.parts import count_parts

    both = pa.table({"x": [1.0, 1.0, 2.0, 2.0, 2.0], "s": ["a", "a", "a", "b", None]})
    paths = [tmp_path / "table-00000.parquet", tmp_path / "table-00001.parquet"]
    for path in paths:
        pq.write_table(both, path)
    found = count_parts(paths, ["x"], numbers_recipe("x"))
    assert (found.recount.n_combinations, found.recount.smallest, found.recount.records_below) == (2, 4, 4)
    assert found.exposure.agreements[0].records == 4
    assert found.exposure.singles[0].values == 0


@pytest.mark.parametrize("most", [10, 1_000])
def test_counts_do_not_depend_on_buckets(tmp_path, monkeypatch, most):
    from microagg.statements import parts

    release_out_of_core(put(people(3_000), tmp_path / "data"), recipe(), tmp_path / "out")
    paths = sorted((tmp_path / "out").glob("table-*"))
    names = ["age", "wage", "job"]
    whole = parts.count_parts(paths, names, recipe())
    monkeypatch.setattr(parts, "_AT_ONCE", most)
    assert parts.count_parts(paths, names, recipe()) == whole
    require_whole(tmp_path / "out")


def test_what_is_counted_in_parts_is_what_is_counted_at_once(tmp_path):
    from microagg.privacy.verify import recount
    from microagg.statements.exposure import exposure_of
    from microagg.tables.frames import Frame

    made = release_out_of_core(put(people(3_000), tmp_path / "data"), recipe(), tmp_path / "out")
    released, original = tables_of(tmp_path / "out"), people(3_000)
    names = ["age", "wage", "job"]
    assert made.statement.recounts == (recount(released, names, 5),)
    frames = Frame.of(released, "pyarrow"), Frame.of(original, "pyarrow")
    assert list(made.statement.exposure) == exposure_of(frames[0], recipe(), [names], frames[1]).public()


def test_a_changed_or_missing_part_is_found(tmp_path):
    data = put(people(3_000), tmp_path / "data")
    release_out_of_core(data, recipe(), tmp_path / "out")
    shutil.copytree(tmp_path / "out", tmp_path / "changed")
    part = tmp_path / "changed" / "table-00001.parquet"
    table = pq.read_table(part)
    pq.write_table(table.set_column(0, "age", pa.array(table["age"].to_numpy() + (np.arange(len(table)) == 0))), part)
    broken = {one.name for one in check_release(tmp_path / "changed") if not one.holds}
    assert {"file table-00001.parquet", "recounts"} <= broken
    assert any(name.startswith("k-anonymity") for name in broken)
    (tmp_path / "changed" / "table-00000.parquet").rename(tmp_path / "changed" / "table-00009.parquet")
    with pytest.raises(InputError, match=r"table-00000\.parquet is not there"):
        check_release(tmp_path / "changed")


def test_an_earlier_release_is_replaced_only_if_asked(tmp_path):
    data = put(people(2_000), tmp_path / "data")
    release_out_of_core(data, recipe(), tmp_path / "out")
    with pytest.raises(InputError, match="exists"):
        release_out_of_core(data, recipe(), tmp_path / "out")
    release_out_of_core(data, recipe(k=7), tmp_path / "out", overwrite=True)
    require_whole(tmp_path / "out")
    assert json.loads((tmp_path / "out" / "manifest.json").read_text())["recipe"]["k"] == 7


def test_out_of_memory_names_the_key(tmp_path, monkeypatch):
    def none_left(*_):
        raise MemoryError

    monkeypatch.setattr(tasks, "release_shard", none_left)
    with pytest.raises(InputError, match="shard_records = 250"):
        release_out_of_core(put(people(2_000), tmp_path / "data"), recipe(), tmp_path / "out")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["data"]


def test_files_with_other_dictionaries_give_one_release(tmp_path):
    rng = np.random.default_rng(6)
    n = 3_000
    words = np.where(np.arange(n) < n // 2, rng.choice(["a", "b"], n), rng.choice(["c", "b", "d"], n))
    table = pa.table({"x": rng.normal(size=n), "w": words, "s": words})
    (tmp_path / "data").mkdir()
    for number, some in enumerate((table.slice(0, n // 2), table.slice(n // 2))):
        coded = {name: some[name].combine_chunks().dictionary_encode() for name in "ws"}
        pq.write_table(pa.table({"x": some["x"]} | coded), tmp_path / "data" / f"{number}.parquet")
    chosen = Recipe(k=5, engine=SMALL, attributes={"x": NUMERIC, "w": NOMINAL, "s": "confidential"})
    release_out_of_core(tmp_path / "data", chosen, tmp_path / "out", seed=1)
    release_out_of_core(tmp_path / "data", chosen, tmp_path / "out2", seed=1, batch_records=100)
    released = tables_of(tmp_path / "out")
    assert sorted(released["s"].cast(pa.string()).to_pylist()) == sorted(words)
    assert pa.types.is_dictionary(released["w"].type)
    assert hashes(tmp_path / "out") == hashes(tmp_path / "out2")
    require_whole(tmp_path / "out")


def test_taxonomies_medoids_and_bounds(tmp_path):
    rng = np.random.default_rng(6)
    n = 2_000
    table = pa.table({"x": rng.uniform(0, 9, n), "w": rng.choice(["a", "b", "c", "d"], n), "s": rng.random(n)})
    word = NOMINAL | {"taxonomy": {"a": "ab", "b": "ab", "c": "cd", "d": "cd", "ab": "all", "cd": "all"}}
    chosen = Recipe(
        k=5,
        engine=SMALL,
        space={"standardize": "bounds"},
        attributes={
            "x": NUMERIC | {"bounds": [0, 10], "representative": "medoid"},
            "w": word,
            "s": "confidential",
        },
    )
    made = release_out_of_core(put(table, tmp_path / "data", 2), chosen, tmp_path / "out", seed=1)
    assert set(tables_of(tmp_path / "out")["x"].to_pylist()) <= set(table["x"].to_pylist())
    # Few blocks of four words and one number: what is lost is 0.4 to 1.8 times as much, by chance.
    local = microagg.release(table, chosen, seed=1)
    assert made.information_loss == pytest.approx(local.information_loss, rel=0.5)
    require_whole(tmp_path / "out")


def _without_blocks(manifest: dict) -> None:
    next(stage for stage in manifest["stages"] if stage["stage"] == "partition")["blocks"] = []


def _other_attributes(manifest: dict) -> None:
    next(stage for stage in manifest["stages"] if stage["stage"] == "partition")["blocks"][0]["attributes"] = ["z"]


def _other_names(manifest: dict) -> None:
    manifest["output"]["tables"] = ["../table-00000.parquet"]


@pytest.mark.parametrize("change", [_without_blocks, _other_attributes, _other_names])
def test_a_manifest_that_no_release_has_is_refused(tmp_path, change):
    release_out_of_core(put(people(1_500), tmp_path / "data"), recipe(), tmp_path / "out")
    path = tmp_path / "out" / "manifest.json"
    manifest = json.loads(path.read_text())
    change(manifest)
    path.write_text(json.dumps(manifest))
    with pytest.raises(InputError):
        check_release(tmp_path / "out")


@pytest.mark.parametrize(
    ("key", "value"), [("n_blocks", 2), ("n_shards", 9), ("name", "spark"), ("block_records", 7), ("more", 1)]
)
def test_parts_that_cannot_be_are_found(tmp_path, key, value):
    release_out_of_core(put(people(1_500), tmp_path / "data"), recipe(), tmp_path / "out")
    path = tmp_path / "out" / "manifest.json"
    manifest = json.loads(path.read_text())
    next(stage for stage in manifest["stages"] if stage["stage"] == "partition")["engine"][key] = value
    path.write_text(json.dumps(manifest))
    assert {"manifest", "receipt"} & {one.name for one in check_release(tmp_path / "out") if not one.holds}


def test_parts_of_other_columns_are_refused(tmp_path):
    release_out_of_core(put(people(1_500), tmp_path / "data"), recipe(), tmp_path / "out")
    part = tmp_path / "out" / "table-00001.parquet"
    pq.write_table(pq.read_table(part).drop(["wage"]), part)
    with pytest.raises(InputError, match=r"table-00001\.parquet does not have the columns of the table"):
        check_release(tmp_path / "out")
