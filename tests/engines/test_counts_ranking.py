"""Individual ranking from counts: what is published is what one machine publishes, for any pieces of the table."""

from __future__ import annotations

import decimal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as pacsv
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import microagg
from counted_passes import LAYOUTS, PiecesInMemory, columns_of, parts_of, rows_of
from microagg import InputError, Recipe
from microagg.engines.counts.ranking import count_ranked_parts, plan_ranking, state_ranking
from microagg.engines.counts.rules import find_unsupported_counts
from microagg.engines.counts.runs import Runs
from microagg.engines.counts.ties import numbers_of_rows
from microagg.engines.files import FileSource
from microagg.engines.rules import refuse_unsupported
from microagg.engines.shards import key_of
from microagg.partition.runs import run_sizes

SECRET = b"a secret of this many bytes, 32."
NUMERIC = {"role": "quasi_identifier", "kind": "numeric"}
ORDINAL = {"role": "quasi_identifier", "kind": "ordinal"}


def recipe(attributes: dict, k: int = 5, **more) -> Recipe:
    return Recipe(**{"k": k, "method": "individual_ranking", "attributes": attributes} | more)


def people(n: int = 1_500, seed: int = 0) -> pa.Table:
    rng = np.random.default_rng(seed)
    return pa.table(
        {
            "age": rng.integers(18, 60, n),
            "wage": rng.lognormal(7, 1, n),
            "id": pa.array(rng.integers(0, 60, n) * 3 + 2**60 + 1),
            "born": pa.array(rng.integers(0, 200, n).astype(np.int32)).cast(pa.date32()),
            "school": rng.choice(["low", "middle", "high"], n, p=[0.2, 0.5, 0.3]),
            "sick": rng.random(n) < 0.3,
            "note": rng.choice(["a", "b", "c"], n),
        }
    )


def of_people(**more) -> Recipe:
    attributes = {
        "age": NUMERIC,
        "wage": NUMERIC,
        "id": NUMERIC,
        "born": NUMERIC,
        "school": ORDINAL | {"categories": ["low", "middle", "high"]},
        "sick": "confidential",
        "note": "non_confidential",
    }
    return recipe(attributes, **more)


def released(table: pa.Table, chosen: Recipe, layout=(3, 97, 1), **how) -> pa.Table:
    passes = PiecesInMemory(table, *layout)
    parts = parts_of(passes, plan_ranking(passes, chosen, SECRET, **how))
    return pa.concat_tables(parts, promote_options="permissive").unify_dictionaries()


def in_order_of_numbers(table: pa.Table) -> pa.Table:
    return table.take(np.argsort(numbers_of_rows(table, key_of(SECRET, "ties")), kind="stable"))


def require_equal(table: pa.Table, chosen: Recipe, layout=(3, 97, 1)) -> None:
    made = released(table, chosen, layout)
    local = microagg.release(table, chosen, seed=0).table
    assert columns_of(made) == columns_of(local)
    assert made.schema.names == local.schema.names
    assert rows_of(made) == rows_of(microagg.release(in_order_of_numbers(table), chosen, seed=0).table)


def refusal_of(make) -> str:
    with pytest.raises(InputError) as caught:
        make()
    return f"{type(caught.value).__name__}: {caught.value}"


def require_same_refusal(table: pa.Table, chosen: Recipe) -> str:
    in_parts = {refusal_of(lambda one=one: released(table, chosen, one)) for one in LAYOUTS[:2]}
    assert in_parts == {refusal_of(lambda: microagg.release(table, chosen, seed=0))}
    return in_parts.pop()


@pytest.mark.parametrize("layout", LAYOUTS)
def test_every_column_is_that_of_one_machine_to_the_last_digit(layout):
    require_equal(people(300 if layout[1] == 1 else 1_500), of_people(), layout)


def test_parts_are_the_same_for_any_pieces():
    table = people()
    parts = []
    for layout in LAYOUTS[:3]:
        passes = PiecesInMemory(table, *layout)
        parts.append(parts_of(passes, plan_ranking(passes, of_people(), SECRET)))
    for other in parts[1:]:
        assert all(one.equals(two) for one, two in zip(parts[0], other, strict=True))


def test_types_stay_and_chance_orders_the_rows():
    table = people()
    made = released(table, of_people())
    assert made.schema.types == table.schema.types
    assert made["sick"].to_pylist() != table["sick"].to_pylist()


