"""Types of columns that a reader guessed from the values, replaced by types that the recipe alone decides.

A column of a text file is whole numbers if every field is whole. So one record with a fraction would change the type of
the published column, and rounding with it: the type would tell about that record without any noise.
"""

from __future__ import annotations

import datetime as dt
from typing import TYPE_CHECKING, Any

from microagg.errors import TableError
from microagg.schema.attribute import Attribute, Kind
from microagg.tables._columns import with_columns
from microagg.tables.frames import Column

if TYPE_CHECKING:
    import pyarrow as pa

    from microagg.releases.recipe import Recipe

__all__ = ["TYPED_BY_SCHEMA", "numbers_without_resolution", "with_public_types"]

TYPED_BY_SCHEMA = ("parquet", "feather", "dta")  # formats whose files say the type of a column; the others show values


def with_public_types(table: pa.Table, recipe: Recipe) -> pa.Table:
    """Give the protected columns of a table types that follow from the recipe.

    Numbers become doubles (a declared resolution decides whether they are published whole), moments become dates or
    timestamps as their bounds are, and categories get the type of the declared ones. Text stays text. What does not fit
    is left as it is, and refused where it is measured.

    Raises
    ------
    TableError
        If bounds are dates and values have a time of day; the message has a count, not values.

    Examples
    --------
    >>> import pyarrow as pa
    >>> from microagg import Recipe
    >>> income = {"role": "quasi_identifier", "kind": "numeric", "bounds": [0, 100]}
    >>> recipe = Recipe(method="dp_laplace", privacy={"epsilon": 1}, attributes={"income": income})
    >>> with_public_types(pa.table({"income": [10, 20]}), recipe).schema.field("income").type
    DataType(double)
    """
    replaced = {}
    positions = {name: position for position, name in enumerate(table.column_names)}
    for name in recipe.schema.quasi_identifiers:
        if name not in positions:
            continue
        position = positions[name]
        column = table.column(position)
        kind = _public_type(column.type, recipe.attributes[name])
        if kind is None or kind == column.type:
            continue
        cast = _cast(column, kind, name)
        if cast is not None:
            replaced[position] = cast
    return with_columns(table, replaced)


def numbers_without_resolution(recipe: Recipe) -> tuple[str, ...]:
    """Protected numbers that are published with all their digits, for want of a declared resolution."""
    return tuple(
        name
        for name in recipe.schema.quasi_identifiers
        if recipe.attributes[name].kind is Kind.NUMERIC
        and recipe.attributes[name].resolution is None
        and not isinstance((recipe.attributes[name].bounds or (0.0,))[0], dt.date)
    )


def _public_type(found: pa.DataType, attribute: Attribute) -> pa.DataType | None:
    """The type a column should have; None leaves it as it is."""
    import pyarrow as pa

    shown = Column("", pa.array([], type=found))
    if attribute.kind is not Kind.NUMERIC:
        if shown.is_text or pa.types.is_null(found) or attribute.categories is None:
            return None
        try:
            return pa.array(list(attribute.categories)).type
        except (pa.ArrowInvalid, pa.ArrowTypeError):  # categories of several types
            return None
    if shown.is_number:
        return pa.float64()
    if attribute.bounds is None or not (pa.types.is_date(found) or pa.types.is_timestamp(found)):
        return None
    if not isinstance(attribute.bounds[0], dt.datetime):
        return pa.date32()
    return pa.timestamp("us", found.tz if pa.types.is_timestamp(found) else None)


def _cast(column: pa.ChunkedArray, kind: pa.DataType, name: str) -> Any:
    import pyarrow as pa
    import pyarrow.compute as pc

    if pa.types.is_date(kind) and pa.types.is_timestamp(column.type):
        days = pc.floor_temporal(column, unit="day")
        timed = pc.sum(pc.not_equal(days, column)).as_py() or 0
        if timed:
            raise TableError(
                f"column {name!r} has {timed} values with a time of day, and its bounds are dates. Declare bounds with "
                "times, like [1990-01-01T00:00:00, 2030-12-31T23:59:59]"
            )
    try:
        return column.cast(kind, safe=not pa.types.is_floating(kind))
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
        return None
