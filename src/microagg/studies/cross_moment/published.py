"""What the cross-moment paper prints."""

from __future__ import annotations

__all__ = ["ALONE_CROSSINGS", "COSKEWNESS_CROSSINGS", "COVARIANCE_CROSSING", "CROSSINGS", "PLAIN_LAPLACE"]

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

PLAIN_LAPLACE = {
    1.0: (47.68, 49.13, 49.97, 60.28, 61.45, 62.87),
    1.2: (47.16, 48.60, 49.44, 59.75, 60.93, 62.34),
    1.4: (46.71, 48.16, 49.00, 59.30, 60.48, 61.89),
    1.6: (46.33, 47.77, 48.61, 58.92, 60.09, 61.50),
    1.8: (45.99, 47.44, 48.27, 58.58, 59.76, 61.16),
    2.0: (45.68, 47.14, 47.97, 58.27, 59.46, 60.86),
}
"""Table 1: log2 SSE of plain Laplace noise, for each epsilon; Census 2, 3, 4, then EIA 2, 3, 4."""

COSKEWNESS_CROSSINGS = {("Census 3", 2.0): 370, ("Census 4", 2.0): 493}
"""The k beyond which m = 2 is better than m = 0, of Figure 8."""

COVARIANCE_CROSSING = 469
"""The k beyond which method 2 is better than method 3, on EIA 2 with epsilon = 1 (Figure 9)."""

ALONE_CROSSINGS = {
    ("Census 4", 1.0, "21"): 364,
    ("EIA 4", 1.0, "21"): 1000,
    ("Census 4", 2.0, "21"): 351,
    ("Census 4", 2.0, "24"): 364,
    ("EIA 4", 2.0, "21"): 800,
    ("EIA 4", 2.0, "24"): 800,
}
"""The k beyond which a method is better than 20, attributes each alone (Figures 12 and 13; of EIA about)."""
