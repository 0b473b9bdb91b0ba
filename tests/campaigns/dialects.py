"""The same table written in many dialects: `init` finds the dialect, and a release reads the same table from it."""

from __future__ import annotations

import csv
import datetime as dt
import io
import random
import tempfile
from pathlib import Path
from typing import Any

from campaigns.campaign import Campaign
from microagg.errors import TableError
from microagg.recipe.recipe import Recipe
from microagg.releases.input import read_table
from microagg.schema.infer import decisions_in, draft_recipe, guess_schema
from microagg.schema.input_section import input_lines
from microagg.schema.look import look_at
from microagg.tables.frames import Frame
from microagg.tables.text.dialect import STANDARD

BLANKS = ("\u00a0", "\u202f", " ")
TOWNS = ("Köln", "Łódź", "São Paulo", "Bern", "A, B; C|D", 'the "old" town', "Évry")
WESTERN = tuple(town for town in TOWNS if town != "Łódź")


def records(rng: random.Random, towns: tuple[str, ...]) -> dict[str, list[Any]]:
    """A table with whole numbers, decimals, dates and text, that shows how each is written."""
    n = rng.randint(12, 60)
    start = dt.date(1950, 1, 1)
    dates = [start + dt.timedelta(rng.randrange(25_000)) for _ in range(n)]
    dates[rng.randrange(n)] = dt.date(1999, 3, 31)  # no month has the number 31
    amounts = [round(rng.uniform(-20_000, 900_000), 2) for _ in range(n)]
    amounts[rng.randrange(n)] = 1_234_567.25
    return {
        "age": [rng.choice([None, *[rng.randint(18, 90)] * 9]) for _ in range(n)],
        "share": [rng.randint(0, 100) for _ in range(n)],
        "naïve amount": amounts,
        "people": [rng.choice([rng.randint(0, 900), rng.randint(1_000, 9_000_000)]) for _ in range(n)],
        "born": dates,
        "town": [rng.choice(towns) for _ in range(n)],
    }


def written(value: Any, style: dict[str, Any]) -> str:
    if value is None:
        return str(style["missing"])
    if isinstance(value, dt.date):
        return value.strftime(style["date"])
    if not isinstance(value, int | float):
        return str(value)
    digits = f"{abs(value):,.2f}" if isinstance(value, float) else f"{abs(value):,}"
    digits = digits.replace(",", "T").replace(".", style["decimal"]).replace("T", style["thousands"] or "")
    if value >= 0:
        return digits
    return {"sign": f"-{digits}", "parentheses": f"({digits})", "trailing": f"{digits}-"}[style["negatives"]]


def style_of(rng: random.Random) -> dict[str, Any]:
    decimal = rng.choice(".,")
    thousands = rng.choice([None, None, "," if decimal == "." else ".", "'", *BLANKS])
    return {
        "decimal": decimal,
        "thousands": thousands,
        "negatives": rng.choice(["sign", "sign", "parentheses", "trailing"]),
        "date": rng.choice(["%d/%m/%Y", "%m/%d/%Y", "%d.%m.%Y", "%Y-%m-%d", "%Y/%m/%d", "%d-%b-%Y"]),
        "separator": rng.choice([",", ";", "\t", "|", "^"]),
        "encoding": rng.choice(["utf-8", "utf-8-sig", "latin-1", "cp1252", "utf-16", "utf-16-le", "utf-16-be"]),
        "titles": rng.choice([0, 0, 0, 1, 3]),
        "quoting": rng.choice([csv.QUOTE_MINIMAL, csv.QUOTE_ALL]),
        "missing": rng.choice(["", "", "NA", "unknown", "NULL", "-", "n/a"]),
        "unit": rng.choice(["", "", "%", " %", " kg"]),
        "line": rng.choice(["\n", "\r\n"]),
        "suffix": rng.choice([".csv", ".csv", ".tsv", ".txt"]),
    }


def file_of(table: dict[str, list[Any]], style: dict[str, Any]) -> bytes:
    out = io.StringIO(newline="")
    titles = ["A survey of towns", "", f"made{style['separator'] * (len(table) - 1)}"][: style["titles"]]
    out.write("".join(f"{title}{style['line']}" for title in titles))
    writer = csv.writer(
        out, delimiter=style["separator"], quoting=style["quoting"], lineterminator=style["line"], quotechar='"'
    )
    writer.writerow(table)
    units = [style["unit"] if name == "share" else "" for name in table]
    for row in zip(*table.values(), strict=True):
        writer.writerow([written(value, style) + unit for value, unit in zip(row, units, strict=True)])
    return out.getvalue().encode(style["encoding"])


def case(number: int) -> str:
    rng = random.Random(number)
    style = style_of(rng)
    western = style["encoding"] in ("latin-1", "cp1252")
    if western and style["thousands"] == "\u202f":
        style["thousands"] = "\u00a0"  # which these codes have
    table = records(rng, WESTERN if western else TOWNS)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"table{style['suffix']}"
        path.write_bytes(file_of(table, style))
        looked = look_at(path, STANDARD)
        assert looked.table.to_pydict() == table, style
        guesses = guess_schema(Frame.wrap(looked.table), notices=looked.notices)
        lines = input_lines(looked.dialect, looked.decisions, looked.notices)
        draft = draft_recipe(guesses, table_name=path.name, n_records=len(table["age"]), input_lines=lines)
        assert f"{decisions_in(draft)} decisions" in draft
        recipe = Recipe.loads(draft)
        assert read_table(path, recipe).to_pydict() == table, style
        plainly = Recipe(k=recipe.k, attributes=recipe.attributes)
        if recipe.input == plainly.input:
            return "plain"
        try:  # without what init decided, the file is refused or read the same; never otherwise
            read = read_table(path, plainly)
        except TableError as error:
            message = str(error)
        else:
            numbers = ("age", "share", "naïve amount", "people", "born")
            assert all(read[name].to_pylist() == table[name] for name in numbers if name in read.column_names), style
            return "found"
    assert not any(town in message for town in TOWNS), "a value in a message"
    return "found, and refused without"


CAMPAIGN = Campaign(
    name="dialects",
    promise="A table is read the same whatever the dialect of its file, or the file is refused.",
    case=case,
    quick=60,
    long=3000,
    seconds=30.0,
)
