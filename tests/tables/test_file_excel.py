"""How Excel sheets are read."""

from datetime import datetime, time

import openpyxl
import pyarrow as pa
import pytest

from microagg.errors import TableError
from microagg.tables.read import read_table
from microagg.tables.text.dialect import Dialect


@pytest.fixture
def read(tmp_path):
    def read_rows(rows, **options):
        book = openpyxl.Workbook()
        for row in rows:
            book.active.append(row)
        book.create_sheet("second").append(["other"])
        book.save(tmp_path / "t.xlsx")
        return read_table(tmp_path / "t.xlsx", dialect=Dialect(sheet=1), **options)

    return read_rows


def test_types_follow_the_cells(read):
    table = read(
        [
            ["whole", "number", "truth", "when", "clock", "text", "mixed", "nothing", 2024],
            [1, 1, True, datetime(2024, 2, 29, 10), time(9, 30), "żółw", 1, None, 5],
            [None, 2.5, None, None, None, None, None, None, None],
            [3, None, False, datetime(1999, 1, 1), time(0), "x\ny", "two", None, 6],
        ]
    )
    assert table.schema == pa.schema(
        {
            "whole": pa.int64(),
            "number": pa.float64(),
            "truth": pa.bool_(),
            "when": pa.timestamp("us"),
            "clock": pa.time64("us"),
            "text": pa.string(),
            "mixed": pa.string(),
            "nothing": pa.null(),
            "2024": pa.int64(),
        }
    )
    assert table.to_pydict() == {
        "whole": [1, None, 3],
        "number": [1.0, 2.5, None],
        "truth": [True, None, False],
        "when": [datetime(2024, 2, 29, 10), None, datetime(1999, 1, 1)],
        "clock": [time(9, 30), None, time(0)],
        "text": ["żółw", None, "x\ny"],
        "mixed": ["1", None, "two"],
        "nothing": [None, None, None],
        "2024": [5, None, 6],
    }


def test_mixtures_are_text(read):
    table = read([["a"], [True], [1.0], [2.5], [datetime(2024, 1, 2)], ["x"]])
    assert table["a"].to_pylist() == ["true", "1", "2.5", "2024-01-02T00:00:00", "x"]


def test_text_columns_are_text(read):
    table = read([["code", "n"], [7, 7], ["007", 8], [None, 9]], text_columns=["code"])
    assert table.to_pydict() == {"code": ["7", "007", None], "n": [7, 8, 9]}


def test_integers_beyond_int64_are_doubles(read):
    assert read([["a"], [10**20], [1]])["a"].to_pylist() == [1e20, 1.0]


def test_empty_rows_count_only_between_records(read):
    table = read([["a", "b"], [1, 2], [], [3, 4], [], [None, ""]])
    assert table["a"].to_pylist() == [1, None, 3]


def test_error_cells_and_formulas_without_a_cached_value_are_missing(read):
    assert read([["a", "b"], ["#DIV/0!", "=1+1"], [1, 2]]).to_pydict() == {"a": [None, 1], "b": [None, 2]}


def test_a_header_alone_is_a_table_without_records(read):
    assert read([["a", "b"]]).shape == (0, 2)


@pytest.mark.parametrize("rows", [[], [[], [1]]])
def test_a_sheet_without_a_header_is_refused(read, rows):
    with pytest.raises(TableError, match="should be the header"):
        read(rows)


def test_columns_need_names_of_their_own(read):
    with pytest.raises(TableError, match="at position 2"):
        read([["a", None, "c"], [1, 2, 3]])
    with pytest.raises(TableError, match="name of their own, at position 1, 2"):
        read([["a", "a"], [1, 2]])


def test_values_beside_the_header_are_refused_without_quoting_them(read):
    with pytest.raises(
        TableError, match="2 rows have values to the right of the header's 1 columns; the first is row 3"
    ):
        read([["a"], [1], [1, "canary"], [1, None, "canary"]])
