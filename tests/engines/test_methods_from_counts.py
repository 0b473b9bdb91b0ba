"""Individual ranking and private methods on tables in parts: what one machine publishes, to the last digit."""

from __future__ import annotations

import hashlib
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import microagg
from microagg import Account, Recipe
from microagg.engines import files
from microagg.errors import GuaranteeError, InputError
from microagg.releases.check.check import check_release

NUMERIC = {"role": "quasi_identifier", "kind": "numeric"}
PUBLIC = {"age": NUMERIC | {"bounds": [0, 99], "resolution": 1}, "wage": NUMERIC | {"bounds": [0, 100]}}
JOB = {"role": "quasi_identifier", "kind": "nominal", "categories": ["nurse", "smith", "clerk"]}
PRIVATE = {
    "dp_individual_ranking": Recipe(
        k=10,
        method="dp_individual_ranking",
        privacy={"epsilon": 1.0},
        attributes=PUBLIC | {"job": "identifier", "ill": "identifier"},
    ),
    "dp_ranked_graph": Recipe(
        method="dp_ranked_graph",
        privacy={"epsilon": 2.0},
        attributes=PUBLIC
        | {"job": JOB, "ill": {"role": "confidential", "kind": "nominal", "categories": ["yes", "no"]}},
    ),
}
RANKED = Recipe(
    k=5,
    method="individual_ranking",
    attributes={
        "age": NUMERIC,
        "wage": NUMERIC,
        "job": {"role": "quasi_identifier", "kind": "ordinal", "categories": ["nurse", "smith", "clerk"]},
        "ill": "confidential",
    },
    engine={"shard_records": 400},
)


def people(n: int = 1_500) -> pa.Table:
    rng = np.random.default_rng(1)
    return pa.table(
        {
            "age": rng.integers(20, 70, n),
            "wage": rng.lognormal(2, 0.6, n).clip(0, 100),
            "job": rng.choice(["nurse", "smith", "clerk"], n),
            "ill": rng.choice(["yes", "no"], n),
        }
    )


@pytest.fixture
def data(tmp_path, monkeypatch) -> Path:
    monkeypatch.setattr(files, "_RECORDS_OF_PIECE", 300)
    folder = tmp_path / "data"
    folder.mkdir()
    for number in range(3):
        pq.write_table(people().slice(500 * number, 500), folder / f"{number}.parquet", row_group_size=100)
    return folder


def hashes(folder: Path) -> list[str]:
    return [hashlib.sha256(path.read_bytes()).hexdigest() for path in sorted(folder.glob("table*"))]


def require_whole(folder: Path) -> None:
    assert not [finding.detail for finding in check_release(folder) if not finding.holds]


@pytest.mark.parametrize("method", list(PRIVATE))
def test_a_private_release_is_that_of_one_machine(tmp_path, data, method):
    recipe = PRIVATE[method]
    made = microagg.release_files(data, recipe, tmp_path / "parts", engine="outofcore", seed=4)
    local = microagg.release(people(), recipe, seed=4)
    assert pq.read_table(tmp_path / "parts" / "table.parquet").equals(local.table)
    assert made.statement == local.statement
    assert (made.n_cells, made.information_loss) == (0, None)
    require_whole(tmp_path / "parts")


def test_individual_ranking_publishes_what_one_machine_does(tmp_path, data):
    made = microagg.release_files(data, RANKED, tmp_path / "out", engine="outofcore", seed=4)
    local = microagg.release(people(), RANKED, seed=4)
    parts = sorted((tmp_path / "out").glob("table-*"))
    assert len(parts) == 4
    released = pa.concat_tables([pq.read_table(path) for path in parts])
    for name in ("age", "wage", "job"):
        assert sorted(released[name].to_pylist()) == sorted(local.table[name].to_pylist())
    assert made.information_loss == pytest.approx(local.information_loss)
    assert made.statement.recounts == local.statement.recounts
    require_whole(tmp_path / "out")


def test_layouts_change_nothing(tmp_path, data):
    one = tmp_path / "one.parquet"
    order = np.random.default_rng(9).permutation(1_500)
    pq.write_table(people().take(order), one)
    microagg.release_files(data, RANKED, tmp_path / "a", engine="outofcore", seed=4)
    microagg.release_files(one, RANKED, tmp_path / "b", engine="outofcore", seed=4)
    assert hashes(tmp_path / "a") == hashes(tmp_path / "b")
    recipe = PRIVATE["dp_ranked_graph"]
    microagg.release_files(data, recipe, tmp_path / "c", engine="outofcore", seed=4)
    microagg.release_files(one, recipe, tmp_path / "d", engine="outofcore", seed=4)
    assert hashes(tmp_path / "c") == hashes(tmp_path / "d")


def test_a_tampered_part_of_a_ranking_is_found(tmp_path, data):
    microagg.release_files(data, RANKED, tmp_path / "out", engine="outofcore")
    part = tmp_path / "out" / "table-00001.parquet"
    table = pq.read_table(part)
    changed = table["age"].to_pylist()
    changed[0] = 71
    pq.write_table(table.set_column(0, "age", [pa.array(changed, table["age"].type)]), part)
    found = {finding.name: finding.holds for finding in check_release(tmp_path / "out")}
    assert not found["k-anonymity (k = 5) on age"]


def test_a_ledger_of_one_file_is_kept_and_of_one_of_several_refused(tmp_path, data):
    one = tmp_path / "one.parquet"
    pq.write_table(people(), one)
    Account.start(one, cap=2.5)
    recipe = PRIVATE["dp_ranked_graph"]
    made = microagg.release_files(one, recipe, tmp_path / "out", engine="outofcore", state_total=True)
    assert Account.open(one).spent == 2.0
    assert made.statement.total is not None
    assert made.words
    require_whole(tmp_path / "out")
    with pytest.raises(GuaranteeError, match="above the cap"):
        microagg.release_files(one, recipe, tmp_path / "more", engine="outofcore")
    microagg.release_files(one, RANKED, tmp_path / "ranked", engine="outofcore")
    assert [entry.method for entry in Account.open(one).entries] == ["dp_ranked_graph", "individual_ranking"]
    Account.start(data / "0.parquet", cap=2.5)
    with pytest.raises(InputError, match="one of 3 files"):
        microagg.release_files(data, recipe, tmp_path / "more", engine="outofcore")
    assert not (tmp_path / "more").exists()
