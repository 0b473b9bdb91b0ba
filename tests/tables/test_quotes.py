"""Quotes that do not enclose whole fields are refused with their lines: no records vanish between two of them."""

from __future__ import annotations

import csv
import io
import random
from pathlib import Path

import pytest

from microagg.errors import TableError
from microagg.tables.read import read_table
from microagg.tables.text import quotes as _quotes
from microagg.tables.text.dialect import Dialect

ABOVE = "name,age\n" + "".join(f"n{i},{20 + i}\n" for i in range(10))
BELOW = "".join(f"m{i},{20 + i}\n" for i in range(10))


def refused(folder: Path, text: str, dialect: Dialect | None = None) -> str:
    path = folder / "z.csv"
    path.write_bytes(text.encode())
    with pytest.raises(TableError) as caught:
        read_table(path, dialect=dialect or Dialect())
    return str(caught.value)


@pytest.mark.parametrize(
    ("between", "lines"),
    [
        ('"Bob,30\nEve,31\nAnn,32\n"Tom,33\n', ("line 15", "line 12")),
        ('"Bob,30\nEve,31\nAnn,32\nTom,"33\n', ("line 15", "line 12")),
        ('Bob",30\n"Eve,31\nTom",33\n', ("line 12",)),
        ('"Bob" Jr,30\n', ("line 12",)),
        ('Bob", 30\n"Eve"x,3\n', ("line 12",)),
        ('"Bob\n', ("line 12",)),
        ('"B""ob,30\nEve,31\n"Tom,33\n', ("line 14", "line 12")),
    ],
)
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_a_stray_quote_is_refused_with_its_line_and_no_value(
    tmp_path: Path, between: str, lines: tuple[str, ...], end: str
) -> None:
    message = refused(tmp_path, (ABOVE + between + BELOW).replace("\n", end))
    assert all(line in message for line in lines)
    assert not any(name in message for name in ("Bob", "Eve", "Ann", "Tom"))


def test_lines_are_counted_from_the_first_of_the_file(tmp_path: Path) -> None:
    assert "line 4" in refused(tmp_path, 'title\n\nname,age\n"B"ob,30\n', Dialect(skip_rows=2))


def test_quotes_that_another_separator_would_explain_ask_for_it(tmp_path: Path) -> None:
    assert 'separator = ";"' in refused(tmp_path, 'name;age\n"Bob, Jr";30\n"Eve, Jr";31\n')


def test_quotes_inside_fields_are_text_where_every_line_is_a_row(tmp_path: Path) -> None:
    path = tmp_path / "z.csv"
    path.write_text('name,size\n5" pipe,1\n"x",2\n6" pipe,3\n')
    assert read_table(path)["name"].to_pylist() == ['5" pipe', "x", '6" pipe']


@pytest.mark.parametrize("block", [1, 2, 3, 7, 1 << 23])
def test_what_a_csv_writer_writes_is_read_whatever_the_blocks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, block: int
) -> None:
    monkeypatch.setattr(_quotes, "_BLOCK", block)
    rng = random.Random(7)
    for quoting in (csv.QUOTE_MINIMAL, csv.QUOTE_ALL, csv.QUOTE_NONNUMERIC):
        rows = [["".join(rng.choices('ab",\n\réx', k=rng.randint(1, 5))), "x"] for _ in range(40)]
        out = io.StringIO(newline="")
        csv.writer(out, quoting=quoting).writerows([["a", "b"], *rows])
        path = tmp_path / "t.csv"
        path.write_bytes(out.getvalue().encode())
        assert read_table(path, text_columns=["a", "b"]).num_rows == len(rows)


@pytest.mark.parametrize("block", [1, 2, 5, 1 << 23])
def test_a_fault_is_found_wherever_blocks_end(monkeypatch: pytest.MonkeyPatch, block: int) -> None:
    monkeypatch.setattr(_quotes, "_BLOCK", block)
    for text, fault in [('a,b"c\n', "inside"), ('é,"b"c\n', "after"), ('a,"b""c\n', "open"), ('"a""', "open")]:
        found = _quotes.first_bad_quote(io.StringIO(text, newline=""), ",")
        assert found is not None
        assert found.fault == fault


def test_more_rows_to_skip_than_there_are_end_with_the_file(tmp_path: Path) -> None:
    assert "is empty" in refused(tmp_path, "name,age\nx,1\n", Dialect(skip_rows=9_999_999_999))


@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize("between", ['"Bob,30\nEve,31\nAnn,32\nTom",33\n', 'Bob,"30\nEve,31\nAnn,32\nTom,33"\n'])
def test_stray_quotes_that_happen_to_enclose_a_field_of_whole_rows_are_refused(
    tmp_path: Path, between: str, end: str
) -> None:
    message = refused(tmp_path, (ABOVE + between + BELOW).replace("\n", end))
    assert "line 12" in message
    assert "line 15" in message
    assert "Bob" not in message


@pytest.mark.parametrize("field", ['"12 Main St, Apt 3\nBoston"', '"a\nb"', '"first, 2nd\n\nthird, x"', '"\n"'])
def test_text_of_several_lines_is_a_field(tmp_path: Path, field: str) -> None:
    path = tmp_path / "z.csv"
    path.write_text(f"{ABOVE}{field},33\n{BELOW}")
    assert read_table(path).num_rows == 21
