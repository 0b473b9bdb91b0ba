"""Private releases from counts: with the same seed, what one machine publishes, for any pieces of the table."""

from __future__ import annotations

import datetime as dt

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import microagg
from counted_passes import LAYOUTS, PiecesInMemory
from microagg import GuaranteeError, InputError, Recipe
from microagg.engines.counts import private
from microagg.engines.counts.private import release_from_counts
from microagg.engines.counts.records import CountedRecords, PointsOf
from microagg.engines.rules import refuse_unsupported
from microagg.private.public_column import put_on_public_scale
from microagg.private.strict.records import Records
from microagg.private.strict.scales import Scale
from microagg.tables.frames import Column

METHODS = ("dp_individual_ranking", "dp_ranked_graph", "dp_ranked_copula")
NUMERIC = {"role": "quasi_identifier", "kind": "numeric"}
TREE = {
    "smith": "crafts",
    "baker": "crafts",
    "clerk": "office",
    "judge": "office",
    "crafts": "work",
    "office": "work",
}


def people(n: int = 900, seed: int = 0) -> pa.Table:
    rng = np.random.default_rng(seed)
    wage = rng.lognormal(7, 1, n)
    return pa.table(
        {
            "age": rng.integers(18, 95, n),
            "wage": wage,
            "debt": wage * rng.lognormal(0, 0.3, n),
            "born": pa.array(rng.integers(0, 9_000, n).astype(np.int32)).cast(pa.date32()),
            "came": pa.array(rng.integers(0, 10**15, n), pa.timestamp("us")),
            "wakes": pa.array(rng.integers(0, 86_400, n).astype(np.int32), pa.time32("s")),
            "text": [str(int(one)) for one in rng.integers(0, 50, n)],
            "school": rng.choice(["low", "middle", "high"], n),
            "job": rng.choice(["smith", "baker", "clerk", "judge"], n, p=[0.6, 0.3, 0.08, 0.02]),
            "town": pa.array(rng.choice(["a", "b", "c"], n)).dictionary_encode(),
        }
    )


ATTRIBUTES = {
    "age": NUMERIC | {"bounds": [0, 120], "resolution": 1},
    "wage": NUMERIC | {"bounds": [0, 100_000]},
    "debt": NUMERIC | {"bounds": [0, 100_000], "resolution": 0.5},
    "born": NUMERIC | {"bounds": [dt.date(1960, 1, 1), dt.date(2000, 1, 1)]},
    "came": NUMERIC | {"bounds": [dt.datetime(1969, 1, 1), dt.datetime(2010, 1, 1)]},
    "wakes": NUMERIC | {"bounds": [0, 86_400]},
    "text": NUMERIC | {"bounds": [0, 60], "resolution": 1},
    "school": {"role": "quasi_identifier", "kind": "ordinal", "categories": ["low", "middle", "high"]},
    "job": {"role": "quasi_identifier", "kind": "nominal", "taxonomy": TREE},
    "town": {"role": "quasi_identifier", "kind": "nominal", "categories": ["a", "b", "c", "d"]},
}
ORDERED = [name for name in ATTRIBUTES if name not in ("job", "town")]


def recipe(method: str, attributes: dict | None = None, **privacy) -> Recipe:
    chosen = ATTRIBUTES if attributes is None else attributes
    if method == "dp_ranked_copula":
        chosen = {name: one for name, one in chosen.items() if name not in ("job", "town")}
    k = {"k": 5} if method == "dp_individual_ranking" else {}
    return Recipe(**k, method=method, attributes=chosen, privacy={"epsilon": 4.0} | privacy)


def fitting(table: pa.Table, chosen: Recipe) -> pa.Table:
    return table.select([name for name in table.column_names if name in chosen.attributes])


def require_equal(table: pa.Table, chosen: Recipe, layout=(3, 97, 1), seed: int = 4) -> PiecesInMemory:
    local = microagg.release(table, chosen, seed=seed)
    passes = PiecesInMemory(table, *layout)
    drawn = release_from_counts(passes, chosen, seed=seed)
    assert drawn.table.equals(local.table)
    assert drawn.table.schema.equals(local.table.schema, check_metadata=True)
    assert drawn.statement.as_dict() == local.statement.as_dict()
    assert drawn.stages.as_list(chosen.entry, chosen.k) == list(local.manifest.stages)[1:]
    assert drawn.n_records == local.manifest.input["n_records"]
    return passes


