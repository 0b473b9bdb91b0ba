"""Noise for many counts of which one record can change all, each by little: the L-infinity mechanism on integers.

A point z of p integers is drawn with probability proportional to ``exp(-epsilon max |z_i|)`` [1]_. For counts c, c'
with ``max |c_i - c'_i| <= 1`` the weights of ``z - c`` and ``z - c'`` differ by at most a factor of ``exp(epsilon)``.
A coordinate's noise is about ``p / (sqrt 3 epsilon)``, where Laplace noise on each of p counts would have ``sqrt 2 p
/ epsilon``.

No library has it for integers, so it is drawn here, exactly: a radius R with weight ``(2R + 1)^p exp(-epsilon R)``
(:mod:`microagg.privacy.noise.radius`), then each coordinate uniform on ``-R .. R``.

References
----------
.. [1] Steinke, T. & Ullman, J. (2017). Between pure and approximate differential privacy. Journal of Privacy and
   Confidentiality 7(2). doi:10.29012/jpc.v7i2.648
"""

from __future__ import annotations

from fractions import Fraction

from microagg.privacy.noise.radius import Ball, RandomBits, below, radius_from

__all__ = ["max_norm_noise"]


def max_norm_noise(dimension: int, epsilon: Fraction, bits: RandomBits) -> list[int]:
    """Integers z_1 .. z_p with probability proportional to ``exp(-epsilon max |z_i|)``."""
    radius = radius_from(Ball(((1, dimension),)), epsilon, bits)
    return [below(2 * radius + 1, bits) - radius for _ in range(dimension)]
