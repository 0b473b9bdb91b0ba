"""Tables that are hard on fast MDAV, in kinds: ties, offsets, outliers, clusters, uneven attributes."""

from __future__ import annotations

import numpy as np
import pytest
from numba import config

compiled = pytest.mark.skipif(bool(config.DISABLE_JIT), reason="thousands of records are too slow without the compiler")


def smooth(rng, n, d):
    return rng.normal(size=(n, d))


def uniform(rng, n, d):
    return rng.uniform(size=(n, d))


def ties(rng, n, d):
    return rng.integers(0, 3, size=(n, d)).astype(float)


def integers(rng, n, d):
    return rng.integers(0, 10, size=(n, d)).astype(float)


def offset(rng, n, d):
    return rng.normal(size=(n, d)) + 1e9


def outliers(rng, n, d):
    X = rng.normal(size=(n, d))
    X[: max(n // 100, 1)] *= 10.0 ** rng.integers(3, 9)
    return X


def mixture(rng, n, d):
    centres = rng.normal(size=(5, d)) * 20
    return centres[rng.integers(0, 5, n)] + rng.normal(size=(n, d))


def rank_three(rng, n, d):
    return rng.normal(size=(n, 3)) @ rng.normal(size=(3, d))


def line(rng, n, d):
    return np.outer(rng.exponential(size=n), np.ones(d))


def uneven(rng, n, d):
    return rng.standard_cauchy(size=(n, d)) * 10.0 ** rng.integers(-6, 6, size=d)


def near_constant(rng, n, d):
    """One attribute tiny, the others constant but for a last bit: the rounded mean may lie outside the records."""
    X = np.repeat(np.ldexp(rng.uniform(1, 2, size=d), rng.integers(0, 30, size=d))[None, :], n, axis=0)
    X[:, 0] = np.arange(n) * 10.0 ** -rng.integers(10, 26)
    if rng.uniform() < 0.5:
        X[:, 1:] = np.where(rng.uniform(size=(n, d - 1)) < 0.2, np.nextafter(X[:, 1:], np.inf), X[:, 1:])
    return X


KINDS = [smooth, uniform, ties, integers, offset, outliers, mixture, rank_three, line, uneven, near_constant]
