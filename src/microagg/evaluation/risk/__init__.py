"""Risk: what a release tells of single people. `RISK` is the table of its measures."""

from __future__ import annotations

from microagg.evaluation.risk.diversity import DIVERSITY
from microagg.evaluation.risk.linkage import LINKAGE

__all__ = ["RISK"]

RISK = (*DIVERSITY, *LINKAGE)
