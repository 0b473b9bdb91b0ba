"""Form cells in the dependence space and measure both distortions, diversity and linkage."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

import numpy as np

from microagg._typing import FloatArray, IntArray
from microagg.aggregate.centroid import Cells, cell_means
from microagg.evaluation.diversity import STEP, coarse_codes
from microagg.evaluation.risk.linkage import chance_of_link
from microagg.partition.mdav import MDAV
from microagg.privacy.within_cells import distinct_per_cell
from microagg.space.dependence import dependence_space
from microagg.studies.dependence.published import N_QUASI_IDENTIFIERS
from microagg.studies.reproduction.experiment import Point
from microagg.tables.reference import datasets
from microagg.tables.reference.generated import generate_gaussian

__all__ = ["blocks_of", "gaussian", "real", "trade_off"]


@cache
def real(data: str) -> tuple[FloatArray, FloatArray]:
    """Quasi-identifiers and confidential attributes of Census or Tarragona, z-scored."""
    table = datasets.load_census() if data == "census" else datasets.load_tarragona()
    values = np.column_stack([table[name].to_numpy().astype(np.float64) for name in table.column_names])
    scaled = (values - values.mean(axis=0)) / values.std(axis=0)
    return scaled[:, :N_QUASI_IDENTIFIERS], scaled[:, N_QUASI_IDENTIFIERS:]


@cache
def gaussian(correlation: float, n_records: int, seed: int) -> tuple[FloatArray, FloatArray]:
    """One quasi-identifier and one confidential attribute, z-scored."""
    table = generate_gaussian(n_records, correlation=correlation, seed=seed)
    x, y = (table[name].to_numpy()[:, None] for name in ("x", "y"))
    return (x - x.mean()) / x.std(), (y - y.mean()) / y.std()


def blocks_of(n_attributes: int, size: int) -> list[slice]:
    """Neighbouring blocks; the last one is smaller if `size` does not divide.

    Examples
    --------
    >>> blocks_of(6, 4)
    [slice(0, 4, None), slice(4, 6, None)]
    """
    return [slice(start, min(start + size, n_attributes)) for start in range(0, n_attributes, size)]


def trade_off(
    *,
    data: str,
    k: int,
    lambdas: Sequence[float],
    seed: int = 0,
    n_records: int = 0,
    block: int = 0,
    linkage: bool = False,
) -> list[Point]:
    """Both distortions, for each lambda; of real tables also the diversity, and if asked for the linkage.

    Parameters
    ----------
    data : str
        ``"census"``, ``"tarragona"`` or ``"gaussian 0.5"``.
    block : int
        Quasi-identifiers are protected in neighbouring blocks of this size, each with all confidential attributes;
        0 for all together.
    """
    if data.startswith("gaussian"):
        X, Y = gaussian(float(data.split()[1]), n_records, seed)
    else:
        X, Y = real(data)
    about: Point = {"data": data, "k": k, "block": block, "n_records": n_records, "seed": seed}
    found = []
    for lambda_ in lambdas:
        labels = [_cells(X[:, part], Y, lambda_, k) for part in blocks_of(X.shape[1], block or X.shape[1])]
        parts = zip(blocks_of(X.shape[1], block or X.shape[1]), labels, strict=True)
        released = np.hstack([_centroids(X[:, part], own) for part, own in parts])
        point = about | {"lambda": lambda_, "D_X": float(np.square(X - released).mean())}
        point["n_cells"] = int(labels[0].max()) + 1
        if len(labels) == 1:
            point["D_Y"] = float(np.square(Y - _centroids(Y, labels[0])).mean())
            point["l_avg"] = _diversity(Y, labels[0])
            point["largest"] = int(np.bincount(labels[0]).max())
        if linkage:
            point["DLD"] = float(chance_of_link(X, _standardized(released), np.arange(len(X))).mean())
        found.append(point)
    return found


def _cells(X: FloatArray, Y: FloatArray, lambda_: float, k: int) -> IntArray:
    space = dependence_space(X, Y, lambda_, m_x=X.shape[1], m_y=Y.shape[1])
    labels: IntArray = MDAV(k=k).fit(space).labels_
    return labels


def _centroids(values: FloatArray, labels: IntArray) -> FloatArray:
    cells = Cells(labels)
    return np.column_stack([cell_means(np.ascontiguousarray(column), cells)[labels] for column in values.T])


def _standardized(values: FloatArray) -> FloatArray:
    """By their own means and deviations, as the attack does."""
    deviation = values.std(axis=0)
    scaled: FloatArray = (values - values.mean(axis=0)) / np.where(deviation > 0, deviation, 1.0)
    return scaled


def _diversity(Y: FloatArray, labels: IntArray) -> float:
    counts = [distinct_per_cell(coarse_codes(column, STEP), labels)[0] for column in Y.T]
    return float(np.min(counts, axis=0).mean())
