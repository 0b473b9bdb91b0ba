"""Files that cannot be used are refused with words that quote no record."""

import gzip
import random
import zipfile

import openpyxl
import pyarrow as pa
import pyreadstat
import pytest

from microagg.errors import TableError
from microagg.tables.formats.registry import registered_formats, writable_names
from microagg.tables.read import read_table
from microagg.tables.write import write_table
from optional_packages import need

CANARY = "canary-77231"
RECORDS = pa.table(
    {
        "name": [f"{CANARY}-{row}" for row in range(400)],
        "n": list(range(400)),
        "note": [f'{CANARY}, "quoted"\nand more' for _ in range(400)],
    }
)


def whole_file(folder, extension):
    """Write the records in a format, also in those that microagg only reads."""
    path = folder / f"whole.{extension}"
    if extension == "xlsx":
        book = openpyxl.Workbook()
        for row in zip(*RECORDS.to_pydict().values(), strict=True):
            book.active.append(row)
        book.save(path)
    elif extension == "xpt":
        polars = need("polars")
        pyreadstat.write_xport(polars.from_arrow(RECORDS.select(["name", "n"])), path)
    else:
        write_table(RECORDS, path)
    return path.read_bytes()


def refusal(folder, extension, content):
    path = folder / f"broken.{extension}"
    path.write_bytes(content)
    with pytest.raises(TableError) as caught:
        read_table(path)
    message = str(caught.value)
    assert "canary" not in message
    assert f"broken.{extension}" in message
    assert str(folder) not in message
    assert caught.value.__cause__ is None
    assert caught.value.__context__ is None or caught.value.__suppress_context__
    return message


BINARY = ["csv.gz", "parquet", "feather", "sav", "zsav", "dta", "xpt", "xlsx"]


@pytest.mark.parametrize("share", [0.001, 0.3, 0.7, 0.999])
@pytest.mark.parametrize("extension", BINARY)
def test_a_file_cut_short_is_refused(tmp_path, extension, share):
    content = whole_file(tmp_path, extension)
    cut = min(int(len(content) * share), len(content) - 1)
    if extension == "xpt":
        cut = cut // 80 * 80 + 7
    refusal(tmp_path, extension, content[:cut])


@pytest.mark.parametrize("extension", [*BINARY, "sas7bdat"])
@pytest.mark.parametrize(
    "content",
    [
        b"",
        f"a,b\n1,{CANARY}\n".encode() * 50,
        random.Random(1).randbytes(5000) + CANARY.encode(),
        b"PAR1" + CANARY.encode() + b"PAR1",
        b"ARROW1\0\0" + CANARY.encode() + b"ARROW1",
        b"$FL2" + CANARY.encode() * 100,
        b"<stata_dta>" + CANARY.encode() * 10 + b"</stata_dta>",
    ],
    ids=["empty", "csv", "random", "parquet-like", "feather-like", "sav-like", "dta-like"],
)
def test_a_file_of_another_kind_is_refused(tmp_path, extension, content):
    refusal(tmp_path, extension, content)


def test_a_cut_sas_file_is_refused(tmp_path):
    magic = bytes(12) + bytes.fromhex("c2ea8160b31411cfbd92080009c7318c181f1011")
    refusal(tmp_path, "sas7bdat", magic + CANARY.encode() * 20)


@pytest.mark.parametrize("extension", ["parquet", "feather", "sav", "dta", "csv.gz", "xlsx"])
def test_damage_anywhere_is_refused_or_harmless(tmp_path, extension):
    """A flipped byte may go unnoticed in a format without checksums, but gives no other kind of error."""
    content = whole_file(tmp_path, extension)
    rng = random.Random(7)
    path = tmp_path / f"broken.{extension}"
    messages = []
    for _ in range(60):
        damaged = bytearray(content)
        damaged[rng.randrange(len(damaged))] ^= 1 << rng.randrange(8)
        path.write_bytes(damaged)
        try:
            read_table(path)
        except TableError as error:
            messages.append(str(error))
    assert CANARY not in " ".join(messages)


