"""NumPy and kernels form the same cells: hostile tables, every partitioner that may go either road."""

from __future__ import annotations

from typing import Any

import numpy as np

from campaigns.campaign import Campaign
from campaigns.termination import TABLES
from mdav_tables import KINDS
from microagg import MDAV, VMDAV, NearOptimal, Projection
from microagg.partition import IndividualRanking, Mic1D, OptimalUnivariate
from microagg.partition.uncompiled.choice import always_by

RESULTS = ("labels_", "published_", "gamma_", "n_cells_", "sse_", "start_")


def _table(rng: np.random.Generator, number: int) -> np.ndarray:
    n_records = int(rng.choice([int(rng.integers(2, 12)), int(rng.integers(12, 120)), int(rng.integers(120, 900))]))
    which = number % (len(KINDS) + len(TABLES))
    if which < len(KINDS):
        X = KINDS[which](rng, n_records, int(rng.choice([1, 2, 3, 5, 8, 9, 17, 40])))
    else:
        X = TABLES[which - len(KINDS)](rng, n_records)
    spoilt = int(rng.integers(0, 8))
    if spoilt == 0:
        X = X[rng.integers(0, len(X), len(X))]
    elif spoilt == 1:
        X = np.where(X == 0, -0.0, X)
        X[:, int(rng.integers(0, X.shape[1]))] = float(rng.normal())
    elif spoilt == 2:
        with np.errstate(all="ignore"):
            scaled = np.ldexp(X, int(rng.integers(-1000, 900)))
        X = scaled if np.isfinite(scaled).all() else X
    elif spoilt == 3 and X.shape[1] > 1:
        X[:, 1:] *= 10.0 ** -rng.integers(100, 200)  # squares that vanish, beside some that do not
    return np.ascontiguousarray(X)


def _works(rng: np.random.Generator, k: int, number: int) -> dict[str, Any]:
    gamma = float(rng.choice([0.0, 0.1, 0.2, 0.5, 1.0, 1.1, 3.0, 1e6]))
    works = {
        "mdav": MDAV(k),
        "mdav 2k": MDAV(k, variant="2k"),
        "vmdav": VMDAV(k, gamma=gamma),
        "principal axis": Projection(k),
        "sum of z-scores": Projection(k, axis="zscores"),
        "univariate": OptimalUnivariate(k),
        "ranking": IndividualRanking(k, cut="optimal"),
        "mic1d": Mic1D(k, cut="optimal"),
    }
    if number % 10 == 0:
        works["vmdav auto"] = VMDAV(k, gamma="auto")
        works["near optimal"] = NearOptimal(k, effort="fast", random_state=number)
    return works


def case(number: int) -> str:
    """Partition one table by every partitioner, on both roads."""
    rng = np.random.default_rng([17, number])
    X = _table(rng, number)
    n_records = len(X)
    k = int(rng.choice([2, 3, 5, 7, 8, 9, 20, n_records // 3, n_records // 2, n_records // 2 + 1, n_records]))
    k = min(max(k, 2), n_records)
    for name, work in _works(rng, k, number).items():
        values = X[:, :1] if name == "univariate" else X
        with np.errstate(all="ignore"):  # what is lost may be beyond the largest float
            with always_by("kernels"):
                by_kernels = vars(work.fit(values)).copy()
            with always_by("numpy"):
                by_numpy = vars(work.fit(values)).copy()
        for result in RESULTS:
            assert (result in by_kernels) == (result in by_numpy), f"{name}: {result} is missing on one road"
            if result in by_kernels:
                same = bool(np.all(by_kernels[result] == by_numpy[result]))
                assert same, f"{name}: {result} differs, n = {n_records}, d = {X.shape[1]}, k = {k}"
    return "same cells"


CAMPAIGN = Campaign(
    name="both_roads",
    promise="NumPy forms the very cells that the kernels form",
    case=case,
    quick=30,
    long=20_000,
    seconds=300.0,
)