def refusal_of(make) -> str:
    with pytest.raises(InputError) as caught:
        make()
    return f"{type(caught.value).__name__}: {caught.value}"


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("layout", LAYOUTS[1:3])
def test_a_release_is_that_of_one_machine_to_the_last_digit(method, layout):
    chosen = recipe(method)
    table = people(120 if layout[1] == 1 else 900)
    passes = require_equal(fitting(table, chosen), chosen, layout)
    assert passes.n_passes == {"dp_individual_ranking": 1, "dp_ranked_graph": 3, "dp_ranked_copula": 2}[method]


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("epsilon", [0.01, 0.3, 50.0])
def test_little_and_much_budget(method, epsilon):
    chosen = recipe(method, {name: ATTRIBUTES[name] for name in ("age", "wage", "debt", "job")}, epsilon=epsilon)
    require_equal(fitting(people(), chosen), chosen)


@pytest.mark.parametrize("method", METHODS)
def test_one_attribute(method):
    chosen = recipe(method, {"wage": ATTRIBUTES["wage"]})
    require_equal(fitting(people(), chosen), chosen)


@pytest.mark.parametrize("method", METHODS)
def test_bounds_from_data_and_clamping(method):
    table = people().select(["age", "wage"])
    rest = {"age": ATTRIBUTES["age"] | {"bounds": [30, 60]}, "wage": NUMERIC}
    chosen = recipe(method, rest, bounds="from_data", clamp=True)
    # Of a piece alone nothing could be read: all its records are zero.
    zeros = pa.concat_tables([table, pa.table({"age": [0] * 300, "wage": [0.0] * 300})])
    require_equal(zeros, chosen, (4, 300, None))


@pytest.mark.parametrize("monotone", ["interpolated", "steps", "off"])
def test_forms_of_ranking(monotone):
    chosen = recipe("dp_individual_ranking", {"wage": ATTRIBUTES["wage"], "job": ATTRIBUTES["job"]}, monotone=monotone)
    require_equal(fitting(people(), chosen), chosen)


def test_integers_beyond_floats_and_weights():
    rng = np.random.default_rng(0)
    table = pa.table({"x": rng.integers(2**60, 2**60 + 2_000, 500), "y": rng.integers(0, 9, 500)})
    attributes = {"x": NUMERIC | {"bounds": [2**60, 2**60 + 4_096]}, "y": NUMERIC | {"bounds": [0, 9], "resolution": 1}}
    for method in METHODS:
        require_equal(table, recipe(method, attributes, weights={"x": 0.75, "y": 0.25}))


