"""Batches of records as tasks take them, wherever they come from."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from microagg.errors import TableError
from microagg.recipe.recipe import Recipe
from microagg.tables.missing_codes import table_without_codes

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["finish_batch", "refuse_columns"]


def refuse_columns(schema: pa.Schema, recipe: Recipe, where: str) -> None:
    """Raise if columns are not those of the recipe, or of types that records cannot be sorted by.

    Raises
    ------
    InputError
    """
    import pyarrow as pa

    names = list(schema.names)
    repeated = sorted({name for name in names if names.count(name) > 1})
    if repeated:
        raise TableError(f"{where} has column {repeated[0]!r} more than once. Give each column a name of its own")
    recipe.schema.check_columns(names)
    for name in recipe.schema.published:
        kind = schema.field(name).type if name in names else pa.null()
        if pa.types.is_dictionary(kind):
            kind = kind.value_type
        if pa.types.is_nested(kind):
            raise TableError(
                f"column {name!r} holds lists or structures ({kind}), which cannot be released in parts. Declare it "
                "as an identifier, which leaves it out, or split it into columns"
            )


def finish_batch(tables: Sequence[pa.Table], recipe: Recipe) -> pa.Table:
    """One batch, of types that every task knows; codes that stand for missing are missing.

    What the types of files say beside their values (metadata, that nothing may be missing) is dropped, and -0.0 in a
    quasi-identifier is 0.0: there they are the same number, and must be the same category.
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    plain = []
    for table in tables:
        columns = []
        for column in table.columns:
            if column.type in (pa.string_view(), pa.binary_view()):
                column = column.cast(pa.string() if column.type == pa.string_view() else pa.binary())
            columns.append(column)
        plain.append(pa.table(columns, names=table.column_names))
    joined = table_without_codes(pa.concat_tables(plain), recipe.input.missing)
    for name in recipe.schema.quasi_identifiers:
        column = joined.column(name)
        if pa.types.is_floating(column.type):
            zero = pa.scalar(0.0, column.type)
            joined = joined.set_column(joined.column_names.index(name), name, pc.add(column, zero))
    return joined