def test_broken_text_files_are_refused_without_quoting_them(tmp_path):
    good = f"a,b\n1,{CANARY}\n".encode()
    assert "1 of its rows" in refusal(tmp_path, "csv", good + f"{CANARY}\n".encode())
    assert "2 of its rows" in refusal(tmp_path, "tsv", f"a\tb\n{CANARY}\n{CANARY}\n1\t2\n".encode())
    assert "UTF-8" in refusal(tmp_path, "csv", good + CANARY.encode() + b",\xff\n")
    assert "does not end" in refusal(tmp_path, "csv", good + f'2,"{CANARY}\n'.encode())
    assert "gzip" in refusal(tmp_path, "csv.gz", gzip.compress(good)[:-9])
    assert "1 of its rows" in refusal(tmp_path, "csv.gz", gzip.compress(good + f"{CANARY}\n".encode()))


def test_a_zip_that_is_no_workbook_is_refused(tmp_path):
    with zipfile.ZipFile(tmp_path / "any.zip", "w") as archive:
        archive.writestr("xl/workbook.xml", f"<workbook>{CANARY}</workbook>")
    refusal(tmp_path, "xlsx", (tmp_path / "any.zip").read_bytes())


@pytest.mark.parametrize("extension", [extension for one in registered_formats() for extension in one.extensions])
def test_missing_files_and_directories_are_named(tmp_path, extension):
    with pytest.raises(TableError, match=f"^t{extension}: no such file") as caught:
        read_table(tmp_path / f"t{extension}")
    assert str(tmp_path) not in str(caught.value)
    (tmp_path / f"dir{extension}").mkdir()
    with pytest.raises(TableError, match="is a directory"):
        read_table(tmp_path / f"dir{extension}")


# Tables that a format cannot hold


def refused(table, path):
    with pytest.raises(TableError) as caught:
        write_table(table, path)
    assert "canary" not in str(caught.value)
    assert not path.exists()
    return str(caught.value)


@pytest.mark.parametrize("extension", writable_names())
def test_tables_that_no_file_holds_are_refused(tmp_path, extension):
    path = tmp_path / f"t.{extension}"
    assert "no columns" in refused(pa.table({}), path)
    assert "called 'a'" in refused(pa.Table.from_arrays([pa.array([1])] * 2, names=["a", "a"]), path)
    assert "Column 'l' has type list" in refused(pa.table({"l": [["canary"]]}), path)
    assert "Column 'b' has type binary" in refused(pa.table({"b": [b"canary"]}), path)
    assert "does not exist" in refused(RECORDS, tmp_path / "nowhere" / f"t.{extension}")


@pytest.mark.parametrize("name", ["a.b", "a b", "1a", "a-b", "x" * 33, "int", "str12", "_n", "", "é" * 33])
def test_names_that_stata_cannot_hold_are_listed(tmp_path, name):
    message = refused(pa.table({"good": ["canary"], name: [1]}), tmp_path / "t.dta")
    assert repr(name) in message
    assert "good" not in message
    assert "at most 32" in message


@pytest.mark.parametrize("name", ["a b", "1a", "a-b", "x" * 65, "é" * 33, "_a", "And", "end.", "@a"])
def test_names_that_spss_cannot_hold_are_listed(tmp_path, name):
    message = refused(pa.table({"good": ["canary"], name: [1]}), tmp_path / "t.sav")
    assert repr(name) in message
    assert "at most 64" in message


@pytest.mark.parametrize("extension", ["sav", "dta"])
@pytest.mark.parametrize("name", ["ok", "Ok_1", "żółw", "x" * 32])
def test_good_names_are_taken(tmp_path, extension, name):
    write_table(pa.table({name: [1]}), tmp_path / f"t.{extension}")
    assert read_table(tmp_path / f"t.{extension}").column_names == [name]