@pytest.mark.parametrize("method", METHODS)
def test_refusals_are_those_of_one_machine(method):
    chosen = recipe(method)
    table = fitting(people(), chosen)
    wage = table["wage"].to_numpy()
    place = table.column_names.index

    def put(name: str, values) -> pa.Table:
        return table.set_column(place(name), name, values)

    changed = {
        "outside": put("wage", pa.array(wage * 100)),
        "missing": put("wage", pa.array(wage, mask=wage > 2_000)),
        "not a number": put("wage", pa.array(np.where(wage > 2_000, np.nan, wage))),
        "infinite": put("wage", pa.array(np.where(wage > 2_000, np.inf, wage))),
        "undeclared": put("school", pa.array(["low", "none"] * (table.num_rows // 2))),
        "not text": put("text", pa.array(["3", "many", "few"] * (table.num_rows // 3))),
        "dates": put("wage", table["born"]),
        "numbers": put("born", table["wage"]),
        "few": table.slice(0, 3),
        "a year": put("born", pa.array([2**31 - 9] * table.num_rows, pa.int32()).cast(pa.date32())),
    }
    if method == "dp_ranked_graph":
        changed["none of the tree"] = put("job", pa.array(["smith", "poet"] * (table.num_rows // 2)))
    for what, one in changed.items():
        if what == "few" and method != "dp_individual_ranking":
            continue
        paid = []
        in_parts = {
            refusal_of(
                lambda one=one, layout=layout, paid=paid: release_from_counts(
                    PiecesInMemory(one, *layout), chosen, seed=1, before_noise=lambda: paid.append(1)
                )
            )
            for layout in LAYOUTS[:2]
        }
        assert in_parts == {refusal_of(lambda one=one: microagg.release(one, chosen, seed=1))}
        assert not paid


@pytest.mark.parametrize("method", METHODS)
def test_noise_is_paid_for_before_it_is_drawn(method, monkeypatch):
    chosen = recipe(method, {"wage": ATTRIBUTES["wage"], "age": ATTRIBUTES["age"]})
    happened = []
    plain = private.noise_from

    class Told:
        def __init__(self, noise) -> None:
            self._noise = noise

        def __getattr__(self, name: str):
            def draw(*values, **how):
                happened.append(name)
                return getattr(self._noise, name)(*values, **how)

            return draw

    monkeypatch.setattr(private, "noise_from", lambda seed: Told(plain(seed)))
    table = fitting(people(), chosen)
    release_from_counts(PiecesInMemory(table), chosen, seed=0, before_noise=lambda: happened.append("paid"))
    assert happened[0] == "paid"
    assert {"laplace", "laplace_source"} & set(happened)

    def refuse() -> None:
        raise GuaranteeError("no room below the cap")

    happened.clear()
    with pytest.raises(GuaranteeError, match="no room"):
        release_from_counts(PiecesInMemory(table), chosen, seed=0, before_noise=refuse)
    assert not {"laplace", "laplace_source", "max_norm", "histograms", "noisy_max"} & set(happened)


def test_without_a_seed_noise_is_real():
    chosen = recipe("dp_ranked_graph", {name: ATTRIBUTES[name] for name in ("age", "school", "town")})
    table = fitting(people(), chosen)
    one, two = (release_from_counts(PiecesInMemory(table, 2), chosen) for _ in range(2))
    assert one.statement.for_publication
    assert not one.table.equals(two.table)


def test_files_that_change_between_passes_are_refused():
    chosen = recipe("dp_ranked_graph")

    class Shrinking(PiecesInMemory):
        def gather(self, task):
            yield from super().gather(task)
            self.pieces = self.pieces[:2]

    with pytest.raises(InputError, match="files changed"):
        release_from_counts(Shrinking(people(), 5), chosen, seed=0)


def test_methods_that_need_more_than_counts_are_refused():
    attributes = {"wage": ATTRIBUTES["wage"], "age": ATTRIBUTES["age"]}
    for method in METHODS:
        refuse_unsupported(recipe(method))
    refused = {
        "'aligned'": recipe("dp_individual_ranking", attributes, form="aligned"),
        "'dp_laplace'": Recipe(method="dp_laplace", attributes=attributes, privacy={"epsilon": 1.0}),
        "'dp_insensitive_mdav'": Recipe(
            k=5, method="dp_insensitive_mdav", attributes=attributes, privacy={"epsilon": 1.0}
        ),
        "'dp_moments'": Recipe(k=5, method="dp_moments", attributes=attributes, privacy={"epsilon": 1.0}),
    }
    for words, chosen in refused.items():
        with pytest.raises(InputError, match=words):
            refuse_unsupported(chosen)


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 2**32), st.integers(1, 200), st.sampled_from(LAYOUTS))
def test_counted_records_answer_as_records_do(seed, n, layout):
    rng = np.random.default_rng(seed)
    table = people(n, seed % 1_000)
    names = list(rng.choice(list(ATTRIBUTES), size=4, replace=False))
    declared = recipe("dp_ranked_graph").attributes
    columns = [put_on_public_scale(Column(one, table[one].combine_chunks()), declared[one]) for one in names]
    scales = [Scale.of(column) for column in columns]
    records = Records([scale.points_of(column.values) for scale, column in zip(scales, columns, strict=True)])
    frequencies = [np.unique(column.values, return_counts=True) for column in columns]
    points_of = PointsOf(tuple(columns), tuple(scales), ("",) * 4)
    counted = CountedRecords(PiecesInMemory(table.select(names), *layout), points_of, frequencies)
    edges, groups = [], []
    for place, scale in enumerate(scales):
        cuts = np.unique([0, *rng.integers(0, scale.size, 6), scale.size])
        assert counted.count_runs(place, cuts).tolist() == records.count_runs(place, cuts).tolist()
        if scale.size < 1_000:
            assert counted.count_points(place, scale.size).tolist() == records.count_points(place, scale.size).tolist()
        edges.append(cuts[:-1])
        groups.append(np.unique(rng.integers(0, 4, len(cuts) - 1), return_inverse=True)[1])
    middle = [scale.size // 2 for scale in scales]
    assert counted.count_same_sides(range(4), middle).tolist() == records.count_same_sides(range(4), middle).tolist()
    for one in (counted, records):
        one.group(edges, groups)
    for first, second in ((0, 1), (2, 3), (0, 3)):
        shape = int(groups[first].max()) + 1, int(groups[second].max()) + 1
        asked = (first, second, shape)
        assert counted.count_table(*asked).tolist() == records.count_table(*asked).tolist()
