"""The tables of the cross-moment paper, in its domain."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, partial

import numpy as np

from microagg._typing import FloatArray
from microagg.tables.frames import Frame
from microagg.tables.reference import datasets

__all__ = ["DATA", "Data", "raw_values"]

DOMAIN = 1.5  # times the largest value: the paper's domain
CENSUS = ("FEDTAX", "POTHVAL", "INTVAL", "FICA")  # in file order; the printed order contradicts the printed figures
EIA = ("RESREVENUE", "RESSALES", "COMREVENUE", "COMSALES")


@dataclass(frozen=True)
class Data:
    """A table of the paper, in its domain: values in [0, 1] and what 1 stands for."""

    name: str
    values: FloatArray
    widths: FloatArray

    @property
    def n_attributes(self) -> int:
        return len(self.widths)


def _in_domain(name: str, raw: FloatArray) -> Data:
    widths = DOMAIN * raw.max(axis=0)
    # EIA has 11 negative revenues and sales, outside the paper's own domain [0, 1.5 x maximum].
    return Data(name, np.ascontiguousarray(np.clip(raw / widths, 0.0, 1.0)), widths)


@cache
def raw_values(name: str) -> FloatArray:
    """Census 2, 3 or 4; or EIA 2, 3 or 4, without the 108 records whose four attributes are all zero: that fits the
    paper's Table 1."""
    table, n_attributes = name.split()
    frame = Frame.wrap(datasets.load_census() if table == "Census" else datasets.load_eia())
    raw = np.column_stack([frame.column(column).absolute() for column in (CENSUS if table == "Census" else EIA)])
    used: FloatArray = raw[(raw != 0.0).any(axis=1)] if table == "EIA" else raw
    return used[:, : int(n_attributes)]


@cache
def _data(name: str) -> Data:
    return _in_domain(name, raw_values(name))


DATA: dict[str, Callable[[], Data]] = {
    f"{table} {d}": partial(_data, f"{table} {d}") for table in ("Census", "EIA") for d in (2, 3, 4)
}