@pytest.mark.parametrize("larger", ["first", "middle", "last"])
@pytest.mark.parametrize("representative", ["mean", "median"])
@pytest.mark.parametrize("k", [2, 7, 400])
def test_options(larger, representative, k):
    attributes = {
        "age": NUMERIC | {"representative": representative},
        "wage": NUMERIC | {"representative": representative, "resolution": 0.25, "weight": 3.0},
        "school": ORDINAL | {"categories": ["low", "middle", "high"], "representative": representative},
        "sick": "confidential",
    }
    table = people(1_003).select(list(attributes))
    require_equal(table, recipe(attributes, k, partition={"larger": larger}))


@pytest.mark.parametrize("standardize", ["none", "minmax", "bounds"])
def test_spaces(standardize):
    attributes = {"age": NUMERIC | {"bounds": [0, 100]}, "wage": NUMERIC | {"bounds": [0, 1e6]}}
    require_equal(people().select(["age", "wage"]), recipe(attributes, space={"standardize": standardize}))


def test_counting_a_few_attributes_in_each_pass_changes_nothing():
    table = people()
    passes = PiecesInMemory(table, 3, 97)
    ranking = plan_ranking(passes, of_people(), SECRET, at_once=2)
    assert passes.n_passes == 4  # three to count five attributes, one for the borders
    made = pa.concat_tables(parts_of(passes, ranking), promote_options="permissive")
    assert columns_of(made) == columns_of(released(table, of_people()))


def test_a_table_without_ties_needs_one_pass_and_has_the_rows_of_one_machine():
    rng = np.random.default_rng(0)
    table = pa.table({"x": rng.normal(size=400), "y": rng.normal(size=400), "s": rng.integers(0, 3, 400)})
    chosen = recipe({"x": NUMERIC, "y": NUMERIC, "s": "confidential"}, k=3)
    passes = PiecesInMemory(table, 4, 31, 1)
    made = pa.concat_tables(parts_of(passes, plan_ranking(passes, chosen, SECRET)))
    assert passes.n_passes == 1
    assert rows_of(made) == rows_of(microagg.release(table, chosen, seed=1).table)


def test_records_that_are_alike_in_all_columns():
    table = pa.table({"x": [1] * 7 + [2] * 8 + [9] * 11})
    for layout in LAYOUTS:
        require_equal(table, recipe({"x": NUMERIC | {"resolution": 0.001}}, k=4), layout)
    floats = pa.table({"x": np.repeat([1.0, 2.0, 9.0], [7, 8, 11]), "y": np.repeat([1.0, 5.0], 13)})
    require_equal(floats, recipe({"x": NUMERIC, "y": NUMERIC}, k=4))


def test_constants_and_tables_of_one_run():
    table = pa.table({"x": [3.5] * 9, "y": np.arange(9.0)})
    require_equal(table, recipe({"x": NUMERIC, "y": NUMERIC}, k=5))


def test_types_of_columns():
    rng = np.random.default_rng(5)
    n = 240
    seconds = rng.integers(0, 20_000, n)
    cents = [decimal.Decimal(int(one)).scaleb(-2) for one in rng.integers(-500, 500, n)]
    table = pa.table(
        {
            "small": pa.array(rng.normal(size=n).astype(np.float32)),
            "cents": pa.array(cents, pa.decimal128(9, 2)),
            "at": pa.array(seconds * 60 + 10**9, pa.timestamp("s")),
            "fine": pa.array(seconds * 1_000_003, pa.timestamp("ns", "Europe/Paris")),
            "time": pa.array(seconds.astype(np.int32), pa.time32("s")),
            "day": pa.array(rng.integers(0, 99, n).astype(np.int64) * 86_400_000, pa.int64()).cast(pa.date64()),
            "unsigned": pa.array(rng.integers(0, 50, n), pa.uint64()),
            "coded": pa.array(rng.integers(0, 50, n)).dictionary_encode(),
            "grade": pa.array(rng.choice([1, 2, 5], n), pa.int8()),
            "wide": pa.array(rng.choice([-(2**61), 0, 2**61 - 1], n)),
            "zero": pa.array(rng.choice([0.0, -0.0, 1.0], n)),
        }
    )
    attributes = dict.fromkeys(table.column_names, NUMERIC) | {"grade": ORDINAL}
    require_equal(table, recipe(attributes, k=7))
    made = released(table, recipe(attributes, k=7))
    assert made.schema.types == microagg.release(table, recipe(attributes, k=7), seed=0).table.schema.types