def test_names_that_differ_in_case_collide_in_spss_only(tmp_path):
    table = pa.table({"Age": [1], "age": [2]})
    assert "'Age', 'age'" in refused(table, tmp_path / "t.sav")
    write_table(table, tmp_path / "t.dta")
    assert read_table(tmp_path / "t.dta").to_pydict() == {"Age": [1], "age": [2]}


@pytest.mark.parametrize("extension", ["sav", "dta"])
def test_values_that_statistics_formats_cannot_hold_are_counted(tmp_path, extension):
    path = tmp_path / f"t.{extension}"
    assert "beyond 2^53" in refused(pa.table({"x": [2**53 + 1]}), path)
    assert "beyond 2^53" in refused(pa.table({"x": pa.array([2**64 - 1], pa.uint64())}), path)
    assert "2 values that are infinite" in refused(pa.table({"x": [float("inf"), -float("inf"), 1.0]}), path)
    assert "1 values with a NUL" in refused(pa.table({"x": ["canary\0", "b"]}), path)
    zoned = pa.array([0], pa.timestamp("us", tz="UTC"))
    assert "has a time zone" in refused(pa.table({"x": zoned}), path)


@pytest.mark.parametrize("extension", ["csv", "tsv", "jsonl", "csv.gz"])
def test_offsets_in_seconds_are_refused_where_text_would_drop_them(tmp_path, extension):
    """Before 1901 clocks of Madrid were 14 minutes and 44 seconds behind UTC; text would say 14 minutes."""
    zoned = pa.array([-3_000_000_000, 0, None], pa.timestamp("s", tz="Europe/Madrid"))
    table = pa.table({"born": zoned, "n": [1, 2, 3]})
    assert "'born' has 1 times" in refused(table, tmp_path / f"t.{extension}")
    write_table(table.slice(1), tmp_path / f"t.{extension}")
    moments = read_table(tmp_path / f"t.{extension}").column("born").to_pylist()
    assert [str(one)[:19] for one in moments][:1] in (["1970-01-01 00:00:00"], ["1970-01-01 01:00:00"])


def test_limits_of_one_format_only(tmp_path):
    assert "1 values of more than 32767 bytes" in refused(pa.table({"x": ["canary" * 6000, "b"]}), tmp_path / "t.sav")
    assert "too large" in refused(pa.table({"x": [1e308]}), tmp_path / "t.dta")
    write_table(pa.table({"x": ["long" * 6000, None], "y": [1e307, None]}), tmp_path / "t.dta")
    assert read_table(tmp_path / "t.dta").to_pydict() == {"x": ["long" * 6000, None], "y": [1e307, None]}


@pytest.mark.parametrize("extension", ["sav", "dta"])
def test_what_the_library_says_is_not_passed_on(tmp_path, monkeypatch, extension):
    def fail(*args, **options):
        raise RuntimeError("canary")

    monkeypatch.setattr(pyreadstat, f"write_{extension}", fail)
    assert "could not be written" in refused(pa.table({"x": [1]}), tmp_path / f"t.{extension}")


@pytest.mark.parametrize("extension", ["sav", "dta"])
def test_numbers_that_are_none_become_missing(tmp_path, extension):
    write_table(pa.table({"x": [float("nan"), 1.5]}), tmp_path / f"t.{extension}")
    assert read_table(tmp_path / f"t.{extension}")["x"].to_pylist() == [None, 1.5]


def test_integers_at_the_edge_of_statas_own(tmp_path):
    table = pa.table({"fits": [2_147_483_620, -2_147_483_647], "over": [2_147_483_621, -2_147_483_648]})
    write_table(table, tmp_path / "t.dta")
    again = read_table(tmp_path / "t.dta")
    assert again.to_pydict() == table.to_pydict()
    assert {field.type for field in again.schema} == {pa.int64()}
