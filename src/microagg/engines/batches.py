"""Batches of records as tasks take them, wherever they come from."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from microagg.errors import TableError
from microagg.recipe.recipe import Recipe
from microagg.tables.missing_codes import table_without_codes

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["TextAndOrder", "finish_batch", "refuse_columns", "refuse_names", "refuse_nested"]


def refuse_columns(schema: pa.Schema, recipe: Recipe, where: str) -> None:
    """Raise if columns are not those of the recipe, or of types that records cannot be sorted by.

    Raises
    ------
    InputError
    """
    import pyarrow as pa

    refuse_names(list(schema.names), recipe, where)
    for name in recipe.schema.published:
        kind = schema.field(name).type if name in schema.names else pa.null()
        if pa.types.is_nested(kind.value_type if pa.types.is_dictionary(kind) else kind):
            refuse_nested(name, str(kind))


def refuse_names(names: list[str], recipe: Recipe, where: str) -> None:
    """Raise if columns are not those of the recipe, or a name stands for two.

    Raises
    ------
    InputError
    """
    repeated = sorted({name for name in names if names.count(name) > 1})
    if repeated:
        raise TableError(f"{where} has column {repeated[0]!r} more than once. Give each column a name of its own")
    recipe.schema.check_columns(names)


def refuse_nested(name: str, kind: str) -> None:
    """Say that a column holds what records cannot be sorted by."""
    raise TableError(
        f"column {name!r} holds lists or structures ({kind}), which cannot be released in parts. Declare it as an "
        "identifier, which leaves it out, or split it into columns"
    )


class TextAndOrder:
    """Refuses text that is none, and categories whose order is not the same everywhere, batch by batch.

    Where a private recipe lists the categories, their order is the recipe's, whatever the files say.
    """

    def __init__(self, recipe: Recipe) -> None:
        listed = (name for name, one in recipe.attributes.items() if one.categories is not None)
        self._ordered_by_recipe = frozenset(listed) if recipe.entry.is_private else frozenset()
        self._orders: dict[str, tuple[Any, ...]] = {}

    def look_at(self, table: pa.Table) -> None:
        """Look at a batch.

        Raises
        ------
        TableError
        """
        import pyarrow as pa

        for name in table.column_names:
            kind = table.schema.field(name).type
            if pa.types.is_dictionary(kind):
                for chunk in table.column(name).chunks if kind.ordered else ():
                    self._require_order(name, tuple(chunk.dictionary.to_pylist()))
                kind = kind.value_type
            if pa.types.is_string(kind) or pa.types.is_large_string(kind):
                try:
                    table.column(name).validate(full=True)
                except pa.ArrowInvalid:
                    raise TableError(f"column {name!r} holds text that is not UTF-8. Write it anew") from None

    def merge(self, other: TextAndOrder) -> None:
        """Add what another task saw."""
        for name, order in other._orders.items():
            self._require_order(name, order)

    def _require_order(self, name: str, order: tuple[Any, ...]) -> None:
        if name not in self._ordered_by_recipe and self._orders.setdefault(name, order) != order:
            raise TableError(
                f"the ordered categories of column {name!r} are not the same in all files. Write all files with the "
                "same ones, or the column as text, and declare: categories = [first, ..., last]"
            )


def _common(kind: pa.DataType) -> pa.DataType:
    """The type that a column has here: one that all files of a table fit in, and that Arrow can work with."""
    import pyarrow as pa

    if pa.types.is_dictionary(kind):  # few categories in one file may be many in all
        return pa.dictionary(pa.int32(), kind.value_type, kind.ordered)
    known = {pa.string_view(): pa.string(), pa.binary_view(): pa.binary(), pa.float16(): pa.float32()}
    return known.get(kind, kind)


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
            columns.append(column.cast(_common(column.type)))
        plain.append(pa.table(columns, names=table.column_names))
    joined = table_without_codes(pa.concat_tables(plain), recipe.input.missing)
    for name in recipe.schema.quasi_identifiers:
        column = joined.column(name)
        if pa.types.is_floating(column.type):
            zero = pa.scalar(0.0, column.type)
            joined = joined.set_column(joined.column_names.index(name), name, pc.add(column, zero))
    return joined
