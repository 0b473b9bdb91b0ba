"""Whose each record is, by the column that says so."""

from __future__ import annotations

import numpy as np

from microagg._typing import IntArray
from microagg.errors import TableError
from microagg.tables.frames import Column

__all__ = ["unit_codes"]


def unit_codes(column: Column) -> IntArray:
    """The units of records: 0, 1, ..., by first occurrence.

    Raises
    ------
    TableError
        If a record has no key: it might be anybody's.
    """
    n_missing, n_records = int(column.missing.sum()), len(column.values)
    if n_missing:
        raise TableError(
            f"{n_missing} of {n_records} records have no {column.name!r}, so nobody can tell whose they are: [unit] "
            "needs the key of every record. Fill it in, or take out these records"
        )
    codes: IntArray = np.asarray(column.values.dictionary_encode().indices).astype(np.int64)
    return codes
