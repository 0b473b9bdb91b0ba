"""Labels, display formats and dates of SPSS, Stata and SAS files."""

from datetime import date, datetime

import pyarrow as pa
import pyreadstat
import pytest

from microagg.errors import TableError
from microagg.tables.formats.display_formats import meaning_of_format
from microagg.tables.labels import Labels, labels_of, with_labels
from microagg.tables.read import read_table
from microagg.tables.write import write_table
from optional_packages import need

STATISTICS = ("sav", "zsav", "dta")


def round_trip(table, path):
    write_table(table, path)
    return read_table(path)


def one_labelled_column(array, labels, name="x"):
    field = with_labels(pa.field(name, array.type), labels)
    return pa.Table.from_arrays([array], schema=pa.schema([field]))


LABELLED = pa.Table.from_arrays(
    [
        pa.array([1, 2, None]),
        pa.array([0.5, 1.5, None]),
        pa.array(["a", "b", None]),
        pa.array([date(2020, 1, 1)] * 3),
    ],
    schema=pa.schema(
        [
            with_labels(pa.field("sex", pa.int64()), Labels("Sex ♀", ((1, "female"), (2, "männlich")))),
            with_labels(pa.field("rate", pa.float64()), Labels("Rate", ((1.0, "one"),))),
            with_labels(pa.field("code", pa.string()), Labels("Code", (("a", "first"), ("long text", "unused")))),
            with_labels(pa.field("day", pa.date32()), Labels("Day")),
        ]
    ),
)


@pytest.mark.parametrize("extension", ["parquet", "feather"])
def test_arrow_formats_keep_all_labels(tmp_path, extension):
    assert round_trip(LABELLED, tmp_path / f"t.{extension}").schema.equals(LABELLED.schema, check_metadata=True)


@pytest.mark.parametrize("extension", STATISTICS)
def test_statistics_formats_keep_labels(tmp_path, extension):
    again = {field.name: labels_of(field) for field in round_trip(LABELLED, tmp_path / f"t.{extension}").schema}
    assert [labels.label for labels in again.values()] == ["Sex ♀", "Rate", "Code", "Day"]
    assert again["sex"].value_labels == ((1, "female"), (2, "männlich"))
    assert again["rate"].value_labels == ((1.0, "one"),)
    has_text_labels = extension != "dta"
    assert again["code"].value_labels == ((("a", "first"), ("long text", "unused")) if has_text_labels else ())


def test_formats_measures_and_missing_ranges_of_spss_are_kept(tmp_path):
    path = tmp_path / "t.sav"
    frame = need("polars").DataFrame({"age": [30.0, 99.0], "income": [1.5, 2.0], "s": ["x", ""]})
    pyreadstat.write_sav(
        frame,
        path,
        variable_format={"age": "F3.0", "income": "DOLLAR9.2"},
        variable_measure={"age": "scale", "s": "nominal"},
        missing_ranges={"age": [{"lo": 90, "hi": 99}]},
    )
    table = read_table(path)
    assert table.to_pydict() == {"age": [30, None], "income": [1.5, 2.0], "s": ["x", None]}
    assert labels_of(table.field("age")) == Labels(
        format="sav:F3.0", measure="scale", missing_ranges=({"lo": 90.0, "hi": 99.0},)
    )
    again = round_trip(table, tmp_path / "again.sav")
    assert [labels_of(field).format for field in again.schema] == ["sav:F3.0", "sav:DOLLAR9.2", "sav:A1"]
    assert [labels_of(field).measure for field in again.schema] == ["scale", "", "nominal"]


def test_a_format_that_would_hide_decimals_is_not_written_back(tmp_path):
    table = one_labelled_column(pa.array([30.5, 40.0]), Labels(format="sav:F3.0"))
    again = round_trip(table, tmp_path / "t.sav")
    assert labels_of(again.field("x")).format == "sav:F8.2"
    assert again["x"].to_pylist() == [30.5, 40.0]


def test_labels_too_long_for_a_format_are_cut_and_unfit_value_labels_left_out(tmp_path):
    labels = Labels("é" * 300, ((1, "ü" * 200), ("a", "of a text"), (2.5, "of a decimal")))
    table = one_labelled_column(pa.array([1]), labels)
    spss = labels_of(round_trip(table, tmp_path / "t.sav").field("x"))
    assert (spss.label, spss.value_labels) == ("é" * 128, ((1, "ü" * 60), (2.5, "of a decimal")))
    stata = labels_of(round_trip(table, tmp_path / "t.dta").field("x"))
    assert (stata.label, stata.value_labels) == ("é" * 80, ((1, "ü" * 200),))


@pytest.mark.parametrize("extension", STATISTICS)
def test_the_longest_name_can_have_value_labels(tmp_path, extension):
    name = "n" * (31 if extension == "dta" else 64)
    again = round_trip(
        one_labelled_column(pa.array([1]), Labels("Name", ((1, "one"),)), name), tmp_path / f"t.{extension}"
    )
    assert labels_of(again.field(name)).value_labels == ((1, "one"),)


