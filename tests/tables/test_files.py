"""What is written to a file is read again, in every format that is written."""

import subprocess
import sys
import zipfile
from datetime import date, datetime, time
from decimal import Decimal

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from microagg.errors import TableError
from microagg.tables.formats.registry import format_of, registered_formats, writable_names
from microagg.tables.labels import Labels, labels_of
from microagg.tables.read import read_table
from microagg.tables.write import write_table

CANARY = 918_273_645

COLUMNS = {
    "whole": pa.array([1, -2, None, 2**31, 2**53]),
    "small": pa.array([1, 2, None, 4, 5], pa.int8()),
    "decimal": pa.array([0.1, 1e-300, None, -1 / 3, 1e22]),
    "text": pa.array(["plain", 'a "quoted", one', None, "two\nlines", "żółw 亀 🐢"]),
    "truth": pa.array([True, False, None, True, True]),
    "day": pa.array([date(2024, 2, 29), date(1931, 1, 1), None, date(1583, 1, 1), date(2100, 12, 31)]),
    "moment": pa.array([datetime(2024, 2, 29, 13, 45, 1, 250_000), datetime(1931, 1, 1), None] * 1 + [None] * 2),
    "clock": pa.array([time(13, 45, 1), time(0), None, time(23, 59, 59), None], pa.time64("us")),
    "category": pa.array(["b", "a", None, "b", "c"]).dictionary_encode(),
    "empty": pa.array([None] * 5, pa.float64()),
}
TABLE = pa.table(COLUMNS)
TEXT_FORMATS = ("csv", "csv.gz", "tsv")
STATISTICS = ("sav", "zsav", "dta")


def round_trip(table, path):
    write_table(table, path)
    return read_table(path, text_columns=[f.name for f in table.schema if pa.types.is_string(f.type)])


def values(table):
    return table.to_pydict()


@pytest.mark.parametrize("extension", ["parquet", "feather", "arrow", "arrows"])
def test_arrow_formats_give_back_the_same_table(tmp_path, extension):
    again = round_trip(TABLE, tmp_path / f"t.{extension}")
    assert again.schema == TABLE.schema
    assert values(again) == values(TABLE)


@pytest.mark.parametrize("extension", [*TEXT_FORMATS, "jsonl"])
def test_text_formats_give_back_the_same_values(tmp_path, extension):
    assert values(round_trip(TABLE, tmp_path / f"t.{extension}")) == values(TABLE)


def test_excel_gives_back_the_same_values(tmp_path):
    table = TABLE.drop_columns("day").append_column(
        "day", pa.array([date(2024, 2, 29), None, None, None, date(2100, 12, 31)])
    )
    again = round_trip(table, tmp_path / "t.xlsx")
    midnight = [value and datetime(value.year, value.month, value.day) for value in table["day"].to_pylist()]
    assert values(again) == values(table) | {"day": midnight}  # a day is a moment to Excel


REFUSED_BY_EXCEL = {
    "an early day": (pa.array([date(1900, 2, 28), date(2000, 1, 1)]), "1 dates before March 1900"),
    "a large number": (pa.array([2**53 + 1, 1]), r"1 whole numbers beyond 2\*\*53"),
    "a fine moment": (pa.array([datetime(2024, 1, 1, 0, 0, 0, 1)] * 2), "finer than a millisecond"),
    "a control character": (pa.array(["canary\x01", "b"]), "text that Excel cannot hold"),
    "what looks like an escape": (pa.array(["canary_x0041_", "b"]), "text that Excel cannot hold"),
    "an endless number": (pa.array([float("inf"), 1.0]), "infinite numbers"),
    "an empty record at the end": (pa.array(["a", None]), "the last record has no value"),
}


@pytest.mark.parametrize("case", REFUSED_BY_EXCEL)
def test_what_excel_would_change_is_refused_without_its_value(tmp_path, case):
    column, words = REFUSED_BY_EXCEL[case]
    with pytest.raises(TableError, match=words) as caught:
        write_table(pa.table({"x": column}), tmp_path / "t.xlsx")
    assert "canary" not in str(caught.value)
    assert not (tmp_path / "t.xlsx").exists()


