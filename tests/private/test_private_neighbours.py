"""Tables that differ in one record, released with constant answers: nothing but the answers may tell them apart."""

from __future__ import annotations

import datetime as dt

import pyarrow as pa
import pyreadstat
import pytest
from typer.testing import CliRunner

import microagg
from constant_answers import constant_answers, published
from declarations import nominal, numeric, ordinal
from microagg import Recipe
from microagg.cli.app import app
from optional_packages import need


def laplace(**declared) -> Recipe:
    privacy = {"epsilon": 1.0, "clamp": True}
    return Recipe(method="dp_laplace", privacy=privacy, attributes=declared)


def released_from_file(folder, write, values, recipe: Recipe, extension: str, output: str) -> dict[str, bytes]:
    """Every published file, and what is printed, of a release from the command line."""
    folder.mkdir()
    write(folder / f"data.{extension}", values)
    recipe.save(folder / "recipe.toml")
    arguments = ["release", f"data.{extension}", "-r", "recipe.toml", "-o", "out", "--format", output, "--json"]
    arguments += ["--report" if output == "csv" else "--no-report"]
    with constant_answers(), pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        result = CliRunner().invoke(app, arguments)
    assert result.exit_code == 0, result.output
    return published(folder / "out") | {"stdout": result.stdout.encode()}


def assert_alike(tmp_path, write, tables, recipe: Recipe, extension: str, output: str) -> dict[str, bytes]:
    first, second = (
        released_from_file(tmp_path / str(i), write, values, recipe, extension, output)
        for i, values in enumerate(tables)
    )
    assert list(first) == list(second)
    assert [name for name in first if first[name] != second[name]] == []
    return first


def write_dta(form: str):
    def write(path, values):
        pyreadstat.write_dta(as_frame(values), str(path), variable_format={"x": form})

    return write


def write_sav(form: str, **about):
    def write(path, values):
        pyreadstat.write_sav(as_frame(values), str(path), variable_format={"x": form}, **about)

    return write


def as_frame(values):
    from optional_packages import pandas as pd

    return pd.DataFrame({"x": [float(value) for value in values]})


def write_csv(path, values):
    path.write_text("\n".join(["x", *map(str, values)]) + "\n")


OUTPUTS = ["csv", "parquet", "feather", "sav", "dta"]
every_output = pytest.mark.parametrize("output", OUTPUTS)


@every_output
@pytest.mark.parametrize("form", ["%9.0f", "%9.0g", "%9.2f"])
def test_a_fraction_among_stata_doubles_does_not_show(tmp_path, output, form):
    tables = [1, 2, 3, 4], [1, 2, 3.5, 4]
    assert_alike(tmp_path, write_dta(form), tables, laplace(x=numeric(bounds=[0, 10])), "dta", output)


@every_output
@pytest.mark.parametrize("replaced", [86_400, 86_399.999, 100_000, -1])
def test_a_time_of_day_on_its_bound_does_not_show_in_spss(tmp_path, output, replaced):
    tables = [60, 120, 180, 240], [60, 120, replaced, 240]
    recipe = laplace(x=numeric(bounds=[0, 86_400], resolution=1))
    assert_alike(tmp_path, write_sav("TIME8"), tables, recipe, "sav", output)


def test_times_of_a_statistics_package_are_published_as_times(tmp_path):
    import pyarrow.parquet as pq

    recipe = laplace(x=numeric(bounds=[0, 86_400], resolution=1))
    released_from_file(tmp_path / "a", write_sav("TIME8"), [60, 120, 86_400], recipe, "sav", "parquet")
    assert pq.read_table(tmp_path / "a" / "out" / "table.parquet")["x"].type == pa.time64("us")


