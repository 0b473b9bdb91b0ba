"""Attributes of mixed kinds in one space: as coordinates, whose squared Euclidean distances are those of records, or as
numbers and codes with the same distances.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from microagg.errors import TableError
from microagg.schema.attribute import Kind
from microagg.schema.encode import EncodedColumn
from microagg.schema.taxonomy import Taxonomy, category_text
from microagg.space.points import (
    NominalColumn,
    Points,
    join_points,
    points_at_squared_distances,
    require_room_for_table,
)
from microagg.space.standardize import Standardize, standardize

__all__ = ["Space", "mixed_points", "mixed_space"]

_MOST_BYTES = 4 * 2**30  # of the coordinates of one nominal attribute


@dataclass(frozen=True)
class Space:
    """Records as points.

    Attributes
    ----------
    matrix : ndarray of shape (n_records, n_coordinates)
        C-contiguous float64 without missing values.
    attributes : tuple of str
        For each coordinate, the attribute it comes from.
    """

    matrix: npt.NDArray[np.float64]
    attributes: tuple[str, ...]


def mixed_space(measured: Sequence[EncodedColumn], how: Standardize | str = Standardize.ZSCORE) -> Space:
    """Put records into one Euclidean space.

    Each attribute adds its own term, times its weight, to the squared distance of two records:

    - numeric: the squared difference of the standardised values;
    - ordinal: the same of the standardised ranks;
    - nominal: 0 if equal, 1 if not; or, with a taxonomy, their semantic distance;
    - where some values are missing: 1 if just one of the two is missing, and no other term.

    Parameters
    ----------
    measured : sequence of EncodedColumn
        The attributes to use, of equal length.
    how : {"zscore", "minmax", "bounds", "none"}
        How numbers and ranks are standardised.

    Notes
    -----
    The semantic distance is ``log2(1 + J)`` with J the Jaccard distance between two sets of ancestors. J is of
    negative type and ``log(1 + t)`` is a Bernstein function, so their composition is of negative type too
    (Schoenberg): there are points whose *squared* distances are exactly the semantic distances.
    """
    blocks: list[npt.NDArray[np.float64]] = []
    names: list[str] = []
    for attribute in measured:
        block = _coordinates(attribute, how) * np.sqrt(attribute.attribute.weight)
        blocks.append(block)
        names.extend([attribute.name] * block.shape[1])
    matrix = np.ascontiguousarray(np.hstack(blocks)) if blocks else np.empty((0, 0))
    return Space(matrix, tuple(names))


def mixed_points(measured: Sequence[EncodedColumn], how: Standardize | str = Standardize.ZSCORE) -> Points:
    """Numbers and codes with the distances of :func:`mixed_space`; memory in proportion to attributes, not categories.

    Parameters are those of :func:`mixed_space`.
    """
    return join_points([_attribute_points(attribute, how) for attribute in measured])


def _attribute_points(measured: EncodedColumn, how: Standardize | str) -> Points:
    if measured.kind is not Kind.NOMINAL:
        return Points(np.ascontiguousarray(_coordinates(measured, how) * np.sqrt(measured.attribute.weight)))
    weight, taxonomy, missing = measured.attribute.weight, measured.attribute.taxonomy, measured.missing
    n_categories = len(measured.labels)
    codes = np.where(missing, n_categories, measured.values)
    table = None
    if taxonomy is not None and n_categories:
        require_room_for_table(measured.name, n_categories)
        # Neighbours in the taxonomy get neighbouring codes, so that a range of codes is a part of it.
        order = sorted(range(n_categories), key=lambda code: _path(taxonomy, measured.labels[code]))
        new_code = np.empty(n_categories + 1)
        new_code[order] = np.arange(n_categories)
        new_code[n_categories] = n_categories
        codes = new_code[codes.astype(np.int64)]
        table = weight * taxonomy.distances([measured.labels[code] for code in order])
    to_missing = None
    if missing.any():
        # The distance of each category to the mean of the present ones, and 1 for the indicator.
        counts = np.bincount(codes[~missing].astype(np.int64), minlength=n_categories)
        shares = counts / max(counts.sum(), 1)
        towards = weight * (1.0 - shares) if table is None else table @ shares
        to_missing = towards - 0.5 * (shares @ towards) + weight
    column = NominalColumn(measured.name, n_categories, weight, table, to_missing)
    return Points(np.ascontiguousarray(codes[:, None], dtype=np.float64), (column,))


def _path(taxonomy: Taxonomy, label: Any) -> tuple[str, ...]:
    """The nodes from the root down to a category."""
    return taxonomy.ancestors(category_text(label))[::-1]


def _coordinates(measured: EncodedColumn, how: Standardize | str) -> npt.NDArray[np.float64]:
    missing = measured.missing
    if measured.kind is Kind.NOMINAL:
        corners = _category_points(measured)
        codes = np.where(missing, 0, measured.values).astype(np.int64)
        points = corners[codes] if len(corners) else np.zeros((len(codes), 0))
    else:
        points = standardize(measured.values, how, bounds=measured.bounds, name=measured.name)[:, None]
    if not missing.any():
        return points
    # A missing value sits at the centre of the present ones, so that only the indicator tells it apart
    # from them on average; within a group of equal missing pattern both are constant and vanish.
    centre = points[~missing].mean(axis=0) if (~missing).any() else np.zeros(points.shape[1])
    points[missing] = centre
    return np.hstack([points, missing[:, None].astype(np.float64)])


def _category_points(measured: EncodedColumn) -> npt.NDArray[np.float64]:
    """A point for each category, so that squared distances between them are those wanted."""
    n_categories = len(measured.labels)
    needed = 8 * n_categories * len(measured.values)
    if needed > _MOST_BYTES:
        raise TableError(
            f"column {measured.name!r} has {n_categories} categories: their distances in {len(measured.values)} "
            f"records need {needed / 2**30:.1f} GiB. Use a coarser attribute (a region for a postcode)"
        )
    if not n_categories:
        return np.zeros((0, 0))
    taxonomy = measured.attribute.taxonomy
    if taxonomy is None:
        # Two categories need one coordinate, and C of them the corners of a simplex with edges of length 1.
        return np.array([[0.0], [1.0]])[:n_categories] if n_categories <= 2 else np.eye(n_categories) / np.sqrt(2.0)
    return points_at_squared_distances(taxonomy.distances(measured.labels))
