"""Files as people have them: found out by `init`, said in ``[input]`` or by flags, or refused without quoting one."""

from __future__ import annotations

import json
import re
from pathlib import Path

import openpyxl
import pytest
from typer.testing import CliRunner

from microagg.cli.app import app
from microagg.errors import TableError

runner = CliRunner()
RECIPE = """
k = 3
[attributes]
income = "confidential"
[attributes.age]
role = "quasi_identifier"
kind = "numeric"
[attributes.region]
role = "quasi_identifier"
kind = "nominal"
"""
RECORDS = [(20 + i, 1000 + 37 * i, ("canary-north", "canary-south")[i % 2]) for i in range(24)]


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("recipe.toml").write_text(RECIPE)
    return tmp_path


def run(*arguments, code=0):
    result = runner.invoke(app, [str(argument) for argument in arguments])
    assert result.exit_code == code, result.output
    assert "canary" not in result.output
    # Seconds, hashes and the id of a receipt may have any digits.
    assert "1037" not in re.sub(r'"seconds": \S+|[0-9a-f]{12,}', "", result.output)
    return result


def text_of(separator=",", header="age,income,region", records=RECORDS):
    lines = [separator.join(map(str, record)) for record in records]
    return "\n".join([header.replace(",", separator), *lines] if header else lines) + "\n"


def published(folder="out"):
    return sorted(Path(folder, "table.csv").read_text(encoding="utf-8").splitlines()[1:])


def release(data, *flags, recipe="recipe.toml", out="out", code=0):
    return run("release", data, "-r", recipe, "-o", out, "--seed", 1, *flags, code=code)


@pytest.fixture
def plain():
    """What a release of the same records in a plain CSV publishes."""
    Path("plain.csv").write_text(text_of())
    release("plain.csv", out="plain")
    return published("plain")


# Separators


@pytest.mark.parametrize("separator", [";", "\t", "|", "^"])
def test_whole_rows_in_one_column_are_never_released(separator, plain):
    Path("data.csv").write_text(text_of(separator))
    name = f"age{separator}income{separator}region".replace("\t", "\\t")
    Path("one.toml").write_text(f'k = 3\n[attributes."{name}"]\nrole = "quasi_identifier"\nkind = "nominal"\n')
    shown = json.dumps(separator)
    for recipe in ("one.toml", "recipe.toml"):
        refused = release("data.csv", recipe=recipe, code=2)
        assert f"[input]\n    separator = {shown}" in refused.stderr
    assert not Path("out").exists()
    release("data.csv", "--separator", separator)
    assert published() == plain
    Path("said.toml").write_text(RECIPE.replace("[attributes]", f"[input]\nseparator = {shown}\n[attributes]", 1))
    release("data.csv", recipe="said.toml", out="said")
    assert published("said") == plain


def test_rows_longer_than_any_sample_are_not_read_as_one_column():
    names = [f"a rather long name of a column {i}" for i in range(8000)]
    Path("data.csv").write_text("\n".join([";".join(names), *[";".join(["1"] * 8000)] * 4]) + "\n")
    Path("one.toml").write_text('k = 3\n[attributes.x]\nrole = "quasi_identifier"\nkind = "nominal"\n')
    assert 'separator = ";"' in release("data.csv", recipe="one.toml", code=2).stderr


def test_whole_lines_in_quotes_are_refused_even_with_their_separator():
    lines = text_of(";").splitlines()
    Path("data.csv").write_text("".join(f'"{line}"\n' for line in lines))
    one = '[attributes."age;income;region"]\nrole = "quasi_identifier"\nkind = "nominal"\n'
    Path("one.toml").write_text("k = 3\n" + one)
    assert "as if whole rows were one field" in release("data.csv", recipe="one.toml", code=2).stderr
    assert "quotes around whole lines" in release("data.csv", "--separator", ";", recipe="one.toml", code=2).stderr


