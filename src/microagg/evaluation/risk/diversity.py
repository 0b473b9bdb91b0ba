"""Diversity: how much the confidential values differ within the cells of a release."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import numpy.typing as npt

from microagg.evaluation.context import Context
from microagg.evaluation.definition import Definition, Need, Worth
from microagg.privacy.diversity import STEP, Diversity, coarse_codes, label_diversity
from microagg.schema.attribute import Kind
from microagg.schema.measure import Measured
from microagg.space.standardize import standardize

__all__ = ["DIVERSITY", "exact_and_coarse"]

FloatArray = npt.NDArray[np.float64]

_STEP = f"(numbers in steps of {STEP} standard deviations)"


def exact_and_coarse(attributes: Sequence[Measured]) -> tuple[list[FloatArray], list[npt.NDArray[np.generic]]]:
    """Each attribute's values as codes: all apart, and numbers in steps of 0.2 standard deviations."""
    exact: list[FloatArray] = []
    coarse: list[npt.NDArray[np.generic]] = []
    for attribute in attributes:
        codes = np.where(attribute.missing, np.inf, attribute.values)
        exact.append(codes)
        steps = coarse_codes(standardize(attribute.values, "zscore"))
        coarse.append(steps if attribute.kind is Kind.NUMERIC else codes)
    return exact, coarse


def _diversity(context: Context) -> Diversity:
    return context.once("label diversity", lambda: label_diversity(*_codes(context), context.cells))


def _codes(context: Context) -> tuple[list[FloatArray], list[npt.NDArray[np.generic]]]:
    return context.once("confidential codes", lambda: exact_and_coarse(context.confidential))


def _told(read: Callable[[Diversity], float]) -> Callable[[Context], Worth]:
    return lambda context: Worth(float(read(_diversity(context))), context.unmeasured)


DIVERSITY = (
    Definition(
        "l_avg",
        "risk",
        "diversity",
        "higher",
        f"mean over cells of the number of different values {_STEP} of the least diverse confidential attribute",
        _told(lambda found: found.l_avg),
        low=1.0,
        high=lambda context: context.largest_cell,
        needs=(Need.CELLS,),
    ),
    Definition(
        "distinct_l_min",
        "risk",
        "diversity",
        "higher",
        "the fewest different values that the least diverse confidential attribute has in any cell",
        _told(lambda found: found.smallest),
        low=1.0,
        high=lambda context: context.largest_cell,
        needs=(Need.CELLS,),
    ),
    Definition(
        "distinct_l_mean",
        "risk",
        "diversity",
        "higher",
        "mean over cells of the number of different values of the least diverse confidential attribute",
        _told(lambda found: found.mean),
        low=1.0,
        high=lambda context: context.largest_cell,
        needs=(Need.CELLS,),
    ),
    Definition(
        "label_purity",
        "risk",
        "diversity",
        "lower",
        f"mean over cells of the share of records with the most frequent value {_STEP} of the purest attribute",
        _told(lambda found: found.purity),
        high=1.0,
        needs=(Need.CELLS,),
    ),
)
