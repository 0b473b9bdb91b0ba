"""Which elements of a cell's moments are kept: the choices a recipe may name."""

from __future__ import annotations

from enum import StrEnum

__all__ = ["Content", "Coskewness"]


class Content(StrEnum):
    """Which elements of the central moments a cell keeps."""

    PURE = "pure"
    VARIANCES = "variances"


class Coskewness(StrEnum):
    """Which elements of the coskewness a cell with `pure` content keeps."""

    ALL = "all"
    MARGINAL = "marginal"
