"""What the dependence paper says of its figures: their curves are drawn, and few figures printed."""

from __future__ import annotations

__all__ = ["BLOCK_SIZES", "CORRELATIONS", "KS", "LAMBDAS", "N_QUASI_IDENTIFIERS"]

CORRELATIONS = (0.5, 0.9)
LAMBDAS = tuple(round(step / 10, 1) for step in range(11))
KS: dict[str, tuple[int, ...]] = {
    "gaussian": (50, 100, 200, 500),
    "census": (5, 10, 20, 50, 100),
    "tarragona": (5, 10, 20, 50, 100),
}
"""Section V.A."""

N_QUASI_IDENTIFIERS = 6
"""Of Census and Tarragona, in file order; the other seven are confidential. (The digits are lost but for m_X = 6.)"""

BLOCK_SIZES = (2, 3, 4, 6)
"""Section V.C: b = 2, 4, 6 in one place, b = 2, 3 and 6 in another; 4 does not divide 6."""
