"""Privacy loss, measured: on neighbouring tables ``marginals`` keeps its epsilon, and ``aligned`` does not.

A release of many equal attributes, each with the same share of the budget, is that many independent releases of one
attribute. Of every event the null hypothesis is P(event | X) <= exp(epsilon) P(event | X'): given how often the event
was seen in both, the count under X is then at most binomial with exp(epsilon) / (1 + exp(epsilon)). A p-value below
1e-9 over the number of events is a finding.
"""

from __future__ import annotations

import math
from collections import Counter

import numpy as np
import pyarrow as pa
import pytest
from scipy import stats

import microagg
from declarations import nominal, numeric
from microagg import Recipe
from microagg.partition.runs import run_sizes
from microagg.privacy.budget import Budget
from microagg.privacy.mechanism import Grid
from microagg.privacy.noise import SeededNoise
from microagg.privacy.ranking import noisy_run_means

FALSE_ALARM = 1e-9
EPSILON = 1.0


def copies(values: list, declared: dict, epsilon: float, *, n_copies: int = 200, seed: int | None = None, **privacy):
    """The released columns of `n_copies` copies of an attribute, each released with `epsilon` of its own."""
    table = pa.table({f"x{i}": values for i in range(n_copies)})
    recipe = Recipe(
        method="dp_individual_ranking",
        k=2,
        privacy={"epsilon": epsilon * n_copies, **privacy},
        output={"order": "kept"},
        attributes=dict.fromkeys(table.column_names, declared),
    )
    released = microagg.release(table, recipe, seed=seed).table
    return [tuple(column) for column in released.to_pydict().values()]


def published_lists(
    values: list, epsilon: float, *, monotone: bool, n_lists: int = 5_000, seed: int = 0
) -> list[tuple]:
    """What ``marginals`` publishes of one attribute with bounds 0 and 1, many times, without a table around it."""
    grid, sizes, noise = Grid.for_sums(0.0, 1.0, len(values)), run_sizes(len(values), 2), SeededNoise(seed)
    lists = []
    for _ in range(n_lists):
        means = noisy_run_means(np.array(values), sizes, grid, budget=Budget(epsilon), noise=noise, on="x")
        lists.append(tuple(np.clip(np.sort(means) if monotone else means, 0.0, 1.0).tolist()))
    return lists


def worst_p_value(first: list, second: list, epsilon: float, events) -> float:
    """The smallest p-value over events and both directions, times how many there are."""
    seen = [Counter(event for outcome in outcomes for event in events(outcome)) for outcomes in (first, second)]
    share = math.exp(epsilon) / (1 + math.exp(epsilon))
    names = set(seen[0]) | set(seen[1])
    p_values = [
        stats.binom.sf(a[name] - 1, a[name] + b[name], share) for a, b in (seen, seen[::-1]) for name in sorted(names)
    ]
    return float(min(p_values) * len(p_values))


def binned(outcome: tuple) -> set:
    """Where each published value lies, in quarters of the domain, its ends apart; the joint outcome as well."""
    bins = tuple(0 if v <= 0 else 9 if v >= 1 else 1 + int(4 * v) for v in outcome)
    return {("joint", bins), *(("rank", rank, one) for rank, one in enumerate(bins))} | {
        ("above", rank, limit) for rank, v in enumerate(outcome) for limit in (0.0, 0.5, 0.999) if v > limit
    }


# Neighbours that use all of the sensitivity: one value crosses the whole domain, or moves every run.
NEIGHBOURS = [([0.0] * 4, [0.0, 0.0, 0.0, 1.0]), ([0.0, 0.5, 0.5, 1.0], [1.0, 0.5, 0.5, 1.0])]


@pytest.mark.parametrize("monotone", [True, False])
@pytest.mark.parametrize(("before", "after"), NEIGHBOURS)
def test_lists_of_run_means_keep_their_epsilon(before, after, monotone):
    drawn = [
        published_lists(values, EPSILON, monotone=monotone, seed=seed) for seed, values in enumerate([before, after])
    ]
    assert worst_p_value(*drawn, EPSILON, binned) > FALSE_ALARM


def test_the_measurement_would_find_noise_that_is_too_small_by_a_third():
    drawn = [
        published_lists(values, EPSILON / 0.67, monotone=False, seed=seed) for seed, values in enumerate(NEIGHBOURS[0])
    ]
    assert worst_p_value(*drawn, EPSILON, binned) < FALSE_ALARM


@pytest.mark.parametrize("monotone", ["interpolated", "off"])
def test_marginals_keep_their_epsilon(monotone):
    """The whole way from table to table, with OpenDP's noise."""
    drawn = [copies(values, numeric(bounds=[0, 1]), EPSILON, monotone=monotone) for values in NEIGHBOURS[0]]
    assert worst_p_value(*drawn, EPSILON, binned) > FALSE_ALARM


def test_categories_as_marginals_keep_their_epsilon():
    declared = nominal(categories=["a", "b", "c"])
    drawn = [
        copies(values, declared, EPSILON, seed=seed)
        for seed, values in enumerate([["a", "a", "b", "c"], ["a", "b", "b", "c"]])
    ]
    assert worst_p_value(*drawn, EPSILON, lambda outcome: {outcome}) > FALSE_ALARM


def test_the_leak_of_aligned_is_found_so_that_nobody_claims_more():
    """Records 0 and 1 share a run under X and never under X': no epsilon bounds that, however small the budget."""
    tables = [[0.0, 1.0, 10.0, 11.0], [12.0, 1.0, 10.0, 11.0]]

    def together(outcome: tuple) -> set:
        """Whether the two publish the same value, inside the domain: at its ends the clamp makes others equal too."""
        return {outcome[0] == outcome[1] and 0 < outcome[0] < 20}

    drawn = [
        copies(values, numeric(bounds=[0, 20]), EPSILON, seed=seed, form="aligned", monotone="off")
        for seed, values in enumerate(tables)
    ]
    assert sum(True in together(outcome) for outcome in drawn[0]) > 50
    assert sum(True in together(outcome) for outcome in drawn[1]) == 0
    assert worst_p_value(*drawn, EPSILON, together) < FALSE_ALARM
    # At a hundredth of the budget noise hides nothing of it either.
    drawn = [
        copies(values, numeric(bounds=[0, 20]), 0.01, seed=seed, n_copies=300, form="aligned", monotone="off")
        for seed, values in enumerate(tables)
    ]
    assert worst_p_value(*drawn, 0.01, lambda outcome: {outcome[0] == outcome[1]}) < FALSE_ALARM


def test_the_statement_of_aligned_names_the_leak_and_does_not_name_the_records_as_its_target():
    table = pa.table({"x": [0.0, 1.0, 10.0, 11.0]})
    promised = {}
    for form in ("aligned", "marginals"):
        privacy = {"epsilon": 0.01, "form": form}
        recipe = Recipe(method="dp_individual_ranking", k=2, privacy=privacy, attributes={"x": numeric(bounds=[0, 20])})
        (promised[form],) = microagg.release(table, recipe).statement.guarantees
    assert promised["marginals"].target == "the original records"
    assert promised["aligned"].target == "the microaggregated data set, given the partition; not the original records"
    said = " ".join(promised["aligned"].not_promised)
    assert "differential privacy of the original records, at any epsilon" in said
    assert "hiding of who was ranked together" in said
