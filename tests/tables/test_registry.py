"""What every registered file format must keep to, and how formats are found."""

from __future__ import annotations

import re
from pathlib import Path

import pyarrow as pa
import pytest

from microagg.errors import ParameterError
from microagg.tables.formats.base import FileFormat, WritableFormat
from microagg.tables.formats.registry import register_format, registered_formats, writable_format, writable_names
from microagg.tables.labels import Labels, labels_of, with_labels
from microagg.tables.write import write_table

FORMATS = registered_formats()
WRITTEN = [one for one in FORMATS if isinstance(one, WritableFormat)]
FIELDS = [with_labels(pa.field("x", pa.int64()), Labels("X", ((1, "one"),))), pa.field("s", pa.string())]
TABLE = pa.table([[1, 2, 1], ["a", "", None]], schema=pa.schema(FIELDS))


PAGE = Path(__file__).parents[2] / "docs" / "file_formats.md"


def name_of(one):
    return one.name


@pytest.mark.parametrize("one", FORMATS, ids=name_of)
def test_a_format_describes_itself(one):
    assert one.title
    assert all(extension.startswith(".") and extension == extension.lower() for extension in one.extensions)
    assert not (one.is_text and one.states_types)
    assert one.separator is None or one.is_text


def test_no_extension_belongs_to_two_formats():
    extensions = [extension for one in FORMATS for extension in (*one.extensions, *one.refused_extensions)]
    assert len(extensions) == len(set(extensions))


@pytest.mark.parametrize("one", WRITTEN, ids=name_of)
def test_a_written_file_is_found_to_be_written_by_microagg(tmp_path, one):
    path = tmp_path / f"t.{one.name}"
    write_table(TABLE, path)
    form = one.compare_form(path, same_libraries=True)
    assert form.fault == ""
    assert form.is_to_the_byte


@pytest.mark.parametrize("one", WRITTEN, ids=name_of)
def test_what_a_format_says_of_itself_is_true(tmp_path, one):
    path = tmp_path / f"t.{one.name}"
    write_table(TABLE, path)
    again = one.read_as_written(path)
    assert (labels_of(again.field("x")).label == "X") is one.keeps_labels
    assert (again["s"].to_pylist() == ["a", "", None]) is one.tells_missing_from_empty
    # Cells of a workbook have types, but digits in text may be meant as numbers.
    assert pa.types.is_integer(again["x"].type) is (one.states_types or one.name == "xlsx")
    write_table(pa.table({"x": [1, 2], "s": ["a ", "b"]}), path)
    assert (one.read_as_written(path)["s"].to_pylist() == ["a ", "b"]) is one.keeps_blanks_at_end
    assert one.count_declared_missing(path) == {}


def test_formats_are_found_by_name():
    assert [writable_format(name).name for name in writable_names()] == list(writable_names())
    assert set(writable_names(keeping_labels=True)) == {"parquet", "feather", "arrows", "sav", "dta"}
    for name in ("cvs", "xpt", "txt"):
        with pytest.raises(ParameterError, match=f"^format must be one of csv, .*Got '{name}' instead"):
            writable_format(name)


def test_a_taken_extension_is_refused():
    class Other(type(FORMATS[0])):
        pass

    with pytest.raises(ParameterError, match=r"Other cannot be registered: another one has the extension \.csv"):
        register_format(Other)
    assert registered_formats() == FORMATS


def test_a_taken_name_is_refused_under_whatever_extensions():
    class Shadow(type(FORMATS[0])):
        @property
        def extensions(self):
            return (".shadow",)

    with pytest.raises(ParameterError, match=r"Shadow cannot be registered: its extensions are without \.csv"):
        register_format(Shadow)
    assert registered_formats() == FORMATS


def test_a_format_that_is_not_complete_is_refused():
    class Unread(FileFormat):
        name = "new"
        title = "New"

    class Untitled(type(FORMATS[0])):
        name = "new"
        title = None

    class Loud(type(FORMATS[0])):
        name = "NEW"

    for kind, reason in ((Unread, "it lacks parse"), (Untitled, "it has no title"), (Loud, "in lower case")):
        with pytest.raises(ParameterError, match=reason):
            register_format(kind)
    assert registered_formats() == FORMATS


def test_registering_again_changes_nothing():
    assert register_format(type(FORMATS[0])) is type(FORMATS[0])
    assert registered_formats() == FORMATS


def test_a_library_cannot_speak_through_an_error_while_writing(tmp_path, monkeypatch):
    def fail(table, path):
        raise RuntimeError("canary")

    for one in WRITTEN:
        monkeypatch.setattr(one, "write", fail)
        with pytest.raises(Exception, match=rf"^t\.{one.name} could not be written as ") as caught:
            write_table(TABLE, tmp_path / f"t.{one.name}")
        assert "canary" not in str(caught.value)


def test_the_docs_list_every_format():
    rows = [
        [cell.strip() for cell in line.strip("|").split("|")]
        for line in PAGE.read_text(encoding="utf-8").splitlines()
        if line.startswith("| ") and "`." in line
    ]
    listed = {extension: (row[3], row[5]) for row in rows for extension in re.findall(r"`(\.[a-z0-9.]+)`", row[1])}
    assert set(listed) == {extension for one in FORMATS for extension in one.extensions}
    for one in FORMATS:
        written, labels = listed[f".{one.name}"]
        assert (written == "yes") is isinstance(one, WritableFormat)
        assert (labels != "no") is one.keeps_labels
