"""Minimal sample uniques and SUDA scores against a search of all sets, and against a published example."""

from __future__ import annotations

from collections import Counter
from itertools import combinations
from math import factorial

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from microagg._labels import label_combinations
from microagg.evaluation.disclosure.classes import Classes
from microagg.evaluation.disclosure.special_uniques import affordable_size, find_special_uniques, msu_score


def classes_of(rows):
    codes = tuple(np.array(column, dtype=np.int64) for column in zip(*rows, strict=True))
    return Classes(label_combinations(codes, len(rows)), codes)


def msus_by_brute_force(rows, largest_size):
    """For each record its minimal unique sets, from the definition."""
    n_attributes = len(rows[0])
    sets = [one for size in range(1, n_attributes) for one in combinations(range(n_attributes), size)]
    counts = {one: Counter(tuple(row[a] for a in one) for row in rows) for one in sets}
    found = []
    for row in rows:
        unique = [set(one) for one in sets if counts[one][tuple(row[a] for a in one)] == 1]
        minimal = [one for one in unique if not any(other < one for other in unique)]
        found.append([one for one in minimal if len(one) <= largest_size])
    return found


def scores_of(rows, found):
    classes = classes_of(rows)
    scores, smallest = np.zeros(len(classes.sizes)), np.zeros(len(classes.sizes), dtype=int)
    scores[found.classes], smallest[found.classes] = found.scores, found.smallest
    return scores[classes.labels], smallest[classes.labels]


@st.composite
def tables(draw):
    n_attributes = draw(st.integers(2, 5))
    highest = [draw(st.sampled_from([1, 2, 3, 9])) for _ in range(n_attributes)]
    row = st.tuples(*(st.integers(-1, high) for high in highest))  # -1 is missing, a value of its own
    return draw(st.lists(row, min_size=1, max_size=25)), draw(st.integers(1, n_attributes))


@settings(max_examples=300)
@given(tables())
def test_every_msu_and_score_is_that_of_the_definition(case):
    rows, largest_size = case
    n_attributes = len(rows[0])
    found = find_special_uniques(classes_of(rows), largest_size)
    size = min(largest_size, n_attributes - 1)
    expected = msus_by_brute_force(rows, size)
    scores, smallest = scores_of(rows, found)
    assert found.largest_size == size
    assert scores.tolist() == [sum(msu_score(len(one), size, n_attributes) for one in each) for each in expected]
    assert smallest.tolist() == [min((len(one) for one in each), default=0) for each in expected]
    every = [one for each in expected for one in each]
    assert list(found.msus) == [sum(len(one) == i for one in every) for i in range(1, size + 1)]
    total = sum(scores)
    for attribute in range(n_attributes):
        part = sum(msu_score(len(one), size, n_attributes) for one in every if attribute in one)
        assert found.contributions[attribute] == pytest.approx(part / total if total else 0.0)


def test_many_possible_keys_are_counted_in_a_hash_table():
    rng = np.random.default_rng(3)
    rows = [tuple(row) for row in rng.integers(0, 60, size=(400, 3)).tolist()]  # 60^2 keys are more than 8 per record
    scores, _ = scores_of(rows, find_special_uniques(classes_of(rows)))
    expected = [sum(msu_score(len(one), 2, 3) for one in each) for each in msus_by_brute_force(rows, 2)]
    assert scores.tolist() == expected


def test_the_published_example():
    """Table 4.5 of the World Bank's guide to disclosure control practice: 4 attributes, MSUs of at most 3."""
    rows = [
        ("urban", "f", "secondary incomplete", "employed"),
        ("urban", "f", "secondary incomplete", "employed"),
        ("urban", "f", "primary incomplete", "non-lf"),
        ("urban", "m", "secondary complete", "employed"),
        ("rural", "f", "secondary complete", "unemployed"),
        ("urban", "m", "secondary complete", "employed"),
        ("urban", "f", "primary complete", "non-lf"),
        ("urban", "m", "post-secondary", "unemployed"),
        ("urban", "f", "secondary incomplete", "non-lf"),
        ("urban", "f", "secondary incomplete", "non-lf"),
    ]
    coded = [tuple(sorted(set(column)).index(value) for value in column) for column in zip(*rows, strict=True)]
    rows = list(zip(*coded, strict=True))
    scores, _ = scores_of(rows, find_special_uniques(classes_of(rows), 3))
    assert scores[[0, 1, 3, 5, 8, 9]].tolist() == [0.0] * 6
    assert scores[[2, 4, 6]].tolist() == [6.0, 12.0, 6.0]
    # The guide prints 10 for the eighth record: {post-secondary} 6, {urban, unemployed} 2 and {m, unemployed} 2.
    assert scores[7] == 10.0


def test_scores_are_factorials_if_all_sizes_are_looked_at():
    assert [msu_score(size, 5, 6) for size in range(1, 6)] == [factorial(6 - size) for size in range(1, 6)]


def test_one_attribute_has_no_special_uniques():
    found = find_special_uniques(classes_of([(1,), (2,), (2,)]))
    assert (found.largest_size, found.msus, found.scores.tolist()) == (0, (), [0.0])


def test_a_table_without_uniques_has_none():
    found = find_special_uniques(classes_of([(1, 2), (1, 2), (3, 4), (3, 4)]))
    assert len(found.scores) == 0
    assert found.contributions.tolist() == [0.0, 0.0]


def test_the_size_that_is_looked_for_shrinks_with_the_work():
    assert affordable_size(10, 5) == 4
    assert affordable_size(1_000_000, 8) == 3
    assert affordable_size(10**9, 8) == 1
    assert affordable_size(10, 1) == 0


@settings(max_examples=30)
@given(tables(), st.randoms(use_true_random=False))
def test_neither_the_order_of_records_nor_of_attributes_matters(case, random):
    rows, largest_size = case
    places, attributes = list(range(len(rows))), list(range(len(rows[0])))
    random.shuffle(places)
    random.shuffle(attributes)
    shuffled = [tuple(rows[i][a] for a in attributes) for i in places]
    before, _ = scores_of(rows, find_special_uniques(classes_of(rows), largest_size))
    after, _ = scores_of(shuffled, find_special_uniques(classes_of(shuffled), largest_size))
    assert after.tolist() == before[places].tolist()
