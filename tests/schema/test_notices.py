"""What `init` notices in columns: numbers, dates and codes for missing in the forms that people write."""

from __future__ import annotations

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from microagg.schema.look import look_at
from microagg.tables.text.dialect import STANDARD


@pytest.fixture
def look(tmp_path):
    def look_at_text(text, name="t.csv"):
        path = tmp_path / name
        path.write_text(text, encoding="utf-8")
        return look_at(path, STANDARD)

    return look_at_text


def column(values):
    return "row,v\n" + "".join(f'{i + 1},"{value}"\n' for i, value in enumerate(values))


@pytest.mark.parametrize(
    ("values", "said"),
    [
        (["20,000", "1,500"], "commas that divide thousands, or stand before three decimals"),
        (["20%", "30%"], "percent sign"),
        (["20%", "0.3"], "different units"),
        (["€5", "$6"], "different units"),
        (["1200 kg", "5 kg"], "unit or currency"),
        (["(1,234)", "5"], "(5) for -5"),
        (["1.234,5", "1"], "decimal commas"),
        (["1\u00a0234", "12"], "thousands set apart"),
        (["31/12/2020", "01/02/2021"], "dates written as %d/%m/%Y"),
        (["1/13/2020", "11/2/2021"], "dates written as %m/%d/%Y"),
        (["01/12/2020", "01/02/2021"], "day and month cannot be told apart"),
        (["01-Jan-2020", "15-Feb-2021"], "dates written as %d-%b-%Y"),
        (["20200131", "20210228", "20220101"], "dates written as %Y%m%d"),
        (["\u22125", "6"], "numbers stored as text"),
        (["2020-01-01", "01/02/2020", "13/02/2020"], "no one format fits all"),
        (
            ["13/02/2020", "14/02/2020", "15/02/2020", "16/02/2020", "17/02/2020", "00/00/0000"],
            "no one format fits all",
        ),
        (["85+", "5", "6", "7", "8", "9"], "1 different ones are not"),
        (["?", "Private", "State"], "stand for missing, or is it a category"),
        (["-1", "0", "5", "6"], "does -1 (1 records)"),
        (["99999", "0", "4500", "6000"], "does 99999 (1 records)"),
        (["9", "1", "2", "3", "4"], "does 9 (1 records)"),
    ],
)
def test_what_would_be_misread_is_asked_about(look, values, said):
    looked = look(column(values))
    assert said in looked.notices["v"].question


@pytest.mark.parametrize("word", ["unknown", "NULL", "n/a", "-", ".", "?", "none", "Missing", "#N/A", "\\N"])
def test_words_for_missing_among_numbers_are_taken_as_such(look, word):
    looked = look(column(["37", word, "40", "38"]))
    assert looked.table["v"].to_pylist() == [37, None, 40, 38]
    assert looked.notices["v"].is_numbers
    assert looked.dialect.missing == {"v": (word,)}


@pytest.mark.parametrize(
    "values",
    [
        ["192.168.0.1", "10.0.0.1"],
        ["1.2.3", "1.2.4"],
        ["555-1234", "555-9876"],
        ["123-45-6789", "987-65-4321"],
        ["Q1", "Q2"],
        ["08001", "08002a", "09"],
        ["12345678901234567890", "12345678901234567891"],
        ["true", "false"],
        ["12:30", "13:45"],
        ["37", "38"],
        ["50", "91", "99"],
        ["-5", "-1", "3"],
    ],
)
def test_ordinary_values_raise_no_question(look, values):
    assert "v" not in look(column(values)).notices


def test_columns_decide_together_what_points_mean(look):
    looked = look("a;b;c\n1.234;1,5;u\n2.500;2,25;v\n")
    assert looked.table.to_pydict() == {"a": [1234, 2500], "b": [1.5, 2.25], "c": ["u", "v"]}


def test_points_that_may_divide_thousands_are_asked_about_in_a_semicolon_file(look):
    looked = look("a;c\n1.234;u\n2.500;v\n")
    assert "divide thousands?" in looked.notices["a"].question
    assert "a" not in look("a,c\n1.234,u\n2.500,v\n").notices


def test_commas_before_three_digits_are_decimals_beside_semicolons_and_asked_about(look):
    looked = look("a;b\n1,234;1\n5,678;2\n")
    assert looked.table["a"].to_pylist() == [1.234, 5.678]
    assert "divide thousands, or stand before three decimals" in looked.notices["a"].question


def test_columns_that_no_one_setting_reads_are_told_and_never_categories(look):
    looked = look("a;b\n1.5;1,5\n2.5;2,25\n")
    (decision,) = (one for one in looked.decisions if one.key == "decimal")
    assert decision.asks
    assert looked.notices["b"].is_numbers


def test_a_file_with_types_keeps_its_text_of_digits(tmp_path):
    pq.write_table(pa.table({"zip": ["12345", "23456"], "pay": ["1,5", "2,5"]}), tmp_path / "t.parquet")
    looked = look_at(tmp_path / "t.parquet", STANDARD)
    assert not looked.notices["zip"].is_numbers
    assert looked.notices["pay"].is_numbers
    assert looked.dialect.decimal == ","


def test_questions_quote_no_values_but_codes(look):
    looked = look(column(["canary", "canary-b", "5", "6", "7", "8", "9", "10", "11", "12", "13", "14", "unknown"]))
    assert looked.notices["v"].question
    assert "canary" not in looked.notices["v"].question


def test_what_is_asked_says_how_the_numbers_are_read_in_the_end(look):
    rows = "".join(f"{20 + i};{i},5;{1 + i}.{125 + i}\n" for i in range(20))
    looked = look(f"age;b;c\n{rows}")
    assert looked.dialect.thousands == "."
    assert looked.table["c"].to_pylist()[0] == 1125
    assert "divide thousands, as it is read, or stand" in looked.notices["c"].question
    rows = "".join(f"{20 + i};{i};{1 + i}.{125 + i}\n" for i in range(20))
    looked = look(f"age;b;c\n{rows}")
    assert looked.table["c"].to_pylist()[0] == 1.125
    assert "stand before three decimals, as it is read, or divide" in looked.notices["c"].question


@pytest.mark.parametrize(
    ("text", "read"),
    [
        ("age;b\n" + "".join(f"{20 + i};{10 + i},{100 + i}\n" for i in range(20)), "decimals"),
        ("age\tb\n" + "".join(f"{20 + i}\t{10 + i},{100 + i}\n" for i in range(20)), "thousands"),
    ],
)
def test_text_that_may_be_thousands_is_asked_about_with_how_it_is_read(look, text, read):
    looked = look(text)
    assert looked.table["b"].to_pylist()[0] == (10.1 if read == "decimals" else 10_100)
    assert f"read as {read}" in looked.notices["b"].question


@pytest.mark.parametrize(
    "values",
    [
        [f"{i},5" for i in range(20)] + ["-999"],
        [f"{i},5" for i in range(20)] + ["-999,0"],
        [f"{i}.{500 + i},25" for i in range(1, 20)] + ["-999"],
        [f"{i}%" for i in range(20)] + ["-999%"],
        [f"({i})" for i in range(1, 20)] + ["99999"],
        ["unknown", *(f"{i},5" for i in range(20)), "-999"],
    ],
)
def test_codes_among_numbers_that_the_file_writes_as_text_are_asked_about(look, values):
    rows = "".join(f"{20 + i};{value}\n" for i, value in enumerate(values))
    notice = look(f"age;b\n{rows}").notices["b"]
    assert any(code in notice.maybe_missing for code in (-999, 99999))
    assert "apart from all other values" in notice.question
    assert notice.is_numbers
