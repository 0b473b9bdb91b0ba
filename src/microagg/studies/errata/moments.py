"""Errors in the cross-moment paper."""

from __future__ import annotations

import numpy as np

from microagg._typing import FloatArray
from microagg.aggregate.centroid import Cells
from microagg.aggregate.moments import cross_moments
from microagg.partition.mdav import MDAV
from microagg.studies.cross_moment.published import CROSSINGS
from microagg.studies.cross_moment.run import rank_matched
from microagg.studies.errata.erratum import Erratum, Shown

__all__ = ["ERRATA"]


def coskewness_of_three() -> Shown:
    """Proposition 8 at k = 3."""
    cells = Cells(np.zeros(3, dtype=np.int64))
    before, after = (
        float(cross_moments(np.array(values)[:, None], cells, 2).coskewness[0, 0])
        for values in ([0.0, 1.0, 0.0], [0.0, 1.0, 1.0])
    )
    moved = abs(after - before)
    text = f"values 0, 1 and one that moves from 0 to 1: {before:+.3f} becomes {after:+.3f}, by {moved:.3f}, not 1/3"
    return Shown(moved, 1 / 3 + 1e-9, text)


def eigenvector() -> Shown:
    """Proposition 9, with the sign fixed by a positive first entry."""
    k = 20
    first, second = np.full(k, 0.5), np.repeat([0.0, 1.0], k // 2)
    vectors, gaps = [], []
    for moved in (0.0, 1.0):
        values = np.column_stack([np.append(first[1:], moved), second])
        found, vector = np.linalg.eigh(np.cov(values.T))
        top = vector[:, 1]
        vectors.append(top * np.sign(top[0]))
        gaps.append(found[1] - found[0])
    distance = float(np.abs(vectors[1] - vectors[0]).sum())
    bound = float(np.sqrt(2) / gaps[0] * 2 / k)
    text = (
        "20 records, one of which moves across its cell's mean: the first eigenvector turns by a little and its "
        f"sign by a lot, {distance:.2f} in L1, where the bound is {bound:.2f}"
    )
    return Shown(distance, bound, text)


def moving_cell() -> Shown:
    """IR-MDAV and Lemma 1 of the individual-ranking paper."""
    k, width = 3, 10.0
    before = np.array([0.0, 2.0, 3.0, 4.0, 4.0, 6.0, 8.0, 8.0])
    after = np.array([10.0, 2.0, 3.0, 4.0, 4.0, 6.0, 8.0, 8.0])
    moved = float(np.abs(_centroids(after, k) - _centroids(before, k)).sum()) * k / width
    text = f"8 values, k = 3, the first of which moves from 0 to 10: the centroids move by {moved:.2f} width / k in sum"
    return Shown(moved, 1.0 + 1e-9, text)


def _centroids(values: FloatArray, k: int) -> FloatArray:
    labels = MDAV(k=k).fit(values[:, None]).labels_
    return np.sort(np.bincount(labels, values) / np.bincount(labels))


def variance_of_two() -> Shown:
    """Footnote 2."""
    variance = float(np.var([0.0, 1.0], ddof=1))
    return Shown(variance, 0.25, f"the values 0 and 1: {variance:.2f}, not 0.25")


def draws_lose_twice() -> Shown:
    """Section 5.5: m = 1 overtakes m = 0."""
    rng = np.random.default_rng(0)
    original = rng.normal(size=(2000, 1))
    drawn = original.mean() + original.std() * rng.normal(size=original.shape)
    mean, draw = (float(np.square(one - original).sum()) for one in (np.full_like(original, original.mean()), drawn))
    matched = float(np.square(rank_matched(drawn, original, np.zeros(2000, dtype=np.int64)) - original).sum())
    text = (
        "a cell of 2,000 normal values, no noise: draws with the cell's own mean and variance have "
        f"{draw / mean:.2f} times the SSE of the mean alone; matched to the originals by rank, "
        f"{matched / mean:.3f} times"
    )
    return Shown(draw / mean, 1.0, text)


def increases() -> Shown:
    """Section 5.5, Figure 9: 39.40 %, 41.71 % and 48.57 % increases."""
    census, eia = CROSSINGS["Census 3", 1.0], CROSSINGS["EIA 3", 1.0]
    ratio, increase = 100 * census / eia, 100 * (eia / census - 1)
    text = f"{eia} against {census} is an increase of {increase:.0f} %; {ratio:.2f} % is the ratio of the two"
    return Shown(increase, 41.71 + 0.005, text)


ERRATA = (
    Erratum(
        "coskewness at k = 3",
        "cross_moment",
        "Proposition 8",
        "one record moves the coskewness of a cell by at most width^3 / k",
        "twice as much at k = 3; it holds by enumeration for k = 4 to 7. Releases with m = 2 need k >= 4",
        coskewness_of_three,
    ),
    Erratum(
        "the eigenvector bound",
        "cross_moment",
        "Proposition 9",
        "one record moves an eigenvector by at most sqrt(d) width^2 / (gap k)",
        "eigenvectors have no sign: under any rule that fixes one, a small turn can flip it. Ours are given a "
        "sign by chance first, and promised individual differential privacy at most",
        eigenvector,
    ),
    Erratum(
        "the cell that moves",
        "cross_moment",
        "section 5.1, IR-MDAV with Lemma 1 of the individual-ranking paper",
        "univariate MDAV moves centroids by at most width / k in sum",
        "where the larger cell lies hangs on the data, and then they move further. Runs whose sizes are a "
        "function of n and k alone keep the lemma",
        moving_cell,
    ),
    Erratum(
        "variances above width^2 / 4",
        "cross_moment",
        "footnote 2",
        "a variance is at most width^2 / 4",
        "the unbiased one that is used reaches k / (k - 1) times that",
        variance_of_two,
    ),
    Erratum(
        "m = 1 overtakes m = 0",
        "cross_moment",
        "section 5.5, Figures 7 to 13",
        "from some k on, drawn records have a smaller SSE than cell means",
        "never record by record: a draw adds its own variance. Only records matched to the originals show it, which no "
        "release can do",
        draws_lose_twice,
    ),
    Erratum(
        "increases that are ratios",
        "cross_moment",
        "section 5.5, Figure 9",
        "the crossings of EIA are 39.40 %, 41.71 % and 48.57 % above those of Census",
        "these are ratios Census / EIA (and the first needs 290, where 283 is printed)",
        increases,
    ),
)