def test_a_written_workbook_has_no_formula_and_no_trace_of_who_wrote_it_when(tmp_path):
    path = tmp_path / "t.xlsx"
    write_table(pa.table({"=x": ["=1+1", "@y"]}), path)
    with zipfile.ZipFile(path) as book:
        names = book.namelist()
        sheet = book.read("xl/worksheets/sheet1.xml").decode()
        assert {entry.date_time for entry in book.infolist()} == {(1980, 1, 1, 0, 0, 0)}
    assert not [name for name in names if name.startswith("docProps")]
    assert "<f>" not in sheet
    assert read_table(path).to_pydict() == {"=x": ["=1+1", "@y"]}


def test_json_lines_of_others_may_lack_keys_and_say_dates(tmp_path):
    path = tmp_path / "t.ndjson"
    path.write_text(
        '{"a": 1, "day": "2024-02-29", "long": 9007199254740993}\n\n'
        '{"b": "x", "day": null}\n{"a": 2.5, "b": "2024-02-29"}\n'
    )
    assert read_table(path).to_pydict() == {
        "a": [1.0, None, 2.5],
        "day": [date(2024, 2, 29), None, None],
        "long": [9007199254740993, None, None],
        "b": [None, "x", "2024-02-29"],
    }
    assert read_table(path, text_columns=["day"])["day"].to_pylist() == ["2024-02-29", None, None]


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ('{"a": [1, 2]}', "1 values of column 'a' are lists or objects"),
        ('{"a": 1, "a": 2}', "same key more than once"),
        ('{"a": NaN}', "NaN, which JSON does not know"),
        ('{"a": 1e400}', "1 numbers of column 'a' are longer or larger"),
        ('{"a": 0.5}\n{"a": 9007199254740993}', "1 numbers of column 'a' are longer or larger"),
        ("[1, 2]", "line 1 is not an object"),
        ("", "no records"),
    ],
)
def test_json_lines_that_are_no_table_are_refused(tmp_path, line, words):
    (tmp_path / "t.jsonl").write_text(line)
    with pytest.raises(TableError, match=words):
        read_table(tmp_path / "t.jsonl")


@pytest.mark.parametrize(
    "column",
    [
        pa.array(["12:30:00", "12:30:00", "01:00:00"]),
        pa.array(["12:30:00.5", "12:30:00", "12:30:00"]),
        pa.array(["2024-01-01T00:00:00", "2024-01-02T00:00:00", "2024-01-02T00:00:00"]),
        pa.array(["2024-01-01", "2024-01-01", None]),
        pa.array([time(12, 30), time(1), None]),
        pa.array([datetime(2024, 1, 1), datetime(2024, 1, 1), None]),
        pa.array([2**64 - 1, 0, None], pa.uint64()),
        pa.array([None, None, None], pa.string()),
    ],
    ids=str,
)
def test_json_lines_are_written_as_microagg_writes_whether_times_were_text_or_not(tmp_path, column):
    path = tmp_path / "t.jsonl"
    write_table(pa.table({"n": [1, 2, 3], "t": column}), path)
    assert format_of(path.name).compare_form(path, same_libraries=True) == ("", True)


@pytest.mark.parametrize(
    "line", ['{"n": 2, "t": "12:30:00.000000"}', '{"n": 2.0, "t": "12:30:00"}', '{"n": 2,  "t": "12:30:00"}']
)
def test_json_lines_that_mark_a_record_by_how_they_write_it_are_found(tmp_path, line):
    path = tmp_path / "t.jsonl"
    path.write_text('{"n": 1, "t": "12:30:00"}\n' + line + '\n{"n": 3, "t": "12:30:00"}\n')
    assert format_of(path.name).compare_form(path, same_libraries=True).fault


