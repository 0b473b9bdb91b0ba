"""Utility: what a release still tells of the whole. `UTILITY` is the table of its measures."""

from __future__ import annotations

from microagg.evaluation.utility.distortion import DISTORTION
from microagg.evaluation.utility.training import TRAINING

__all__ = ["UTILITY"]

UTILITY = (*DISTORTION, *TRAINING)
