"""Sixteen numbers at once: the few vector operations that the searches need.

Numba turns neither a float minimum over a loop nor a loop of fixed length 16 into vector instructions, and these two
are the whole inner work of the searches. So the vectors are written down: each operation becomes one LLVM instruction,
or nearly, which LLVM fits to whatever the processor has (docs/decisions/0005). How is in `numba_internals`; the NumPy
versions here say what each operation does, and replace it where the compiler is switched off. They cannot be compiled:
without `HAS_VECTORS`, kernels that use vectors can be imported but not called.

A vector is sixteen float32 or sixteen int32.
"""

from __future__ import annotations

import numpy as np
from numba import config

from microagg._kernels.jit import HAS_VECTORS

WIDTH = 16

__all__ = [
    "WIDTH",
    "add",
    "add_product",
    "any_negative",
    "bitwise_or",
    "broadcast",
    "broadcast_element",
    "load",
    "lowest_bit",
    "mask_at_least",
    "mask_at_most",
    "maximum",
    "minimum",
    "reduce_max",
    "reduce_min",
    "store",
    "subtract",
    "subtract_pair_products",
    "to_floats",
]

if config.DISABLE_JIT or not HAS_VECTORS:
    # Of two vectors, number by number; bitwise_or is of whole numbers, and negative where one of the two is.
    add, subtract, minimum, maximum, bitwise_or = np.add, np.subtract, np.minimum, np.maximum, np.bitwise_or
    # The least and the largest number of a vector of floats.
    reduce_min, reduce_max = np.min, np.max

    def load(array, place):
        """The vector that begins at a place of a flat array."""
        return array[place : place + WIDTH].copy()

    def store(array, place, vector):
        """Write a vector to a flat array, from a place on."""
        array[place : place + WIDTH] = vector

    def broadcast(value):
        """Sixteen times the value."""
        return np.full(WIDTH, value)

    def broadcast_element(array, place):
        """Sixteen times the number at a place of a flat array."""
        return broadcast(array[place])

    def add_product(total, a, b):
        """The vector total + a * b, of floats."""
        return total + a * b

    def subtract_pair_products(total, a, b):
        """Take a and b as sixteen pairs of int16; return total - (a0 * b0 + a1 * b1), pair by pair."""
        products = a.view(np.int16).astype(np.int32) * b.view(np.int16).astype(np.int32)
        return total - products[::2] - products[1::2]

    def to_floats(vector):
        """Whole numbers as float32."""
        return vector.astype(np.float32)

    def mask_at_most(vector, limit):
        """An integer whose bit i says that number i is at most the limit."""
        return _mask(vector <= limit)

    def mask_at_least(vector, limit):
        """An integer whose bit i says that number i is at least the limit."""
        return _mask(vector >= limit)

    def any_negative(vector):
        """1 if some number is negative, else 0; of whole numbers."""
        return int(np.any(vector < 0))

    def lowest_bit(mask):
        """The place of the lowest bit that is set; some bit must be."""
        return int(mask & -mask).bit_length() - 1

    def _mask(holds):
        return int(sum(1 << i for i in range(WIDTH) if holds[i]))

else:
    from microagg._kernels.numba_internals import (
        add,
        add_product,
        any_negative,
        bitwise_or,
        broadcast,
        broadcast_element,
        load,
        lowest_bit,
        mask_at_least,
        mask_at_most,
        maximum,
        minimum,
        reduce_max,
        reduce_min,
        store,
        subtract,
        subtract_pair_products,
        to_floats,
    )
