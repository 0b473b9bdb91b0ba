"""Shape the space by what the data is for, and tell what that cost."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from microagg.partition.base import within_cell_sse
from microagg.privacy.diversity import Diversity, coarse_codes, label_diversity
from microagg.releases.recipe import Recipe
from microagg.schema.attribute import Kind, Role
from microagg.schema.measure import Measured
from microagg.space.dependence import dependence_space, dependence_weight, total_distortion
from microagg.space.mixed import mixed_space
from microagg.space.standardize import standardize
from microagg.tables.frames import columns_phrase

__all__ = ["Guidance", "guided", "told"]

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Guidance:
    """The space in which the cells of a block are formed.

    Attributes
    ----------
    matrix : ndarray
        The quasi-identifiers of the block, changed or with further coordinates.
    facts : dict
        What was done, for the manifest.
    """

    matrix: FloatArray
    facts: Mapping[str, Any] = field(default_factory=dict)


def guided(matrix: FloatArray, attributes: Sequence[str], guides: Sequence[Measured], recipe: Recipe) -> Guidance:
    """The space of one block: its quasi-identifiers alone, or as the recipe's [space] shapes them.

    Parameters
    ----------
    matrix : ndarray of shape (n_records, n_coordinates)
        The block's quasi-identifiers.
    attributes : sequence of str
        Their names.
    guides : sequence of Measured
        The attributes that help, as :func:`microagg.releases.prepare.prepare` settled them.
    """
    dependence = recipe.space.dependence
    if dependence is None:
        return Guidance(matrix)
    confidential = mixed_space(guides, recipe.space.standardize).matrix
    m_x, m_y = len(attributes), len(guides)
    shaped = dependence_space(matrix, confidential, dependence.lambda_, m_x=m_x, m_y=m_y)
    beta = dependence_weight(dependence.lambda_, m_x, m_y)
    # At lambda = 1 beta is infinite, which JSON cannot say: the quasi-identifiers are left out instead.
    facts = {"form": "dependence", "lambda": dependence.lambda_, "beta": beta if math.isfinite(beta) else None}
    return Guidance(shaped, facts)


@dataclass(frozen=True)
class Told:
    """What guided cells did: the sentences of the statement, and figures for the manifest."""

    remarks: tuple[str, ...]
    facts: Mapping[str, Any]


def told(
    guidance: Guidance,
    matrix: FloatArray,
    attributes: Sequence[str],
    labels: IntArray,
    guides: Sequence[Measured],
    recipe: Recipe,
) -> Told:
    """Say that the cells of a block were guided, by what, and how diverse the guiding attributes are in them."""
    if not guidance.facts:
        return Told((), {})
    names = [guide.name for guide in guides]
    facts = dict(guidance.facts) | {"attributes": names}
    dependence = recipe.space.dependence
    assert dependence is not None
    confidential = mixed_space(guides, recipe.space.standardize).matrix
    n_cells = int(labels.max()) + 1
    d_x = within_cell_sse(matrix, labels, n_cells) / (len(labels) * len(attributes))
    d_y = within_cell_sse(confidential, labels, n_cells) / (len(labels) * len(guides))
    facts |= {"D_X": d_x, "D_Y": d_y, "D": total_distortion(d_x, d_y, dependence.lambda_)}
    diversity = cells_diversity(guides, labels)
    roles = {recipe.attributes[name].role for name in names}
    of = "confidential attributes" if roles == {Role.CONFIDENTIAL} else "attributes published as they are"
    used = dependence.lambda_ > 0
    remark = (
        f"cells were formed with the help of {of} (dependence, lambda = {dependence.lambda_:g}): "
        f"{columns_phrase(names)}. Records of a cell are more alike in them than without, so whoever finds a person's "
        "cell learns more"
        if used
        else f"lambda = 0: cells were formed without {columns_phrase(names)}"
    )
    where = "" if len(attributes) == len(recipe.schema.quasi_identifiers) else f" (cells of {', '.join(attributes)})"
    return Told((remark, f"{diversity}{where}"), facts | {"diversity": diversity.as_dict()})


def cells_diversity(guides: Sequence[Measured], labels: IntArray) -> Diversity:
    """How diverse attributes published as they are turn out within cells."""
    exact, coarse = [], []
    for guide in guides:
        codes = np.where(guide.missing, np.inf, guide.values)
        exact.append(codes)
        numeric = guide.kind is Kind.NUMERIC
        coarse.append(coarse_codes(standardize(guide.values, "zscore")) if numeric else codes)
    return label_diversity(exact, coarse, labels)
