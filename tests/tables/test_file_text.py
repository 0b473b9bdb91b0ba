"""How text files are read."""

import gzip

import pyarrow as pa
import pytest

from microagg.errors import TableError
from microagg.tables.read import read_table
from microagg.tables.write import write_table


@pytest.fixture
def read(tmp_path):
    def read_text(content, name="t.csv", **options):
        path = tmp_path / name
        data = content.encode() if isinstance(content, str) else content
        path.write_bytes(gzip.compress(data) if name.endswith(".gz") else data)
        return read_table(path, **options)

    return read_text


def test_only_fields_without_quotes_are_missing(read):
    table = read('a,b\nNA,\n"NA",""\nNaN,x\n')
    assert table.to_pydict() == {"a": [None, "NA", None], "b": [None, "", "x"]}


def test_the_words_for_missing_can_be_chosen(read):
    assert read("a\n-999\n1\n")["a"].to_pylist() == [-999, 1]
    assert read("a\n-999\n1\n", missing=["-999"])["a"].to_pylist() == [None, 1]
    assert read("a,b\nNA,1\n", missing=["-999"])["a"].to_pylist() == ["NA"]


def test_codes_keep_their_zeros_in_text_columns(read):
    table = read("zip,n\n00100,01\n,2\n", text_columns=["zip", "not there"])
    assert table.to_pydict() == {"zip": ["00100", None], "n": [1, 2]}


@pytest.mark.parametrize(
    ("field_values", "expected"),
    [
        (["1", "-2"], pa.int64()),
        (["9223372036854775807", "1"], pa.int64()),
        (["1", "2.5", "1e-300"], pa.float64()),
        (["true", "False"], pa.bool_()),
        (["true", "1"], pa.string()),
        (["1", "two"], pa.string()),
        (["2024-02-29", "1931-01-01"], pa.date32()),
        (["2024-02-29 10:00:00", "2024-02-29T10:00:00"], pa.timestamp("s")),
        (["NA", ""], pa.null()),
    ],
)
def test_types_are_those_that_fit_all_values(read, field_values, expected):
    content = "x,y\n" + "".join(f"{value},0\n" for value in field_values)
    assert read(content)["x"].type == expected


def test_integers_too_long_for_int64_are_not_rounded(read):
    table = read("id,big,n\n12345678901234567890,1e30,1\n12345678901234567891,2.5,2\n")
    assert table["id"].to_pylist() == ["12345678901234567890", "12345678901234567891"]
    assert table["big"].to_pylist() == [1e30, 2.5]


def test_text_far_behind_numbers_makes_the_column_text(read):
    table = read("x,y\n" + "1,2\n" * 6_000_000 + "word,2\n")
    assert table["x"].type == pa.string()
    assert table.num_rows == 6_000_001


@pytest.mark.parametrize("content", ["a,b\n1,x\n2,y\n", "\ufeffa,b\r\n1,x\r\n2,y", "\na,b\n\n1,x\n2,y\n\n\n"])
@pytest.mark.parametrize("name", ["t.csv", "t.csv.gz", "T.CSV"])
def test_marks_line_ends_and_blank_lines_do_not_matter(read, content, name):
    assert read(content, name).to_pydict() == {"a": [1, 2], "b": ["x", "y"]}


@pytest.mark.parametrize("content", ["a,b", "a,b\n", "\ufeffa,b\r\n\r\n"])
def test_a_header_alone_is_a_table_without_records(read, content):
    table = read(content, text_columns=["b"])
    assert table.schema == pa.schema({"a": pa.null(), "b": pa.string()})
    assert table.num_rows == 0


def test_a_stray_quote_inside_a_field_is_text(read):
    assert read('a,b\n5" pipe,1\n')["a"].to_pylist() == ['5" pipe']


@pytest.mark.parametrize("content", ["", "\n\n", "\ufeff"])
def test_an_empty_file_is_refused(read, content):
    with pytest.raises(TableError, match="is empty"):
        read(content)


def test_columns_need_names_of_their_own(read):
    with pytest.raises(TableError, match="4 columns do not have a name of their own, at position 1, 2, 3, 4"):
        read("a,b,a,b,c\n1,2,3,4,5\n")
    with pytest.raises(TableError, match="no name in the header at position 1, 3"):
        read(",b, \n1,2,3\n")


def test_rows_with_another_number_of_fields_are_counted(read):
    with pytest.raises(TableError, match=r"has 2 columns, but 2 of its rows .* first is row 3 with 1 \(the header"):
        read('a,b\n1,"x\ny"\n3\n4,5,6\n7,8\n')


@pytest.mark.parametrize(
    "content", [b"a,b\n1,caf\xe9\n", b"caf\xe9,b\n1,2\n", "a,b\n1,2\n".encode("utf-16"), b"a,b\n1,\xc3"]
)
@pytest.mark.parametrize("text_columns", [(), ("b",)])
def test_other_encodings_are_named(read, content, text_columns):
    with pytest.raises(TableError, match="is not in UTF-8"):
        read(content, text_columns=text_columns)


def test_a_quote_that_is_not_closed_is_refused(read):
    with pytest.raises(TableError, match="quoted field that does not end"):
        read('a,b\n1,"abc\n2,3\n')


def test_what_is_written(tmp_path):
    table = pa.table({"text": ["x", 'say "a, b"', "", None], "n": [1, None, 3, 4], "d": [0.1, 1e-300, 2.0, None]})
    write_table(table, tmp_path / "t.csv")
    assert (tmp_path / "t.csv").read_bytes() == (b'"text","n","d"\n"x",1,0.1\n"say ""a, b""",,1e-300\n"",3,2\n,4,\n')
    write_table(table.select(["text"]), tmp_path / "t.csv")
    assert (tmp_path / "t.csv").read_bytes() == b'"text"\n"x"\n"say ""a, b"""\n""\nNA\n'


def test_a_compressed_file_tells_neither_its_name_nor_its_time(tmp_path):
    write_table(pa.table({"a": [1], "b": [2]}), tmp_path / "secret-name.csv.gz")
    header = (tmp_path / "secret-name.csv.gz").read_bytes()[:10]
    assert header[3] == 0  # no flags: no name, no comment
    assert header[4:8] == b"\0\0\0\0"  # no time
