"""Public reference tables: ``from microagg.datasets import load_census``.

How they are found, fetched and checked is described in :mod:`microagg.tables.reference.datasets`.
"""

from __future__ import annotations

from microagg.tables.reference import datasets as _datasets
from microagg.tables.reference.datasets import *  # noqa: F403

__all__ = _datasets.__all__