@pytest.mark.parametrize("extension", ["jsonl", "xlsx", "sav", "dta"])
def test_decimals_that_a_format_would_round_are_refused(tmp_path, extension):
    table = pa.table({"n": [1, 2], "d": pa.array([Decimal("1234567890123456789012.25"), Decimal("1.50")])})
    with pytest.raises(TableError, match="'d' has 1 decimals of more digits"):
        write_table(table, tmp_path / f"t.{extension}")
    write_table(table.slice(1), tmp_path / f"t.{extension}")
    assert float(read_table(tmp_path / f"t.{extension}")["d"][0].as_py()) == 1.5


def test_an_arrow_stream_that_was_cut_is_refused(tmp_path):
    path = tmp_path / "t.arrows"
    write_table(TABLE, path)
    path.write_bytes(path.read_bytes()[:-8])  # all batches are there, the end is not
    with pytest.raises(TableError, match="cut short"):
        read_table(path)


@pytest.mark.parametrize("extension", STATISTICS)
def test_statistics_formats_give_back_the_same_values(tmp_path, extension):
    again = round_trip(TABLE, tmp_path / f"t.{extension}")
    assert values(again.drop_columns("truth")) == values(TABLE.drop_columns("truth"))
    assert again["truth"].to_pylist() == [1, 0, None, 1, 1]
    assert labels_of(again.field("truth")).value_labels == ((0, "false"), (1, "true"))
    types = {field.name: str(field.type) for field in again.schema}
    assert types == {
        "whole": "int64",
        "small": "int64",
        "decimal": "double",
        "text": "string",
        "truth": "int64",
        "day": "date32[day]",
        "moment": "timestamp[us]",
        "clock": "time64[us]",
        "category": "string",
        "empty": "double",
    }


@pytest.mark.parametrize("extension", [*TEXT_FORMATS, *STATISTICS, "parquet", "feather"])
def test_a_table_without_records_keeps_its_columns(tmp_path, extension):
    again = round_trip(TABLE.slice(0, 0), tmp_path / f"t.{extension}")
    assert again.column_names == TABLE.column_names
    assert again.num_rows == 0


@pytest.mark.parametrize("extension", [*TEXT_FORMATS, *STATISTICS, "parquet", "feather"])
@pytest.mark.parametrize("name", list(COLUMNS))
def test_a_table_of_one_column_keeps_its_missing_values(tmp_path, extension, name):
    table = pa.table({"x": COLUMNS[name]})
    expected = [1, 0, None, 1, 1] if name == "truth" and extension in STATISTICS else table["x"].to_pylist()
    assert round_trip(table, tmp_path / f"t.{extension}")["x"].to_pylist() == expected


@pytest.mark.parametrize("extension", [*TEXT_FORMATS, *STATISTICS, "parquet", "feather"])
def test_a_column_of_unknown_type_and_a_sliced_table_can_be_written(tmp_path, extension):
    table = pa.table({"nothing": pa.nulls(5), "x": COLUMNS["text"], "c": COLUMNS["category"]})
    sliced = pa.concat_tables([table, table]).slice(3, 4)
    assert values(round_trip(sliced, tmp_path / f"t.{extension}")) == values(sliced)


@pytest.mark.parametrize("extension", ["csv", "sav", "dta"])
def test_other_widths_of_numbers_are_written(tmp_path, extension):
    table = pa.table(
        {
            "money": pa.array([Decimal("1.25"), None], pa.decimal128(9, 2)),
            "single": pa.array([0.5, None], pa.float32()),
            "unsigned": pa.array([2**40, None], pa.uint64()),
            "day": pa.array([date(2020, 1, 1), None], pa.date64()),
        }
    )
    again = values(round_trip(table, tmp_path / f"t.{extension}"))
    assert again == values(table) | {"money": [1.25, None]}


@pytest.mark.parametrize("extension", STATISTICS)
def test_integers_are_exact_up_to_the_border_of_doubles(tmp_path, extension):
    table = pa.table({"x": [2**53, -(2**53), 2**53 - 1], "y": [1, 2, 3]})
    assert values(round_trip(table, tmp_path / f"t.{extension}")) == values(table)


