"""Values for single records: for the data holder only."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from microagg._typing import FloatArray

__all__ = ["NOTICE", "PerRecord", "Values"]

NOTICE = "internal: these values tell of single records and must not be published"


@dataclass(frozen=True)
class Values:
    """A number for each record of one of the tables, in its order.

    Attributes
    ----------
    of : {"released", "original"}
    values : ndarray of shape (n_records,)
    """

    of: Literal["released", "original"]
    values: FloatArray = field(repr=False)


@dataclass(frozen=True)
class PerRecord:
    """Measures record by record. It must not be published: it tells whose record is at risk.

    No other form of an evaluation holds these values: they are in no table, text or JSON but :meth:`as_frame`.

    Examples
    --------
    >>> internal = PerRecord({"linked": Values("released", np.array([1.0, 0.0]))})
    >>> internal
    PerRecord(names=('linked',), internal: these values tell of single records and must not be published)
    >>> internal.as_frame("released").column_names
    ['record', 'linked']
    """

    values: Mapping[str, Values]
    notice: str = NOTICE

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(self.values)

    def __getitem__(self, name: str) -> FloatArray:
        return self.values[name].values

    def __repr__(self) -> str:
        return f"PerRecord(names={self.names!r}, {self.notice})"

    def as_frame(
        self,
        of: Literal["released", "original"] = "released",
        kind: Literal["pyarrow", "pandas", "polars"] = "pyarrow",
    ) -> Any:
        """One row per record of a table, known by its place in it (0, 1, ...), one column per measure."""
        from microagg.tables.frames import table_from_rows

        columns = {name: one.values for name, one in self.values.items() if one.of == of}
        n_records = max((len(values) for values in columns.values()), default=0)
        rows = [{"record": i, **{name: float(values[i]) for name, values in columns.items()}} for i in range(n_records)]
        return table_from_rows(rows, kind)