@pytest.mark.parametrize("output", ["csv", "parquet", "feather", "sav", "dta"])
@pytest.mark.parametrize(
    "replaced",
    [
        "2001-03-01 00:00:00.000000001",
        "2001-03-01",
        "2001-03-01T10:20",
        "2001-03-01T00:00:00Z",
        "1500-01-01 00:00:00.5",
    ],
)
def test_digits_and_zones_of_one_timestamp_do_not_show(tmp_path, output, replaced):
    days = [f"2001-0{month}-01 00:00:00" for month in (1, 2, 3, 4)]
    bounds = [dt.datetime(2000, 1, 1), dt.datetime(2010, 1, 1)]
    tables = days, [*days[:2], replaced, days[3]]
    assert_alike(tmp_path, write_csv, tables, laplace(x=numeric(bounds=bounds)), "csv", output)


@every_output
@pytest.mark.parametrize(
    "declared",
    [numeric(bounds=[0, 10]), numeric(bounds=[0, 10], resolution=1), ordinal(categories=[1, 2, 2.5, 3, 4])],
    ids=["double", "whole", "grades"],
)
def test_value_labels_do_not_tell_whether_every_value_is_whole(tmp_path, output, declared):
    write = write_sav("F8.0", variable_value_labels={"x": {1: "yes", 2: "no"}}, column_labels={"x": "Agrees"})
    tables = [1, 2, 3, 4], [1, 2, 2.5, 4]
    assert_alike(tmp_path, write, tables, laplace(x=declared), "sav", output)


def test_labels_that_a_file_declares_travel_in_the_published_type(tmp_path):
    import pyarrow.parquet as pq

    from microagg.tables.labels import labels_of

    write = write_sav("F8.0", variable_value_labels={"x": {1: "yes", 2: "no", 9: "?"}}, column_labels={"x": "Agrees"})
    recipe = laplace(x=ordinal(categories=[1, 2, 3]))
    released_from_file(tmp_path / "a", write, [1, 2, 3], recipe, "sav", "parquet")
    field = pq.read_schema(tmp_path / "a" / "out" / "table.parquet").field("x")
    assert field.type == pa.int64()
    labels = labels_of(field)
    assert (labels.label, labels.measure, labels.format) == ("Agrees", "ordinal", "")
    # Of the three only what a published record has: the constant answers are 1 and 3.
    assert [(type(value), value, label) for value, label in labels.value_labels] == [(int, 1, "yes")]


def test_the_decimals_of_a_display_format_are_not_the_recipes_to_keep(tmp_path):
    """Programs choose widths and decimals by the values: a Stata string of nine characters has the format %9s."""
    recipe = laplace(x=numeric(bounds=[0, 10]))
    whole = released_from_file(tmp_path / "a", write_sav("F8.0"), [1, 2, 3], recipe, "sav", "parquet")
    decimals = released_from_file(tmp_path / "b", write_sav("F12.4"), [1, 2.5, 3], recipe, "sav", "parquet")
    assert whole["table.parquet"] == decimals["table.parquet"]


def write_xlsx(path, values):
    import openpyxl

    book = openpyxl.Workbook()
    for value in ("x", *values):
        book.active.append([value])
    book.save(path)


@every_output
@pytest.mark.parametrize("replaced", [dt.timedelta(hours=24), dt.time(23, 59, 59, 999_999), dt.timedelta(minutes=3)])
def test_a_time_of_day_on_its_bound_does_not_show_in_excel(tmp_path, output, replaced):
    tables = [dt.time(1), dt.time(2), dt.time(3)], [dt.time(1), replaced, dt.time(3)]
    recipe = laplace(x=numeric(bounds=[0, 86_400], resolution=1))
    assert_alike(tmp_path, write_xlsx, tables, recipe, "xlsx", output)


@every_output
@pytest.mark.parametrize("replaced", ["24:00:00", "23:59:59.5", "23:59", "25:00:00"])
def test_a_time_of_day_on_its_bound_does_not_show_in_text(tmp_path, output, replaced):
    tables = ["01:00:00", "02:00:00", "03:00:00"], ["01:00:00", replaced, "03:00:00"]
    recipe = laplace(x=numeric(bounds=[0, 86_400], resolution=1))
    assert_alike(tmp_path, write_csv, tables, recipe, "csv", output)


