"""Which record of the original a row of the release came from: by a key, by order, or not to be known."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from microagg.errors import ParameterError, TableError
from microagg.evaluation.pairs import joined, rows_belong_together
from microagg.schema.attribute import Role
from microagg.schema.schema import Schema
from microagg.tables.frames import Frame

__all__ = ["align", "rows_by_key"]

IntArray = npt.NDArray[np.int64]

_NEEDS = "needs aligned rows (row i of both tables the same record)"


def align(
    before: Frame, after: Frame, schema: Schema, aligned: bool | None, key: str | None
) -> tuple[IntArray | None, str]:
    """The original row of each released row, or None and the reason why it is not known."""
    if key is not None:
        if aligned is not None:
            raise ParameterError("give key or aligned, not both: a key tells which rows belong together")
        return rows_by_key(before, after, key), ""
    if aligned and before.n_records != after.n_records:
        raise ParameterError(
            f"aligned = True, but the tables have {before.n_records} and {after.n_records} records: rows cannot match"
        )
    in_order = np.arange(after.n_records, dtype=np.int64)
    if aligned is not None:
        return (in_order, "") if aligned else (None, f"{_NEEDS}; the caller said they are not")
    together = rows_belong_together(before, after, schema.of_role(Role.CONFIDENTIAL, Role.NON_CONFIDENTIAL))
    if together:
        return in_order, ""
    if together is None:
        return None, f"{_NEEDS}; no column published as it is can tell: say aligned, or name a key"
    return None, (
        f"{_NEEDS}, and the rows differ (a shuffled release?): make one with "
        '[output] order = "kept" to measure this, or name a key'
    )


def rows_by_key(before: Frame, after: Frame, key: str) -> IntArray:
    """Find each released row's original by a column that both tables have, whose values are all different.

    The release may lack records of the original, but not have others.
    """
    for frame, which in ((before, "original"), (after, "released")):
        if key not in frame.names:
            raise TableError(f"the {which} table has no column {key!r} to align rows by")
    codes, _ = joined(before, after, key).encoded
    first, second = codes[: before.n_records], codes[before.n_records :]
    for side, which in ((first, "original"), (second, "released")):
        lacking, repeated = int((side < 0).sum()), len(side) - len(np.unique(side))
        if lacking or repeated:
            raise TableError(
                f"column {key!r} of the {which} table cannot align rows: {lacking} values are missing and {repeated} "
                "repeat another"
            )
    place = np.full(int(codes.max()) + 1, -1, dtype=np.int64)
    place[first] = np.arange(len(first))
    rows = place[second]
    unknown = int((rows < 0).sum())
    if unknown:
        raise TableError(f"{unknown} of {len(second)} released records have a {key!r} that no original record has")
    return rows
