"""Read a file as its recipe needs it: what decides the types of columns is the recipe, not the values found."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from microagg.errors import TableError
from microagg.releases.catalogue import method_named
from microagg.releases.private import own_columns_of
from microagg.releases.public_types import TYPED_BY_SCHEMA, with_public_types
from microagg.schema.attribute import Attribute, Kind, Role
from microagg.schema.notices import how_to_read
from microagg.tables.dialect import Dialect
from microagg.tables.read import DELIMITERS, format_of, read_table

if TYPE_CHECKING:
    import pyarrow as pa

    from microagg.releases.recipe import Recipe

__all__ = ["TEXT_FORMATS", "read_input", "read_released"]

TEXT_FORMATS = ("csv", "csv.gz", "tsv", "txt")
_PLAIN = r"^\s*[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?\s*$|^\d{4}-\d\d-\d\d([T ][\d:.]+)?$|^\d\d:\d\d(:\d\d)?$"


def read_input(path: Path, recipe: Recipe, *, as_text: bool = False) -> pa.Table:
    """Read a file as its recipe needs it.

    The recipe's ``[input]`` says how the file writes its table. Codes and names stay text, so that leading zeros
    survive; numbers of a declared numeric column that the file writes as text are read, and refused with the line to
    add if they cannot be. With `as_text` (the output is a text file too) columns that are published as they are stay
    text wherever a typed value would be written differently: 0.50, TRUE, 08001. Numbers and dates that are not written
    plainly are published plainly. For a differentially private method the recipe decides the types of protected
    columns, not the values found.
    """
    table = _read(path, recipe, recipe.input.dialect, as_text=as_text)
    recipe.schema.check_header(table.column_names)
    return table


def read_released(path: Path, recipe: Recipe) -> pa.Table:
    """Read a table that was released from a file that the recipe describes.

    Tables that microagg wrote are plain, whatever the input was. Those of other tools may be written as the input is:
    a file that does not have the recipe's columns if it is read plainly is read as the recipe says.
    """
    table = _read_released(path, recipe)
    if own_columns_of(recipe) is None:
        recipe.schema.check_header(table.column_names)
    return table


def _read_released(path: Path, recipe: Recipe) -> pa.Table:
    standard = _as_microagg_writes(path, recipe)
    if (path.parent / "manifest.json").is_file() and path.name.startswith("table."):
        return _read(path, recipe, standard)
    plain = own = None
    refused: list[TableError] = []
    try:
        plain = _read(path, recipe, replace(standard, separator=None), may_stay_text=True)
    except TableError as error:
        refused.append(error)
    if plain is not None and _fits(plain, recipe):
        return plain
    if recipe.input.dialect != standard:
        try:
            own = _read(path, recipe, recipe.input.dialect, may_stay_text=True)
        except TableError as error:
            refused.append(error)
    if own is not None and (
        plain is None or _fits(own, recipe) or _n_declared(own, recipe) > _n_declared(plain, recipe)
    ):
        return own
    if plain is None:
        raise refused[-1] from None
    return plain


def _as_microagg_writes(path: Path, recipe: Recipe) -> Dialect:
    """The dialect of microagg's own files; of the recipe only the codes for missing are kept."""
    separator = DELIMITERS.get(format_of(path))
    return Dialect(separator=separator, missing_values=recipe.input.missing_values, missing=recipe.input.missing)


def _n_declared(table: pa.Table, recipe: Recipe) -> int:
    return sum(name in recipe.attributes for name in table.column_names)


def _fits(table: pa.Table, recipe: Recipe) -> bool:
    """True if every quasi-identifier is there, and numeric ones are not text."""
    return all(
        name in table.column_names and not (_is_numeric(recipe.attributes[name]) and _is_text(table[name].type))
        for name in recipe.schema.quasi_identifiers
    )


def _is_numeric(attribute: Attribute) -> bool:
    return attribute.role is not Role.IDENTIFIER and attribute.kind is Kind.NUMERIC


def _is_text(kind: pa.DataType) -> bool:
    import pyarrow as pa

    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind))


def _read(
    path: Path, recipe: Recipe, dialect: Dialect, *, as_text: bool = False, may_stay_text: bool = False
) -> pa.Table:
    import pyarrow as pa
    import pyarrow.compute as pc

    def is_text(attribute: Attribute) -> bool:
        named = attribute.role is Role.IDENTIFIER or attribute.kind is Kind.NOMINAL
        return named or any(isinstance(category, str) for category in attribute.categories or ())

    text = [name for name, attribute in recipe.attributes.items() if is_text(attribute)]
    private, typed = method_named(recipe.method).is_private, format_of(path) in TYPED_BY_SCHEMA
    numbers = [name for name, attribute in recipe.attributes.items() if _is_numeric(attribute)]
    numbers = [] if private and typed else numbers  # whether all are whole must not show
    table = read_table(path, text_columns=text, number_columns=numbers, dialect=dialect)
    if not may_stay_text and not (private and typed):
        _refuse_numbers_as_text(table, recipe, dialect)
    if private and not typed:
        table = with_public_types(table, recipe)
    if not as_text or format_of(path) not in TEXT_FORMATS:
        return table
    as_they_are = set(recipe.schema.of_role(Role.CONFIDENTIAL, Role.NON_CONFIDENTIAL)) - {recipe.sampling_weight}
    untouched = [name for name in table.column_names if name in as_they_are]
    verbatim = read_table(path, text_columns=[*text, *untouched], dialect=dialect)
    for name in untouched:
        was, written = table[name], verbatim[name]
        if was.cast(pa.string()).equals(written):
            continue
        plainly = (
            pa.types.is_boolean(was.type) or pc.all(pc.match_substring_regex(written, _PLAIN)).as_py() is not False
        )
        if _is_text(was.type) or plainly:
            table = table.set_column(table.column_names.index(name), name, written)
    return table


def _refuse_numbers_as_text(table: pa.Table, recipe: Recipe, dialect: Dialect) -> None:
    """A protected numeric column that is still text was not understood; what it looks like tells the line to add."""
    for name in recipe.schema.quasi_identifiers:
        if name in table.column_names and _is_numeric(recipe.attributes[name]) and _is_text(table[name].type):
            advice = how_to_read(name, table[name], dialect)
            if advice:
                raise TableError(f"column {name!r} is declared numeric but holds text: {advice}")
