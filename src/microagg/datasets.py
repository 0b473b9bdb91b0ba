"""Public reference tables: ``from microagg.datasets import load_census``.

How they are found, fetched and checked is described in :mod:`microagg.tables.reference.datasets`. Beside them stand
tables that are drawn: a survey for demonstrations, and the synthetic data of two papers.
"""

from __future__ import annotations

from microagg.tables.reference import datasets as _datasets
from microagg.tables.reference.datasets import *  # noqa: F403
from microagg.tables.reference.generated import generate_gaussian, generate_survey, generate_two_classes

__all__ = [*_datasets.__all__, "generate_gaussian", "generate_survey", "generate_two_classes"]
