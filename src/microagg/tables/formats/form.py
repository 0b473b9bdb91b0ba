"""Whether a file is written as microagg writes: nothing in it but what its table shows, and no record marked.

A label that no record needs, a comment in a header or an odd blank changes no value, and can tell which record is
whose.
"""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from microagg.tables.columns import is_text
from microagg.tables.labels import labels_of, with_needed_labels
from microagg.tables.publishable import make_publishable

if TYPE_CHECKING:
    import pyarrow as pa

    from microagg.tables.formats.base import WritableFormat

__all__ = ["FormFinding", "compare_with_rewritten", "is_same_when_rewritten"]

_TRUTH = ((0, "false"), (1, "true"))


class FormFinding(NamedTuple):
    """How a file is written.

    Attributes
    ----------
    fault : str
        How it is written otherwise than microagg writes; empty if it is not.
    is_to_the_byte : bool
        Whether every byte was compared; if a file does not give types back as they were, only what it holds is.
    """

    fault: str
    is_to_the_byte: bool


def compare_with_rewritten(file_format: WritableFormat, path: Path, *, same_libraries: bool) -> FormFinding:
    """Compare a file with what its format makes of the table that the file holds."""
    fault = file_format.find_fault_beside_table(path)
    if fault:
        return FormFinding(fault, False)
    table = file_format.read(path)
    if _has_needless_labels(table, of_truth=file_format.labels_truth_values):
        return FormFinding("it carries labels or metadata that no record needs", False)
    if any(_has_needless_categories(column) for column in table.columns):
        return FormFinding("it carries categories that no record has", False)
    if file_format.repeats_bytes:
        same = is_same_when_rewritten(file_format, table, path)
        return FormFinding("" if same else "some of its bytes are not those that microagg writes", same)
    if not (same_libraries and all(_is_given_back(field.type) for field in table.schema)):
        return FormFinding("", False)
    # Other bytes are no fault here: a type that is read back as another, or statistics of it, may make them, too.
    return FormFinding("", is_same_when_rewritten(file_format, table, path))


def is_same_when_rewritten(file_format: WritableFormat, table: pa.Table, path: Path) -> bool:
    """Whether a format makes the very bytes of a file of the table that it holds."""
    with tempfile.TemporaryDirectory() as folder:
        again = Path(folder) / path.name
        file_format.write(make_publishable(table), again)
        return again.read_bytes() == path.read_bytes()


def _is_given_back(kind: pa.DataType) -> bool:
    """Whether a file gives values of a type back as they were, and in that type."""
    from pyarrow import types as t

    return bool(t.is_integer(kind) or t.is_floating(kind) or t.is_boolean(kind) or is_text(kind) or t.is_date32(kind))


def _has_needless_labels(table: pa.Table, *, of_truth: bool) -> bool:
    if table.schema.metadata:
        return True
    for mine, needed in zip(table.schema, with_needed_labels(table).schema, strict=True):
        if mine.equals(needed, check_metadata=True):
            continue
        labels: Any = labels_of(mine).value_labels
        if not (of_truth and tuple(labels) == _TRUTH and not labels_of(mine).missing_ranges):
            return True
    return False


def _has_needless_categories(column: pa.ChunkedArray) -> bool:
    import pyarrow as pa

    if not pa.types.is_dictionary(column.type):
        return False
    used = set(column.drop_null().cast(column.type.value_type).unique().to_pylist())
    return any(set(chunk.dictionary.to_pylist()) - used for chunk in column.chunks)
