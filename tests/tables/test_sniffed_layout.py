"""What `init` cannot tell about a file's layout it asks: which of two separators, which line is the header."""

from __future__ import annotations

from pathlib import Path

import pytest

from microagg.errors import TableError
from microagg.schema.look import look_at
from microagg.tables.read import read_table
from microagg.tables.text.dialect import STANDARD, Dialect

TIES = {
    "tab and ;": ("age\tv;w", "{}\t0;0", ("\t", ";")),
    "tab and ;, more columns": ("age\tv;w;x", "{}\t0;0;1", ("\t", ";")),
    "comma and |": ("age,v|w", "{},x|y", (",", "|")),
    "comma and ;": ("age,v;w", "{},0;0", (",", ";")),
    "below a title": ("title\n\nage\tv;w", "{}\t0;0", ("\t", ";")),
}


@pytest.mark.parametrize("suffix", [".csv", ".tsv", ".txt"])
@pytest.mark.parametrize("tie", TIES)
def test_separators_that_split_the_rows_alike_are_asked_about(tmp_path: Path, tie: str, suffix: str) -> None:
    header, row, separators = TIES[tie]
    path = tmp_path / f"t{suffix}"
    path.write_text("\n".join([header, *(row.format(20 + i) for i in range(20)), ""]))
    with pytest.raises(TableError, match=r"alike\. Say what stands between its fields: --separator"):
        look_at(path, STANDARD)
    if not header.startswith("title"):
        for separator in separators:
            assert look_at(path, Dialect(separator=separator), {"separator"}).table.num_rows == 20


def test_a_refusal_names_both_separators(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("age\tv;w\n" + "".join(f"{20 + i}\t0;0\n" for i in range(20)))
    with pytest.raises(TableError, match=r'separator = ";"   # or "\\t"'):
        read_table(path)


def test_decimal_commas_are_no_rival_of_a_semicolon(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("".join(f"{20 + i},5;{i},25\n" for i in range(20)))
    looked = look_at(path, Dialect(header=False), {"header"})
    assert looked.dialect.separator == ";"
    assert looked.table.num_columns == 2


@pytest.mark.parametrize("comments", [["# made, by me"], ["# made, by me", "# and, her"], ["#a,b", "#c"], ["# a,b,c"]])
def test_a_comment_with_a_separator_is_no_header(tmp_path: Path, comments: list[str]) -> None:
    path = tmp_path / "t.csv"
    path.write_text("\n".join([*comments, "age,pay", *(f"{20 + i},{i}" for i in range(20)), ""]))
    looked = look_at(path, STANDARD)
    assert looked.table.column_names == ["age", "pay"]
    assert looked.table.num_rows == 20


def test_a_header_may_begin_with_a_hash(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("#id,age\n" + "".join(f"a{i},{20 + i}\n" for i in range(20)))
    assert look_at(path, STANDARD).table.column_names == ["#id", "age"]


def test_a_hash_above_words_only_is_asked_about(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("#name,town\n" + "".join(f"a{i}x,b{i}x\n" for i in range(20)))
    with pytest.raises(TableError, match="--skip-rows 1; if they are the header: --skip-rows 0"):
        look_at(path, STANDARD)
    assert look_at(path, STANDARD, {"skip_rows"}).table.column_names == ["#name", "town"]
