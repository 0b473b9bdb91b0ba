"""Noise and noisy selection, exact to the last bit: integers in, integers out, drawn by OpenDP.

Textbook Laplace noise is a real number; a computer's is a float, and which floats can come out depends on what it was
added to [1]_. Sums of floats are rounded as well, by an amount that depends on their order. Both would break the
proof. So nothing here adds noise to a float:

1. Every value is clamped to its public bounds and moved to the nearest point of a public grid, a power-of-two fraction
   of the domain's width (:class:`Grid`). That is done to each record alone: tables that differ in one record still do.
2. Statistics are sums of grid points: integers below 2^63, summed without any rounding.
3. Their sensitivity is an integer number of grid steps. OpenDP adds discrete Laplace noise to integers with an exact
   sampler, and its own privacy map is asked whether the noise is enough.
4. Only then are the noisy integers divided and scaled back to floats. That is post-processing: no rounding in it can
   cost privacy.

Statistics that cannot be computed in integers go through :func:`laplace_on_reals`, which adds the rounding error to the
sensitivity instead.

References
----------
.. [1] Mironov, I. (2012). On significance of the least significant bits for differential privacy. CCS, 650-661.
   doi:10.1145/2382196.2382264
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from microagg._typing import FloatArray, IntArray
from microagg.errors import ParameterError
from microagg.privacy.budget import Budget, float_above, float_below
from microagg.privacy.noise import Noise, NoisyCounts

__all__ = [
    "Grid",
    "add_laplace",
    "add_max_norm",
    "add_to_histograms",
    "laplace_draws",
    "laplace_on_reals",
    "select",
    "step_of",
]


_FINEST = 40
_LARGEST_COUNT = 2**62


@dataclass(frozen=True)
class Grid:
    """Points of a public domain, equally spaced: 2^bits steps from `low` to `high`.

    Examples
    --------
    >>> grid = Grid(0.0, 10.0, bits=2)
    >>> grid.counts(np.array([-3.0, 0.0, 2.4, 10.0]))
    array([0, 0, 1, 4])
    >>> grid.values(np.array([1.0, 4.0]))
    array([ 2.5, 10. ])
    """

    low: float
    high: float
    bits: int = _FINEST

    @classmethod
    def for_sums(cls, low: float, high: float, n_records: int) -> Grid:
        """The finest grid, up to 2^40 steps, on which a sum over all records stays below 2^62."""
        return cls(low, high, min(_FINEST, 62 - int(n_records).bit_length()))

    @property
    def steps(self) -> int:
        """The width of the domain in steps: how far one record's count can move."""
        return 1 << self.bits

    @property
    def width(self) -> float:
        return self.high - self.low

    def counts(self, values: FloatArray) -> IntArray:
        """Clamp values to the domain and count the steps from `low` to the nearest point; each value alone."""
        share = np.clip((values - self.low) / self.width, 0.0, 1.0)
        return np.rint(share * float(self.steps)).astype(np.int64)

    def values(self, counts: FloatArray) -> FloatArray:
        """Numbers of the domain from counts, which need not be whole."""
        share: FloatArray = np.asarray(counts, dtype=np.float64) / float(self.steps)
        return self.low + self.width * share


def add_laplace(
    counts: IntArray, sensitivity: int, *, budget: Budget, noise: Noise, on: str, step: float = 1.0
) -> IntArray:
    """Integers plus discrete Laplace noise of scale sensitivity / epsilon; spends all that is left of `budget`.

    Parameters
    ----------
    counts : ndarray of int64
        The statistic, one draw of noise for each.
    sensitivity : int
        The most that replacing one record can change the counts in all, ``sum |counts - counts'|``. **The caller proves
        it**, beside the call.
    budget, noise
    on : str
        What was noised, for the ledger.
    step : float
        What one count is worth, so that the ledger can state sensitivity and scale in the unit of `on`.

    Notes
    -----
    Laplace mechanism (Dwork, McSherry, Nissim & Smith 2006): for tables X, X' that differ in one record and any output
    z, the two probabilities differ by a factor of at most ``exp(sum_i |c_i - c'_i| / scale) <= exp(epsilon)``. For
    discrete Laplace noise on integers the same sum holds term by term (Ghosh, Roughgarden & Sundararajan 2009).
    """
    epsilon = float_below(budget.remaining)
    scale = _scale(Fraction(sensitivity), epsilon, on)
    budget.spend(
        "Laplace", on=on, epsilon=epsilon, sensitivity=sensitivity * step, scale=scale * step, draws=len(counts)
    )
    return noise.laplace(counts, scale=scale, sensitivity=sensitivity, epsilon=epsilon)


def laplace_draws(sensitivity: int, *, budget: Budget, noise: Noise, on: str) -> NoisyCounts:
    """What adds discrete Laplace noise of scale sensitivity / epsilon; spends all that is left of `budget`, at once.

    For counts of which there are as many as noisy answers decide, so that their number may not stand in a ledger: the
    ledger has one draw. `sensitivity` bounds what replacing one record costs over *all* calls, in units of 1 / scale.
    **The caller proves it**, beside the call.
    """
    epsilon = float_below(budget.remaining)
    scale = _scale(Fraction(sensitivity), epsilon, on)
    budget.spend("Laplace", on=on, epsilon=epsilon, sensitivity=sensitivity, scale=scale)
    return noise.laplace_source(scale=scale, sensitivity=sensitivity, epsilon=epsilon)