# --- dataframes: what a library guessed from values


NASTY = {
    "a fraction": ([1, 2, 3, 4], [1, 2, 3.5, 4], numeric(bounds=[0, 10])),
    "a fraction beside a resolution": ([1, 2, 3, 4], [1, 2, 3.5, 4], numeric(bounds=[0, 10], resolution=1)),
    "a date beside times": (
        [dt.datetime(2001, 1, 1, 5)] * 4,
        [*[dt.datetime(2001, 1, 1, 5)] * 3, dt.datetime(2001, 1, 1, 5, 0, 0, 1)],
        numeric(bounds=[dt.datetime(2000, 1, 1), dt.datetime(2010, 1, 1)]),
    ),
    "a code with a fraction": ([1, 2, 2, 1], [1, 2, 2.5, 1], ordinal(categories=[1, 2, 2.5])),
    "another category": (["a", "b", "b", "a"], ["a", "b", "c", "a"], ordinal(categories=["a", "b", "c"])),
}


@pytest.mark.parametrize("case", NASTY)
def test_what_a_library_guessed_does_not_show(tmp_path, constructor, case):
    first, second, declared = NASTY[case]
    try:
        tables = [constructor({"x": values}) for values in (first, second)]
    except TypeError:
        pytest.skip("polars makes no column of whole numbers and a fraction")
    recipe = laplace(x=declared)
    for i, table in enumerate(tables):
        with constant_answers():
            made = microagg.release(table, recipe)
            made.save(tmp_path / f"{i}", format="parquet", report=True)
        tables[i] = made.table
    assert published(tmp_path / "0") == published(tmp_path / "1")
    assert str(getattr(tables[0], "dtypes", None)) == str(getattr(tables[1], "dtypes", None))


@pytest.mark.parametrize("unit", ["s", "ms", "us", "ns"])
def test_the_unit_of_a_timestamp_is_not_the_inputs(unit):
    pd = need("pandas")
    bounds = [dt.datetime(2000, 1, 1), dt.datetime(2010, 1, 1)]
    frame = pd.DataFrame({"x": pd.Series([dt.datetime(2001, 1, 1)] * 3).astype(f"datetime64[{unit}]")})
    assert str(microagg.release(frame, laplace(x=numeric(bounds=bounds))).table["x"].dtype) == "datetime64[us]"


def test_bounds_with_a_zone_publish_moments_in_utc(tmp_path):
    zone = dt.timezone(dt.timedelta(hours=2))
    bounds = [dt.datetime(2000, 1, 1, tzinfo=zone), dt.datetime(2010, 1, 1, tzinfo=zone)]
    table = pa.table({"x": pa.array([dt.datetime(2001, 1, 1)] * 3, pa.timestamp("s", "Europe/Madrid"))})
    made = microagg.release(table, laplace(x=numeric(bounds=bounds)))
    assert made.table.schema.field("x").type == pa.timestamp("us", "UTC")
    made.save(tmp_path / "out")


@pytest.mark.parametrize("ordered", [False, True])
def test_categories_of_a_dtype_are_the_recipes(ordered):
    pd = need("pandas")
    recipe = Recipe(
        method="dp_individual_ranking",
        k=2,
        privacy={"epsilon": 1.0},
        attributes={"x": nominal(categories=["a", "b", "c"])},
    )
    dtypes = []
    for values in (["a", "a", "b", "b"], ["a", "a", "b", "c"]):
        with constant_answers():
            frame = pd.DataFrame({"x": pd.Categorical(values, ordered=ordered)})
            dtypes.append(microagg.release(frame, recipe).table["x"].dtype)
    assert dtypes[0] == dtypes[1]
    assert dtypes[0].ordered is ordered
