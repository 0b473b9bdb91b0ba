"""Labels of columns and values, as files of statistics packages (SPSS, Stata, SAS) have them.

Labels travel with a table as metadata of its Arrow fields, so Parquet and Feather keep them as they are, and
SPSS and Stata files get them back. CSV and Excel have no place for them.

=============================  ==========================================================================
key of the field's metadata    holds
=============================  ==========================================================================
``microagg.label``             the column's label
``microagg.value_labels``      JSON list of ``[value, label]``, so that a numeric value stays a number
``microagg.format``            display format with the kind of file it is written for, ``"sav:F8.2"``
``microagg.measure``           SPSS measure: ``nominal``, ``ordinal`` or ``scale``
``microagg.missing_ranges``    JSON list of ``{"lo": ..., "hi": ...}``: values that SPSS counts as missing
=============================  ==========================================================================
"""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["Labels", "has_labels", "labels_of", "only_own_metadata", "with_labels", "with_needed_labels"]

_PREFIX = b"microagg."


@dataclass(frozen=True)
class Labels:
    """The labels of one column; every part may be absent.

    Parameters
    ----------
    label : str, default ""
        What the column holds, in words.
    value_labels : tuple of (value, label), default ()
        What single values mean, such as ``(1, "yes")``.
    format : str, default ""
        Display format after the kind of file it belongs to, such as ``"sav:F8.2"`` or ``"dta:%td"``.
    measure : str, default ""
        ``"nominal"``, ``"ordinal"`` or ``"scale"``.
    missing_ranges : tuple of dict, default ()
        Ranges ``{"lo": ..., "hi": ...}`` of values that stand for "missing". The table has them as nulls
        already; they are kept for information and are not written back, because a value that is computed
        later (a mean, say) may fall into such a range.
    """

    label: str = ""
    value_labels: tuple[tuple[float | int | str, str], ...] = ()
    format: str = ""
    measure: str = ""
    missing_ranges: tuple[dict[str, Any], ...] = ()

    def with_values_as_integers(self) -> Labels:
        """Return the same labels for a column whose numbers are integers: ``1.0`` becomes ``1``."""
        as_integers = (
            (int(value) if isinstance(value, float) and value.is_integer() else value, label)
            for value, label in self.value_labels
        )
        return replace(self, value_labels=tuple(as_integers))


def labels_of(field: pa.Field) -> Labels:
    """Return the labels that a field's metadata holds.

    Examples
    --------
    >>> import pyarrow as pa
    >>> field = with_labels(pa.field("sex", pa.int64()), Labels("Sex", ((1, "female"), (2, "male"))))
    >>> labels_of(field).value_labels
    ((1, 'female'), (2, 'male'))
    """
    stored = {key.removeprefix(_PREFIX): text.decode() for key, text in only_own_metadata(field).items()}
    pairs = json.loads(stored.get(b"value_labels", "[]"))
    return Labels(
        label=stored.get(b"label", ""),
        value_labels=tuple((value, label) for value, label in pairs),
        format=stored.get(b"format", ""),
        measure=stored.get(b"measure", ""),
        missing_ranges=tuple(json.loads(stored.get(b"missing_ranges", "[]"))),
    )


def has_labels(table: pa.Table) -> bool:
    """Return whether any column has a label or value labels."""
    return any(labels_of(field).label or labels_of(field).value_labels for field in table.schema)


def with_labels(field: pa.Field, labels: Labels) -> pa.Field:
    """Return the field with these labels in place of whatever metadata it had."""
    parts = {
        "label": labels.label,
        "value_labels": json.dumps(labels.value_labels) if labels.value_labels else "",
        "format": labels.format,
        "measure": labels.measure,
        "missing_ranges": json.dumps(labels.missing_ranges) if labels.missing_ranges else "",
    }
    present = {_PREFIX + key.encode(): text.encode() for key, text in parts.items() if text}
    return field.with_metadata(present or None)


def only_own_metadata(field: pa.Field) -> dict[bytes, bytes]:
    """Return the entries of the field's metadata that microagg knows, without those of other programs."""
    return {key: text for key, text in (field.metadata or {}).items() if key.startswith(_PREFIX)}


def with_needed_labels(table: pa.Table) -> pa.Table:
    """Return the table with no metadata but labels, and of these only what its records need.

    A label of a value that no record has would tell of records that were left out or changed; ranges of missing codes
    tell of codes that are nulls by now; other keys are other programs'.

    Examples
    --------
    >>> import pyarrow as pa
    >>> field = with_labels(pa.field("sex", pa.int64()), Labels("Sex", ((1, "female"), (2, "male"))))
    >>> table = with_needed_labels(pa.table([[1, 1]], schema=pa.schema([field], metadata={"pandas": "{}"})))
    >>> labels_of(table.schema.field("sex")).value_labels, table.schema.metadata
    (((1, 'female'),), None)
    """
    import pyarrow as pa

    fields = [_with_needed_labels(field, table.column(place)) for place, field in enumerate(table.schema)]
    return pa.Table.from_arrays(table.columns, schema=pa.schema(fields))


def _with_needed_labels(field: pa.Field, column: pa.ChunkedArray) -> pa.Field:
    labels = labels_of(field)
    if labels.value_labels:
        values = set(column.unique().to_pylist())  # 1, 1.0 and true are equal, as they are to a reader
        needed = tuple((value, label) for value, label in labels.value_labels if value in values)
        labels = replace(labels, value_labels=needed)
    return with_labels(field, replace(labels, missing_ranges=()))
