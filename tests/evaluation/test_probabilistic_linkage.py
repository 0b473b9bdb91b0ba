"""Probabilistic linkage: counts and links against all pairs, and EM against known chances."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import microagg
from declarations import nominal, numeric
from microagg import Recipe
from microagg.evaluation.risk.probabilistic import (
    Agreement,
    agreement_counts,
    agreement_weights,
    chance_of_match,
)


def classes(rng, n_records, n_attributes, n_classes):
    return rng.integers(0, n_classes, (n_records, n_attributes))


@given(st.integers(0, 10**6), st.integers(1, 40), st.integers(1, 40), st.integers(1, 4), st.sampled_from([2, 3, 5000]))
def test_counts_and_links_agree_with_all_pairs(seed, n_first, n_second, n_attributes, n_classes):
    rng = np.random.default_rng(seed)
    first = classes(rng, n_first, n_attributes, n_classes)
    rows = rng.integers(0, n_first, n_second)
    second = np.where(
        rng.random((n_second, n_attributes)) < 0.6, first[rows], classes(rng, n_second, n_attributes, n_classes)
    )
    agree = second[:, None] == first[None]
    patterns = (agree << np.arange(n_attributes)).sum(axis=-1)
    assert agreement_counts(first, second).tolist() == np.bincount(patterns.ravel(), minlength=2**n_attributes).tolist()
    weights = rng.integers(0, 3, n_attributes).astype(float)  # ties between sets, and attributes that tell nothing
    worth = agree @ weights
    best = worth == worth.max(axis=1, keepdims=True)
    expected = best[np.arange(n_second), rows] / best.sum(axis=1)
    np.testing.assert_allclose(chance_of_match(first, second, rows, weights), expected)


def test_em_finds_how_often_matches_agree():
    rng = np.random.default_rng(0)
    first = classes(rng, 3000, 5, 12)
    m = np.array([0.95, 0.9, 0.8, 0.7, 0.6])
    second = np.where(rng.random((3000, 5)) < m, first, classes(rng, 3000, 5, 12))
    found = agreement_weights(agreement_counts(first, second), 3000)
    truth = (first == second).mean(axis=0)
    # Some of the 9,000,000 pairs that are no matches look like one: estimates are near, not equal. A share of 3000 has
    # a standard error below 0.01, so 0.06 is more than six of them.
    np.testing.assert_allclose(found.m, truth, atol=0.06)
    np.testing.assert_allclose(found.u, 1 / 12, atol=0.002)
    assert (np.diff(found.weights) < 0).all()


def test_an_attribute_that_tells_nothing_weighs_nothing():
    assert Agreement(np.array([0.9, 0.5, 1.0]), np.array([0.1, 0.5, 1.0])).weights[1:].tolist() == [0.0, 0.0]
    constant = np.zeros((10, 2), dtype=np.int64)
    weights = agreement_weights(agreement_counts(constant, constant), 10).weights
    assert weights.tolist() == [0.0, 0.0]
    np.testing.assert_allclose(chance_of_match(constant, constant, np.arange(10), weights), 0.1)


@pytest.fixture
def survey():
    rng = np.random.default_rng(1)
    x = rng.normal(size=300)
    x[::29] = np.nan
    return pa.table({"x": x, "y": rng.gamma(2.0, size=300), "c": rng.choice([*"abcdefgh"], 300), "one": ["same"] * 300})


SCHEMA = Recipe(k=2, attributes={"x": numeric(), "y": numeric(), "c": nominal(), "one": nominal()})


def test_an_unprotected_table_is_linked_as_far_as_its_classes_tell_apart(survey):
    found = microagg.evaluate(survey, survey, SCHEMA, aligned=True, measures="linkage", per_record=True)
    one = found["probabilistic_linkage"]
    # Ten classes of x (and missing), ten of y and eight categories: records of equal classes share their chance.
    edges = {name: np.nanquantile(survey[name].to_numpy(), np.arange(1, 10) / 10) for name in ("x", "y")}
    keys = [
        (
            None if x is None or np.isnan(x) else int(np.searchsorted(edges["x"], x, side="right")),
            int(np.searchsorted(edges["y"], y, side="right")),
            c,
        )
        for x, y, c in zip(*(survey[name].to_pylist() for name in ("x", "y", "c")), strict=True)
    ]
    assert one.value == pytest.approx(np.mean([1 / keys.count(key) for key in keys]))
    assert one.baseline == 1 / 300
    assert found.per_record["probabilistic_linkage"].mean() == pytest.approx(one.value)
    assert found["distance_linkage"].value == 1.0


def test_many_attributes_are_cut_to_the_most_telling_and_the_note_says_so(monkeypatch):
    import microagg.evaluation.risk.probabilistic as module

    rng = np.random.default_rng(2)
    data = {f"c{j}": rng.integers(0, 2 + j, 100).astype(str) for j in range(5)}
    schema = Recipe(k=2, attributes={name: nominal() for name in data})
    monkeypatch.setattr(module, "_MOST_WORK", 200 * 2**3)
    found = microagg.evaluate(pa.table(data), pa.table(data), schema, aligned=True, measures="probabilistic_linkage")
    assert "by the 3 of 5 quasi-identifiers" in found["probabilistic_linkage"].note
    keys = list(zip(data["c2"], data["c3"], data["c4"], strict=True))
    expected = np.mean([1 / keys.count(key) for key in keys])
    assert found["probabilistic_linkage"].value == pytest.approx(expected)