def add_max_norm(counts: IntArray, sensitivity: int, *, budget: Budget, noise: Noise, on: str) -> IntArray:
    """Integers plus noise that falls with its largest coordinate; spends all that is left of `budget`.

    `sensitivity` is the most that replacing one record can change *any one* of the counts. **The caller proves it.**
    See :mod:`microagg.privacy.noise.max_norm`.
    """
    epsilon = float_below(budget.remaining)
    scale = _scale(Fraction(sensitivity), epsilon, on)
    budget.spend("L-infinity", on=on, epsilon=epsilon, sensitivity=sensitivity, scale=scale, draws=len(counts))
    return noise.max_norm(counts, scale=scale, sensitivity=sensitivity, epsilon=epsilon)


def add_to_histograms(histograms: Sequence[IntArray], *, budget: Budget, noise: Noise, on: str) -> list[IntArray]:
    """Several histograms of the same records, plus one draw of noise for all; spends all that is left of `budget`.

    Replacing one record must move at most one record of each histogram from one cell to another. **The caller proves
    it**, beside the call. See :mod:`microagg.privacy.noise.histograms`.
    """
    epsilon = float_below(budget.remaining)
    scale = _scale(Fraction(1), epsilon, on)
    lengths = tuple(len(one) for one in histograms)
    budget.spend("joint histograms", on=on, epsilon=epsilon, sensitivity=1, scale=scale)
    counts = np.concatenate(histograms).astype(np.int64)
    noisy = noise.histograms(counts, lengths=lengths, scale=scale, sensitivity=1, epsilon=epsilon)
    return np.split(noisy, np.cumsum(lengths)[:-1])


def step_of(sensitivity: float) -> float:
    """The step whose multiples :func:`laplace_on_reals` gives: a power of two, at most 2^-30 of `sensitivity`."""
    return 2.0 ** (math.frexp(sensitivity)[1] - 31)


def laplace_on_reals(
    values: FloatArray,
    sensitivity: float,
    *,
    rounding_error: float,
    touched: int,
    budget: Budget,
    noise: Noise,
    on: str,
) -> FloatArray:
    """Real statistics plus Laplace noise, with their rounding error paid for.

    Parameters
    ----------
    values : ndarray of float64
        The statistic as computed.
    sensitivity : float
        L1 sensitivity of the exact statistic. **The caller proves it.**
    rounding_error : float
        No value is further than this from the exact one. **The caller bounds it.**
    touched : int
        The most values that replacing one record can change.

    Notes
    -----
    Values are moved to multiples of a step that depends on the sensitivity alone, 2^-30 of it or less. Let f be the
    exact statistic, g the computed one, r its multiple. Where f changes, ``|r - r'| <= |f - f'| + 2 rounding_error +
    step``; at most `touched` values change, so the L1 sensitivity of r is at most
    ``sensitivity + touched (2 rounding_error + step)``.
    **Values that do not depend on the replaced record must be computed alike**: bit by bit from the same numbers in the
    same order. Values beyond 2^62 steps are clamped, which moves no two further apart.
    """
    if not (sensitivity > 0 and math.isfinite(sensitivity)):
        raise ParameterError(f"a sensitivity must be a finite number above 0. Got {sensitivity!r} instead.")
    step = step_of(sensitivity)
    exact = (Fraction(sensitivity) + 2 * touched * Fraction(rounding_error)) / Fraction(step)
    limit = float(_LARGEST_COUNT)
    counts = np.rint(np.clip(values / step, -limit, limit)).astype(np.int64)
    noisy = add_laplace(counts, math.ceil(exact) + touched, budget=budget, noise=noise, on=on, step=step)
    return noisy.astype(np.float64) * step


def select(scores: IntArray, sensitivity: int, *, budget: Budget, noise: Noise, on: str, step: float = 1.0) -> IntArray:
    """For each row of scores, privately the place of its largest; spends all that is left of `budget`.

    Parameters
    ----------
    scores : ndarray of int64, of shape (n_selections, n_candidates)
    sensitivity : int
        The most that replacing one record can change the scores: ``sum over rows of max over candidates |q - q'|``.
        **The caller proves it**, beside the call.

    Notes
    -----
    Exponential mechanism (McSherry & Talwar 2007) in the form of permute-and-flip (McKenna & Sheldon 2020), which is
    the largest score plus exponential noise of scale 2 sensitivity / epsilon: the same bound, never further from the
    best candidate. A row whose scores move by at most D costs 2 D / scale; the rows together cost at most
    ``2 sum D / scale = epsilon`` by sequential composition.
    """
    epsilon = float_below(budget.remaining)
    scale = _scale(Fraction(2 * sensitivity), epsilon, on)
    budget.spend(
        "exponential", on=on, epsilon=epsilon, sensitivity=sensitivity * step, scale=scale * step, draws=len(scores)
    )
    return noise.noisy_max(scores, scale=scale, sensitivity=sensitivity, epsilon=epsilon)


def _scale(numerator: Fraction, epsilon: float, on: str) -> float:
    """A float that is not below numerator / epsilon; nothing left to spend is refused by the budget."""
    if epsilon <= 0:
        return math.inf
    scale = float_above(numerator / Fraction(epsilon))
    if not math.isfinite(scale):
        raise ParameterError(f"epsilon = {epsilon:g} is too small for {on}: noise of that scale is beyond all numbers")
    return scale
