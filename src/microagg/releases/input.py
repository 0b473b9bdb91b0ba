"""Read a file as its recipe needs it: what decides the types of columns is the recipe, not the values found."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable
from dataclasses import fields, replace
from pathlib import Path
from typing import TYPE_CHECKING

from microagg.errors import TableError
from microagg.methods.catalogue import method_named
from microagg.private.base import own_columns_of
from microagg.private.public_values import holds_times, values_as_numbers
from microagg.recipe.output import Formulas
from microagg.releases.folder.places import MANIFEST
from microagg.schema.attribute import Attribute, Kind, Role
from microagg.schema.notices import how_to_read
from microagg.tables.columns import with_columns
from microagg.tables.frames import Frame
from microagg.tables.phrases import columns_phrase
from microagg.tables.plain import as_plain
from microagg.tables.read import DELIMITERS, format_of, read_table
from microagg.tables.text.dialect import Dialect
from microagg.tables.text.formulas import unescaped

if TYPE_CHECKING:
    import pyarrow as pa

    from microagg.recipe.recipe import Recipe

__all__ = ["TEXT_FORMATS", "numbers_of_text", "read_input", "read_own", "read_released"]

TEXT_FORMATS = ("csv", "csv.gz", "tsv", "txt")
_FORMS = ("decimal", "thousands", "negatives", "units", "date_format", "date_formats")


def read_input(path: Path, recipe: Recipe, *, as_text: bool = False) -> pa.Table:
    """Read a file as its recipe needs it.

    The recipe's ``[input]`` says how the file writes its table. Codes and names stay text, so that leading zeros
    survive; numbers of a declared numeric column that the file writes as text are read, and refused with the line to
    add if they cannot be. With `as_text` (the output is a text file too) columns that are published as they are stay
    text wherever a typed value would be written differently: 0.50, TRUE, 08001. Numbers and dates that are not written
    plainly are published plainly. What types the reader guessed does not matter to a differentially private method: it
    publishes others.
    """
    table = _read(path, recipe, recipe.input.dialect, as_text=as_text)
    recipe.schema.check_header(table.column_names)
    return table


def read_released(path: Path, recipe: Recipe, tell: Callable[[str], None] | None = None) -> pa.Table:
    """Read a table that was released from a file that the recipe describes.

    Tables in the folder of a release are plain, whatever the input was. Numbers and dates of others are read as
    the recipe's ``[input]`` says; plainly only if the recipe's columns fit better so. `tell` hears of a file that fits
    in both ways with other values.
    """
    if (path.parent / MANIFEST).is_file() and path.name.startswith("table."):
        table = read_own(path, recipe)
    else:
        table = _unescaped(_read_foreign(path, recipe, tell), path, recipe)
    if own_columns_of(recipe) is None:
        recipe.schema.check_header(table.column_names)
    return table


def _read_foreign(path: Path, recipe: Recipe, tell: Callable[[str], None] | None) -> pa.Table:
    """A table of another tool, in the way that the recipe's columns fit best.

    Of ways that fit alike, fields are where a plain file has them (what is valid as UTF-8 is UTF-8, a header is one),
    and their numbers and dates are as ``[input]`` says.
    """
    read: list[pa.Table] = []
    refused: list[TableError] = []
    for dialect in _ways_to_read(path, recipe):
        try:
            read.append(_read(path, recipe, dialect, may_stay_text=True))
        except TableError as error:
            refused.append(error)
    if not read:
        raise refused[-1] from None
    fits = [_fit(table, recipe) for table in read]
    found = read[fits.index(max(fits))]
    alike = [table for table, fit in zip(read, fits, strict=True) if fit == max(fits) and table is not found]
    otherwise = next((names for table in alike if (names := _columns_that_differ(found, table, recipe))), [])
    if otherwise and tell is not None:
        tell(
            f"{path.name} is read as the recipe's [input] says. Read plainly it fits too, with other values of "
            f"{columns_phrase(otherwise, limit=3)}: if microagg wrote the file, give the folder of the release"
        )
    return found


def _ways_to_read(path: Path, recipe: Recipe) -> list[Dialect]:
    """The dialects that a file may be in: its layout plain or as ``[input]`` says, and so its numbers and dates."""
    own, plain = recipe.input.dialect, Dialect()
    if own.separator == DELIMITERS.get(format_of(path)):
        own = replace(own, separator=None)
    names = [field.name for field in fields(Dialect)]
    ways: list[Dialect] = []
    for layout in (plain, own):
        for forms in (own, plain):
            way = Dialect(**{name: getattr(forms if name in _FORMS else layout, name) for name in names})
            way = replace(way, missing_values=own.missing_values, missing=own.missing)
            if way not in ways:
                ways.append(way)
    return ways


def read_own(path: Path, recipe: Recipe) -> pa.Table:
    """Read a table that microagg wrote: an empty field is missing, in a table of one column NA is.

    The escape of formulas is undone. Reports describe a release as it is read here, by whoever reads it.
    """
    standard = Dialect(separator=DELIMITERS.get(format_of(path)))
    missing = ("",) if len(read_table(path, dialect=standard).column_names) > 1 else ("NA",)
    table = _read(path, recipe, replace(standard, missing_values=missing), may_stay_text=True)
    return _with_times(_unescaped(table, path, recipe), recipe)


def numbers_of_text(table: pa.Table, recipe: Recipe) -> pa.Table:
    """The table to measure: text of attributes that are declared numeric as the numbers that it plainly writes."""
    import pyarrow as pa

    found = {}
    for place, field in enumerate(table.schema):
        attribute = recipe.attributes.get(field.name)
        if attribute is not None and _is_numeric(attribute) and _is_text(field.type):
            numbers = as_plain(table.column(place), pa.float64())
            if numbers is not None:
                found[place] = numbers
    return with_columns(table, found)


def _unescaped(table: pa.Table, path: Path, recipe: Recipe) -> pa.Table:
    is_escaped = recipe.output.formulas is Formulas.ESCAPE and format_of(path) in TEXT_FORMATS
    return unescaped(table) if is_escaped else table


def _with_times(table: pa.Table, recipe: Recipe) -> pa.Table:
    """The table with texts of numeric attributes as the times of day that they say, where all are some."""
    import pyarrow as pa

    times = {}
    for place, name in enumerate(table.column_names):
        attribute, values = recipe.attributes.get(name), table.column(place)
        if attribute is None or not (_is_numeric(attribute) and _is_text(values.type)) or values.null_count:
            continue
        column = Frame.wrap(table.select([name])).column(name)
        if holds_times(column, ""):
            try:
                micros = values_as_numbers(column, pa.time64("us"), "").astype("int64")
                times[place] = pa.chunked_array([pa.array(micros).cast(pa.time64("us"))])
            except (TableError, pa.ArrowInvalid):  # some are none: the column stays text
                continue
    return with_columns(table, times)


def _fit(table: pa.Table, recipe: Recipe) -> tuple[int, int, int]:
    """How well a table fits: how many quasi-identifiers and declared columns it has, and numeric ones as no text."""
    there = [name for name in table.column_names if name in recipe.attributes]
    read = [name for name in there if _is_numeric(recipe.attributes[name]) and not _is_text(table[name].type)]
    return len(set(recipe.schema.quasi_identifiers) & set(there)), len(there), len(read)


def _columns_that_differ(own: pa.Table, plain: pa.Table, recipe: Recipe) -> list[str]:
    """The declared columns with other values in one reading than in the other; 1 and 1.0 are the same."""
    import pyarrow as pa

    def is_number(kind: pa.DataType) -> bool:
        return bool(pa.types.is_integer(kind) or pa.types.is_floating(kind))

    def differ(one: pa.ChunkedArray, other: pa.ChunkedArray) -> bool:
        if is_number(one.type) and is_number(other.type):
            one, other = one.cast(pa.float64(), safe=False), other.cast(pa.float64(), safe=False)
        return not one.equals(other)

    names = [name for name in own.column_names if name in recipe.attributes]
    return [name for name in names if name in plain.column_names and differ(own[name], plain[name])]


def _is_numeric(attribute: Attribute) -> bool:
    return attribute.role is not Role.IDENTIFIER and attribute.kind is Kind.NUMERIC


def _is_text(kind: pa.DataType) -> bool:
    import pyarrow as pa

    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind))


def _read(
    path: Path, recipe: Recipe, dialect: Dialect, *, as_text: bool = False, may_stay_text: bool = False
) -> pa.Table:
    def is_text(attribute: Attribute) -> bool:
        named = attribute.role is Role.IDENTIFIER or attribute.kind is Kind.NOMINAL
        return named or any(isinstance(category, str) for category in attribute.categories or ())

    text = [name for name, attribute in recipe.attributes.items() if is_text(attribute)]
    numbers = [name for name, attribute in recipe.attributes.items() if _is_numeric(attribute)]
    table = read_table(path, text_columns=text, number_columns=numbers, dialect=dialect)
    if not may_stay_text:
        _refuse_numbers_as_text(table, recipe, dialect)
    if not as_text or format_of(path) not in TEXT_FORMATS:
        return table
    as_they_are = set(recipe.schema.of_role(Role.CONFIDENTIAL, Role.NON_CONFIDENTIAL)) - {recipe.sampling_weight}
    untouched = [name for name in table.column_names if name in as_they_are]
    verbatim = read_table(path, text_columns=[*text, *untouched], dialect=dialect)
    changed = {name for name in untouched if _reads_otherwise(table[name], verbatim[name])}
    names = table.column_names
    return with_columns(table, {i: verbatim[name] for i, name in enumerate(names) if name in changed})


def _reads_otherwise(typed: pa.ChunkedArray, written: pa.ChunkedArray) -> bool:
    """Whether a column that is published as it is should stay the text it was, which its type would not write so."""
    import pyarrow as pa

    if typed.cast(pa.string()).equals(written):
        return False
    if _is_text(typed.type) or pa.types.is_boolean(typed.type):
        return True
    plain = as_plain(written, typed.type)
    return plain is not None and typed.equals(plain)


def _refuse_numbers_as_text(table: pa.Table, recipe: Recipe, dialect: Dialect) -> None:
    """A protected numeric column that is still text was not understood; what it looks like suggests the line to add."""
    there, private = set(table.column_names), method_named(recipe.method).is_private
    for name in recipe.schema.quasi_identifiers:
        attribute = recipe.attributes[name]
        if name not in there or not (_is_numeric(attribute) and _is_text(table[name].type)):
            continue
        if not (private and _is_of_time(name, table[name], attribute)):
            advice = how_to_read(name, table[name], dialect)
            if advice:
                raise TableError(f"column {name!r} is declared numeric but holds text: {advice}")


def _is_of_time(name: str, values: pa.ChunkedArray, attribute: Attribute) -> bool:
    """Whether a column of text holds moments or times of day, which a private method reads itself, one by one."""
    if attribute.bounds is not None and isinstance(attribute.bounds[0], dt.date):
        return True
    import pyarrow as pa

    return holds_times(Frame.wrap(pa.table({name: values})).column(name), "")
