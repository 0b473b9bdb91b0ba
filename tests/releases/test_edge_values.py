"""Values at the edge of what a type or a float can hold: released right, or refused in a sentence."""

from __future__ import annotations

import datetime as dt
from decimal import Decimal

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import microagg
from declarations import nominal, numeric
from microagg import Recipe
from microagg.errors import TableError
from microagg.releases.check.check import check_release, check_table
from microagg.schema.encode import encode
from microagg.space.mixed import mixed_space
from microagg.tables.frames import Frame

RNG = np.random.default_rng(8)
LATE = pa.array(86_399 - RNG.integers(0, 400, 60), pa.int32()).cast(pa.time32("s"))
NUMBERS = RNG.normal(size=(60, 2))


def released(table, seed=1, **recipe):
    recipe = {"k": 4, "attributes": {name: numeric() for name in table.column_names}} | recipe
    return microagg.release(table, Recipe(**recipe), seed=seed)


# Times and dates


@pytest.mark.parametrize("kind", [pa.time32("s"), pa.time32("ms"), pa.time64("us"), pa.time64("ns")], ids=str)
@pytest.mark.parametrize("moments", [1, 2])
def test_drawn_times_are_times_of_a_day(kind, moments, tmp_path):
    early = pa.array(np.arange(60) % 7, pa.int32()).cast(pa.time32("s")).cast(kind)
    table = pa.table({"late": LATE.cast(kind), "early": early})
    made = released(table, aggregate={"form": "sampled", "moments": moments})
    whole = pa.int32() if pa.types.is_time32(kind) else pa.int64()
    for name in table.column_names:
        numbers = made.table[name].cast(whole).to_numpy()
        assert numbers.min() >= 0
        assert numbers.max() < 86_400 * {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}[kind.unit]
    made.save(tmp_path / "out", format="csv")
    assert all(finding.holds for finding in check_release(tmp_path / "out"))


@pytest.mark.parametrize(
    ("kind", "values"),
    [
        (pa.date32(), 2_932_896 - RNG.integers(0, 300, 60)),
        (pa.date32(), -719_162 + RNG.integers(0, 300, 60)),
        (pa.timestamp("s"), 253_402_300_799 - RNG.integers(0, 10**6, 60)),
        (pa.timestamp("ns"), 2**63 - 1 - RNG.integers(0, 10**15, 60)),
    ],
    ids=str,
)
def test_drawn_dates_are_of_years_that_programs_know(kind, values, tmp_path):
    narrow = pa.int32() if pa.types.is_date32(kind) else pa.int64()
    table = pa.table({"when": pa.array(values).cast(narrow).cast(kind), "x": NUMBERS[:, 0]})
    made = released(table, aggregate={"form": "sampled"})
    for file_format in ("parquet", "csv", "dta"):
        made.save(tmp_path / file_format, format=file_format)
        assert all(finding.holds for finding in check_release(tmp_path / file_format))


def test_a_file_with_times_that_do_not_exist_fails_its_check(tmp_path):
    (tmp_path / "t.csv").write_text('"t","u"\n' + "<value out of range: 86423>,1\n" * 4)
    recipe = Recipe(k=2, attributes={"t": numeric(), "u": numeric()})
    broken = [finding for finding in check_table(tmp_path / "t.csv", recipe) if not finding.holds]
    assert [finding.name for finding in broken] == ["values"]
    assert "4 times or dates do not exist, in column 't'" in broken[0].detail


def test_a_typed_file_with_times_that_do_not_exist_is_not_read(tmp_path):
    pq.write_table(pa.table({"t": pa.array([86_423] * 4, pa.int32()).cast(pa.time32("s"))}), tmp_path / "t.parquet")
    with pytest.raises(TableError, match="damaged"):
        check_table(tmp_path / "t.parquet", Recipe(k=2, attributes={"t": numeric()}))


def test_a_table_with_times_that_do_not_exist_is_refused():
    times = pa.array([86_423] * 8, pa.int32()).cast(pa.time32("s"))
    with pytest.raises(TableError, match="8 times or dates do not exist, in column 't'"):
        released(pa.table({"t": times}))


@pytest.mark.parametrize("file_format", ["csv", "csv.gz", "tsv", "parquet", "feather", "sav", "dta"])
@pytest.mark.parametrize("kind", [pa.time32("s"), pa.time64("us")], ids=str)
@pytest.mark.parametrize("method", ["dp_laplace", "dp_individual_ranking", "dp_insensitive_mdav", "dp_moments"])
def test_private_times_are_written_to_every_format(method, kind, file_format, tmp_path):
    day = numeric(bounds=[0, 86_400])
    table = pa.table({"t": LATE.cast(kind), "x": np.clip(NUMBERS[:, 0], -3, 3)})
    cells = {} if method == "dp_laplace" else {"k": 4}
    attributes = {"t": day, "x": numeric(bounds=[-3, 3])}
    made = microagg.release(table, Recipe(method=method, privacy={"epsilon": 1.0}, attributes=attributes, **cells))
    made.save(tmp_path / "out", format=file_format)
    assert all(finding.holds for finding in check_release(tmp_path / "out"))