def test_rows_without_a_name_that_splits_are_refused_too():
    Path("data.csv").write_text(text_of(";", header="rows"))
    Path("one.toml").write_text('k = 3\n[attributes.rows]\nrole = "quasi_identifier"\nkind = "nominal"\n')
    assert 'separator = ";"' in release("data.csv", recipe="one.toml", code=2).stderr


@pytest.mark.parametrize("sign", [" ", "   ", ":", "#"])
def test_rows_joined_by_a_rare_sign_are_refused_and_two_words_are_not(sign):
    Path("data.csv").write_text(f"age{sign}pay\n" + "".join(f"{20 + i}{sign}{i}\n" for i in range(9)))
    Path("one.toml").write_text(f'k = 3\n[attributes."age{sign}pay"]\nrole = "quasi_identifier"\nkind = "nominal"\n')
    assert f'separator = "{sign[0]}"' in release("data.csv", recipe="one.toml", code=2).stderr
    Path("words.csv").write_text("full name\n" + "Jane Doe\nJohn Roe\n" * 6)
    run("init", "words.csv", "-o", "words.toml", "--header")


def test_rows_joined_in_a_file_without_a_header_are_refused():
    Path("data.csv").write_text(text_of(";", header=""))
    one = '[input]\nheader = false\ncolumns = ["x"]\n[attributes.x]\nrole = "quasi_identifier"\nkind = "nominal"\n'
    Path("one.toml").write_text("k = 3\n" + one)
    assert 'separator = ";"' in release("data.csv", recipe="one.toml", code=2).stderr


def test_a_semicolon_file_with_commas_in_names_and_numbers_is_refused():
    Path("data.csv").write_text("a;b,c\n" + "".join(f"{i};{i},5;{i}\n" for i in range(9)))
    columns = '[attributes."a;b"]\nrole = "quasi_identifier"\nkind = "nominal"\n[attributes]\nc = "confidential"\n'
    Path("two.toml").write_text("k = 3\n" + columns)
    assert 'separator = ";"' in release("data.csv", recipe="two.toml", code=2).stderr


def test_one_column_is_one_column_and_names_may_hold_any_sign():
    Path("one.csv").write_text("age\n" + "".join(f"{20 + i}\n" for i in range(9)))
    run("init", "one.csv", "-o", "one.toml")
    release("one.csv", recipe="one.toml", out="one")
    Path("bar.csv").write_text("a|b,c;d\n" + "".join(f"{i},{i}\n" for i in range(9)))
    run("init", "bar.csv", "-o", "bar.toml")
    release("bar.csv", recipe="bar.toml", out="bar")
    Path("alone.csv").write_text("a|b\n" + "".join(f"{i}\n" for i in range(9)))
    assert 'separator = ","' in run("init", "alone.csv", "-o", "alone.toml", code=2).stderr
    run("init", "alone.csv", "-o", "alone.toml", "--separator", ",")
    release("alone.csv", recipe="alone.toml", out="alone")
    run("check", "alone")


def test_a_dataframe_of_whole_rows_is_refused():
    import microagg
    from optional_packages import pandas as pd

    frame = pd.DataFrame({"age;income": [f"{i};{i}" for i in range(9)]})
    recipe = microagg.Recipe(k=3, attributes={"age;income": {"role": "quasi_identifier", "kind": "nominal"}})
    with pytest.raises(TableError, match="as if whole rows were one field"):
        microagg.release(frame, recipe)


# Files without a header


@pytest.mark.parametrize("records", [RECORDS, [(f"canary{i}", 1037, "canary-x") for i in range(12)]])
def test_the_first_record_of_a_file_without_a_header_is_never_quoted(records):
    Path("data.csv").write_text(text_of(header="", records=records))
    said = release("data.csv", code=2).stderr
    assert "header = false" in said
    assert "'age'" in said  # names of the recipe may be told
    run("check", "data.csv", "-r", "recipe.toml", code=1)
    for command in ("evaluate", "report"):
        extra = ("-o", "page.html") if command == "report" else ()
        run(command, "data.csv", "data.csv", "-r", "recipe.toml", *extra, code=2)
    run("sweep", "data.csv", "-r", "recipe.toml", "-o", "frontier", code=2)
    assert "look like values" in run("init", "data.csv", "-o", "draft.toml", code=2).stderr
    assert not Path("draft.toml").exists()


