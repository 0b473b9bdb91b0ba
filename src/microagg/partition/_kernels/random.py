"""Chance with its state in the open: the generator xoshiro128++ of Blackman & Vigna (2021), doi:10.1145/3460772.

The state is an int64 array of four 32-bit words. No operation exceeds 63 bits, so compiled and interpreted runs, on any
machine, draw the same numbers; nothing depends on a hidden generator.
"""

from __future__ import annotations

import numpy as np
from numba import njit

WORD = 0xFFFFFFFF


@njit(cache=True, nogil=True)
def rotated(word, by):
    return ((word << by) | (word >> (32 - by))) & WORD


@njit(cache=True, nogil=True)
def draw_word(chance):
    """The next 32 random bits; advances the state."""
    a, b, c, d = chance[0], chance[1], chance[2], chance[3]
    drawn = (rotated((a + d) & WORD, 7) + a) & WORD
    c ^= a
    d ^= b
    chance[0] = a ^ d
    chance[1] = b ^ c
    chance[2] = c ^ ((b << 9) & WORD)
    chance[3] = rotated(d, 11)
    return drawn


@njit(cache=True, nogil=True)
def draw_share(chance):
    """A random number in (0, 1)."""
    return (draw_word(chance) + 0.5) / 4294967296.0


@njit(cache=True, nogil=True)
def draw_below(chance, bound):
    """A random whole number from 0 to bound - 1, for bounds below 2**31."""
    return (draw_word(chance) * bound) >> 32


@njit(cache=True, nogil=True)
def shuffle(chance, items):
    for i in range(len(items) - 1, 0, -1):
        j = draw_below(chance, i + 1)
        items[i], items[j] = items[j], items[i]


def chance_from(words) -> np.ndarray:
    """A state of four seed words, of which at least one is made non-zero."""
    state = np.array(words, dtype=np.int64) & WORD
    state[0] |= 1
    return state
