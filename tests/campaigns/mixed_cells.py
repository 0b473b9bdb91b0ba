"""Cells of numbers and codes: every road forms those of the scan, and those of the coordinates but for ties."""

from __future__ import annotations

import numpy as np

from campaigns.campaign import Campaign
from microagg import MDAV, VMDAV, NearOptimal
from microagg.partition import _mdav_search as searches
from microagg.partition import vmdav
from microagg.partition.base import cells_in_order
from microagg.partition.uncompiled.choice import always_by
from microagg.space.points import Points
from mixed_tables import first_choice_that_no_tie_explains, random_points, squared_distances, sse_by_pairs


def _points(rng: np.random.Generator, *, ties: bool) -> Points:
    n_records = int(rng.choice([int(rng.integers(4, 30)), int(rng.integers(30, 300)), int(rng.integers(300, 2000))]))
    points = random_points(rng, n_records, ties=ties)
    if rng.random() < 0.15:
        return points.times_power_of_two(int(rng.integers(-400, 400)))
    if rng.random() < 0.15:
        return points.take(rng.integers(0, n_records, n_records))
    return points


def case(number: int) -> str:
    """Partition one table by every road; how its cells compare with those of the coordinates."""
    rng = np.random.default_rng([number, 18])
    points = _points(rng, ties=number % 3 == 0)
    n_records = len(points)
    k = int(rng.integers(2, min(n_records, 40)))
    plainly = MDAV(k=k, algorithm="plain").fit(points).labels_
    with always_by("kernels"):
        np.testing.assert_array_equal(MDAV(k=k, algorithm="tree").fit(points).labels_, plainly, err_msg="tree")
    gamma = float(rng.choice([0.0, 0.2, 1.1]))
    with always_by("numpy"):
        np.testing.assert_array_equal(MDAV(k=k).fit(points).labels_, plainly, err_msg="numpy")
        grown = VMDAV(k=k, gamma=gamma).fit(points).labels_
    before = vmdav._TREE_FROM
    for tree_from in (0, 10**9):
        try:
            vmdav._TREE_FROM = tree_from
            with always_by("kernels"):
                found = VMDAV(k=k, gamma=gamma).fit(points).labels_
        finally:
            vmdav._TREE_FROM = before
        np.testing.assert_array_equal(found, grown, err_msg=f"vmdav, tree from {tree_from}")
    if number % 10 == 0 and n_records < 400:
        search = NearOptimal(k=k, effort="fast", random_state=number).fit(points)
        near_one = points.near_one()
        sse = sse_by_pairs(squared_distances(near_one.coordinates()), search.labels_)
        assert np.isclose(sse, search.sse_ * 4.0**points.exponent, rtol=1e-9, atol=1e-12)
        assert search.sse_ <= MDAV(k=k).fit(points).sse_ * (1 + 1e-12)
    by_codes = searches.mdav_cells(points.near_one().telling(), k, 3 * k, "plain")
    np.testing.assert_array_equal(cells_in_order(by_codes), plainly)
    X = points.near_one().coordinates()
    by_coordinates = searches.mdav_cells(Points(X), k, 3 * k, "plain")
    if np.array_equal(cells_in_order(by_coordinates), plainly):
        return "as by coordinates"
    for name, labels in (("codes", by_codes), ("coordinates", by_coordinates)):
        wrong = first_choice_that_no_tie_explains(points, labels, k)
        assert not wrong, f"{name}: {wrong}"
    return "another tie"


CAMPAIGN = Campaign(
    name="mixed_cells",
    promise="cells of numbers and codes are the same on every road, and those of coordinates but for ties",
    case=case,
    quick=6,
    long=3000,
    seconds=300.0,  # the first cases of a process compile
)
