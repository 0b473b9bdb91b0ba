"""Utility: how far the released values are from the original ones, and how well cells predict what is confidential."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from microagg.evaluation.pairs import Pair
from microagg.schema.attribute import Kind
from microagg.schema.measure import Measured
from microagg.space.mixed import mixed_space

__all__ = ["distortion", "distortion_within"]

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]


def distortion(pairs: Sequence[Pair]) -> float:
    """D_X: squared distance of each record's released values to its original ones, per attribute and record.

    Numbers and ranks are in standard deviations of the original; categories are at distance 0 or 1, or at their
    semantic distance; a value that is missing on one side only counts 1.
    """
    total = 0.0
    for one in pairs:
        first, second = one.points()
        squared = ((first - second) ** 2).sum(axis=1)
        lost, won = one.missing
        total += float(np.where(lost | won, lost != won, squared).mean())
    return total / len(pairs)


def distortion_within(attributes: Sequence[Measured], labels: IntArray) -> float:
    """D_Y: squared distance of confidential values to the mean of their cell, per attribute and record.

    Numbers and ranks are in standard deviations, so the result is the share of their variance that the cells do not
    explain; categories are points at distance 1 (or their semantic distance) from each other.
    """
    total = 0.0
    counts = np.bincount(labels)
    for attribute in attributes:
        plain = attribute.attribute.model_copy(update={"weight": 1.0})
        points = mixed_space([Measured(attribute.column, plain, attribute.values, attribute.labels)]).matrix
        for column in points.T:
            means = np.bincount(labels, weights=column) / counts
            total += float(((column - means[labels]) ** 2).mean())
    return total / len(attributes)


def exact_and_coarse(attributes: Sequence[Measured]) -> tuple[list[FloatArray], list[npt.NDArray[np.generic]]]:
    """Each attribute's values as codes: all apart, and numbers in steps of 0.2 standard deviations."""
    from microagg.privacy.diversity import coarse_codes
    from microagg.space.standardize import standardize

    exact: list[FloatArray] = []
    coarse: list[npt.NDArray[np.generic]] = []
    for attribute in attributes:
        codes = np.where(attribute.missing, np.inf, attribute.values)
        exact.append(codes)
        steps = coarse_codes(standardize(attribute.values, "zscore"))
        coarse.append(steps if attribute.kind is Kind.NUMERIC else codes)
    return exact, coarse
