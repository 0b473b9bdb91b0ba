"""Searches always end: hostile tables, every partitioner, every effort, with and without a seed or a limit."""

from __future__ import annotations

import numpy as np

from campaigns.campaign import Campaign
from microagg import MDAV, VMDAV, NearOptimal, Projection, refine
from microagg.partition import IndividualRanking, InsensitiveMDAV, OptimalUnivariate

# Equal to a program's reader, not to the program.
LAST_BITS = np.array([0.0, 0.1 + 0.2 - 0.3, 0.1 + 0.7 - 0.8, 0.005, 1.0, np.nextafter(1.0, 2.0)])


def _last_bits(rng: np.random.Generator, n: int) -> np.ndarray:
    return np.column_stack([rng.integers(-2, 3, n).astype(float), rng.choice(LAST_BITS, n)])


def _nearly_equal(rng: np.random.Generator, n: int) -> np.ndarray:
    return 1.0 + rng.integers(0, 4, (n, 3)) * np.finfo(float).eps


def _ties(rng: np.random.Generator, n: int) -> np.ndarray:
    return rng.integers(0, 3, (n, int(rng.integers(1, 5)))).astype(float)


def _constant(rng: np.random.Generator, n: int) -> np.ndarray:
    X = np.full((n, 3), float(rng.normal()))
    X[: int(rng.integers(0, 3))] += 1.0
    return X


def _duplicates(rng: np.random.Generator, n: int) -> np.ndarray:
    few = rng.normal(size=(max(n // 7, 1), 3))
    return few[rng.integers(0, len(few), n)]


def _tiny(rng: np.random.Generator, n: int) -> np.ndarray:
    return np.round(rng.normal(size=(n, 2)), 1) * 10.0 ** -float(rng.integers(5, 300))


def _huge(rng: np.random.Generator, n: int) -> np.ndarray:
    return np.round(rng.normal(size=(n, 2)), 1) * 10.0 ** float(rng.integers(5, 150))


def _far_apart(rng: np.random.Generator, n: int) -> np.ndarray:
    X = np.round(rng.normal(size=(n, 2)), 2)
    X[:: max(n // 5, 1)] *= 1e12
    return X


def _many_attributes(rng: np.random.Generator, n: int) -> np.ndarray:
    return np.round(rng.normal(size=(n, 40)), int(rng.integers(0, 3)))


def _scaled_whole_numbers(rng: np.random.Generator, n: int) -> np.ndarray:
    """Ages, years of schooling and hours, scaled by their bounds: like Adult."""
    age = np.clip(np.rint(rng.gamma(6.0, 6.5, n)) + 16, 16, 90)
    school = rng.choice([9, 10, 13, 14, 11, 7, 12, 6], n, p=[0.33, 0.22, 0.17, 0.06, 0.04, 0.04, 0.04, 0.1])
    hours = np.where(rng.random(n) < 0.5, 40, np.clip(np.rint(rng.normal(40, 14, n)), 1, 99))
    return np.column_stack([(age - 16) / 74, (school - 1) / 15, (hours - 1) / 98])


def _smooth(rng: np.random.Generator, n: int) -> np.ndarray:
    return rng.normal(size=(n, int(rng.integers(1, 6))))


TABLES = (
    *(_last_bits, _nearly_equal, _ties, _constant, _duplicates, _tiny, _huge, _far_apart),
    *(_many_attributes, _scaled_whole_numbers, _smooth),
)
OTHERS = ("mdav", "plain mdav", "vmdav", "vmdav auto", "projection", "ranking", "univariate", "insensitive")


def _fitted(name: str, k: int, X: np.ndarray):
    work = {
        "mdav": MDAV(k),
        "plain mdav": MDAV(k, algorithm="plain"),
        "vmdav": VMDAV(k, gamma=1.1),
        "vmdav auto": VMDAV(k, gamma="auto"),
        "projection": Projection(k),
        "ranking": IndividualRanking(k, cut="optimal"),
        "univariate": OptimalUnivariate(k),
        "insensitive": InsensitiveMDAV(k),
    }[name]
    return work.fit(X[:, :1] if name == "univariate" else X)


def case(number: int) -> str:
    """Try one table; of three cases two are searches."""
    rng = np.random.default_rng([16, number])
    n_records = int(rng.choice([9, 30, 66, 200, 700, 2_500], p=[0.1, 0.15, 0.25, 0.25, 0.2, 0.05]))
    X = TABLES[number % len(TABLES)](rng, n_records)
    k = int(rng.choice([2, 3, 4, 5, 10, 25, max(n_records // 2, 2)]))
    k = min(k, n_records)
    if number % 3 == 0:
        name = OTHERS[(number // 3) % len(OTHERS)]
        labels = _fitted(name, k, X).labels_
        for column in labels.reshape(len(X), -1).T:
            assert np.bincount(column).min() >= k, f"{name} has a cell below k"
        return name
    effort = str(rng.choice(["fast", "default", "best"], p=[0.65, 0.3, 0.05]))
    seed = None if rng.random() < 0.5 else number
    limit = float(rng.choice([1e-6, 0.05, 0.3])) if rng.random() < 0.25 else None
    by_mdav = MDAV(k).fit(X)
    if rng.random() < 0.2:
        labels = refine(by_mdav.labels_, X, k, effort=effort, random_state=seed, time_limit=limit)
        assert np.bincount(labels).min() >= k, "refine has a cell below k"
        return f"refine, {effort}"
    found = NearOptimal(k, effort=effort, random_state=seed, time_limit=limit).fit(X)
    sizes = np.bincount(found.labels_)
    assert sizes.min() >= k, "near_optimal has a cell below k"
    assert sizes.max() < 2 * k, "near_optimal has a cell of 2k or more"
    assert found.start_ == "mdav", "so few records and no MDAV"
    assert found.sse_ <= by_mdav.sse_, "near_optimal loses more than MDAV"
    assert found.stopped_by_ == "budget" or limit is not None, f"stopped by {found.stopped_by_} without a limit"
    return f"near_optimal, {effort}, {found.stopped_by_}"


CAMPAIGN = Campaign(
    name="termination",
    promise="every partitioner ends on every table, with cells of at least k, and a search never loses more than MDAV",
    case=case,
    quick=42,
    long=3000,
    seconds=300.0,
)
