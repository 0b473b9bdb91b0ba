"""What the discriminant paper prints: its curves are drawn, and few figures told."""

from __future__ import annotations

__all__ = ["ADULT_K50", "ALPHAS", "BREAST_CANCER_MOST", "TRAIN_SHARE"]

ALPHAS = (1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0)
"""Section 4.5: 'from 1 (no scaling) to 64'; the steps are not told."""

TRAIN_SHARE = 0.75
ADULT_K50 = (81.8, 83.9)
"""Section 4.6: accuracy at k = 50 with MDAV, and with LDA and the best alpha."""

BREAST_CANCER_MOST = 97.0
"""Section 4.6: 'a maximum reachable accuracy of about 97%'."""
