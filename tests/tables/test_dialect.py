"""Numbers, dates and layouts of text files as people write them, read by a dialect."""

from __future__ import annotations

import datetime as dt

import openpyxl
import pyarrow as pa
import pytest

from microagg.errors import RecipeError, TableError
from microagg.recipe.recipe import Recipe
from microagg.tables.formats.registry import format_of
from microagg.tables.read import read_table
from microagg.tables.text.dialect import STANDARD, Dialect, check_date_format


@pytest.fixture
def read(tmp_path):
    def read_values(values, *, number=False, **keys):
        path = tmp_path / "t.csv"
        path.write_text("v;n\n" + "".join(f"{value};1\n" for value in values), encoding="utf-8")
        columns = ["v"] if number else []
        return read_table(path, number_columns=columns, dialect=Dialect(separator=";", **keys))["v"]

    return read_values


@pytest.mark.parametrize(
    ("values", "keys", "expected"),
    [
        (["1,5", "-2"], {"decimal": ","}, [1.5, -2.0]),
        (["1.234", "-12.500"], {"decimal": ",", "thousands": "."}, [1234, -12500]),
        (["1.234,5", "7"], {"decimal": ",", "thousands": "."}, [1234.5, 7.0]),
        (["1,234.5", "+7"], {"thousands": ","}, [1234.5, 7.0]),
        (["12,34,567", "1,000"], {"thousands": ","}, [1234567, 1000]),
        (["1 234", "1\u00a0234\u202f567"], {"thousands": " "}, [1234, 1234567]),
        (["1'234.50", "5"], {"thousands": "'"}, [1234.5, 5.0]),
        (["(1,234)", "5"], {"thousands": ",", "negatives": "parentheses"}, [-1234, 5]),
        (["5-", "6"], {"negatives": "trailing"}, [-5, 6]),
        (["20%", "-3 %"], {"units": ("%",)}, [20, -3]),
        (["€ 1.50", "€2", "-€3"], {"units": ("€",)}, [1.5, 2.0, -3.0]),
        (["5 kg", "6kg"], {"units": ("kg", "g")}, [5, 6]),
        (["($5)", "$6"], {"units": ("$",), "negatives": "parentheses"}, [-5, 6]),
        (["\u22125", "6"], {"thousands": ","}, [-5, 6]),
        (["1,5e3", "2"], {"decimal": ","}, [1500.0, 2.0]),
    ],
)
def test_numbers_are_read_as_the_dialect_writes_them(read, values, keys, expected):
    assert read(values, **keys).to_pylist() == expected


