"""Dependence: cells that keep the confidential attributes predictable from what is published."""

from __future__ import annotations

import math

import numpy as np

from microagg._typing import FloatArray
from microagg.space.points import Points, join_points

__all__ = ["dependence_points", "dependence_space", "dependence_weight", "total_distortion"]


def dependence_weight(lambda_: float, n_quasi_identifiers: int, n_confidential: int) -> float:
    """The factor beta on the confidential attributes: ``beta^2 = lambda / (1 - lambda) * m_X / m_Y``.

    Infinite at lambda = 1, where the quasi-identifiers no longer count.

    Examples
    --------
    >>> dependence_weight(0.5, 6, 6)
    1.0
    >>> dependence_weight(0.0, 6, 7)
    0.0
    """
    if lambda_ == 1.0:
        return math.inf
    return math.sqrt(lambda_ / (1.0 - lambda_) * n_quasi_identifiers / n_confidential)


def dependence_space(
    quasi_identifiers: FloatArray, confidential: FloatArray, lambda_: float, *, m_x: int, m_y: int
) -> FloatArray:
    """Append the confidential attributes, weighted, to the quasi-identifiers.

    Cells formed in this space by any partitioner lower ``D = (1 - lambda) D_X + lambda D_Y``, where D_X is the mean
    squared distance per attribute of the quasi-identifiers to their cell's mean, and D_Y the same of the confidential
    attributes: how badly these are predicted from the cell. Plain microaggregation (lambda = 0) is the better choice
    where confidential attributes must not be guessed from a cell; see Notes.

    Parameters
    ----------
    quasi_identifiers : ndarray of shape (n_records, n_coordinates)
    confidential : ndarray of shape (n_records, n_other_coordinates)
        Both without missing values and on scales that can be compared (unit variance per attribute, in [1]_).
    lambda_ : float in [0, 1]
        0 gives `quasi_identifiers` alone, 1 `confidential` alone; larger values keep more dependence and lose more of
        the quasi-identifiers.
    m_x, m_y : int
        Numbers of attributes (a categorical attribute may have several coordinates).

    Returns
    -------
    ndarray
        C-contiguous; a cell's representative is still taken of the quasi-identifiers only.

    Notes
    -----
    Privacy: k-anonymity rests on the sizes of the cells and is kept. But records of a cell become alike in the
    confidential attributes: whoever finds a person's cell learns more.

    Departures: the middle term of the derivation in [1]_ loses the 1/m weights; beta and the result are right.
    Categorical attributes enter through points whose squared distances are 0/1 or semantic distances.

    References
    ----------
    .. [1] Rebollo-Monedero, D. et al. k-Anonymous microaggregation with preservation of statistical dependence.
       Information Sciences 342 (2016), 1-23.

    Examples
    --------
    >>> dependence_space(np.array([[1.0], [2.0]]), np.array([[3.0], [4.0]]), 0.8, m_x=1, m_y=1)
    array([[1., 6.],
           [2., 8.]])
    """
    if lambda_ == 0.0:
        return np.ascontiguousarray(quasi_identifiers)
    if lambda_ == 1.0:
        return np.ascontiguousarray(confidential)
    beta = dependence_weight(lambda_, m_x, m_y)
    return np.ascontiguousarray(np.hstack([quasi_identifiers, beta * confidential]))


def dependence_points(quasi_identifiers: Points, confidential: Points, lambda_: float, *, m_x: int, m_y: int) -> Points:
    """The same as :func:`dependence_space` of numbers and codes."""
    if lambda_ == 0.0:
        return quasi_identifiers
    if lambda_ == 1.0:
        return confidential
    return join_points([quasi_identifiers, confidential.times(dependence_weight(lambda_, m_x, m_y))])


def total_distortion(d_x: float, d_y: float, lambda_: float) -> float:
    """The objective ``D = (1 - lambda) D_X + lambda D_Y``.

    Examples
    --------
    >>> total_distortion(0.1, 0.4, 0.5)
    0.25
    """
    return (1.0 - lambda_) * d_x + lambda_ * d_y
