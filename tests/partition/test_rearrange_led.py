"""Cells that are led towards requirements: near records of another value, and partitions that end valid."""

from __future__ import annotations

import numpy as np
import pytest

from mdav_tables import compiled
from microagg import MDAV
from microagg._halt import StopCondition
from microagg._kernels.random import seed_rng
from microagg.partition._kernels.rearrange.unlike import unlike_records
from microagg.partition.local_search.search import near_records
from microagg.partition.nominal import nominal_of
from microagg.partition.rearrange.rearrange import rearrange_cells
from microagg.partition.rearrange.rules import Demands
from microagg.privacy.requirement import REQUIREMENTS, ConfidentialValues, Requirement
from microagg.privacy.ways import Way
from microagg.schema.attribute import Kind
from microagg.space.points import Points
from mixed_tables import random_points

pytestmark = pytest.mark.kernel


def found_for(points: Points, codes: np.ndarray, wanted: int, draws: int, rounds: int) -> np.ndarray:
    near = near_records(points, 3, StopCondition(None))
    return unlike_records(
        points.values,
        near,
        codes,
        wanted,
        draws,
        rounds,
        seed_rng([1, 2, 3, 4]),
        np.zeros(1, dtype=np.int64),
        nominal_of(points),
    )


@pytest.mark.parametrize("seed", range(4))
def test_unlike_records_have_another_value_and_are_nearest_first(seed):
    rng = np.random.default_rng(seed)
    points = random_points(rng, 60, ties=seed % 2 == 1).telling()
    codes = rng.integers(0, 3, len(points)).astype(np.int64)
    found, at = found_for(points, codes, 4, 300, 2), points.coordinates()
    for record in range(len(points)):
        there = found[record][found[record] >= 0]
        assert len(set(there.tolist())) == len(there)
        assert (codes[there] != codes[record]).all()
        apart = ((at[there] - at[record]) ** 2).sum(axis=1)
        assert (np.diff(apart) >= -1e-9 * (1 + apart.max(initial=0.0))).all()


def test_nearly_all_of_them_are_the_nearest_there_are():
    rng = np.random.default_rng(5)
    points = Points(rng.normal(size=(120, 2)))
    codes = (points.values[:, 0] > 0).astype(np.int64)
    found = found_for(points, codes, 3, 400, 2)
    hits = 0
    for record in range(120):
        apart = ((points.values - points.values[record]) ** 2).sum(axis=1)
        apart[codes == codes[record]] = np.inf
        hits += len(set(np.argsort(apart)[:3].tolist()) & set(found[record].tolist()))
    assert hits / 360 > 0.9


def test_values_that_all_agree_leave_nobody_unlike():
    points = Points(np.arange(20.0)[:, None])
    assert (found_for(points, np.zeros(20, dtype=np.int64), 3, 50, 2) < 0).all()


@compiled
@pytest.mark.parametrize("seed", range(3))
def test_a_search_that_leads_cells_ends_with_valid_ones_and_loses_no_more_than_by_joining(seed):
    """Confidential values that follow the space: near-optimal cells are far from diverse."""
    rng = np.random.default_rng(seed)
    points = Points(rng.normal(size=(300, 2)))
    values = np.digitize(points.values[:, 0], [-1.0, -0.3, 0.3, 1.0]).astype(float)
    confidential = ConfidentialValues("y", values, Kind.NOMINAL)
    demands = Demands((Requirement(REQUIREMENTS["distinct_l"], "y", 3.0),), {"y": confidential})
    labels = MDAV(k=4).fit(points.values).labels_
    led = rearrange_cells(points, labels, 4, demands, np.arange(300), by=Way.SEARCH, random_state=seed)
    joined = rearrange_cells(points, labels, 4, demands, np.arange(300), by=Way.MERGE, random_state=seed)
    assert np.bincount(led.labels).min() >= 4
    assert all(len(np.unique(values[led.labels == cell])) >= 3 for cell in range(led.labels.max() + 1))
    sse = lambda found: sum(  # noqa: E731
        ((points.values[found == cell] - points.values[found == cell].mean(axis=0)) ** 2).sum()
        for cell in range(found.max() + 1)
    )
    assert sse(led.labels) <= sse(joined.labels)
