"""Public reference tables: ``from microagg.datasets import load_census``.

How they are found, fetched and checked is described in :mod:`microagg.tables.reference.datasets`.
"""

from __future__ import annotations

from microagg.tables.reference.datasets import (
    Dataset,
    available,
    fetch,
    load_adult,
    load_breast_cancer,
    load_census,
    load_eia,
    load_heart,
    load_tarragona,
    load_water,
    path_of,
)

__all__ = [
    "Dataset",
    "available",
    "fetch",
    "load_adult",
    "load_breast_cancer",
    "load_census",
    "load_eia",
    "load_heart",
    "load_tarragona",
    "load_water",
    "path_of",
]
