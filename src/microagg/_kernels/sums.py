"""Sums that do not depend on the order of what is summed, but for their last bits."""

from __future__ import annotations

from microagg._kernels.jit import compiled


@compiled
def add_compensated(high, low, value):
    """Add to a sum kept as an unevaluated pair of floats (Knuth's exact two-term sum)."""
    total = high + value
    back = total - high
    error = (high - (total - back)) + (value - back)
    low += error
    renormalised = total + low
    return renormalised, low - (renormalised - total)
