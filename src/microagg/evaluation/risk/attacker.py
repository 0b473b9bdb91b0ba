"""Sets of attributes that an intruder may know."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from math import comb

import numpy as np

__all__ = ["all_or_sampled", "sets_of_size"]

Sets = tuple[tuple[int, ...], ...]


def sets_of_size(n_attributes: int, size: int, most: int, rng: np.random.Generator) -> Sets:
    """All sets of `size` attributes, or `most` different ones drawn at random if there are more.

    Examples
    --------
    >>> sets_of_size(3, 2, 10, np.random.default_rng(0))
    ((0, 1), (0, 2), (1, 2))
    >>> len(set(sets_of_size(40, 3, 10, np.random.default_rng(0))))
    10
    """
    size = min(size, n_attributes)
    if comb(n_attributes, size) <= most:
        return tuple(combinations(range(n_attributes), size))
    drawn: dict[tuple[int, ...], None] = {}
    while len(drawn) < most:
        drawn[tuple(sorted(rng.choice(n_attributes, size, replace=False).tolist()))] = None
    return tuple(drawn)


def all_or_sampled(n_attributes: int, most: int, rng: np.random.Generator) -> Sets:
    """All non-empty sets of attributes, or `most` different ones drawn at random if there are more.

    Examples
    --------
    >>> all_or_sampled(2, 511, np.random.default_rng(0))
    ((0,), (1,), (0, 1))
    """
    if 2**n_attributes - 1 <= most:
        sizes = range(1, n_attributes + 1)
        return tuple(one for size in sizes for one in combinations(range(n_attributes), size))
    drawn: dict[tuple[int, ...], None] = {}
    while len(drawn) < most:
        inside: Sequence[int] = np.flatnonzero(rng.random(n_attributes) < 0.5).tolist()
        if inside:
            drawn[tuple(inside)] = None
    return tuple(drawn)
