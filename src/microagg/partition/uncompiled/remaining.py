"""The records that have no cell yet, and the questions that MDAV and V-MDAV ask about them."""

from __future__ import annotations

import numpy as np

from microagg._kernels.codes import Nominal
from microagg._typing import FloatArray, IntArray
from microagg.partition.uncompiled.sums import squared_distances

__all__ = ["Remaining", "nearest"]


_PACKED_AGAIN_AT = 0.15  # the share of places without a record from which on copying the others costs less


class Remaining:
    """Records without a cell, at places in ascending order of their index: of equal ones, the first place wins.

    A record that leaves keeps its place until `pack`, so that distances and places of one cell stay comparable.

    Attributes
    ----------
    count : int
        How many records remain.
    records : ndarray
        The record at each place, also of those that have left since they were packed.
    """

    def __init__(self, X: FloatArray, nominal: Nominal | None = None) -> None:
        self.nominal = nominal
        self.count = len(X)
        self.records: IntArray = np.arange(len(X))
        self._columns = np.array(X.T, order="C")
        self._gone: IntArray = np.empty(len(X), dtype=np.int64)  # places whose records have left
        self._n_gone = 0

    def distances_from(self, query: FloatArray, *, of_those_gone: float) -> FloatArray:
        """The squared distance of each place to a point; places without a record have `of_those_gone`."""
        distances = squared_distances(self._columns, query, self.nominal)
        distances[self._gone[: self._n_gone]] = of_those_gone
        return distances

    def take(self, places: list[int]) -> None:
        """Let the records at some places go."""
        self._gone[self._n_gone : self._n_gone + len(places)] = places
        self._n_gone += len(places)
        self.count -= len(places)

    def place_of(self, record: int) -> int:
        """Where a record is that has not left."""
        return int(np.searchsorted(self.records, record))

    def pack(self) -> None:
        """Close the gaps, if they are many: places change."""
        if self._n_gone <= _PACKED_AGAIN_AT * len(self.records):
            return
        stays = np.ones(len(self.records), dtype=bool)
        stays[self._gone[: self._n_gone]] = False
        self._columns, self.records = self._columns[:, stays], self.records[stays]
        self._n_gone = 0


def nearest(distances: FloatArray, wanted: int) -> list[int]:
    """The places of the `wanted` smallest distances, ascending by distance, then by place."""
    if wanted == 0:
        return []
    largest = np.partition(distances, wanted - 1)[wanted - 1]
    close = np.flatnonzero(distances <= largest)
    places: list[int] = close[np.argsort(distances[close], kind="stable")[:wanted]].tolist()
    return places
