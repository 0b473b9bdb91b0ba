"""Which record of the original a row of the release came from: by places, by a key, by order, or unknown."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from microagg._typing import IntArray
from microagg.errors import ParameterError, TableError
from microagg.evaluation.pairs import join_columns, rows_belong_together
from microagg.evaluation.result import RowKind
from microagg.schema.attribute import Role
from microagg.schema.schema import Schema
from microagg.tables.frames import Frame

__all__ = ["Rows", "align", "checked_origins", "rows_by_key", "rows_of_kind"]


_NEEDS = "needs aligned rows (row i of both tables the same record)"
_HOW = (
    "whoever made the release knows: microagg.evaluate(original, release), or --receipt on the command line. Or make "
    "a release "
    'with [output] order = "kept", or name a key'
)


@dataclass(frozen=True)
class Rows:
    """What is known of the rows of a released table.

    Attributes
    ----------
    origins : ndarray or None
        For each released record its place in the original; None if that is not known, or rows are not records.
    why_not : str
        Why `origins` is None.
    kind : RowKind
        Values in one row of means belong to each other; in a row of ranks not even that.
    """

    origins: IntArray | None = field(default=None, repr=False)
    why_not: str = f"{_NEEDS}: it is not known"
    kind: RowKind = RowKind.RECORDS


def rows_of_kind(kind: RowKind) -> Rows:
    """Rows that are not records."""
    return Rows(None, kind.limitation, kind)


def align(
    before: Frame,
    after: Frame,
    schema: Schema,
    *,
    aligned: bool | None = None,
    key: str | None = None,
    origins: Any = None,
) -> Rows:
    """Find the original row of each released row, or the reason why it is not known."""
    if sum(one is not None for one in (key, aligned, origins)) > 1:
        raise ParameterError("give only one of key, aligned and origins: each says which rows belong together")
    if origins is not None:
        return Rows(checked_origins(before, after, origins))
    if key is not None:
        return Rows(rows_by_key(before, after, key))
    if aligned and before.n_records != after.n_records:
        raise ParameterError(
            f"aligned = True, but the tables have {before.n_records} and {after.n_records} records: rows cannot match"
        )
    in_order = np.arange(after.n_records, dtype=np.int64)
    if aligned is not None:
        return Rows(in_order) if aligned else Rows(None, f"{_NEEDS}; the caller says they are not aligned")
    together = rows_belong_together(before, after, schema.of_role(Role.CONFIDENTIAL, Role.NON_CONFIDENTIAL))
    if together:
        return Rows(in_order)
    if together is None:
        return Rows(None, f"{_NEEDS}; no column that is published as it is can show it: say aligned, or name a key")
    return Rows(None, f"{_NEEDS}, and the rows differ (a shuffled release?): {_HOW}")


def checked_origins(before: Frame, after: Frame, origins: Any) -> IntArray:
    """Places in the original, one for each released record and no place twice."""
    places = np.asarray(origins)
    if places.ndim != 1 or not np.issubdtype(places.dtype, np.integer):
        raise ParameterError("origins must be whole numbers: for each released record its place in the original")
    if len(places) != after.n_records:
        raise TableError(f"origins are for {len(places)} released records; the table has {after.n_records}")
    if len(places) and not 0 <= int(places.min()) <= int(places.max()) < before.n_records:
        raise TableError(f"origins name records that the original, of {before.n_records} records, does not have")
    if len(np.unique(places)) < len(places):
        raise TableError("origins name a record of the original twice")
    return places.astype(np.int64)


def rows_by_key(before: Frame, after: Frame, key: str) -> IntArray:
    """Find each released row's original by a column that both tables have, whose values are all different.

    The release may lack records of the original, but not have others.
    """
    for frame, which in ((before, "original"), (after, "released")):
        if key not in frame.names:
            raise TableError(f"the {which} table has no column {key!r} to align rows by")
    codes = join_columns(before, after, key).codes
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
