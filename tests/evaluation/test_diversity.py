"""Diversity of labels in cells, counted by hand."""

from __future__ import annotations

import numpy as np
import pytest

from microagg.evaluation.diversity import coarse_codes, label_diversity
from microagg.privacy.within_cells import distinct_per_cell


def test_numbers_are_counted_in_steps_and_the_least_diverse_attribute_counts():
    labels = np.array([0, 0, 0, 1, 1, 1])
    y = np.array([0.0, 0.1, 0.3, 1.0, 1.05, 1.1])
    category = np.array([0, 1, 2, 0, 1, 2])
    found = label_diversity([y, category], [coarse_codes(y), category], labels)
    # In steps of 0.2: cell 0 has {0, 0, 1}, cell 1 has {5, 5, 5}; the categories are all different.
    assert found.l_avg == 1.5
    assert (found.smallest, found.mean) == (3, 3.0)
    assert found.purity == pytest.approx((2 / 3 + 3 / 3) / 2)
    assert found.n_cells == 2


def test_a_missing_value_is_a_value_of_its_own():
    codes = coarse_codes(np.array([0.0, np.nan, np.nan]))
    assert distinct_per_cell(codes, np.zeros(3, dtype=np.int64))[0].tolist() == [2]


def test_counts_agree_with_a_plain_loop():
    rng = np.random.default_rng(1)
    codes, labels = rng.integers(-4, 4, 300), rng.integers(0, 20, 300)
    distinct, largest = distinct_per_cell(codes, labels)
    for cell in range(20):
        inside, counts = np.unique(codes[labels == cell], return_counts=True)
        assert (distinct[cell], largest[cell]) == (len(inside), counts.max())
