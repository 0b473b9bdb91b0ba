"""Closeness and diversity against pycanon on its own ground, SciPy, a linear program and plain loops."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import linprog
from scipy.stats import wasserstein_distance

import microagg
from declarations import nominal, numeric
from microagg import Recipe
from microagg.evaluation.risk.closeness import cell_shares
from microagg.privacy.within_cells import (
    earth_movers_nominal,
    earth_movers_ordered,
    entropy_per_cell,
    recursive_per_cell,
)
from optional_packages import need


def confidential(kind):
    return {"role": "confidential", "kind": kind}


SCHEMA = Recipe(
    k=2, attributes={"a": numeric(), "b": nominal(), "pay": confidential("numeric"), "job": confidential("nominal")}
)


def survey(n_records=400, seed=0):
    """Cells of some two dozen records, a confidential number of few values and a category."""
    rng = np.random.default_rng(seed)
    return {
        "a": rng.integers(0, 6, n_records).astype(float),
        "b": rng.choice(["x", "y", "z"], n_records),
        "pay": np.round(rng.gamma(2.0, 3.0, n_records)),
        "job": rng.choice(["clerk", "smith", "baker", "boss"], n_records, p=[0.4, 0.3, 0.2, 0.1]),
    }


def measured(data):
    table = pa.table(data)
    return microagg.evaluate(table, table, SCHEMA, measures=["diversity", "closeness"], aligned=True)


@pytest.fixture
def peer():
    """The reference implementation; `make test` installs it without its pinned dependencies."""
    return need("pycanon.anonymity")


@pytest.mark.parametrize("seed", range(2))
def test_agrees_with_pycanon_where_it_is_right(peer, seed):
    from optional_packages import pandas as pd

    data = survey(200, seed=seed)
    frame, known, secret = pd.DataFrame(data), ["a", "b"], ["pay", "job"]
    found = measured(data)
    assert found["distinct_l_min"].value == peer.l_diversity(frame, known, secret)
    assert found["p_sensitivity"].value == peer.l_diversity(frame, known, secret)
    # Theirs is rounded down to a whole number, and 2.999... is 2 to it.
    assert int(found["entropy_l"].value) == peer.entropy_l_diversity(frame, known, secret)
    assert found["t_closeness"].value == pytest.approx(peer.t_closeness(frame, known, secret))
    for name in secret:
        assert found["t_closeness"].details[name] == pytest.approx(peer.t_closeness(frame, known, [name]))
    labels = frame.groupby(known).ngroup().to_numpy()
    for name in secret:
        shares = cell_shares(frame[name].to_numpy().astype(str), labels)
        assert shares.delta == pytest.approx(peer.delta_disclosure(frame, known, [name]))
        assert shares.beta == pytest.approx(peer.basic_beta_likeness(frame, known, [name]))
        if np.isfinite(shares.enhanced_beta):
            assert shares.enhanced_beta == pytest.approx(peer.enhanced_beta_likeness(frame, known, [name]))
    assert found["delta_disclosure"].details["job"] == pytest.approx(peer.delta_disclosure(frame, known, ["job"]))
    assert found["beta_likeness"].details["job"] == pytest.approx(peer.basic_beta_likeness(frame, known, ["job"]))


def test_agrees_with_recorded_values_of_pycanon():
    # pycanon 1.3.6 on this table: groups by `a` of 4, 3 and 3 records.
    data = {
        "a": [1.0] * 4 + [2.0] * 3 + [3.0] * 3,
        "b": ["x"] * 10,
        "pay": [1.0, 2, 3, 4, 2, 2, 5, 1, 5, 6],
        "job": ["p", "q", "p", "r", "q", "q", "p", "r", "p", "q"],
    }
    found = measured(data)
    assert found["distinct_l_min"].value == 2
    assert found["t_closeness"].details == pytest.approx({"pay": 0.23333333333333336, "job": 0.26666666666666666})
    assert found["delta_disclosure"].details["job"] == pytest.approx(0.5108256237659906)
    assert found["beta_likeness"].details["job"] == pytest.approx(0.6666666666666665)
    pay = cell_shares(np.array(data["pay"]), np.repeat([0, 1, 2], [4, 3, 3]))
    assert (pay.delta, pay.beta) == pytest.approx((1.203972804325936, 2.333333333333333))
    # Where a value gains more than -ln p (here 2.33 of at most ln 10), no beta satisfies the enhanced definition;
    # pycanon says 2.30, the cap itself.
    assert pay.enhanced_beta == np.inf


def test_order_and_missing_values_are_met_where_the_peer_fails():
    data = survey()
    data["pay"][::9] = np.nan
    data["job"] = np.where(np.arange(400) % 11 == 0, None, data["job"])
    data["b"] = np.where(np.arange(400) % 7 == 0, None, data["b"])
    found = measured(data)
    shuffled = np.random.default_rng(1).permutation(400)
    from optional_packages import pandas as pd

    frame = pd.DataFrame(data)
    again = microagg.evaluate(frame, frame.iloc[shuffled], SCHEMA, measures=["diversity", "closeness"])
    for one in found:
        assert one.value == again[one.name].value, one.name
    groups: dict = {}
    for a, b, pay, job in zip(*(data[name] for name in ("a", "b", "pay", "job")), strict=True):
        groups.setdefault((a, b), []).append((None if np.isnan(pay) else pay, job))
    jobs = Counter(job for records in groups.values() for _, job in records)
    worst_t = worst_beta = 0.0
    least = np.inf
    for records in groups.values():
        counts = Counter(job for _, job in records)
        differences = [counts[job] / len(records) - jobs[job] / 400 for job in jobs]
        worst_t = max(worst_t, sum(map(abs, differences)) / 2)
        worst_beta = max(worst_beta, *(counts[job] / len(records) / (jobs[job] / 400) - 1 for job in jobs))
        least = min(least, len(counts), len({pay for pay, _ in records}))
    assert None in jobs
    assert found["t_closeness"].details["job"] == pytest.approx(worst_t)
    assert found["beta_likeness"].details["job"] == pytest.approx(worst_beta)
    assert found["distinct_l_min"].value == least


@given(st.data())
def test_ordered_distance_is_the_earth_movers_along_the_ranks(data):
    n_records = data.draw(st.integers(2, 30))
    values = np.array(data.draw(st.lists(st.integers(-3, 5), min_size=n_records, max_size=n_records)), dtype=float)
    labels = np.array(data.draw(st.lists(st.integers(0, 3), min_size=n_records, max_size=n_records)))
    labels = np.unique(labels, return_inverse=True)[1]
    found = earth_movers_ordered(values, labels)
    different, ranks = np.unique(values, return_inverse=True)
    places = ranks / max(len(different) - 1, 1)
    for cell in range(labels.max() + 1):
        assert found[cell] == pytest.approx(wasserstein_distance(places[labels == cell], places), abs=1e-12)
    nominal_found = earth_movers_nominal(values, labels)
    assert (found <= nominal_found + 1e-12).all()  # no two values are more than 1 apart
    assert ((found >= 0) & (nominal_found <= 1)).all()


def cheapest_plan(have, want, costs):
    """Transport as a linear program: what leaves each place, what arrives at each."""
    n = len(have)
    leave = np.kron(np.eye(n), np.ones(n))
    arrive = np.kron(np.ones(n), np.eye(n))
    return linprog(costs.ravel(), A_eq=np.vstack([leave, arrive]), b_eq=np.concatenate([have, want])).fun


def test_missing_values_are_never_understated():
    rng = np.random.default_rng(3)
    for _ in range(20):
        values = rng.integers(0, 4, 24).astype(float)
        values[rng.random(24) < 0.3] = np.nan
        labels = np.repeat([0, 1, 2], 8)
        found = earth_movers_ordered(values, labels)
        places = np.unique(values[~np.isnan(values)])
        steps = np.arange(len(places)) / (len(places) - 1)
        costs = np.ones((len(places) + 1, len(places) + 1))
        costs[:-1, :-1] = np.abs(steps[:, None] - steps)
        costs[-1, -1] = 0.0

        def shares(part, places=places):
            return np.append([(part == place).mean() for place in places], np.isnan(part).mean())

        for cell in range(3):
            exact = cheapest_plan(shares(values[labels == cell]), shares(values), costs)
            assert exact - 1e-9 <= found[cell] <= 1.0
    alone = earth_movers_ordered(np.array([np.nan, np.nan, 1.0, 2.0]), np.array([0, 0, 1, 1]))
    assert alone.tolist() == [0.5, 0.5]
    assert earth_movers_ordered(np.full(4, np.nan), np.array([0, 0, 1, 1])).tolist() == [0.0, 0.0]
    assert earth_movers_ordered(np.ones(4), np.array([0, 0, 1, 1])).tolist() == [0.0, 0.0]


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 4)), min_size=1, max_size=40))
def test_entropy_and_recursive_diversity_agree_with_plain_counts(records):
    labels = np.unique([cell for cell, _ in records], return_inverse=True)[1]
    codes = np.array([code for _, code in records])
    entropy = entropy_per_cell(codes, labels)
    recursive = {rarest: recursive_per_cell(codes, labels, rarest) for rarest in (1, 2, 3)}
    for cell in range(labels.max() + 1):
        counts = sorted(Counter(codes[labels == cell].tolist()).values(), reverse=True)
        shares = np.array(counts) / sum(counts)
        assert entropy[cell] == pytest.approx(np.prod(shares**-shares))
        assert 1.0 <= entropy[cell] <= len(counts) + 1e-9
        for rarest, found in recursive.items():
            rest = sum(counts[rarest - 1 :])
            assert found[cell] == (pytest.approx(counts[0] / rest) if rest else np.inf)


def test_a_pure_cell_has_no_c_and_a_rare_value_no_enhanced_beta():
    found = measured({"a": [1.0, 1, 2, 2], "b": ["x"] * 4, "pay": [5.0, 5, 6, 7], "job": ["p", "q", "p", "q"]})
    assert found["recursive_c"].value is None
    assert "one value only" in found["recursive_c"].note
    assert found["entropy_l"].value == pytest.approx(1.0)
    assert found["enhanced_beta_likeness"].value is None
    assert "gains more than -ln p" in found["enhanced_beta_likeness"].note
    assert "2 of 2 cells lack a value" in found["delta_disclosure"].note
    diverse = measured({"a": [1.0, 1, 1, 2, 2, 2], "b": ["x"] * 6, "pay": [1.0, 2, 3] * 2, "job": ["p", "p", "q"] * 2})
    assert diverse["recursive_c"].value == 2.0
    assert diverse["enhanced_beta_likeness"].value == 0.0
    assert diverse["t_closeness"].value == pytest.approx(0.0, abs=1e-15)
