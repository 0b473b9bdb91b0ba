"""Labels of combinations: recounts, strata and measures of anonymity go by them."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from microagg._labels import label_combinations
from microagg.privacy.verify import recount


def test_every_nan_is_the_same_value_whatever_its_bits():
    bits = np.array([0x7FF8000000000000, 0xFFF8000000000000, 0x7FF8000000000123], dtype=np.uint64)
    values = np.concatenate([bits.view(np.float64), [-0.0, 0.0]])
    assert label_combinations([values], 5).tolist() == [0, 0, 0, 1, 1]
    assert label_combinations([values.astype(np.float32)], 5).tolist() == [0, 0, 0, 1, 1]


def test_combinations_of_many_columns_of_many_values_are_told_apart():
    # The product of the numbers of values is far beyond 2^63.
    rng = np.random.default_rng(0)
    half = [rng.permutation(500) for _ in range(40)]
    codes = [np.concatenate([code, code]) for code in half]
    assert label_combinations(codes, 1000).tolist() == [*range(500), *range(500)]
    codes[-1] = np.arange(1000)
    assert label_combinations(codes, 1000).tolist() == list(range(1000))


def test_numbers_at_both_ends_of_their_type_are_told_apart():
    ends = np.array([-(2**63), 2**63 - 1, 0, -1, -(2**63)])
    assert label_combinations([ends, np.array([True, True, False, False, True])], 5).tolist() == [0, 1, 2, 3, 0]


def test_a_recount_tells_missing_from_not_a_number():
    table = pa.table({"x": pa.array([None, None, float("nan"), 1.0, 1.0])})
    assert recount(table, ["x"], 2).smallest == 1
    assert recount(table, ["x"], 2).n_combinations == 3