def test_ordered_dictionaries():
    rng = np.random.default_rng(2)
    codes = rng.integers(0, 4, 300)
    kinds = pa.DictionaryArray.from_arrays(pa.array(codes, pa.int8()), ["d", "a", "c", "b", "unused"], ordered=True)
    table = pa.table({"x": kinds, "y": rng.normal(size=300)})
    chosen = recipe({"x": ORDINAL, "y": NUMERIC}, k=7)
    require_equal(table, chosen)
    made = released(table, chosen)
    local = microagg.release(table, chosen, seed=0).table
    assert made["x"].type == local["x"].type
    other = pa.DictionaryArray.from_arrays(pa.array(codes, pa.int8()), ["a", "b", "c", "d", "unused"], ordered=True)
    passes = PiecesInMemory(table)
    passes.pieces.append([pa.table({"x": other, "y": rng.normal(size=300)})])
    declared = recipe({"x": ORDINAL | {"categories": ["a", "b", "c", "d"]}, "y": NUMERIC}, k=7)
    for one in (chosen, declared):  # the type that is published has an order, too
        with pytest.raises(InputError, match="not the same in all files"):
            plan_ranking(passes, one, SECRET)


def with_missing(n: int = 600, share: float = 0.2) -> pa.Table:
    rng = np.random.default_rng(1)
    gone = rng.random((3, n)) < share
    return pa.table(
        {
            "a": pa.array(rng.integers(0, 30, n), mask=gone[0]),
            "b": np.where(gone[1], np.nan, rng.normal(size=n)),
            "c": pa.array(rng.integers(0, 5, n), mask=gone[2]),
            "s": rng.choice(["x", "y"], n),
        }
    )


OF_MISSING = {"a": NUMERIC, "b": NUMERIC, "c": ORDINAL, "s": "confidential"}


@pytest.mark.parametrize("policy", ["own_cell", "suppress"])
@pytest.mark.parametrize("layout", LAYOUTS[:3])
def test_missing_values(policy, layout):
    require_equal(with_missing(), recipe(OF_MISSING, missing={"policy": policy}), layout)


def test_few_missing_values_are_merged_or_refused():
    table = with_missing(share=0.004)
    assert 0 < table["a"].null_count < 5
    merged = recipe(OF_MISSING, missing={"policy": "own_cell", "small": "merge_small"})
    require_equal(table, merged)
    message = require_same_refusal(table, recipe(OF_MISSING, missing={"policy": "own_cell", "small": "refuse"}))
    assert "patterns of missing values" in message


def test_strata():
    rng = np.random.default_rng(3)
    n = 900
    attributes = {"region": ORDINAL, "x": NUMERIC, "y": NUMERIC, "s": "confidential"}
    gone = rng.random(n) < 0.1
    table = pa.table(
        {
            "region": rng.choice([1, 2, 7, 9], n, p=[0.5, 0.3, 0.15, 0.05]),
            "x": rng.integers(0, 40, n),
            "y": pa.array(rng.normal(size=n), mask=gone),
            "s": rng.choice(["x", "y"], n),
        }
    )
    chosen = recipe(attributes, strata={"by": ["region"]}, missing={"policy": "own_cell", "small": "merge_small"})
    require_equal(table, chosen)
    more = pa.concat_tables([table, table.slice(0, 3).set_column(0, "region", pa.array([4, 4, 5]))])
    require_same_refusal(more, recipe(attributes, strata={"by": ["region"]}, missing={"policy": "suppress"}))
    pooled = recipe(
        attributes,
        strata={"by": ["region"], "small": "merge_small"},
        missing={"policy": "own_cell", "small": "merge_small"},
    )
    require_equal(more, pooled)


