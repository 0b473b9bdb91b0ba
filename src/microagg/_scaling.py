"""Powers of two that bring numbers near 1, where squares neither overflow nor vanish; multiplying by one is exact."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from microagg._typing import FloatArray, IntArray

__all__ = ["exponent_near_one", "exponents_near_one", "has_vanishing_column", "near_one", "times_power_of_two"]


_LARGEST_SAFE = 2.0**256


def exponent_near_one(arrays: Iterable[FloatArray]) -> int:
    """The exponent of the power of two that brings the largest magnitude of all arrays between a half and one.

    0 if squares of the numbers are safe as they are. NaN counts as nothing.

    Examples
    --------
    >>> exponent_near_one([np.array([3.0, 1e9])]), exponent_near_one([np.array([2.0**300])])
    (0, -301)
    """
    largest = max((float(np.fmax.reduce(np.abs(one), axis=None, initial=0.0)) for one in arrays), default=0.0)
    return int(exponents_near_one(np.array(largest)))


def exponents_near_one(largest: FloatArray) -> IntArray:
    """The exponents that :func:`exponent_near_one` gives for numbers of these largest magnitudes.

    Examples
    --------
    >>> exponents_near_one(np.array([0.0, 1e9, 2.0**300]))
    array([   0,    0, -301])
    """
    is_safe = (largest == 0.0) | ((largest >= 1.0 / _LARGEST_SAFE) & (largest <= _LARGEST_SAFE))
    exponents: IntArray = np.where(is_safe, 0, -np.frexp(largest)[1].astype(np.int64))
    return exponents


def has_vanishing_column(X: FloatArray) -> bool:
    """Whether a column holds numbers whose squares all vanish, although they are not 0.

    Examples
    --------
    >>> has_vanishing_column(np.array([[1.0, 2.0**-600]])), has_vanishing_column(np.array([[1.0, 0.0]]))
    (True, False)
    """
    least = 1.0 / _LARGEST_SAFE
    # A column that is not small in its first rows is not small; most are seen to be so without a look at the others.
    doubtful = np.flatnonzero(np.abs(X[:100]).max(axis=0, initial=0.0) < least)
    return any(0.0 < max(float(column.max()), -float(column.min())) < least for column in X.T[doubtful])


def near_one(X: FloatArray) -> FloatArray:
    """The matrix times a power of two, if its squares could overflow or vanish; else the matrix itself.

    The largest magnitude becomes one between a half and one. Multiplying by a power of two rounds nothing, except
    values some 2^1000 times smaller than the largest, which no distance can see. Distances are *defined* on this.

    Examples
    --------
    >>> near_one(np.array([[2.0**-500], [2.0**-502]]))
    array([[0.5  ],
           [0.125]])
    """
    exponent = exponent_near_one([X])
    return X if exponent == 0 else times_power_of_two(X, exponent)


def times_power_of_two(X: FloatArray, exponent: int | IntArray) -> FloatArray:
    """``X * 2**exponent``; infinite, without a warning, where that is beyond the largest float.

    Examples
    --------
    >>> times_power_of_two(np.array([1.0, 3.0]), 2000)
    array([inf, inf])
    """
    with np.errstate(over="ignore", under="ignore"):
        scaled: FloatArray = np.ldexp(X, exponent)
    return scaled
