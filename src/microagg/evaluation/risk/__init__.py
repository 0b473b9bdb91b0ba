"""Risk: what a release reveals about single people. `RISK` is the table of its measures."""

from __future__ import annotations

from microagg.evaluation.risk.anonymity import ANONYMITY
from microagg.evaluation.risk.attribute_disclosure import ATTRIBUTE_DISCLOSURE
from microagg.evaluation.risk.closeness import CLOSENESS
from microagg.evaluation.risk.diversity import DIVERSITY
from microagg.evaluation.risk.intervals import INTERVALS
from microagg.evaluation.risk.linkage import LINKAGE
from microagg.evaluation.risk.nearest import NEAREST
from microagg.evaluation.risk.probabilistic import PROBABILISTIC
from microagg.evaluation.risk.reidentification import REIDENTIFICATION
from microagg.evaluation.risk.score import SCORE

__all__ = ["RISK"]

RISK = (
    *ANONYMITY,
    *REIDENTIFICATION,
    *DIVERSITY,
    *CLOSENESS,
    *ATTRIBUTE_DISCLOSURE,
    *LINKAGE,
    *PROBABILISTIC,
    *INTERVALS,
    *SCORE,
    *NEAREST,
)
