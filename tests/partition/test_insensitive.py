"""Insensitive MDAV: an order fixed by the domain, and how little one record changes."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from microagg import MDAV
from microagg.partition import InsensitiveMDAV
from microagg.partition.runs import run_sizes


@st.composite
def neighbours(draw):
    """Two tables in the unit cube that differ in one record, and a k."""
    n_records, n_attributes = draw(st.integers(4, 40)), draw(st.integers(1, 4))
    fine = draw(st.booleans())
    elements = st.floats(0, 1) if fine else st.integers(0, 3).map(lambda third: third / 3)
    X = draw(arrays(np.float64, (n_records, n_attributes), elements=elements))
    changed = X.copy()
    record = draw(st.integers(0, n_records - 1))
    changed[record] = draw(arrays(np.float64, n_attributes, elements=elements))
    return X, changed, record, draw(st.integers(2, min(n_records, 8)))


def place_in_the_domain(record: np.ndarray) -> tuple[float, ...]:
    """What decides the order of records: the record alone."""
    from_corner = 0.0
    for coordinate in record:
        from_corner += float(coordinate) * float(coordinate)
    return (from_corner, *record.tolist())


def runs(X: np.ndarray, k: int) -> list[set[int]]:
    """Records sorted by their place in the domain and cut, the larger run in the middle."""
    order = sorted(range(len(X)), key=lambda record: (place_in_the_domain(X[record]), record))
    stops = np.cumsum(run_sizes(len(X), k, "middle")).tolist()
    return [set(order[start:stop]) for start, stop in zip([0, *stops[:-1]], stops, strict=True)]


def cells_in_domain_order(X: np.ndarray, k: int) -> list[set[int]]:
    """The cells, the first by its lowest record in the order of the domain."""
    labels = InsensitiveMDAV(k=k).fit(X).labels_
    cells = [np.flatnonzero(labels == cell).tolist() for cell in range(labels.max() + 1)]
    cells.sort(key=lambda cell: min((place_in_the_domain(X[record]), record) for record in cell))
    return [set(cell) for cell in cells]


@given(neighbours())
@settings(max_examples=200)
def test_one_replaced_record_changes_each_cell_by_at_most_one_record(case):
    X, changed, record, k = case
    for before, after in zip(cells_in_domain_order(X, k), cells_in_domain_order(changed, k), strict=True):
        gained = after - before | ({record} & after)
        assert len(gained) <= 1


@given(neighbours())
@settings(max_examples=100)
def test_sizes_are_a_function_of_n_and_k(case):
    X, changed, _, k = case
    expected = sorted(run_sizes(len(X), k, "middle").tolist())
    for table in (X, changed):
        assert sorted(np.bincount(InsensitiveMDAV(k=k).fit(table).labels_).tolist()) == expected


@given(neighbours())
@settings(max_examples=100)
def test_cells_are_runs_of_an_order_in_which_a_record_decides_its_place_alone(case):
    X, changed, _, k = case
    for table in (X, changed):
        assert cells_in_domain_order(table, k) == runs(table, k)


def test_mdav_itself_is_not_insensitive():
    X = np.random.default_rng(3).random((60, 2))
    changed = X.copy()
    changed[0] = [1.0, 1.0]

    def cells(table: np.ndarray) -> list[set[int]]:
        labels = MDAV(k=5).fit(table).labels_
        return [set(np.flatnonzero(labels == cell).tolist()) for cell in range(12)]

    # However cells before and after are matched, one of them gains three records.
    assert max(min(len(after - before) for before in cells(X)) for after in cells(changed)) == 3