def test_a_name_too_long_to_have_value_labels_in_stata_is_refused(tmp_path):
    table = one_labelled_column(pa.array([1]), Labels("Name", ((1, "one"),)), "n" * 32)
    with pytest.raises(TableError, match="value labels has at most 31 characters"):
        write_table(table, tmp_path / "t.dta")


def test_labelled_texts_that_spss_has_no_room_for_are_left_out(tmp_path):
    table = one_labelled_column(pa.array(["ä", "b"]), Labels("Text", (("ä", "a"), ("ööö", "o"), ("xyz", "x"))))
    assert labels_of(round_trip(table, tmp_path / "t.sav").field("x")).value_labels == (
        ("ä", "a"),
        ("xyz", "x"),
    )


def test_labels_and_formats_that_no_longer_fit_the_type_are_left_out(tmp_path):
    labels = Labels("Age group", ((1, "one"),), format="sav:F3.0")
    again = round_trip(one_labelled_column(pa.array(["20-29", "30-39"]), labels), tmp_path / "t.sav")
    assert labels_of(again.field("x")) == Labels("Age group", format="sav:A5")


def test_formats_stay_with_their_kind_of_file(tmp_path):
    table = one_labelled_column(pa.array([1.5]), Labels(format="dta:%10.3f"))
    assert labels_of(round_trip(table, tmp_path / "t.dta").field("x")).format == "dta:%10.3f"
    assert labels_of(round_trip(table, tmp_path / "t.sav").field("x")).format == "sav:F8.2"


def test_values_that_stata_tags_as_missing_are_missing(tmp_path):
    frame = need("pandas").DataFrame({"x": [1, "a", 3]}, dtype=object)
    pyreadstat.write_dta(frame, tmp_path / "t.dta", missing_user_values={"x": ["a"]})
    assert read_table(tmp_path / "t.dta")["x"].to_pylist() == [1, None, 3]


def test_dates_of_transport_and_stata_files_follow_their_formats(tmp_path):
    frame = need("polars").DataFrame({"d": [0.0, None], "m": [86400.0, None], "n": [1.0, 2.0], "t": [60.0, 90000.0]})
    pyreadstat.write_xport(
        frame,
        tmp_path / "t.xpt",
        variable_format={"d": "YYMMDD10", "m": "DATETIME20", "n": "F8.0", "t": "TIME8"},
    )
    assert read_table(tmp_path / "t.xpt").to_pydict() == {
        "d": [date(1960, 1, 1), None],
        "m": [datetime(1960, 1, 2), None],
        "n": [1, 2],
        "t": [60.0, 90000.0],
    }
    formats = {"d": "%tdDD/NN/CCYY", "m": "%tc", "n": "%9.0g", "t": "%tm"}
    pyreadstat.write_dta(frame, tmp_path / "t.dta", variable_format=formats)
    assert read_table(tmp_path / "t.dta").to_pydict() == {
        "d": [date(1960, 1, 1), None],
        "m": [datetime(1960, 1, 1, 0, 1, 26, 400_000), None],
        "n": [1.0, 2.0],
        "t": [60.0, 90000.0],
    }


@pytest.mark.parametrize(
    ("stored", "meaning"),
    [
        ("sav:F8", "whole"),
        ("sav:COMMA10.1", "other"),
        ("sav:EDATE10", "date"),
        ("sav:A20", "text"),
        ("sas:8.", "whole"),
        ("sas:BEST12", "other"),
        ("sas:E8601DA10", "date"),
        ("sas:F", "other"),
        ("dta:%12.0g", "other"),
        ("dta:%12.0fc", "whole"),
        ("dta:%d", "date"),
        ("dta:%tcHH:MM", "time"),
        ("dta:%tcDD_Mon_CCYY", "datetime"),
        ("dta:%tC", "other"),
        ("dta:%-20s", "text"),
        ("", "other"),
    ],
)
def test_meaning_of_format(stored, meaning):
    assert meaning_of_format(stored) == meaning


@pytest.mark.parametrize("extension", ["sav", "zsav", "dta"])
def test_a_file_does_not_tell_when_it_was_written(tmp_path, extension):
    path = tmp_path / f"t.{extension}"
    write_table(pa.table({"x": [1.5, 2.0], "job": ["a", "b"]}), path)
    read = pyreadstat.read_dta if extension == "dta" else pyreadstat.read_sav
    _, about = read(str(path), metadataonly=True, output_format="dict")
    assert (about.creation_time.month, about.creation_time.day, about.creation_time.year % 100) == (1, 1, 70)
    assert read_table(path).to_pydict() == {"x": [1.5, 2.0], "job": ["a", "b"]}
