"""Attacks on strict releases: neighbours made to be told apart, many runs, and a lower confidence bound on epsilon.

From inside, the exact privacy loss of each run is computed, part by part (`privacy_loss.py`). From outside, only
published tables are looked at: events are chosen on half of the runs of both tables and counted on the other half, and
Clopper and Pearson bound their odds. Controls show that the attack can win: a method with too little noise, and the
aligned form of individual ranking, which publishes who was ranked together.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from contextlib import nullcontext
from functools import partial
from unittest.mock import patch

import numpy as np
import pyarrow as pa
from scipy.stats import beta

from campaigns.campaign import Campaign
from declarations import nominal, numeric, ordinal
from microagg import Recipe
from microagg.privacy.noise import OpenDPNoise
from microagg.private.base import protect
from microagg.private.strict import marginals, model
from microagg.tables.frames import Frame
from privacy_loss import Replayed, WrittenDown, losses

EPSILON = 2.0
RUNS = 300
CONFIDENCE = 1.0 - 1e-7  # of one bound: a campaign of a thousand cases raises a false alarm once in ten thousand

X = numeric(bounds=[0, 1024], resolution=1)
Y = numeric(bounds=[-10, 10])
LEVEL = ordinal(categories=["low", "middle", "high"])
JOB = nominal(categories=["clerk", "farmer", "nurse", "smith"])

Table = dict[str, list]
Features = Callable[[dict[str, list]], list[float]]


def _numbers(values: list[float]) -> Table:
    return {"x": values, "y": [value / 128.0 for value in values]}


HALF = [0, 1024] * 6
NEIGHBOURS: dict[str, tuple[dict, Table, Table]] = {
    "an outlier": ({"x": X, "y": Y}, _numbers([0] * 12), _numbers([1024] + [0] * 11)),
    "ties in halves": ({"x": X, "y": Y}, _numbers(HALF), _numbers([1024, *HALF[1:]])),
    "across the median, by a tree": ({"x": X}, {"x": [500] * 60}, {"x": [501] + [500] * 59}),
    "an outlier of a tree": ({"x": X}, {"x": [0] * 60}, {"x": [1024] + [0] * 59}),
    "a new category": (
        {"job": JOB, "level": LEVEL},
        {"job": ["clerk"] * 12, "level": ["low"] * 12},
        {"job": ["smith"] + ["clerk"] * 11, "level": ["high"] + ["low"] * 11},
    ),
    "everything at once": (
        {"x": X, "y": Y, "job": JOB},
        {**_numbers([0] * 12), "job": ["clerk"] * 12},
        {**_numbers([1024] + [0] * 11), "job": ["smith"] + ["clerk"] * 11},
    ),
    "a combination": (
        {"job": JOB, "level": LEVEL},
        {"job": ["clerk", "smith"] * 6, "level": ["low", "high"] * 6},
        {"job": ["smith", "smith"] + ["clerk", "smith"] * 5, "level": ["low", "high"] * 6},
    ),
}


def _recipe(attributes: dict, method: str = "dp_ranked_graph", **more) -> Recipe:
    privacy = {"epsilon": EPSILON, **more.pop("privacy", {})}
    return Recipe(method=method, privacy=privacy, attributes=attributes, **more)


def _published(table: Table, recipe: Recipe, noise) -> Table:
    arrays = protect(Frame.wrap(pa.table(table)), recipe, noise).arrays
    return {name: array.to_pylist() for name, array in arrays.items()}


def _features(recipe: Recipe, drawn: Table) -> list[float]:
    """What an attacker might look at: extremes, sums, how many rows are at the replaced record's values."""
    found: list[float] = []
    at_new = np.ones(len(next(iter(drawn.values()))), dtype=bool)
    for name, values in drawn.items():
        if recipe.attributes[name].kind == "numeric":
            high = recipe.attributes[name].bounds[1]
            numbers = np.array(values, dtype=float)
            at_new &= numbers > high / 2
            found += [numbers.max(), numbers.min(), numbers.sum(), (numbers > high / 2).sum(), len(set(values))]
        else:
            last = np.array([value == recipe.attributes[name].categories[-1] for value in values])
            at_new &= last
            found += [last.sum(), len(set(values))]
    return [*found, float(at_new.sum())]


def lower_bound(first: np.ndarray, second: np.ndarray) -> float:
    """A lower confidence bound on epsilon from features of runs on two neighbouring tables."""
    half = len(first) // 2
    best, event = 0.0, None
    for column in range(first.shape[1]):
        both = np.concatenate([first[:half, column], second[:half, column]])
        for threshold in np.unique(np.quantile(both, np.linspace(0.02, 0.98, 25))):
            for sign in (1, -1):
                shares = [(sign * one[:half, column] >= sign * threshold).mean() for one in (first, second)]
                for more, less in ((0, 1), (1, 0)):
                    odds = math.log(max(shares[more], 1e-12) / max(shares[less], 2.0 / half))
                    if shares[more] > 0.02 and odds > best:
                        best, event = odds, (column, threshold, sign, more)
    if event is None:
        return 0.0
    column, threshold, sign, more = event
    hits = [int((sign * one[half:, column] >= sign * threshold).sum()) for one in (first, second)]
    runs, wrong = len(first) - half, (1.0 - CONFIDENCE) / 2
    often, seldom = hits[more], hits[1 - more]
    low = beta.ppf(wrong, often, runs - often + 1) if often else 0.0
    high = beta.ppf(1.0 - wrong, seldom + 1, runs - seldom) if seldom < runs else 1.0
    return float(math.log(max(low, 1e-300) / high))


