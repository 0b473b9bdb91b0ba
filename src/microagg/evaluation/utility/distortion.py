"""Distortion: how far the released values are from the original ones, and how well cells predict the confidential."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from microagg._typing import FloatArray, IntArray
from microagg.evaluation.context import Context
from microagg.evaluation.definition import Definition, MeasureResult, Need
from microagg.evaluation.pairs import Pair
from microagg.evaluation.points import spread_within, unweighted
from microagg.evaluation.utility.papers import DEPENDENCE
from microagg.privacy.within_cells import distinct_per_cell
from microagg.schema.attribute import Kind
from microagg.schema.encode import EncodedColumn
from microagg.space.dependence import total_distortion
from microagg.tables.words import Words

__all__ = ["DISTORTION", "distortion_of", "distortion_within", "distortions"]


def distortion_of(one: Pair, rows: IntArray) -> float:
    """Squared distance of each released value to its original one, averaged over records.

    Numbers and ranks are in standard deviations of the original; categories are at distance 0 or 1, or at their
    semantic distance; a value that is missing on one side only counts 1.
    """
    first, second = one.values[0][rows], one.values[1]
    lost, won = np.isnan(first), np.isnan(second)
    if one.joint.kind is Kind.NOMINAL:
        squared = category_distances(one, first, second)
    else:
        squared = ((first - second) / one.scale[1]) ** 2
    return float(np.where(lost | won, lost != won, squared).mean())


def category_distances(one: Pair, first: FloatArray, second: FloatArray) -> FloatArray:
    """Distances between categories, given as codes: 0 or 1, or semantic; a missing one counts as the first."""
    taxonomy = one.joint.attribute.taxonomy
    if taxonomy is None:
        differ: FloatArray = (first != second).astype(np.float64)
        return differ
    distances = taxonomy.distances(one.joint.labels)
    codes = [np.nan_to_num(side).astype(np.int64) for side in (first, second)]
    found: FloatArray = distances[codes[0], codes[1]] if len(distances) else np.zeros(len(first))
    return found


def distortions(context: Context) -> dict[str, float | None]:
    """The distortion of each quasi-identifier."""
    return context.cached("D_X", lambda: {one.name: distortion_of(one, context.aligned_rows) for one in context.pairs})


def distortion_within(attributes: Sequence[EncodedColumn], labels: IntArray) -> dict[str, float]:
    """Squared distance of confidential values to the mean of their cell, per attribute, averaged over records.

    Numbers and ranks are in standard deviations, so the result is the share of their variance that the cells do not
    explain; categories are points at distance 1 (or their semantic distance) from each other.
    """
    return {attribute.name: spread_within(unweighted(attribute), labels) for attribute in attributes}


def _d_x(context: Context) -> MeasureResult:
    details = distortions(context)
    return MeasureResult(sum(value or 0.0 for value in details.values()) / len(details), details=details)


def _d_y(context: Context) -> MeasureResult:
    details = context.cached("D_Y", lambda: distortion_within(context.confidential, context.cells))
    return MeasureResult(sum(details.values()) / len(details), context.unmeasured, details=details)


def hamming_within(attribute: EncodedColumn, labels: IntArray) -> float:
    """The share of records whose category is not the most frequent of their cell: the least Hamming distortion of a
    guess per cell; a missing category is one of its own."""
    codes = np.where(attribute.missing, -1, np.nan_to_num(attribute.values)).astype(np.int64)
    _, most = distinct_per_cell(codes, labels)
    return float(1.0 - most.sum() / len(labels))


def _hamming(context: Context) -> MeasureResult:
    nominal = [one for one in context.confidential if one.kind is Kind.NOMINAL]
    if not nominal:
        return MeasureResult(None, "no nominal confidential attribute")
    details = {one.name: hamming_within(one, context.cells) for one in nominal}
    return MeasureResult(sum(details.values()) / len(details), context.unmeasured, details=details)


def _d(context: Context) -> MeasureResult:
    d_x, d_y = _d_x(context).value, _d_y(context).value
    assert d_x is not None
    assert d_y is not None
    return MeasureResult(total_distortion(d_x, d_y, context.options["lambda_"]))


DISTORTION = (
    Definition(
        "D_X",
        "utility",
        "distortion",
        "lower",
        "mean over records and quasi-identifiers of the squared difference between original and released value, in "
        "standard deviations of the original (categories: 0 or 1, or their semantic distance)",
        _d_x,
        needs=(Need.ROWS,),
        explained=Words(
            "It says how far released values lie from the original ones, record by record. Each attribute counts "
            "alike, as every one is measured in its own standard deviations.",
            "A mean hides the few records that moved far. It says nothing about how attributes go together.",
            DEPENDENCE,
            short="distortion of the quasi-identifiers",
        ),
    ),
    Definition(
        "D_Y",
        "utility",
        "distortion",
        "lower",
        "mean over records and confidential attributes of the squared difference, in standard deviations, between "
        "a value and the mean of its cell; cells are records with equal released quasi-identifiers",
        _d_y,
        high=1.0,
        needs=(Need.CELLS,),
        explained=Words(
            "It says how far confidential values lie from the middle of their cell. At 0 the released "
            "quasi-identifiers tell the confidential values exactly; for numbers, 1 means that they tell nothing.",
            "Low is good for whoever predicts from the release, and for whoever wants to find out a person's value. "
            "Categories are points at distance 1, so they stay below one half even if cells tell nothing, and rare "
            "ones far below: a low mean need not come from the cells.",
            DEPENDENCE,
            short="distance of confidential values from their cell's middle",
        ),
    ),
    Definition(
        "D_Y_hamming",
        "utility",
        "distortion",
        "lower",
        "mean over nominal confidential attributes of the share of records whose category is not the most frequent one "
        "of their cell; cells are records with equal released quasi-identifiers",
        _hamming,
        high=1.0,
        needs=(Need.CELLS,),
        default=False,
        explained=Words(
            "It says how often the best guess of a confidential category from the cell alone is wrong. It is D_Y for "
            "categories, with the Hamming distance in place of squared errors.",
            "A category that nearly all records have gives a low value without any tie to the quasi-identifiers. Low "
            "also helps whoever wants to find out a person's value.",
            DEPENDENCE,
            short="wrong best guesses of a confidential category from its cell",
        ),
    ),
    Definition(
        "D",
        "utility",
        "distortion",
        "lower",
        "(1 - lambda) D_X + lambda D_Y with lambda = {lambda_:g}",
        _d,
        needs=(Need.ROWS, Need.CELLS),
        explained=Words(
            "It weighs two losses in one number: that of the quasi-identifiers (D_X) and that of their tie with the "
            "confidential values (D_Y). The recipe's lambda says how much the second counts.",
            "Two releases can be compared only at the same lambda. A low D may come from a low D_Y, which helps "
            "intruders, too.",
            DEPENDENCE,
            short="distortion of quasi-identifiers and of their tie with confidential values",
        ),
    ),
)
