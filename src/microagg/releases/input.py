"""Read a file as its recipe needs it: what decides the types of columns is the recipe, not the values found."""

from __future__ import annotations

import datetime as dt
import os
from collections.abc import Callable
from dataclasses import fields, replace
from pathlib import Path
from typing import TYPE_CHECKING

from microagg.errors import ParameterError, TableError
from microagg.private.base import own_columns_of
from microagg.private.public_values import holds_times, values_as_numbers
from microagg.recipe.output import Formulas
from microagg.recipe.recipe import Recipe
from microagg.releases.folder.places import MANIFEST
from microagg.schema.attribute import Attribute, Kind, Role
from microagg.schema.notices import how_to_read
from microagg.tables.columns import is_text, with_columns
from microagg.tables.databases.address import is_address
from microagg.tables.databases.spool import fetched
from microagg.tables.formats.registry import format_of
from microagg.tables.frames import Frame
from microagg.tables.phrases import columns_phrase
from microagg.tables.plain import as_plain
from microagg.tables.read import read_table as read_file
from microagg.tables.text.dialect import Dialect
from microagg.tables.text.formulas import unescape_formulas

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["numbers_of_text", "read_own", "read_released", "read_table"]

_FORMS = ("decimal", "thousands", "negatives", "units", "date_format", "date_formats")


def read_table(path: str | os.PathLike[str], recipe: Recipe, *, as_text: bool = False) -> pa.Table:
    """Read a file as its recipe needs it: the recipe decides the types of columns, not the values found.

    ``microagg release`` reads its input so. A file that another library reads may have other types: a code ``08001``
    becomes a number, ``-999`` stays a value.

    Parameters
    ----------
    path : str or path
        Its extension tells the format: ``.csv``, ``.parquet``, ``.sav``, ``.xlsx`` and more. Or the address of a table
        in a database: ``"sqlite:///file.db?table=t"``, ``"postgresql://user@host/db?table=schema.t"``.
    recipe : Recipe
        Its ``[input]`` says how the file writes its table. Codes and names stay text, so that leading zeros survive;
        a declared numeric column that the file writes as text is read as numbers.
    as_text : bool, default False
        For a release that is saved as a text file, too. Columns that are published as they are stay text wherever a
        typed value would be written differently: 0.50, TRUE, 08001. Numbers and dates that are not written plainly
        are published plainly.

    Returns
    -------
    pyarrow.Table
        For `microagg.release`, with ``source=path``. A differentially private method publishes types that follow from
        the recipe alone, whatever types are here.

    Raises
    ------
    ParameterError
        If `recipe` is not a Recipe.
    TableError
        If the file cannot be read, or has no column that the recipe declares, or a protected numeric column holds
        text that cannot be read as numbers; the message has the line to add to the recipe, and no value of a record.

    Examples
    --------
    >>> import pathlib, tempfile, microagg
    >>> recipe = microagg.Recipe(k=2, attributes={
    ...     "postcode": "confidential", "age": {"role": "quasi_identifier", "kind": "numeric"}},
    ...     input={"separator": ";", "missing": {"age": [-999]}})
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder) / "people.csv"
    ...     _ = path.write_text("postcode;age\\n08001;20\\n08002;-999\\n")
    ...     microagg.read_table(path, recipe, as_text=True).to_pydict()
    {'postcode': ['08001', '08002'], 'age': [20, None]}
    """
    if not isinstance(recipe, Recipe):
        raise ParameterError("recipe must be a microagg.Recipe: Recipe(k=..., attributes={...}) or Recipe.load(path)")
    if isinstance(path, str) and is_address(path):
        with fetched(path) as file:
            return read_table(file, recipe, as_text=as_text)
    table = _read(Path(path), recipe, recipe.input.dialect, as_text=as_text)
    recipe.schema.check_header(table.column_names)
    return table


def read_released(path: Path, recipe: Recipe, tell: Callable[[str], None] | None = None) -> pa.Table:
    """Read a table that was released from a file that the recipe describes.

    Tables in the folder of a release are plain, whatever the input was. Numbers and dates of others are read as
    the recipe's ``[input]`` says; plainly only if the recipe's columns fit better so. `tell` is called with a sentence
    about a file that fits in both ways with other values.
    """
    if (path.parent / MANIFEST).is_file() and path.name.startswith("table."):
        table = read_own(path, recipe)
    else:
        table = _undo_escape(_read_foreign(path, recipe, tell), path, recipe)
    if own_columns_of(recipe) is None:
        recipe.schema.check_header(table.column_names)
    return table


