"""Small tables for property tests of partitioners: smooth, full of ties, far from zero, or with outliers."""

from __future__ import annotations

import numpy as np
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays


@st.composite
def tables(draw, max_records: int = 60, max_attributes: int = 5, max_k: int = 12):
    """Draw a table and a k it is large enough for."""
    n_records = draw(st.integers(2, max_records))
    n_attributes = draw(st.integers(1, max_attributes))
    kind = draw(st.sampled_from(["ties", "smooth", "offset", "outlier"]))
    if kind == "ties":
        X = draw(arrays(np.int64, (n_records, n_attributes), elements=st.integers(0, 2))).astype(float)
    else:
        X = np.random.default_rng(draw(st.integers(0, 2**32 - 1))).normal(size=(n_records, n_attributes))
        if kind == "offset":
            X += 1e9
        if kind == "outlier":
            X[0] = 1e7
    return X, draw(st.integers(2, min(n_records, max_k)))