@pytest.mark.parametrize("layout", LAYOUTS[:3])
def test_the_statement_is_that_of_one_machine(tmp_path, layout):
    table = pa.concat_tables([people(), people(2)])
    made = []
    chosen = of_people(missing={"policy": "suppress"})
    table = table.set_column(0, "age", pa.array(table["age"].to_numpy(), mask=np.arange(table.num_rows) % 50 == 3))
    local = microagg.release(in_order_of_numbers(table), chosen, seed=0)
    passes = PiecesInMemory(table, *layout)
    ranking = plan_ranking(passes, chosen, SECRET)
    for number, part in enumerate(parts_of(passes, ranking)):
        made.append(tmp_path / f"{number}.parquet")
        pq.write_table(part, made[-1])
    statement = state_ranking(ranking, count_ranked_parts(made, ranking), 0)
    assert statement.as_dict() == local.statement.as_dict()
    assert ranking.stages.as_list(chosen.entry, chosen.k) == list(local.manifest.stages)[1:]
    assert ranking.information_loss == pytest.approx(local.information_loss)


def test_refusals_are_those_of_one_machine():
    table = people()
    wage = table["wage"].to_numpy()
    bad = {
        "outside": (table, of_people().attributes["age"].model_dump(exclude_none=True) | {"bounds": [18, 30]}, "age"),
        "infinite": (table.set_column(1, "wage", pa.array(np.where(wage > 5_000, np.inf, wage))), NUMERIC, "wage"),
        "huge": (table.set_column(1, "wage", pa.array(np.where(wage > 5_000, 1e301, wage))), NUMERIC, "wage"),
        "text": (table.set_column(1, "wage", pa.array([f"about {one}" for one in wage])), NUMERIC, "wage"),
        "truth": (table.set_column(1, "wage", pa.array(wage > 5)), NUMERIC, "wage"),
        "undeclared": (table, ORDINAL | {"categories": ["low", "high"]}, "school"),
        "no order": (table, ORDINAL, "school"),
        "years": (
            table.set_column(3, "born", pa.array([2**31 - 9] * table.num_rows, pa.int32()).cast(pa.date32())),
            NUMERIC,
            "born",
        ),
        "span": (table.set_column(2, "id", pa.array([-(2**63) + 1, 2**63 - 1] * 750)), NUMERIC, "id"),
        "lists": (table.set_column(1, "wage", pa.array([[one] for one in wage])), NUMERIC, "wage"),
    }
    messages = set()
    for changed, declared, name in bad.values():
        attributes = {
            one: attribute.model_dump(exclude_none=True) for one, attribute in of_people().attributes.items()
        } | {name: declared}
        messages.add(require_same_refusal(changed, recipe(attributes)))
    assert len(messages) == len(bad)
    require_same_refusal(table.slice(0, 4), of_people())
    require_same_refusal(with_missing(), recipe(OF_MISSING))
    require_same_refusal(with_missing(share=0.95), recipe(OF_MISSING, missing={"policy": "suppress"}))
    with pytest.raises(InputError, match="the table has 0"):
        plan_ranking(PiecesInMemory(table.slice(0, 0), 1), of_people(), SECRET)


def test_columns_of_several_types_are_refused():
    passes = PiecesInMemory(pa.table({"x": [1, 2, 3]}))
    passes.pieces.append([pa.table({"x": [1.0, 2.0]})])
    with pytest.raises(InputError, match="not of the same type in all parts of the table, but double and int64"):
        plan_ranking(passes, recipe({"x": NUMERIC}, k=2), SECRET)


def test_files_that_change_between_passes_are_refused():
    chosen, table = of_people(), people()
    ranking = plan_ranking(PiecesInMemory(table), chosen, SECRET)
    younger = table.set_column(0, "age", pa.array([3] * table.num_rows))
    with pytest.raises(InputError, match="files changed"):
        ranking.release_part(younger, 0)

    class Shrinking(PiecesInMemory):
        def gather(self, task):
            yield from super().gather(task)
            self.pieces = self.pieces[:1]

    with pytest.raises(InputError, match="files changed"):
        plan_ranking(Shrinking(table, 5, 50), chosen, SECRET)


def test_recipes_that_need_more_than_counts_are_refused():
    plain = {"x": NUMERIC, "s": "confidential"}
    refused = {
        "medoids": {"attributes": {"x": NUMERIC | {"representative": "medoid"}}},
        "cut = 'optimal'": {"partition": {"cut": "optimal"}},
        "'impute'": {"missing": {"policy": "impute"}},
        "'kept'": {"output": {"order": "kept"}},
        "'sampled'": {"aggregate": {"form": "sampled"}},
        "sampling weights": {"attributes": {"x": NUMERIC, "w": "non_confidential"}, "sampling_weight": "w"},
    }
    assert find_unsupported_counts(recipe(plain)) == ""
    for words, more in refused.items():
        with pytest.raises(InputError, match=words):
            refuse_unsupported(recipe(**{"attributes": plain} | more))