def test_equal_values_in_a_first_record_are_not_quoted_as_names():
    Path("data.csv").write_text("canary,canary,1037\n" * 9)
    assert "position 1, 2" in release("data.csv", code=2).stderr


def test_a_file_without_a_header_is_read_with_given_names(plain):
    Path("data.csv").write_text(text_of(header=""))
    release("data.csv", "--no-header", "--columns", "age,income,region")
    assert published() == plain
    recipe = json.loads(Path("out/manifest.json").read_text())["recipe"]
    assert recipe["input"]["columns"] == ["age", "income", "region"]
    run("check", "out")
    run("evaluate", "data.csv", "out", "-r", "recipe.toml", "--columns", "age,income,region")
    run("init", "data.csv", "-o", "draft.toml", "--no-header")
    assert "column_3" in Path("draft.toml").read_text()
    release("data.csv", recipe="draft.toml", out="draft")


def test_a_header_of_numbers_is_taken_if_told():
    Path("data.csv").write_text("region,2019,2020\n" + "".join(f"r{i % 3},{i},{i}\n" for i in range(12)))
    run("init", "data.csv", "-o", "draft.toml", code=2)
    run("init", "data.csv", "-o", "draft.toml", "--header")
    release("data.csv", recipe="draft.toml", out="out")


# Encodings, rows above the header, sheets


@pytest.mark.parametrize("encoding", ["utf-8-sig", "latin-1", "cp1252", "utf-16", "utf-16-le", "utf-16-be", "utf-32"])
def test_encodings_are_found_and_without_a_word_refused_with_the_line(encoding):
    text = text_of(records=[(age, income, ("Évry", "Köln")[age % 2]) for age, income, _ in RECORDS])
    Path("data.csv").write_bytes(text.replace("region", "région").encode(encoding))
    run("init", "data.csv", "-o", "draft.toml")
    release("data.csv", recipe="draft.toml")
    assert any("Évry" in line for line in published())
    assert '"région"' in Path("out/table.csv").read_text(encoding="utf-8")
    Path("bare.toml").write_text(RECIPE.replace("region", '"région"'))
    if encoding != "utf-8-sig":
        assert 'encoding = "' in release("data.csv", recipe="bare.toml", out="bare", code=2).stderr


def test_titles_above_the_header_are_found_and_without_a_word_refused_with_the_line(plain):
    Path("data.csv").write_text("A survey\n\nof people\n" + text_of())
    assert "skip_rows = 3" in release("data.csv", code=2).stderr
    assert "skip_rows" in run("init", "data.csv", "-o", "draft.toml").stderr
    assert "skip_rows = 3" in Path("draft.toml").read_text()
    release("data.csv", "--skip-rows", 3)
    assert published() == plain


def test_several_sheets_need_a_choice(plain):
    book = openpyxl.Workbook()
    book.active.title = "notes"
    book.active.append(["nothing"])
    sheet = book.create_sheet("people")
    for row in [("age", "income", "region"), *RECORDS]:
        sheet.append(row)
    book.create_sheet("empty")
    book.save("data.xlsx")
    for command in (
        ("init", "data.xlsx", "-o", "draft.toml"),
        ("release", "data.xlsx", "-r", "recipe.toml", "-o", "x"),
    ):
        said = run(*command, code=2).stderr
        assert "2 sheets with values: 'notes', 'people'" in said
        assert '[input]\n    sheet = "' in said
    release("data.xlsx", "--sheet", "people", "--format", "csv")
    assert published() == plain
    release("data.xlsx", "--sheet", 2, out="second", code=0)
    assert "no sheet 'person'" in release("data.xlsx", "--sheet", "person", out="third", code=2).stderr
    run("init", "data.xlsx", "-o", "draft.toml", "--sheet", "people")
    assert 'sheet = "people"' in Path("draft.toml").read_text()


