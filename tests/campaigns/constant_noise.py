"""Neighbouring tables under constant answers: every private method, input and output, and nasty values of one record.

Both tables go the whole way, from a file through the command line or from a dataframe, and every published file is
compared byte for byte. A table that the recipe declares impossible may be refused; no other may.
"""

from __future__ import annotations

import math
import tempfile
import warnings
from contextlib import chdir
from pathlib import Path
from typing import Any

from campaigns.campaign import Campaign
from constant_answers import constant_answers, published
from microagg.errors import MicroaggError
from microagg.tables.formats.registry import writable_names
from nasty_tables import DECLARED, FILES, FRAMES, HUGE, NASTIES, Nasty, NoSuchTableError, records_of

INPUTS = (*FILES, *FRAMES)
TIMES = ("zoned", "moment", "clock")
BAD_INPUT = 2  # exit code of a refusal


def _forms() -> list[tuple[str, str]]:
    from microagg.methods.catalogue import METHODS, PAPERS

    named = dict(METHODS) | {f"cross_moment:{number}": method for number, method in PAPERS["cross_moment"].items()}
    return [(name, form) for name, method in named.items() if method.is_private for form in method.private.forms]


FORMS = _forms()
WRITABLE = writable_names()
_ALL = len(FORMS) * len(INPUTS) * len(WRITABLE) * len(NASTIES)
_STRIDE = next(n for n in range(round(_ALL * 0.618), _ALL) if math.gcd(n, _ALL) == 1)


def chosen(number: int) -> tuple[str, str, str, str, Nasty]:
    """Method, form, input, output and nasty value of a case: all combinations are met, the first ones well apart."""
    rest = number * _STRIDE % _ALL
    rest, form = divmod(rest, len(FORMS))
    rest, source = divmod(rest, len(INPUTS))
    rest, output = divmod(rest, len(WRITABLE))
    return (*FORMS[form], INPUTS[source], WRITABLE[output], NASTIES[rest])


def _recipe(method: str, form: str, names: list[str], *, clamp: bool) -> Any:
    from microagg import Recipe
    from microagg.methods.catalogue import method_named

    entry = method_named(method)
    alone = {"blocks": {"form": "contiguous", "size": 1}} if method.endswith("univariate") else {}
    return Recipe(
        method=method,
        privacy={"epsilon": 1.0, "form": form, "clamp": clamp},
        attributes={name: DECLARED.get(name, "confidential") for name in names},
        **({"k": 5} if entry.has_cells else {}),
        **alone,
    )


def _linked_forms(method: str) -> tuple[str, ...]:
    from microagg.methods.catalogue import method_named

    linked: tuple[str, ...] = method_named(method).private.linked_forms
    return linked


def _fits(method: str, form: str, column: str) -> bool:
    from microagg.methods.catalogue import method_named

    has_dates = column in ("day", "moment", "zoned")
    return DECLARED[column]["kind"] in method_named(method).kinds and not (form == "moments" and has_dates)


def _released(folder: Path, table: dict[str, list[Any]], recipe: Any, source: str, output: str, start: int) -> Any:
    """Every published file and what is printed; None if the table was refused."""
    folder.mkdir()
    if source in FRAMES:
        import microagg

        frame = FRAMES[source](table)
        with constant_answers(start):
            try:
                made = microagg.release(frame, recipe)
            except MicroaggError:
                return None
            made.save(folder / "out", format=output, report=start % 4 == 0)
        return published(folder / "out")
    from typer.testing import CliRunner

    from microagg.cli.app import app

    FILES[source](folder / f"data.{source}", table)
    recipe.save(folder / "recipe.toml")
    arguments = ["release", f"data.{source}", "-r", "recipe.toml", "-o", "out", "--format", output, "--json"]
    with constant_answers(start), chdir(folder):
        result = CliRunner().invoke(app, [*arguments, "--report" if start % 4 == 0 else "--no-report"])
    if result.exit_code == BAD_INPUT:
        return None
    assert result.exit_code == 0, result.stderr
    return published(folder / "out") | {"stdout": result.stdout.encode()}


def case(number: int) -> str:
    method, form, source, output, nasty = chosen(number)
    if not _fits(method, form, nasty.column):
        method, form = ("dp_individual_ranking", ("marginals", "aligned")[number % 2])
    if (nasty.column == "zoned" and output in ("sav", "dta")) or (nasty.column in TIMES and output == "xlsx"):
        output = "parquet"  # those cannot hold a time zone, and Excel no time finer than a millisecond
    names = [nasty.column, "count" if nasty.column != "count" else "whole"]
    table = records_of(names)
    if number % 2 and form in _linked_forms(method):
        table["beside"] = [f"0{i % 3}.50" for i in range(len(table[names[0]]))]  # published as it is
    recipe = _recipe(method, form, list(table), clamp=bool(number % 5))
    place = number % len(table[nasty.column])
    neighbour = {name: [*values] for name, values in table.items()}
    neighbour[nasty.column][place] = nasty.value
    neighbour[names[1]][place] = 100  # the whole record is another
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore")  # more statistics than records: said, and right
        try:
            first = _released(Path(folder) / "a", table, recipe, source, output, number)
        except NoSuchTableError:
            return "no such file"
        assert first is not None, "an ordinary table was refused"
        try:
            second = _released(Path(folder) / "b", neighbour, recipe, source, output, number)
        except NoSuchTableError:
            return "no such neighbour"
    if second is None:
        # Text among moments and integers beyond 64 bits are objects in a dataframe, which no release takes.
        objects = source in FRAMES and (isinstance(nasty.value, str) or nasty.value == HUGE)
        assert nasty.impossible or objects, f"refused though possible: {nasty} as {source}"
        return "refused as impossible"
    different = [name for name in {**first, **second} if first.get(name) != second.get(name)]
    assert not different, f"{method} {form}, {source} to {output}, {nasty}: {different} differ"
    return "alike"


CAMPAIGN = Campaign(
    name="constant_noise",
    promise="With answers of mechanisms replaced by constants, releases of neighbouring tables are equal to the byte.",
    case=case,
    quick=40,
    long=3_000,
    seconds=60.0,
    packages=("pandas", "polars"),
)
