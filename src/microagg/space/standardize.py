"""Make attributes of different units comparable: z-scores, min-max, declared bounds, or nothing."""

from __future__ import annotations

from enum import StrEnum

import numpy as np
import numpy.typing as npt

from microagg.errors import TableError

__all__ = ["Standardize", "standardize"]


class Standardize(StrEnum):
    """How numbers and ranks are scaled before distances are taken."""

    ZSCORE = "zscore"
    MINMAX = "minmax"
    BOUNDS = "bounds"
    NONE = "none"


def standardize(
    values: npt.NDArray[np.float64],
    how: Standardize | str,
    *,
    bounds: tuple[float, float] | None = None,
    name: str = "values",
) -> npt.NDArray[np.float64]:
    """Scale one attribute; NaN stays NaN, a constant attribute becomes 0.

    Parameters
    ----------
    values : ndarray of shape (n_records,)
    how : {"zscore", "minmax", "bounds", "none"}
        ``zscore`` subtracts the mean and divides by the population standard deviation, ``minmax`` maps the
        observed range to [0, 1], ``bounds`` the declared one, ``none`` leaves the values.
    bounds : pair of float, optional
        Required by ``how="bounds"``.
    name : str
        The attribute's name, for the error.

    Examples
    --------
    >>> standardize(np.array([1.0, 2.0, 3.0]), "minmax")
    array([0. , 0.5, 1. ])
    """
    how = Standardize(how)
    present = values[~np.isnan(values)]
    if how is Standardize.NONE or not present.size:
        return values.copy()
    if how is Standardize.BOUNDS:
        return _within_bounds(values, bounds, name)
    # A power of two, so nothing is rounded, brings values near 1: squares neither overflow nor vanish.
    exponent = -int(np.frexp(np.abs(present).max())[1])
    values, present = np.ldexp(values, exponent), np.ldexp(present, exponent)
    if present.min() == present.max():
        return values - float(present[0])
    if how is Standardize.MINMAX:
        origin, unit = present.min(), np.ptp(present)
    else:
        # The mean of centred values is taken off again: what remains of it after one pass is rounding
        # error, which matters for values like 1e9 + small.
        origin = present.mean()
        origin = origin + (present - origin).mean()
        unit = np.sqrt(np.mean((present - origin) ** 2))
    scaled: npt.NDArray[np.float64] = (values - origin) / unit
    return scaled


def _within_bounds(
    values: npt.NDArray[np.float64], bounds: tuple[float, float] | None, name: str
) -> npt.NDArray[np.float64]:
    """Map declared bounds to [0, 1]; each value by itself, with nothing that depends on other values."""
    if bounds is None:
        raise TableError(f"standardize = 'bounds' needs bounds of column {name!r}. Add: bounds = [low, high]")
    # Halved where the width could overflow, and scaled up where a quotient of denormals would lose digits.
    exponent = -int(np.frexp(np.abs(bounds).max())[1])
    with np.errstate(under="ignore"):
        (low, high), values = np.ldexp(np.array(bounds), exponent), np.ldexp(values, exponent)
    width = high - low
    if not width > 0:
        raise TableError(f"column {name!r}: its bounds are too near each other to measure with. Declare wider ones")
    scaled: npt.NDArray[np.float64] = (values - low) / width
    return scaled
