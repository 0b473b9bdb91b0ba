"""Read a file as its recipe needs it: what decides the types of columns is the recipe, not the values found."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from microagg.releases.catalogue import method_named
from microagg.releases.output_choice import Formulas
from microagg.releases.public_types import TYPED_BY_SCHEMA, with_public_types
from microagg.schema.attribute import Attribute, Kind, Role
from microagg.tables.formulas import unescaped
from microagg.tables.read import format_of, read_table

if TYPE_CHECKING:
    import pyarrow as pa

    from microagg.releases.recipe import Recipe

__all__ = ["TEXT_FORMATS", "read_input", "with_formulas_unescaped"]

TEXT_FORMATS = ("csv", "csv.gz", "tsv")


def read_input(path: Path, recipe: Recipe, *, as_text: bool = False) -> pa.Table:
    """Read a file as its recipe needs it.

    Codes and names stay text, so that leading zeros survive. With `as_text` (the output is a text file too) columns
    that are published as they are stay text wherever a typed value would be written differently: 0.50, TRUE, 08001.
    For a differentially private method the recipe decides the types of protected columns, not the values found.
    """
    import pyarrow as pa

    def is_text(attribute: Attribute) -> bool:
        named = attribute.role is Role.IDENTIFIER or attribute.kind is Kind.NOMINAL
        return named or any(isinstance(category, str) for category in attribute.categories or ())

    missing = recipe.input.missing_values
    text = [name for name, attribute in recipe.attributes.items() if is_text(attribute)]
    table = read_table(path, text_columns=text, missing=missing)
    if method_named(recipe.method).is_private and format_of(path) not in TYPED_BY_SCHEMA:
        table = with_public_types(table, recipe)
    if not as_text or format_of(path) not in TEXT_FORMATS:
        return table
    untouched = [
        name
        for name in table.column_names
        if name in recipe.schema.of_role(Role.CONFIDENTIAL, Role.NON_CONFIDENTIAL) and name != recipe.sampling_weight
    ]
    verbatim = read_table(path, text_columns=[*text, *untouched], missing=missing)
    changed = [name for name in untouched if not table[name].cast(pa.string()).equals(verbatim[name])]
    for name in changed:
        table = table.set_column(table.column_names.index(name), name, verbatim[name])
    return table


def with_formulas_unescaped(table: pa.Table, path: Path, recipe: Recipe) -> pa.Table:
    """A released table as it was before formulas were escaped, if the recipe has them escaped in such a file."""
    escapes = recipe.output.formulas is Formulas.ESCAPE and format_of(path) in TEXT_FORMATS
    return unescaped(table) if escapes else table
