"""What can be checked of a differentially private release: that its files say what its recipe makes true."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from microagg.releases.catalogue import method_named
from microagg.releases.private import bounds_read_from_data, own_columns_of
from microagg.releases.recipe import Recipe
from microagg.releases.verify import Finding, absent_from, recount
from microagg.schema.attribute import Attribute, Kind
from microagg.schema.taxonomy import category_text
from microagg.tables.frames import Column
from microagg.tables.phrases import columns_phrase, names_phrase

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = [
    "check_private_statement",
    "check_private_table",
    "check_public_values",
    "check_ranks_ascend",
    "check_shared_alone",
    "numbers_as_written",
]

_ROUNDING = 1e-6  # of the width: a float32 column cannot hold every bound


def check_private_table(table: pa.Table, recipe: Recipe) -> list[Finding]:
    """Everything the method can see on a table, or that a column of it is not there."""
    columns = own_columns_of(recipe)
    expected = recipe.schema.quasi_identifiers if columns is None else columns
    absent = absent_from(table, expected)
    if absent:
        return [Finding("protected columns", False, f"without {columns_phrase(absent)}")]
    found: list[Finding] = method_named(recipe.method).private.findings(table, recipe)
    return found


def check_public_values(table: pa.Table, recipe: Recipe, candidates: Sequence[str] = ()) -> Finding:
    """Every protected value lies within public bounds or is a public category; none is missing."""
    from_data = bounds_read_from_data(recipe)
    names = recipe.schema.quasi_identifiers
    outside = [
        name for name in names if name not in from_data and _count_outside(table.column(name), recipe.attributes[name])
    ]
    missing = [name for name in names if table.column(name).null_count]
    if outside or missing:
        said = f"outside in {columns_phrase(outside)}" if outside else f"missing in {columns_phrase(missing)}"
        return Finding("public values", False, said)
    said = "every protected value lies within the declared bounds and categories"
    if from_data:
        said += f"; not checked of {columns_phrase(from_data)}, whose bounds were read from the data"
    return Finding("public values", True, said)


def _count_outside(chunked: Any, attribute: Attribute) -> int:
    if attribute.kind is Kind.NUMERIC:
        assert attribute.bounds is not None
        numbers, column = numbers_as_written(chunked, attribute)
        low, high = (column.absolute_number_of(bound) for bound in attribute.bounds)
        slack = _ROUNDING * (high - low)
        return int((~((numbers >= low - slack) & (numbers <= high + slack))).sum())
    nodes = attribute.taxonomy.nodes if attribute.taxonomy is not None else attribute.categories or ()
    public = {category_text(label) for label in nodes}
    return sum(category_text(label) not in public for label in chunked.unique().to_pylist())


def numbers_as_written(chunked: Any, attribute: Attribute) -> tuple[Any, Column]:
    """The numbers of a column that may have been read as text; NaN where there is none."""
    import datetime as dt

    import pyarrow as pa

    array = pa.concat_arrays(chunked.chunks) if chunked.num_chunks != 1 else chunked.chunk(0)
    column = Column("", array)
    if not column.is_text:
        return column.absolute(), column
    bound = attribute.bounds[0] if attribute.bounds is not None else 0.0
    moments = [pa.timestamp(unit, zone) for zone in (None, "UTC") for unit in ("us", "ns")]
    # Bounds of times of day are seconds, so only the text tells them from numbers.
    for kind in moments if isinstance(bound, dt.date) else [pa.float64(), pa.time64("ns")]:
        try:
            column = Column("", _text_as(column.values, kind))
        except pa.ArrowInvalid:
            continue
        return column.absolute(), column
    return np.full(len(array), np.nan), column


def _text_as(text: pa.Array, kind: pa.DataType) -> pa.Array:
    """What a text says, as values of a type."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if not pa.types.is_time(kind):
        return pc.cast(text, kind)
    # Arrow reads no times of day: of the first day there is, counted from its beginning, they are the same numbers.
    moments = pc.cast(pc.binary_join_element_wise("1970-01-01", text.cast(pa.string()), " "), pa.timestamp(kind.unit))
    return moments.cast(pa.int64()).cast(kind)


def check_ranks_ascend(table: pa.Table, recipe: Recipe) -> Finding:
    """Lists in rank order ascend: numbers, and ranks of ordered categories."""
    falling = []
    for name in recipe.schema.quasi_identifiers:
        attribute, chunked = recipe.attributes[name], table.column(name)
        if attribute.kind is Kind.NUMERIC:
            ranks, _ = numbers_as_written(chunked, attribute)
        elif attribute.kind is Kind.ORDINAL:
            place = {category_text(label): rank for rank, label in enumerate(attribute.categories or ())}
            ranks = np.array([place.get(category_text(label), -1) for label in chunked.to_pylist()])
        else:
            continue
        if len(ranks) and not (np.diff(ranks) >= 0).all():
            falling.append(name)
    said = f"falls in {columns_phrase(falling)}" if falling else "every list ascends: rows are ranks, not records"
    return Finding("ranks", not falling, said)


def check_shared_alone(table: pa.Table, recipe: Recipe) -> Finding:
    """Every value of each attribute alone, or of each combination of a method of records, is shared by k records."""
    names = recipe.schema.quasi_identifiers
    groups = [(name,) for name in names] if method_named(recipe.method).labels == "attributes" else [names]
    rare = [names_phrase(group) for group in groups if not recount(table, group, recipe.k).holds]
    said = (
        f"some values of {names_phrase(rare)} are in fewer records"
        if rare
        else "as cells of at least k records make them"
    )
    return Finding(f"values shared by at least k = {recipe.k} records", not rare, said)


def check_private_statement(path: Path, recipe: Recipe, table: pa.Table) -> Finding:
    """The statement must promise what the recipe makes true, and its ledger must not exceed the budget."""
    assert recipe.privacy is not None
    try:
        statement = json.loads(path.read_text(encoding="utf-8"))
        promised, budget = statement["guarantees"], statement["budget"]
        spent, expenses = float(budget["spent"]), [float(one["epsilon"]) for one in budget["expenses"]]
        for_publication, n_records = bool(statement["for_publication"]), int(statement["n_records"])
        if not all(map(math.isfinite, (spent, *expenses))):
            raise ValueError("ledger")
    except (
        FileNotFoundError,
        UnicodeDecodeError,
        json.JSONDecodeError,
        KeyError,
        TypeError,
        ValueError,
        AttributeError,
    ):
        return Finding("statement", False, "is not there or damaged")
    expected = json.loads(json.dumps([method_named(recipe.method).private.guarantee(recipe).as_dict()]))
    if promised != expected:
        return Finding("statement", False, "does not promise what the recipe makes true")
    if n_records != table.num_rows:
        return Finding("statement", False, f"speaks of {n_records} records; the table has {table.num_rows}")
    epsilon = recipe.privacy.epsilon
    # Every method composes sequentially: what mechanisms spent adds up, exactly, to no more than what is told as spent.
    fits = bool(expenses) and min(expenses) > 0 and sum(map(Fraction, expenses)) <= spent <= epsilon
    if not (fits and budget["epsilon"] == epsilon):
        return Finding("statement", False, "its ledger does not fit the budget")
    said = f"spent {spent:.6g} of epsilon = {epsilon:g}"
    if not for_publication:
        return Finding("statement", True, f"for research, not for publication (made with a fixed seed); {said}")
    return Finding("statement", True, f"promises what the recipe makes true; {said}")