def test_one_sheet_with_values_needs_no_choice():
    book = openpyxl.Workbook()
    for row in [("age", "income", "region"), *RECORDS]:
        book.active.append(row)
    book.create_sheet("Sheet2")
    book.save("data.xlsx")
    release("data.xlsx")


@pytest.mark.parametrize("name", ["data.txt", "data.dat"])
def test_text_files_are_read_once_their_separator_is_known(name, plain):
    Path(name).write_text(text_of("|"))
    assert 'separator = "|"' in release(name, code=2).stderr
    release(name, "--separator", "|")
    assert published() == plain
    run("init", name, "-o", "draft.toml")
    assert 'separator = "|"' in Path("draft.toml").read_text()


def test_an_unknown_extension_does_not_suggest_another_kind_of_file():
    Path("data.doc").write_text(text_of())
    assert "Did you mean" not in release("data.doc", code=2).stderr


# Numbers and dates in their own forms


def european(value):
    return f"{value:,.2f}".replace(",", " ").replace(".", ",").replace(" ", ".")


def test_init_decides_and_shows_and_a_release_reads_the_same(plain):
    rows = [(age, european(income), region) for age, income, region in RECORDS]
    Path("data.csv").write_text(text_of(";", records=rows))
    said = run("init", "data.csv", "-o", "draft.toml").stderr
    assert all(f"[input] {key}: " in said for key in ("separator", "decimal", "thousands"))
    draft = Path("draft.toml").read_text()
    assert all(line in draft for line in ('separator = ";"', 'decimal = ","', 'thousands = "."'))
    release("data.csv", "--separator", ";", "--decimal", ",", "--thousands", ".")
    assert published() == plain  # plainly written, whatever the input
    recipe = json.loads(Path("out/manifest.json").read_text())["recipe"]
    assert recipe["input"] == {
        **recipe["input"],
        "separator": ";",
        "decimal": ",",
        "thousands": ".",
    }


def test_what_microagg_wrote_is_read_plainly_and_what_others_wrote_as_the_input(plain):
    rows = [(age, european(income), region) for age, income, region in RECORDS]
    Path("data.csv").write_text(text_of(";", records=rows))
    flags = ("--separator", ";", "--decimal", ",", "--thousands", ".")
    release("data.csv", *flags, "--order", "kept")
    Path("copied.csv").write_bytes(Path("out/table.csv").read_bytes())
    with Path("other.csv").open("w") as other:
        for line in Path("out/table.csv").read_text().splitlines():
            other.write(line.replace(".", ",").replace('"', "").replace(",", ";") + "\n")
    found = [
        json.loads(run("evaluate", "data.csv", table, "-r", "recipe.toml", "--aligned", "--json", *flags).stdout)
        for table in ("out", "out/table.csv", "copied.csv", "other.csv")
    ]
    values = [{name: one["value"] for name, one in each.items()} for each in found]
    assert values[0] == values[1] == values[2] == values[3]
    assert values[0]["SSE"] is not None
    for table in ("copied.csv", "other.csv"):
        assert "ok    k-anonymity" in run("check", table, "-r", "recipe.toml", *flags).stderr
        run("report", "data.csv", table, "-r", "recipe.toml", "-o", f"{table}.html", *flags)


FORMS = {
    "percent": ([f"{i}%" for i in range(12)], 'units = ["%"]'),
    "thousands": ([f"{20 + i},000" for i in range(12)], 'thousands = ","'),
    "unknown": (["unknown", *range(20, 31)], 'missing.x = ["unknown"]'),
    "NULL": (["NULL", "NULL", *range(20, 31)], 'missing.x = ["NULL"]'),
    "dates": ([f"{20 + i % 9}/0{1 + i % 9}/2020" for i in range(12)], 'date_format = "%d/%m/%Y"'),
    "money": ([f"€ {i}.50" for i in range(12)], 'units = ["€"]'),
    "commas": ([f"{i},5" for i in range(12)], 'decimal = ","'),
    "brackets": ([f"({i})" if i % 2 else f"{i}" for i in range(12)], 'negatives = "parentheses"'),
}