# Huge and tiny numbers


@pytest.mark.parametrize("scale", [1e160, 9e298, 1e-300, 5e-322])
@pytest.mark.parametrize("how", ["none", "zscore", "minmax"])
@pytest.mark.parametrize("method", ["mdav", "vmdav", "near_optimal", "pcp", "zscores", "individual_ranking", "mic1d"])
def test_numbers_of_any_size_are_released(method, how, scale):
    table = pa.table({"a": NUMBERS[:, 0] * scale, "b": NUMBERS[:, 1] * scale})
    made = released(table, method=method, space={"standardize": how})
    assert 0 <= made.information_loss < 100
    for name in () if method == "mic1d" else table.column_names:
        before, after = table[name].to_numpy(), made.table[name].to_numpy()
        assert before.min() <= after.min() <= after.max() <= before.max()
        assert len(np.unique(after)) > 5


@pytest.mark.parametrize("scale", [1e160, 1e299, 1e-300])
@pytest.mark.parametrize("aggregate", [{"form": "sampled"}, {"form": "sampled", "moments": 2}, {"numeric": "medoid"}])
def test_draws_and_medoids_scale_with_the_numbers(aggregate, scale):
    table = pa.table({"a": NUMBERS[:, 0] * scale, "b": NUMBERS[:, 1]})
    drawn = released(table, aggregate=aggregate).table
    assert 0.7 < (drawn["a"].to_numpy() / scale).std() / NUMBERS[:, 0].std() < 1.3
    assert 0.7 < drawn["b"].to_numpy().std() / NUMBERS[:, 1].std() < 1.3


def test_large_units_do_not_drown_small_ones_in_draws():
    """A covariance of 1e18 beside one of 1e-18: rounding errors of the one are larger than the other."""
    both = NUMBERS[:, 0] + 0.1 * NUMBERS[:, 1]
    table = pa.table({"large": NUMBERS[:, 0] * 1e9, "small": both * 1e-9, "tiny": NUMBERS[:, 1] * 1e-30})
    drawn = released(table, k=20, aggregate={"form": "sampled"}).table
    for name in table.column_names:
        assert drawn[name].to_numpy().std() == pytest.approx(table[name].to_numpy().std(), rel=0.35)


def test_guides_of_another_size_are_refused_in_a_sentence():
    table = pa.table({"a": NUMBERS[:, 0] * 1e200, "y": NUMBERS[:, 1]})
    attributes = {"a": numeric(), "y": {"role": "confidential", "kind": "numeric"}}
    space = {"standardize": "none", "dependence": {"lambda": 0.5}}
    with pytest.raises(TableError, match='standardize = "zscore"'):
        released(table, attributes=attributes, space=space)


@pytest.mark.parametrize("guide", [{"discriminant": {"target": "y", "alpha": 2.0}}, {"prediction": {"target": "y"}}])
def test_targets_of_any_size_guide_the_cells(guide):
    labels = []
    for scale in (1.0, 2.0**900):
        table = pa.table({"a": NUMBERS[:, 0], "b": NUMBERS[:, 1] ** 2, "y": NUMBERS[:, 1] * scale})
        attributes = {"a": numeric(), "b": numeric(), "y": {"role": "confidential", "kind": "numeric"}}
        labels.append(released(table, attributes=attributes, space=guide).partition)
    np.testing.assert_array_equal(*labels)


# Whole numbers and decimals at the ends of their types


@pytest.mark.parametrize("kind", [pa.int8(), pa.int16(), pa.int32(), pa.int64(), pa.uint8(), pa.uint32()], ids=str)
@pytest.mark.parametrize("end", ["min", "max"])
def test_draws_of_integers_stay_within_their_type(kind, end):
    limit = int(getattr(np.iinfo(kind.to_pandas_dtype()), end))
    inwards = 1 if end == "min" else -1
    values = pa.array([limit + inwards * int(step) for step in RNG.integers(0, 100, 60)], kind)
    drawn = released(pa.table({"n": values}), aggregate={"form": "sampled"}).table["n"]
    assert drawn.type == kind
    assert max(abs(value - limit) for value in drawn.to_pylist()) < 1000


