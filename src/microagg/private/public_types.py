"""Types, labels and metadata of protected columns: from the recipe and from what a file declares, never from values.

A reader makes a column whole numbers if every field is whole; a dataframe has integers until one record has none. So
one record would change the type of the published column, and rounding with it: the type would tell about that record
without any noise.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from microagg.private.public_values import holds_durations, holds_times
from microagg.schema.attribute import Attribute, Kind
from microagg.schema.taxonomy import category_text
from microagg.tables.frames import Column, Frame
from microagg.tables.labels import Labels, labels_of, with_labels

if TYPE_CHECKING:
    import pyarrow as pa

    from microagg.recipe.recipe import Recipe

__all__ = [
    "is_whole",
    "numbers_without_resolution",
    "public_field",
    "public_labels",
    "public_type",
    "with_public_columns",
]

_EXACT_INTEGERS = 2.0**53
_MEASURES = {Kind.NUMERIC: "scale", Kind.ORDINAL: "ordinal", Kind.NOMINAL: "nominal"}


def public_type(column: Column, attribute: Attribute, stored_format: str = "") -> pa.DataType:
    """The type that a protected column is published in.

    Numbers are doubles, or 64-bit integers with a declared resolution that is whole; moments are dates or timestamps in
    microseconds as their bounds are, in UTC if these have a time zone; categories are as the declared ones are, and
    text with a taxonomy. Three things are taken from the column, none of which a single record can change: that it is
    of times of day, of durations, or dictionary-encoded.

    Examples
    --------
    >>> import pyarrow as pa
    >>> income = Attribute(role="quasi_identifier", kind="numeric", bounds=(0, 100))
    >>> public_type(Column("income", pa.array([10, 20])), income)
    DataType(double)
    >>> public_type(Column("income", pa.array([10.5, 20])), income.model_copy(update={"resolution": 1.0}))
    DataType(int64)
    """
    import pyarrow as pa

    if attribute.kind is not Kind.NUMERIC:
        kind = public_labels(attribute).type
        encoded = pa.types.is_dictionary(column.array.type)
        return pa.dictionary(pa.int32(), kind, ordered=column.array.type.ordered) if encoded else kind
    bound = None if attribute.bounds is None else attribute.bounds[0]
    if isinstance(bound, dt.datetime):
        return pa.timestamp("us", None if bound.tzinfo is None else "UTC")
    if isinstance(bound, dt.date):
        return pa.date32()
    if holds_times(column, stored_format):
        return pa.time64("us")
    if holds_durations(column):
        return pa.duration("us")
    return pa.int64() if is_whole(attribute) else pa.float64()


def public_labels(attribute: Attribute) -> pa.Array:
    """Every category that may be published, in one type: nodes of the taxonomy, or the declared categories."""
    import pyarrow as pa

    labels: list[Any] = list(attribute.taxonomy.nodes if attribute.taxonomy is not None else attribute.categories or ())
    try:
        return pa.array(labels)
    except (pa.ArrowInvalid, pa.ArrowTypeError, OverflowError):  # of several types, or beyond 64 bits
        return pa.array([category_text(label) for label in labels])


def is_whole(attribute: Attribute) -> bool:
    """Whether the recipe says that published numbers are whole, within what a double holds exactly."""
    if attribute.resolution is None or not float(attribute.resolution).is_integer() or attribute.bounds is None:
        return False
    return all(not isinstance(bound, dt.date) and abs(bound) <= _EXACT_INTEGERS for bound in attribute.bounds)


def numbers_without_resolution(recipe: Recipe) -> tuple[str, ...]:
    """Protected numbers that are published with all their digits, for want of a declared resolution."""
    return tuple(
        name
        for name in recipe.schema.quasi_identifiers
        if recipe.attributes[name].kind is Kind.NUMERIC
        and recipe.attributes[name].resolution is None
        and not isinstance((recipe.attributes[name].bounds or (0.0,))[0], dt.date)
    )


def with_public_columns(frame: Frame, arrays: Mapping[str, pa.Array], recipe: Recipe) -> Frame:
    """Put protected columns in the place of the originals, with nothing of these but their names and labels."""
    schema = frame.table.schema
    fields = {name: public_field(schema.field(name), recipe.attributes[name], array) for name, array in arrays.items()}
    return frame.with_new_columns(arrays, fields)


def public_field(field: pa.Field, attribute: Attribute, array: pa.Array) -> pa.Field:
    """The field of a published column: labels as the file declares them, and what the recipe says in place of the rest.

    Display formats are left out, as programs choose them, with width and decimals, by the values; so is what stands for
    missing, as no published value is. The measure is the recipe's kind.
    """
    import pyarrow as pa

    declared = labels_of(field)
    kind = array.type.value_type if pa.types.is_dictionary(array.type) else array.type
    assert attribute.kind is not None
    labels = Labels(
        label=declared.label,
        value_labels=() if pa.types.is_temporal(kind) else _value_labels(declared, attribute, kind),
        measure=_MEASURES[attribute.kind],
    )
    return with_labels(pa.field(field.name, array.type), labels)


def _value_labels(declared: Labels, attribute: Attribute, kind: pa.DataType) -> tuple[tuple[Any, str], ...]:
    """Labels of values that may be published, with the values in the published type."""
    import pyarrow as pa

    if attribute.kind is not Kind.NUMERIC:
        public = {category_text(label): label for label in public_labels(attribute).to_pylist()}
        texts = ((category_text(value), label) for value, label in declared.value_labels)
        return tuple((public[text], label) for text, label in texts if isinstance(public.get(text), str | int | float))
    numbers = [(float(value), label) for value, label in declared.value_labels if not isinstance(value, str)]
    if not pa.types.is_integer(kind):
        return tuple(numbers)
    return tuple((int(value), label) for value, label in numbers if value.is_integer())