def test_blank_text_among_numbers_is_missing(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text('"v","when","w"\n"1,5","","x"\n""," 03/04/2020",""\n')
    dialect = Dialect(decimal=",", date_format="%d/%m/%Y")
    read = read_table(path, dialect=dialect).to_pydict()
    assert read == {"v": [1.5, None], "when": [None, dt.date(2020, 4, 3)], "w": ["x", ""]}


@pytest.mark.parametrize(
    ("values", "keys"),
    [
        (["01.02.2024", "5"], {"decimal": ",", "thousands": "."}),
        (["1.23", "5"], {"decimal": ",", "thousands": "."}),
        (["12,34", "5"], {"thousands": ","}),
        (["20%", "20"], {"units": ("%",)}),
        (["€5", "$5"], {"units": ("€", "$")}),
        (["(5)", "6"], {}),
        (["unknown", "6"], {"decimal": ","}),
        (["12345678901234567890,0", "word"], {"decimal": ","}),
    ],
)
def test_what_is_no_number_in_the_dialect_stays_text(read, values, keys):
    assert read(values, number=True, **keys).to_pylist() == values


def test_text_columns_stay_text_whatever_the_dialect(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("zip;share\n08.001;5%\n08.002;6%\n")
    dialect = Dialect(separator=";", decimal=",", thousands=".", units=("%",))
    table = read_table(path, text_columns=["zip"], dialect=dialect)
    assert table.to_pydict() == {"zip": ["08.001", "08.002"], "share": [5, 6]}


@pytest.mark.parametrize(
    ("pattern", "text", "expected"),
    [
        ("%d/%m/%Y", "03/04/2020", dt.date(2020, 4, 3)),
        ("%m/%d/%Y", "3/4/2020", dt.date(2020, 3, 4)),
        ("%Y%m%d", "20200403", dt.date(2020, 4, 3)),
        ("%d-%b-%y", "03-Apr-20", dt.date(2020, 4, 3)),
        ("%d.%m.%Y %H:%M", "03.04.2020 10:30", dt.datetime(2020, 4, 3, 10, 30)),
    ],
)
def test_dates_are_read_by_their_format(read, pattern, text, expected):
    assert read([text, text], date_formats={"v": pattern}).to_pylist() == [expected] * 2


def test_a_day_that_does_not_exist_is_no_date(read):
    assert read(["31/02/2020", "01/02/2020"], date_format="%d/%m/%Y").type == pa.string()


@pytest.mark.parametrize("encoding", ["latin-1", "cp1252", "utf-16", "utf-16-le", "utf-16-be", "utf-8", "shift_jis"])
def test_any_encoding_is_read_in_blocks(tmp_path, encoding):
    path = tmp_path / "t.csv"
    word = "é" if encoding != "shift_jis" else "日本"
    path.write_bytes(("a,b\r\n" + f"{word},1\r\n" * 60_000).encode(encoding))
    table = read_table(path, dialect=Dialect(encoding=encoding))
    assert table.num_rows == 60_000
    assert table["a"].unique().to_pylist() == [word]


def test_a_mark_at_the_start_is_no_part_of_a_name(tmp_path):
    path = tmp_path / "t.csv"
    for mark, encoding in ((b"\xff\xfe", "utf-16-le"), (b"\xfe\xff", "utf-16-be"), (b"\xef\xbb\xbf", "utf-8")):
        path.write_bytes(mark + "a,b\n1,2\n".encode(encoding))
        assert read_table(path, dialect=Dialect(encoding=encoding)).to_pydict() == {"a": [1], "b": [2]}


def test_a_wrong_encoding_is_refused_with_the_right_one(tmp_path):
    path = tmp_path / "t.csv"
    path.write_bytes("a,b\ncanary é,1\n".encode())
    with pytest.raises(TableError, match=r'not in utf-16.*\n.*\n.*encoding = "utf-8"') as caught:
        read_table(path, dialect=Dialect(encoding="utf-16"))
    assert "canary" not in str(caught.value)


def test_rows_are_counted_below_those_skipped(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("title\n\na,b\n1,2\n3\n")
    with pytest.raises(TableError, match=r"first is row 3 with 1 .the header is row 1, counted below the 2 rows"):
        read_table(path, dialect=Dialect(skip_rows=2))


@pytest.mark.parametrize(
    ("text", "separator", "skip_rows"),
    [
        ("a;b\n1;2,5\n3;4,5\n", ";", 0),
        ("a,b\n1,x;y\n2,z;w\n", None, 0),
        ('"a;b",c\n"1;2",3\n"x",4\n', None, 0),
        ("sep=|\na|b\n1|2\n", "|", 1),
        ("# made by x\nage;b\n1;2\n3;4\n", ";", 1),
        ("Title;;\nage;b;c\n1;2;3\n", ";", 1),
        ('a\tb\n"x\ty"\t1\nz\t2\n', "\t", 0),
        ("a\n1\n2\n", None, 0),
        ("\n\na,b\n1,2\n", None, 0),
    ],
)
def test_layouts_are_found(tmp_path, text, separator, skip_rows):
    path = tmp_path / "t.csv"
    path.write_text(text)
    found, _ = format_of(path).sniff(path, STANDARD, ())
    assert (found.separator, found.skip_rows) == (separator, skip_rows)


def test_a_header_that_lacks_a_name_is_not_taken_for_a_title(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("name,town\nr1,canary,Rome\nr2,other,Bern\n")
    with pytest.raises(TableError, match="--skip-rows 1") as caught:
        format_of(path).sniff(path, STANDARD, ())
    assert "canary" not in str(caught.value)


def test_cells_of_text_are_read_beside_cells_of_numbers(tmp_path):
    book = openpyxl.Workbook()
    for row in [["x", "when", "code"], [1.5, dt.datetime(2020, 1, 2), "007"], ["2,25", "03/01/2020", "008"]]:
        book.active.append(row)
    book.save(tmp_path / "t.xlsx")
    dialect = Dialect(decimal=",", thousands=".", date_format="%d/%m/%Y")
    table = read_table(tmp_path / "t.xlsx", text_columns=["code"], dialect=dialect)
    assert table["x"].to_pylist() == [1.5, 2.25]
    assert table["when"].to_pylist() == [dt.datetime(2020, 1, 2), dt.datetime(2020, 1, 3)]
    assert table["code"].to_pylist() == ["007", "008"]


def test_numbers_stored_as_text_in_a_sheet_are_read_where_numbers_are_declared(tmp_path):
    book = openpyxl.Workbook()
    for row in [["x"], ["1"], [2], ["3.5"]]:
        book.active.append(row)
    book.save(tmp_path / "t.xlsx")
    assert read_table(tmp_path / "t.xlsx")["x"].type == pa.string()
    assert read_table(tmp_path / "t.xlsx", number_columns=["x"])["x"].to_pylist() == [1.0, 2.0, 3.5]


def test_a_format_of_dates_counts_where_plain_ones_would_fit_too(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("a,b\n2024-01-02,2024-12-31\n2024-03-04,2024-12-30\n")
    table = read_table(path, dialect=Dialect(date_format="%Y-%d-%m"))
    assert [str(day) for day in table["a"].to_pylist()] == ["2024-02-01", "2024-04-03"]
    assert [str(day) for day in table["b"].to_pylist()] == ["2024-12-31", "2024-12-30"]  # of no such format


@pytest.mark.parametrize("pattern", ["%d/%m/%Y%d", "%Y-%m-%d %Y", "%d/%m/%Y%", "%d/%m/%Y %Q"])
def test_a_format_that_no_date_can_be_read_by_is_an_ordinary_refusal(pattern):
    with pytest.raises(ValueError, match="is not a format of dates"):
        check_date_format(pattern)
    attributes = {"x": {"role": "quasi_identifier", "kind": "numeric"}}
    for said in (pattern, {"x": pattern}):
        with pytest.raises(RecipeError, match="is not a format of dates"):
            Recipe(k=3, attributes=attributes, input={"date_format": said})