@given(st.integers(2, 9), st.integers(0, 60), st.sampled_from(["first", "middle", "last"]))
def test_runs_without_a_list_are_those_with_one(k, more, larger):
    sizes = run_sizes(k + more, k, larger)
    runs = Runs(k + more, k, larger)
    assert runs.n_runs == len(sizes)
    assert runs.largest == sizes.max()
    assert runs.run_of(np.arange(k + more)).tolist() == np.repeat(np.arange(len(sizes)), sizes).tolist()
    assert runs.start_of(np.arange(len(sizes) + 1)).tolist() == [0, *np.cumsum(sizes).tolist()]


def small_table(seed: int) -> pa.Table:
    """Few records of several types, with ties, values that only standardising makes equal, and missing ones."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(6, 60))
    kinds = {
        "few": lambda: pa.array(rng.integers(-3, 3, n)),
        "floats": lambda: pa.array(rng.choice([0.1, 0.2, 0.1 + 0.2, 0.3, -0.0, 1e-20, -2e-20, 700.0], n)),
        "normal": lambda: pa.array(rng.normal(size=n)),
        "dates": lambda: pa.array(rng.integers(0, 40, n).astype(np.int32)).cast(pa.date32()),
        "large": lambda: pa.array(2**62 - 2 - rng.integers(0, 5, n)),
    }
    columns = {}
    for name in "xyz":
        values = kinds[rng.choice(list(kinds))]()
        lacking = rng.random(n) < rng.choice([0.0, 0.05, 0.3])
        columns[name] = pc.if_else(pa.array(lacking), pa.scalar(None, values.type), values)
    return pa.table(columns | {"s": rng.choice(["a", "b"], n)})


@settings(max_examples=60, deadline=None)
@given(
    st.integers(0, 2**32),
    st.integers(2, 5),
    st.sampled_from(["suppress", "own_cell", "error"]),
    st.sampled_from(LAYOUTS),
    st.sampled_from(["first", "middle", "last"]),
)
def test_any_small_table(seed, k, policy, layout, larger):
    table = small_table(seed)
    attributes = dict.fromkeys("xyz", NUMERIC) | {"s": "confidential"}
    small = {"small": "refuse"} if policy == "own_cell" else {}
    chosen = recipe(attributes, k, missing={"policy": policy} | small, partition={"larger": larger})
    refused = ""
    try:
        microagg.release(table, chosen, seed=0)
    except InputError as error:
        refused = f"{type(error).__name__}: {error}"
    if refused:
        assert refusal_of(lambda: released(table, chosen, layout)) == refused
    else:
        require_equal(table, chosen, layout)


class Files:
    """Passes over files as the engine reads them, one piece each."""

    def __init__(self, sources: list[FileSource]) -> None:
        self.sources = sources

    def gather(self, task):
        return (task(source.batches()) for source in self.sources)


@pytest.mark.parametrize("kind", ["parquet", "csv"])
def test_files(tmp_path, kind):
    table = people().select(["age", "wage", "school", "sick"])
    school = ORDINAL | {"categories": ["low", "middle", "high"]}
    chosen = recipe({"age": NUMERIC, "wage": NUMERIC, "school": school, "sick": "confidential"})
    whole = tmp_path / f"whole.{kind}"
    paths = []
    write = pq.write_table if kind == "parquet" else pacsv.write_csv
    write(table, whole)
    for number in range(3):
        paths.append(tmp_path / f"{number}.{kind}")
        write(table.slice(500 * number, 500), paths[-1])
    ranking = plan_ranking(Files([FileSource.open(path, chosen, 333) for path in paths]), chosen, SECRET)
    batches = [batch for path in paths for batch in FileSource.open(path, chosen, 333).batches()]
    made = ranking.release_part(pa.concat_tables(batches), 0)
    local = pa.table(microagg.release(microagg.read_table(whole, chosen), chosen, seed=0).table)
    protected = ["age", "wage", "school"]
    assert columns_of(made.select(protected)) == columns_of(local.select(protected))