@pytest.mark.parametrize("form", ["representative", "sampled"])
def test_decimals_stay_within_their_digits(form):
    values = pa.array([Decimal("99.99") - Decimal(int(step)) / 100 for step in RNG.integers(0, 50, 60)])
    table = pa.table({"price": values.cast(pa.decimal128(4, 2))})
    published = released(table, aggregate={"form": form}).table["price"]
    assert published.type == pa.decimal128(4, 2)
    assert max(published.to_pylist()) <= Decimal("99.99")


def test_single_floats_stay_finite():
    values = pa.array(np.clip(np.abs(NUMBERS[:, 0]) * 3e38, 0, 3.4e38).astype(np.float32))
    drawn = released(pa.table({"x": values}), aggregate={"form": "sampled"}).table["x"].to_numpy()
    assert np.isfinite(drawn).all()


def test_dates_keep_their_day_when_records_are_left_out():
    """The earliest date is counted from; it may be that of a record that is suppressed."""
    days = [dt.date(1900, 1, 1)] + [dt.date(2020, 1, 1)] * 9
    table = pa.table({"day": days, "x": pa.array([None, *range(9)], pa.float64())})
    made = released(table, k=3, missing={"policy": "suppress"})
    assert set(made.table["day"].to_pylist()) == {dt.date(2020, 1, 1)}


# A space that no record shapes


@pytest.mark.parametrize(
    ("bounds", "values", "others"),
    [
        ([0.0, 1.0], [0.25, 0.5], [5e-324, 1.0]),
        ([0.0, 5e-322], [5e-324, 1e-323], [0.0, 5e-322]),
        ([-1e300, 1e300], [1.0, 1e299], [5e-324, -1e300]),
        ([1.0, 1.0 + 2.0**-50], [1.0, 1.0 + 2.0**-51], [1.0 + 2.0**-52, 1.0 + 2.0**-50]),
    ],
)
def test_a_place_within_declared_bounds_depends_on_no_other_record(bounds, values, others):
    attribute = Recipe(k=2, attributes={"x": numeric(bounds=bounds)}).attributes["x"]
    places = []
    for other in others:
        column = Frame.wrap(pa.table({"x": [*values, other]})).column("x")
        places.append(mixed_space([encode(column, attribute, data_free=True)], "bounds").matrix[:2].ravel().tolist())
    assert places[0] == places[1]
    assert len(set(places[0])) == 2
    assert all(0 <= place <= 1 for place in places[0])


def test_moments_are_placed_within_their_bounds_whatever_the_others_are():
    kind = pa.timestamp("ns")
    recipe = Recipe(k=2, attributes={"t": numeric(bounds=[dt.datetime(1990, 1, 1), dt.datetime(2030, 1, 1, 0, 0, 1)])})
    own = [1_600_000_000_123_456_789, 1_600_000_000_123_456_790]
    places = []
    for other in (700_000_000_000_000_001, 1_699_999_999_999_999_999):
        column = Frame.wrap(pa.table({"t": pa.array([*own, other]).cast(kind)})).column("t")
        measured = encode(column, recipe.attributes["t"], data_free=True)
        places.append(mixed_space([measured], "bounds").matrix[:2].ravel().tolist())
    assert places[0] == places[1]


def test_bounds_between_which_no_number_lies_are_refused():
    recipe = Recipe(
        k=2,
        method="insensitive_mdav",
        space={"standardize": "bounds"},
        attributes={"x": numeric(bounds=[-1e300, 1e300]), "y": numeric(bounds=[0.0, 1e-300])},
    )
    table = pa.table({"x": [1e300, -1e300, 0.0, 1.0], "y": [0.0, 1e-300, 5e-301, 0.0]})
    made = microagg.release(table, recipe)
    assert made.n_cells == 2
    private = {"method": "dp_laplace", "privacy": {"epsilon": 1.0}, "attributes": {"y": numeric(bounds=[0, 5e-324])}}
    with pytest.raises(TableError, match="too near each other"):
        microagg.release(pa.table({"y": [0.0, 5e-324]}), Recipe(**private))


@pytest.mark.parametrize("bounds", [[0.0, 1e200], [0.0, 1e-200]])
def test_moments_in_units_whose_cubes_overflow_are_refused(bounds):
    table = pa.table({"x": RNG.random(30) * bounds[1]})
    privacy = {"epsilon": 1.0, "m": 2, "units": "raw"}
    recipe = {"method": "dp_moments", "k": 5, "attributes": {"x": numeric(bounds=bounds)}}
    with pytest.raises(TableError, match='units = "domain"'):
        microagg.release(table, Recipe(**recipe, privacy=privacy))
    assert microagg.release(table, Recipe(**recipe, privacy=privacy | {"units": "domain"})).table.num_rows == 30


