"""What the cross-moment paper prints."""

from __future__ import annotations

__all__ = ["CROSSINGS"]

CROSSINGS = {
    ("Census 2", 1.0): 283,
    ("Census 3", 1.0): 400,
    ("Census 4", 1.0): 510,
    ("Census 2", 2.0): 167,
    ("Census 3", 2.0): 239,
    ("Census 4", 2.0): 350,
    ("EIA 2", 1.0): 736,
    ("EIA 3", 1.0): 959,
    ("EIA 4", 1.0): 1050,
    ("EIA 2", 2.0): 491,
    ("EIA 3", 2.0): 608,
    ("EIA 4", 2.0): 689,
}
"""The k beyond which m = 1 (method 3) is better than m = 0 (method 1), with rank-matched records."""