def _read_foreign(path: Path, recipe: Recipe, tell: Callable[[str], None] | None) -> pa.Table:
    """Read a table of another tool in the way that the recipe's columns fit best.

    If several ways fit alike, fields are where a plain file has them (what is valid as UTF-8 is UTF-8, a header is
    one), and their numbers and dates are as ``[input]`` says.
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
    if own.separator == format_of(path).separator:
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
    standard = Dialect(separator=format_of(path).separator)
    missing = ("",) if len(read_file(path, dialect=standard).column_names) > 1 else ("NA",)
    table = _read(path, recipe, replace(standard, missing_values=missing), may_stay_text=True)
    return _with_times(_undo_escape(table, path, recipe), recipe)


def numbers_of_text(table: pa.Table, recipe: Recipe) -> pa.Table:
    """The table to measure: text of attributes that are declared numeric as the numbers that it plainly writes."""
    import pyarrow as pa

    found = {}
    for place, field in enumerate(table.schema):
        attribute = recipe.attributes.get(field.name)
        if attribute is not None and _is_numeric(attribute) and is_text(field.type):
            numbers = as_plain(table.column(place), pa.float64())
            if numbers is not None:
                found[place] = numbers
    return with_columns(table, found)


def _undo_escape(table: pa.Table, path: Path, recipe: Recipe) -> pa.Table:
    is_escaped = recipe.output.formulas is Formulas.ESCAPE and format_of(path).is_text
    return unescape_formulas(table) if is_escaped else table


def _with_times(table: pa.Table, recipe: Recipe) -> pa.Table:
    """The table with texts of numeric attributes as the times of day that they say, where all are some."""
    import pyarrow as pa

    times = {}
    for place, name in enumerate(table.column_names):
        attribute, values = recipe.attributes.get(name), table.column(place)
        if attribute is None or not (_is_numeric(attribute) and is_text(values.type)) or values.null_count:
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
    read = [name for name in there if _is_numeric(recipe.attributes[name]) and not is_text(table[name].type)]
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


def _read(
    path: Path, recipe: Recipe, dialect: Dialect, *, as_text: bool = False, may_stay_text: bool = False
) -> pa.Table:
    def is_read_as_text(attribute: Attribute) -> bool:
        named = attribute.role is Role.IDENTIFIER or attribute.kind is Kind.NOMINAL
        return named or any(isinstance(category, str) for category in attribute.categories or ())

    text = [name for name, attribute in recipe.attributes.items() if is_read_as_text(attribute)]
    numbers = [name for name, attribute in recipe.attributes.items() if _is_numeric(attribute)]
    table = read_file(path, text_columns=text, number_columns=numbers, dialect=dialect)
    if not may_stay_text:
        _refuse_numbers_as_text(table, recipe, dialect)
    if not as_text or not format_of(path).is_text:
        return table
    unchanged = set(recipe.schema.of_role(Role.CONFIDENTIAL, Role.NON_CONFIDENTIAL)) - {recipe.sampling_weight}
    untouched = [name for name in table.column_names if name in unchanged]
    verbatim = read_file(path, text_columns=[*text, *untouched], dialect=dialect)
    changed = {name for name in untouched if _reads_otherwise(table[name], verbatim[name])}
    names = table.column_names
    return with_columns(table, {i: verbatim[name] for i, name in enumerate(names) if name in changed})


def _reads_otherwise(typed: pa.ChunkedArray, written: pa.ChunkedArray) -> bool:
    """Whether a column that is published as it is should stay the text it was, which its type would not write so."""
    import pyarrow as pa

    if typed.cast(pa.string()).equals(written):
        return False
    if is_text(typed.type) or pa.types.is_boolean(typed.type):
        return True
    plain = as_plain(written, typed.type)
    return plain is not None and typed.equals(plain)


def _refuse_numbers_as_text(table: pa.Table, recipe: Recipe, dialect: Dialect) -> None:
    """A protected numeric column that is still text was not understood; what it looks like suggests the line to add."""
    there, private = set(table.column_names), recipe.entry.is_private
    for name in recipe.schema.quasi_identifiers:
        attribute = recipe.attributes[name]
        if name not in there or not (_is_numeric(attribute) and is_text(table[name].type)):
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