def attack(recipe: Recipe, tables: tuple[Table, Table], noise=None, runs: int = RUNS) -> float:
    """A lower confidence bound on the epsilon of what is published."""
    samples = [
        np.array([_features(recipe, _published(table, recipe, noise or OpenDPNoise())) for _ in range(runs)])
        for table in tables
    ]
    return lower_bound(*samples)


def _exact(recipe: Recipe, tables: tuple[Table, Table], runs: int) -> None:
    """No run loses more than epsilon, exactly, and the same answers publish the same."""
    for run in range(runs):
        here, there = tables if run % 2 else tables[::-1]
        first = WrittenDown(OpenDPNoise())
        published = _published(here, recipe, first)
        second = WrittenDown(Replayed(first.exchanges))
        assert _published(there, recipe, second) == published, "something but answers decides what is published"
        loss = abs(math.fsum(losses(first.exchanges, second.exchanges).values()))
        assert loss <= EPSILON * (1 + 1e-9), f"a run lost {loss:.3f}, epsilon is {EPSILON:g}"


def _honest(name: str, method: str) -> str:
    attributes, *tables = NEIGHBOURS[name]
    recipe = _recipe(attributes, method)
    with _small_pool(), _trees() if name.endswith("tree") else nullcontext():
        _exact(recipe, (tables[0], tables[1]), 40)
        bound = attack(recipe, (tables[0], tables[1]))
    assert bound <= EPSILON, f"{name}: at least {bound:.2f} was spent, of {EPSILON:g}"
    return "bounded"


class _TenTimesTooLittle(OpenDPNoise):
    """Noise of a tenth of the scale that is paid for."""

    def laplace_source(self, *, scale, sensitivity, epsilon):
        return super().laplace_source(scale=scale / 10, sensitivity=sensitivity, epsilon=epsilon * 11)

    def max_norm(self, counts, *, scale, sensitivity, epsilon):
        return super().max_norm(counts, scale=scale / 10, sensitivity=sensitivity, epsilon=epsilon * 11)

    def histograms(self, counts, *, lengths, scale, sensitivity, epsilon):
        return super().histograms(
            counts, lengths=lengths, scale=scale / 10, sensitivity=sensitivity, epsilon=epsilon * 11
        )


def _too_little_noise(attributes: dict, *tables: Table) -> str:
    with _small_pool():
        bound = attack(_recipe(attributes), (tables[0], tables[1]), _TenTimesTooLittle(), runs=2 * RUNS)
    assert bound > EPSILON, f"a tenth of the noise was not found: {bound:.2f}"
    return "caught"


def _aligned() -> str:
    """Records of one run publish equal values: with the first replaced they do in 4 % of the runs, by clamping.

    So they differ in about 576 +- 5 of the 600 runs that are counted, and in none before: a bound of 3.3 or more. Ten
    standard deviations below that, the bound is still above 3.
    """
    recipe = _recipe({"x": X}, "dp_individual_ranking", k=2, privacy={"form": "aligned", "monotone": "off"})

    def together(table: Table) -> np.ndarray:
        runs = [_published(table, recipe, OpenDPNoise())["x"] for _ in range(4 * RUNS)]
        return np.array([[float(values[0] == values[1])] for values in runs])

    bound = lower_bound(together({"x": [0, 1, 1000, 1001]}), together({"x": [1024, 1, 1000, 1001]}))
    assert bound > EPSILON, f"the aligned form was not found: {bound:.2f}"
    return "caught"


def _trees():
    """Twelve records are too few for a tree to pay: of these cases it is asked for all the same."""
    return patch.object(marginals, "_trees_from", lambda scale: 0.0)


def _small_pool():
    """Twelve records need no pool of thousands: the pool is post-processing."""
    return patch.object(model, "_POOL", (200, 200))


FIRST = ("everything at once",)
OF_A_CATEGORY = {"job": ["clerk", "smith"] * 6}, {"job": ["smith", "smith"] + ["clerk", "smith"] * 5}
OF_A_NUMBER = _numbers(HALF), _numbers([1024, *HALF[1:]])
CASES: list[Callable[[], str]] = [
    *(partial(_honest, name, "dp_ranked_graph") for name in FIRST),
    partial(_too_little_noise, {"job": JOB}, *OF_A_CATEGORY),
    _aligned,
    partial(_too_little_noise, {"x": X, "y": Y}, *OF_A_NUMBER),
    *(partial(_honest, name, "dp_ranked_graph") for name in NEIGHBOURS if name not in FIRST),
    *(
        partial(_honest, name, "dp_ranked_copula")
        for name, (attributes, *_) in NEIGHBOURS.items()
        if not any(attribute["kind"] == "nominal" for attribute in attributes.values())
    ),
]


def case(number: int) -> str:
    """One attack; chance is the system's, so every round is another."""
    return CASES[number % len(CASES)]()


CAMPAIGN = Campaign(
    name="privacy_audit",
    promise="no attack on a strict release shows more than epsilon, exactly or by odds; weak methods are caught",
    case=case,
    quick=3,
    long=20 * len(CASES),
    seconds=1_200.0,
)