texts = st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=8)
records = st.fixed_dictionaries(
    {
        "whole": st.none() | st.integers(-(2**63), 2**63 - 1),
        "decimal": st.none() | st.floats(allow_nan=False, allow_infinity=False),
        "text": st.none() | texts | st.sampled_from(["", "NA", "NaN", " ", '"', "\r\n", "007"]),
        "truth": st.none() | st.booleans(),
        "day": st.none() | st.dates(date(1600, 1, 1)),
    }
)
schema = pa.schema(
    {
        "whole": pa.int64(),
        "decimal": pa.float64(),
        "text": pa.string(),
        "truth": pa.bool_(),
        "day": pa.date32(),
    }
)


@pytest.mark.parametrize("extension", ["csv", "csv.gz", "tsv", "jsonl", "parquet", "feather"])
@given(rows=st.lists(records, min_size=1, max_size=6))
@settings(max_examples=60, deadline=None)
def test_any_record_survives_a_round_trip(tmp_path_factory, extension, rows):
    table = pa.Table.from_pylist(rows, schema)
    again = round_trip(table, tmp_path_factory.mktemp("any") / f"t.{extension}")
    assert values(again) == values(table)


@pytest.mark.parametrize("extension", STATISTICS)
@given(rows=st.lists(texts, min_size=1, max_size=6))
@settings(max_examples=40, deadline=None)
def test_any_text_without_blanks_at_its_end_survives_statistics_formats(tmp_path_factory, extension, rows):
    table = pa.table({"x": pa.array([row.rstrip(" ") or None for row in rows], pa.string())})
    again = round_trip(table, tmp_path_factory.mktemp("any") / f"t.{extension}")
    assert values(again) == values(table)


# What must not be written


def test_metadata_of_other_programs_is_left_out(tmp_path):
    field = pa.field("x", pa.int64(), metadata={b"secret": b"Ann", b"microagg.label": b"X"})
    table = pa.Table.from_arrays([pa.array([1])], schema=pa.schema([field], metadata={b"pandas": b"secret index"}))
    for extension in ("parquet", "feather"):
        path = tmp_path / f"t.{extension}"
        write_table(table, path)
        assert b"secret" not in path.read_bytes()
        assert read_table(path).schema.metadata is None
        assert labels_of(read_table(path).field("x")) == Labels("X")


@pytest.mark.parametrize("chunks", [1, 2])
@pytest.mark.parametrize("extension", ["parquet", "feather", "csv", "sav", "dta"])
def test_categories_that_no_record_has_are_left_out(tmp_path, extension, chunks):
    column = pa.DictionaryArray.from_arrays(
        pa.array([3, 0, None]), pa.array(["low", "UNUSED1", "UNUSED2", "high"]), ordered=True
    )
    other = pa.DictionaryArray.from_arrays(pa.array([0, 1]), pa.array(["mid", "low"]), ordered=True)
    table = pa.table({"x": pa.chunked_array([column, other][:chunks]), "y": [1] * (3 if chunks == 1 else 5)})
    again = round_trip(table, tmp_path / f"t.{extension}")
    assert again["x"].to_pylist() == ["high", "low", None, "mid", "low"][: 3 if chunks == 1 else 5]
    assert b"UNUSED" not in (tmp_path / f"t.{extension}").read_bytes()
    if extension in ("parquet", "feather"):
        assert again["x"].type == pa.dictionary(pa.int32(), pa.string(), ordered=True)
        assert again["x"].chunk(0).dictionary.to_pylist() == ["low", "high", "mid"][: chunks + 1]


