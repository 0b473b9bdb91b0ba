"""Utility: what a release still says about the whole. `UTILITY` is the table of its measures."""

from __future__ import annotations

from microagg.evaluation.utility.distortion import DISTORTION
from microagg.evaluation.utility.distribution import DISTRIBUTION
from microagg.evaluation.utility.probabilistic import PROBABILISTIC
from microagg.evaluation.utility.propensity import PROPENSITY
from microagg.evaluation.utility.queries import QUERIES
from microagg.evaluation.utility.structure import STRUCTURE
from microagg.evaluation.utility.training import TRAINING
from microagg.evaluation.utility.values import VALUES
from microagg.evaluation.utility.variation import VARIATION

__all__ = ["UTILITY"]

UTILITY = (
    *DISTORTION,
    *VALUES,
    *VARIATION,
    *PROBABILISTIC,
    *DISTRIBUTION,
    *STRUCTURE,
    *PROPENSITY,
    *QUERIES,
    *TRAINING,
)