@pytest.mark.parametrize("form", FORMS)
def test_numbers_in_any_form_are_asked_about_and_never_nominal(form):
    values, line = FORMS[form]
    Path("data.csv").write_text("x,y\n" + "".join(f'"{value}",{i}\n' for i, value in enumerate(values)))
    content = json.loads(run("init", "data.csv", "-o", "draft.toml", "--json").stdout)
    guess = content["guesses"][0]
    assert guess["kind"] == "numeric"
    assert any("number" in question or "dates" in question for question in guess["decide"])
    draft = Path("draft.toml").read_text()
    assert line in draft
    assert f"{content['decisions']} decisions" in draft
    assert sum("DECIDE" in one for one in draft.splitlines()) == content["decisions"]
    missing = ("--missing", "suppress") if "missing" in line else ()
    release("data.csv", *missing, recipe="draft.toml")
    bare = 'k = 3\n[attributes.x]\nrole = "quasi_identifier"\nkind = "numeric"\n[attributes]\ny = "confidential"\n'
    Path("bare.toml").write_text(bare)
    assert "Add to the recipe:\n    [input]" in release("data.csv", recipe="bare.toml", out="bare", code=2).stderr


def test_dates_whose_day_is_in_doubt_are_refused_until_decided():
    dates = "".join(f"0{1 + i % 9}/0{1 + i % 7}/2020,{i}\n" for i in range(12))
    Path("data.csv").write_text("visit,y\n" + dates)
    run("init", "data.csv", "-o", "draft.toml")
    draft = Path("draft.toml").read_text()
    assert "day and month cannot be told apart" in draft
    assert "date_format" in release("data.csv", recipe="draft.toml", code=2).stderr
    Path("draft.toml").write_text(draft.replace("# date_format.visit", "date_format.visit"))
    release("data.csv", recipe="draft.toml")
    assert published()[0].startswith("2020-0")


def test_codes_that_stand_apart_are_asked_about():
    Path("data.csv").write_text("x,y\n" + "".join(f"{value},{i}\n" for i, value in enumerate([-999, *range(20, 40)])))
    guesses = json.loads(run("init", "data.csv", "-o", "draft.toml", "--json").stdout)["guesses"]
    assert any("-999" in question for question in guesses[0]["decide"])
    assert "# missing.x = [-999]" in Path("draft.toml").read_text()
    refused = release("data.csv", "--missing-codes", "x=-999", recipe="draft.toml", code=2)
    assert "missing" in refused.stderr
    release("data.csv", "--missing-codes", "x=-999", "--missing", "suppress", recipe="draft.toml")
    assert len(published()) == 20
    assert json.loads(Path("out/manifest.json").read_text())["recipe"]["input"]["missing"] == {"x": [-999]}


@pytest.mark.parametrize(
    ("flags", "said"),
    [
        (["--separator", ";;"], "input.separator: must be one character"),
        (["--decimal", ";"], "input.decimal"),
        (["--thousands", "."], "decimal and thousands are both '.'"),
        (["--encoding", "base64"], "input.encoding"),
        (["--encoding", "klingon"], "input.encoding"),
        (["--date-format", "%H:%M"], "input.date_format"),
        (["--skip-rows", "-1"], "input.skip_rows"),
        (["--no-header"], "columns"),
        (["--missing-codes", "age"], "--missing-codes"),
        (["--missing-codes", "agee=1"], "Did you mean 'age'?"),
        (["--sheet", "0"], "input.sheet"),
    ],
)
def test_flags_that_make_no_sense_are_refused(flags, said):
    Path("data.csv").write_text(text_of())
    assert said in release("data.csv", *flags, code=2).stderr
    assert not Path("out").exists()
