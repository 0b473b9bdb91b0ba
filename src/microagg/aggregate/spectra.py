"""Spectra of cells: symmetric matrices as eigenvalues and eigenvectors, and back."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from microagg._typing import FloatArray

__all__ = ["Spectra", "matrices_of", "nearest_orthogonal", "spectra_of"]


@dataclass(frozen=True)
class Spectra:
    """Eigenvalues and eigenvectors of many symmetric matrices.

    Attributes
    ----------
    eigenvalues : ndarray of shape (..., d)
        Nonincreasing.
    eigenvectors : ndarray of shape (..., d, d)
        Columns, of unit length. Their signs mean nothing.
    """

    eigenvalues: FloatArray
    eigenvectors: FloatArray

    @property
    def gaps(self) -> FloatArray:
        """Distance of each eigenvalue to its nearest neighbour, of shape (..., d); infinite if there is one only.

        Examples
        --------
        >>> spectra_of(np.diag([5.0, 1.0, 3.0])).gaps
        array([2., 2., 2.])
        """
        steps = np.abs(np.diff(self.eigenvalues, axis=-1))
        edge = np.full((*self.eigenvalues.shape[:-1], 1), np.inf)
        below, above = np.concatenate([steps, edge], axis=-1), np.concatenate([edge, steps], axis=-1)
        return np.asarray(np.minimum(below, above))


def spectra_of(matrices: FloatArray) -> Spectra:
    """Eigenvalues, largest first, and eigenvectors of symmetric matrices of shape (..., d, d)."""
    values, vectors = np.linalg.eigh(matrices)
    return Spectra(np.ascontiguousarray(values[..., ::-1]), np.ascontiguousarray(vectors[..., ::-1]))


def matrices_of(spectra: Spectra) -> FloatArray:
    """The symmetric matrices ``V diag(eigenvalues) V^T``.

    Examples
    --------
    >>> matrix = np.array([[2.0, 1.0], [1.0, 3.0]])
    >>> bool(np.allclose(matrices_of(spectra_of(matrix)), matrix))
    True
    """
    vectors = spectra.eigenvectors
    return np.asarray(np.einsum("...ij,...j,...lj->...il", vectors, spectra.eigenvalues, vectors, optimize=True))


def nearest_orthogonal(matrices: FloatArray) -> FloatArray:
    """The orthogonal matrix nearest to each matrix in the Frobenius norm (its polar factor).

    Noise takes eigenvectors off the unit sphere and off each other's perpendicular; this puts them back.

    Examples
    --------
    >>> nearest_orthogonal(np.array([[2.0, 0.0], [0.0, -0.5]]))
    array([[ 1.,  0.],
           [ 0., -1.]])
    """
    left, _, right = np.linalg.svd(matrices)
    return np.asarray(left @ right, dtype=np.float64)