@pytest.mark.parametrize(
    "column", ["int64", "double", "string", "large_string", "string_view", "dictionary", "decimal"]
)
def test_values_under_a_null_are_not_written(tmp_path, column):
    """Arrow keeps what was in a slot before it became null, and Feather writes slots as they are."""
    data = pa.array([CANARY, 1, 2])
    if "string" in column or column == "dictionary":
        data = data.cast(pa.string())
    data = (
        data.dictionary_encode()
        if column == "dictionary"
        else data.cast(pa.decimal128(20, 0) if column == "decimal" else column)
    )
    buffers = data.buffers()
    hidden = (
        pa.DictionaryArray.from_buffers(data.type, 3, [pa.py_buffer(b"\x06"), *buffers[1:2]], data.dictionary)
        if column == "dictionary"
        else pa.Array.from_buffers(data.type, 3, [pa.py_buffer(b"\x06"), *buffers[1:]])
    )
    assert hidden.to_pylist()[0] is None
    path = tmp_path / "t.feather"
    write_table(pa.table({"x": hidden, "y": [1, 2, 3]}), path)
    again = read_table(path)["x"].chunk(0)
    assert again.to_pylist() == hidden.to_pylist()
    parts = [*again.buffers(), *(again.dictionary.buffers() if column == "dictionary" else ())]
    stored = b"".join(part.to_pybytes() for part in parts if part is not None)
    needles = [
        str(CANARY).encode(),
        CANARY.to_bytes(4, "little"),
        pa.array([float(CANARY)]).buffers()[1].to_pybytes(),
    ]
    assert not any(needle in stored for needle in needles)


@pytest.mark.parametrize("extension", writable_names())
def test_records_outside_a_slice_are_not_written(tmp_path, extension):
    table = pa.table({"x": [str(CANARY), "a", "b", str(CANARY)], "n": [CANARY, 1, 2, CANARY]}).slice(1, 2)
    write_table(table, tmp_path / f"t.{extension}")
    content = (tmp_path / f"t.{extension}").read_bytes()
    assert str(CANARY).encode() not in content
    assert CANARY.to_bytes(4, "little") not in content


def test_truth_values_next_to_a_slice_are_not_written(tmp_path):
    table = pa.table({"x": [False] * 3 + [True] * 13}).slice(0, 3)
    write_table(table, tmp_path / "t.feather")
    stored = read_table(tmp_path / "t.feather")["x"].chunk(0).buffers()[1].to_pybytes()
    assert not any(stored)


def test_the_same_table_gives_the_same_bytes(tmp_path):
    first, second = tmp_path / "a.csv.gz", tmp_path / "b.csv.gz"
    write_table(TABLE, first)
    write_table(TABLE, second)
    assert first.read_bytes() == second.read_bytes()


# Formats


def test_format_follows_the_extension():
    for one in registered_formats():
        assert one.extensions[0] == f".{one.name}"
        assert all(format_of(f"dir/A.b{extension.upper()}") is one for extension in one.extensions)
    assert format_of("x.zsav").name == "sav"
    assert set(writable_names()) < {one.name for one in registered_formats()}


def test_unknown_extensions_are_explained():
    with pytest.raises(TableError, match=r"unknown extension.*\.parquet.*Did you mean '\.csv'"):
        format_of("data.cvs")
    with pytest.raises(TableError, match="unknown extension"):
        format_of("data")
    with pytest.raises(TableError, match=r"only \.xlsx"):
        format_of("data.xls")


@pytest.mark.parametrize("extension", ["sas7bdat", "xpt"])
def test_formats_that_are_only_read_are_named_as_such(tmp_path, extension):
    with pytest.raises(TableError, match=r"can only be read\. Written are csv, .*dta"):
        write_table(TABLE, tmp_path / f"t.{extension}")


def test_importing_and_writing_needs_neither_pandas_nor_polars(tmp_path):
    script = f"""
import sys
import microagg.tables.read, microagg.tables.write
heavy = {{"numpy", "pyarrow", "pyreadstat", "openpyxl", "pandas", "polars"}} & set(sys.modules)
assert not heavy, heavy
class Refuse:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in ("pandas", "polars"):
            raise ImportError(name)
sys.meta_path.insert(0, Refuse())
import pyarrow as pa
from microagg.tables.read import read_table
from microagg.tables.write import write_table
from microagg.tables.formats.registry import writable_names
for name in writable_names():
    write_table(pa.table({{"x": [1, None], "s": [None, "a"]}}), {str(tmp_path)!r} + "/t." + name)
    again = read_table({str(tmp_path)!r} + "/t." + name)
    assert again.to_pydict() == {{"x": [1, None], "s": [None, "a"]}}, name
"""
    subprocess.run([sys.executable, "-c", script], check=True)