def test_sampling_weights_of_which_some_count_as_nothing_are_refused():
    table = pa.table({"x": NUMBERS[:, 0], "w": np.where(np.arange(60) < 30, 1e300, 1e-300)})
    attributes = {"x": numeric(), "w": {"role": "non_confidential"}}
    with pytest.raises(TableError, match="differ by more than a factor"):
        released(table, attributes=attributes, sampling_weight="w")


def test_draws_are_paired_where_nobody_has_the_attribute():
    table = pa.table({"x": pa.nulls(20, pa.float32()), "y": pa.array(["a", "b"] * 10)})
    attributes = {"x": numeric(), "y": {"role": "confidential", "kind": "nominal"}}
    for draws in ("moments", "shared"):
        aggregate = {"form": "sampled", "paired_with": ["y"], "draws": draws}
        made = released(table, attributes=attributes, aggregate=aggregate, missing={"policy": "own_cell"})
        assert made.table["x"].null_count == 20


@pytest.mark.parametrize("unit", [1e-300, 1e299, 1e150])
def test_shared_draws_of_huge_and_tiny_numbers_stay_in_their_range(unit):
    table = pa.table({"x": NUMBERS[:, 0] * unit, "y": pa.array(["a", "b"] * 30)})
    attributes = {"x": numeric(), "y": {"role": "confidential", "kind": "nominal"}}
    aggregate = {"form": "sampled", "paired_with": ["y"], "draws": "shared"}
    drawn = released(table, attributes=attributes, aggregate=aggregate).table["x"].to_numpy()
    spread = np.ptp(NUMBERS[:, 0])
    inside = (NUMBERS[:, 0].min() - spread <= drawn / unit) & (drawn / unit <= NUMBERS[:, 0].max() + spread)
    assert inside.all()
    assert np.ptp(drawn / unit) > spread / 4


@pytest.mark.parametrize("aggregate", [{}, {"paired_with": ["y"], "draws": "shared"}])
def test_draws_of_huge_numbers_with_a_resolution_stay_in_their_range(aggregate):
    """Only integers and dates end where 64 bits end."""
    huge = 1e20 + 1e17 * NUMBERS[:, 0]
    attributes = {"x": numeric(resolution=1e12), "y": {"role": "confidential", "kind": "nominal"}}
    made = released(
        pa.table({"x": huge, "y": ["a"] * 60}), attributes=attributes, aggregate={"form": "sampled"} | aggregate
    )
    drawn = made.table["x"].to_numpy()
    assert np.abs(drawn - huge.mean()).max() < 10 * np.ptp(huge)
    assert np.ptp(drawn) > np.ptp(huge) / 4
    np.testing.assert_array_equal(np.round(drawn / 1e12) * 1e12, drawn)


def test_values_that_lie_too_far_apart_to_be_mixed_are_refused():
    table = pa.table({"a": NUMBERS[:, 0] * 1e-160, "b": NUMBERS[:, 1] * 1e10})
    with pytest.raises(TableError, match="too far apart"):
        released(table, method="mic1d", k=7, attributes={"a": numeric(resolution=0.1), "b": numeric()})


@pytest.mark.parametrize("method", ["mdav", "pcp"])
@pytest.mark.parametrize(("unit", "shared"), [(1.0, 1e300), (1e-200, 1.0), (1e-200, 1e300)])
def test_a_number_that_all_records_share_hides_no_loss(method, unit, shared):
    columns = {"a": NUMBERS[:, 0] * unit, "b": NUMBERS[:, 1] * unit}
    how = {"method": method, "space": {"standardize": "none"}}
    alone = released(pa.table(columns), **how)
    beside = released(pa.table(columns | {"shared": np.full(60, shared)}), **how)
    assert alone.information_loss > 0.0
    assert beside.information_loss == pytest.approx(alone.information_loss)
    for name in columns:
        np.testing.assert_array_equal(beside.table[name].to_numpy(), alone.table[name].to_numpy())


@pytest.mark.parametrize(("unit", "shared"), [(1.0, 1e300), (1e-200, 1e300)])
def test_a_number_that_all_records_share_hides_no_loss_beside_categories(unit, shared):
    categories = np.random.default_rng(9).choice(list("xyz"), 60)
    attributes = {"a": numeric(), "c": nominal(weight=unit**2 or 1e-300)}
    how = {"space": {"standardize": "none"}}
    alone = released(pa.table({"a": NUMBERS[:, 0] * unit, "c": categories}), attributes=attributes, **how)
    table = pa.table({"a": NUMBERS[:, 0] * unit, "c": categories, "shared": np.full(60, shared)})
    beside = released(table, attributes=attributes | {"shared": numeric()}, **how)
    assert alone.information_loss > 0.0
    assert beside.information_loss == pytest.approx(alone.information_loss)
    assert beside.table.select(["a", "c"]) == alone.table.select(["a", "c"])
