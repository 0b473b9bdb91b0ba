"""Chance: from the system's secure source, unless a seed is given."""

from __future__ import annotations

import secrets
from collections.abc import Callable

import numpy as np
import numpy.typing as npt

__all__ = ["uniforms_from"]


def uniforms_from(seed: int | None) -> Callable[[int], npt.NDArray[np.float64]]:
    """A source of independent uniform draws, strictly between 0 and 1.

    Parameters
    ----------
    seed : int or None
        None draws 52 bits each from the system's secure source; a number repeats itself, for research.
    """
    if seed is None:
        return lambda count: _open_unit(np.frombuffer(secrets.token_bytes(8 * count), dtype=np.uint64))
    rng = np.random.default_rng([seed, 1])  # not the stream that shuffles the records
    return lambda count: _open_unit(rng.integers(0, 2**64, count, dtype=np.uint64))


def _open_unit(words: npt.NDArray[np.uint64]) -> npt.NDArray[np.float64]:
    """The middle of one of 2^52 equal intervals: never 0 and never 1."""
    return ((words >> np.uint64(12)).astype(np.float64) + 0.5) * 2.0**-52
