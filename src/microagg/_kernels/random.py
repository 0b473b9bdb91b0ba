"""Random numbers from the generator xoshiro128++ of Blackman & Vigna (2021), doi:10.1145/3460772.

Its state, ``rng``, is an int64 array of four 32-bit words. No operation exceeds 63 bits, so compiled and interpreted
runs draw the same numbers on any machine, and nothing depends on a hidden generator.
"""

from __future__ import annotations

import numpy as np

from microagg._kernels.jit import compiled

WORD = 0xFFFFFFFF


@compiled
def rotate(word, by):
    return ((word << by) | (word >> (32 - by))) & WORD


@compiled
def draw_word(rng):
    """The next 32 random bits; advances the state."""
    a, b, c, d = rng[0], rng[1], rng[2], rng[3]
    drawn = (rotate((a + d) & WORD, 7) + a) & WORD
    c ^= a
    d ^= b
    rng[0] = a ^ d
    rng[1] = b ^ c
    rng[2] = c ^ ((b << 9) & WORD)
    rng[3] = rotate(d, 11)
    return drawn


@compiled
def draw_share(rng):
    """A random number in (0, 1)."""
    return (draw_word(rng) + 0.5) / 4294967296.0


@compiled
def draw_below(rng, bound):
    """A random whole number from 0 to bound - 1, for bounds below 2**31."""
    return (draw_word(rng) * bound) >> 32


@compiled
def shuffle(rng, items):
    for i in range(len(items) - 1, 0, -1):
        j = draw_below(rng, i + 1)
        items[i], items[j] = items[j], items[i]


def seed_rng(words) -> np.ndarray:
    """A state from four seed words, of which at least one is made non-zero."""
    state = np.array(words, dtype=np.int64) & WORD
    state[0] |= 1
    return state
