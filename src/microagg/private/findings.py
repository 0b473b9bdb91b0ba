"""What can be checked of a differentially private release: that its files say what its recipe makes true."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from microagg.errors import TableError
from microagg.privacy.verify import Finding, absent_from, recount
from microagg.private.base import bounds_read_from_data, own_columns_of
from microagg.private.ledger import fault_of_ledger
from microagg.private.public_types import public_type
from microagg.private.public_values import values_as_numbers
from microagg.recipe.recipe import Recipe
from microagg.recipe.unit import epsilon_of_record
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
    found: list[Finding] = recipe.entry.private.findings(table, recipe)
    return found


def check_public_values(table: pa.Table, recipe: Recipe) -> Finding:
    """Every protected value lies within public bounds or is a public category; none is missing."""
    from_data = bounds_read_from_data(recipe)
    names = recipe.schema.quasi_identifiers
    outside = [
        name for name in names if name not in from_data and _count_outside(table.column(name), recipe.attributes[name])
    ]
    missing = [name for name in names if table.column(name).null_count]
    if outside or missing:
        detail = f"outside in {columns_phrase(outside)}" if outside else f"missing in {columns_phrase(missing)}"
        return Finding("public values", False, detail)
    detail = "every protected value lies within the declared bounds and categories"
    if from_data:
        detail += f"; not checked of {columns_phrase(from_data)}, whose bounds were read from the data"
    return Finding("public values", True, detail)


def _count_outside(chunked: Any, attribute: Attribute) -> int:
    import pyarrow as pa

    if attribute.kind is Kind.NUMERIC:
        assert attribute.bounds is not None
        numbers, column = numbers_as_written(chunked, attribute)
        if column.is_text:  # not all are what they should be
            return len(numbers)
        low, high = (column.absolute_number_of(bound) for bound in attribute.bounds)
        slack = _ROUNDING * (high - low)
        if pa.types.is_timestamp(column.values.type):  # SPSS and Stata hold milliseconds
            slack = max(slack, column.unit / 1000)
        return int((~((numbers >= low - slack) & (numbers <= high + slack))).sum())
    nodes = attribute.taxonomy.nodes if attribute.taxonomy is not None else attribute.categories or ()
    public = {category_text(label) for label in nodes}
    public |= {label.rstrip(" ") for label in public}  # SPSS and Stata drop blanks at the end
    if pa.types.is_floating(chunked.type) or pa.types.is_integer(chunked.type):
        # SPSS and Stata hold truth values as these numbers.
        public |= {str(int(label)) for label in nodes if isinstance(label, bool)}
    return sum(category_text(label) not in public for label in chunked.unique().to_pylist())


def numbers_as_written(chunked: Any, attribute: Attribute) -> tuple[Any, Column]:
    """The numbers of a column that may have been read as text; NaN where there is none."""
    import pyarrow as pa
    import pyarrow.compute as pc

    array = pa.concat_arrays(chunked.chunks) if chunked.num_chunks != 1 else chunked.chunk(0)
    column = Column("", array)
    if not column.is_text:
        return column.absolute(), column
    kind = public_type(column, attribute)
    try:
        if pa.types.is_time(kind):
            micros = values_as_numbers(column, kind, "").astype("int64")
            return micros.astype("float64"), Column("", pa.array(micros).cast(kind))
        # Whole numbers are counted as doubles, and dates as moments: a file may hold others than it should.
        wider = pa.timestamp("us") if pa.types.is_date(kind) else pa.float64() if pa.types.is_integer(kind) else kind
        column = Column("", pc.cast(column.values, wider))
    except (pa.ArrowInvalid, TableError):
        return np.full(len(array), np.nan), column
    return column.absolute(), column


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
    detail = f"falls in {columns_phrase(falling)}" if falling else "every list ascends: rows are ranks, not records"
    return Finding("ranks", not falling, detail)


def check_shared_alone(table: pa.Table, recipe: Recipe) -> Finding:
    """Every value of each attribute alone, or of each combination of a method of records, is shared by k records."""
    names = recipe.schema.quasi_identifiers
    alone = recipe.entry.has_cells and recipe.entry.partitions == "attributes"
    groups = [(name,) for name in names] if alone else [names]
    rare = [names_phrase(group) for group in groups if not recount(table, group, recipe.k).holds]
    detail = (
        f"some values of {names_phrase(rare)} are in fewer records"
        if rare
        else "as cells of at least k records make them"
    )
    return Finding(f"values shared by at least k = {recipe.k} records", not rare, detail)


def check_private_statement(path: Path, recipe: Recipe, table: pa.Table, *, same_words: bool = True) -> Finding:
    """The statement must promise what the recipe makes true, and its ledger must not exceed the budget.

    Without `same_words`, for a statement of another version, only what is promised must be the same: model, parameters,
    unit, target and attributes.
    """
    assert recipe.privacy is not None
    try:
        statement = json.loads(path.read_text(encoding="utf-8"))
        promised, budget = statement["guarantees"], statement["budget"]
        for_publication, n_records = bool(statement["for_publication"]), int(statement["n_records"])
    except (FileNotFoundError, UnicodeDecodeError, json.JSONDecodeError, KeyError, TypeError, ValueError):
        return Finding("statement", False, "is not there or damaged")
    expected = json.loads(json.dumps([recipe.entry.private.guarantee(recipe).as_dict()]))
    fits = promised == expected if same_words else _substance(promised) == _substance(expected)
    if not fits:
        return Finding("statement", False, "does not promise what the recipe makes true")
    if n_records != table.num_rows:
        return Finding("statement", False, f"speaks of {n_records} records; the table has {table.num_rows}")
    fault = fault_of_ledger(budget, recipe)
    if fault:
        return Finding("statement", False, fault)
    detail = f"spent {float(budget['spent']):.6g} of epsilon = {epsilon_of_record(recipe):g}"
    if recipe.unit is not None:
        detail += f" for each of at most {recipe.unit.max_records} records of a unit"
    if not for_publication:
        return Finding("statement", True, f"for research, not for publication (made with a fixed seed); {detail}")
    return Finding("statement", True, f"promises what the recipe makes true; {detail}")


def _substance(guarantees: Any) -> list[list[Any]] | None:
    """What guarantees promise, without the words of their explanation; None if these are not guarantees."""
    parts = ("model", "parameters", "unit", "target", "attributes")
    try:
        return [[one[part] for part in parts] for one in guarantees]
    except (KeyError, TypeError):
        return None
