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
import random
import secrets
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Protocol

import numpy as np

from microagg._random import uniforms_from
from microagg._typing import FloatArray, IntArray
from microagg.errors import GuaranteeError, ParameterError
from microagg.privacy.budget import Budget, float_above, float_below
from microagg.privacy.max_norm import max_norm_noise

__all__ = [
    "Grid",
    "Noise",
    "NoisyCounts",
    "OpenDPNoise",
    "SeededNoise",
    "Silence",
    "add_laplace",
    "add_max_norm",
    "laplace_draws",
    "laplace_on_reals",
    "noise_from",
    "select",
    "step_of",
]


_FINEST = 40
_LARGEST_COUNT = 2**62


NoisyCounts = Callable[[IntArray], IntArray]
"""Takes counts and gives them with noise."""


class Noise(Protocol):
    """Where noise comes from."""

    def laplace(self, counts: IntArray, *, scale: float, sensitivity: int, epsilon: float) -> IntArray:
        """`counts` plus independent discrete Laplace noise."""
        ...

    def laplace_source(self, *, scale: float, sensitivity: int, epsilon: float) -> NoisyCounts:
        """What adds the same noise to counts whenever it is called, where earlier answers decide what is asked next."""
        ...

    def max_norm(self, counts: IntArray, *, scale: float, sensitivity: int, epsilon: float) -> IntArray:
        """`counts` plus noise that falls with its largest coordinate: see :mod:`microagg.privacy.max_norm`."""
        ...

    def noisy_max(self, scores: IntArray, *, scale: float, sensitivity: int, epsilon: float) -> IntArray:
        """For each row of `scores`, the place of its largest score plus independent exponential noise."""
        ...

    def uniforms(self, count: int) -> FloatArray:
        """Independent uniform draws, strictly between 0 and 1, for chance that is not noise: draws of records."""
        ...


class OpenDPNoise:
    """OpenDP's exact samplers, fed by the system's secure source of randomness.

    Its privacy map is asked at each use whether the noise keeps the epsilon; it is not trusted to be so.
    """

    def laplace(self, counts: IntArray, *, scale: float, sensitivity: int, epsilon: float) -> IntArray:
        """Discrete Laplace noise: P(z) proportional to exp(-|z| / scale)."""
        return self.laplace_source(scale=scale, sensitivity=sensitivity, epsilon=epsilon)(counts)

    def laplace_source(self, *, scale: float, sensitivity: int, epsilon: float) -> NoisyCounts:
        """OpenDP's measurement, asked once whether it keeps the epsilon."""
        measurement = _measurement("laplace", scale)
        _require_enough(measurement.map(sensitivity), epsilon)
        return lambda counts: np.asarray(measurement(np.ascontiguousarray(counts)), dtype=np.int64)

    def max_norm(self, counts: IntArray, *, scale: float, sensitivity: int, epsilon: float) -> IntArray:
        """Drawn from the system's secure source, exactly."""
        return _with_max_norm(counts, scale, sensitivity, epsilon, secrets.randbits)

    def noisy_max(self, scores: IntArray, *, scale: float, sensitivity: int, epsilon: float) -> IntArray:
        """The place of the largest score plus exponential noise: the exponential mechanism as permute-and-flip."""
        measurement = _measurement("noisy_max", scale)
        _require_enough(measurement.map(sensitivity), epsilon)
        return np.array([measurement(row) for row in scores.tolist()], dtype=np.int64)

    def uniforms(self, count: int) -> FloatArray:
        """From the system's secure source."""
        return uniforms_from(None)(count)


class SeededNoise:
    """NumPy's generator with a seed: repeats itself, for experiments and never for publication."""

    def __init__(self, seed: int) -> None:
        self._rng = np.random.default_rng([int(seed), 2])  # neither the stream that shuffles nor the one that samples
        self._uniforms = uniforms_from(int(seed))

    def laplace(self, counts: IntArray, *, scale: float, sensitivity: int, epsilon: float) -> IntArray:
        limit = float(_LARGEST_COUNT)
        noise = np.rint(np.clip(self._rng.laplace(scale=scale, size=len(counts)), -limit, limit)).astype(np.int64)
        return np.clip(counts, -_LARGEST_COUNT, _LARGEST_COUNT) + noise

    def laplace_source(self, *, scale: float, sensitivity: int, epsilon: float) -> NoisyCounts:
        return lambda counts: self.laplace(counts, scale=scale, sensitivity=sensitivity, epsilon=epsilon)

    def max_norm(self, counts: IntArray, *, scale: float, sensitivity: int, epsilon: float) -> IntArray:
        bits = random.Random(int(self._rng.integers(2**63))).getrandbits
        return _with_max_norm(counts, scale, sensitivity, epsilon, bits)

    def noisy_max(self, scores: IntArray, *, scale: float, sensitivity: int, epsilon: float) -> IntArray:
        noisy = scores + self._rng.exponential(scale=scale, size=scores.shape)
        places: IntArray = np.argmax(noisy, axis=1).astype(np.int64)
        return places

    def uniforms(self, count: int) -> FloatArray:
        return self._uniforms(count)


class Silence:
    """No noise at all, to follow what a method spends where there is no record: **never for records**."""

    def laplace(self, counts: IntArray, *, scale: float, sensitivity: int, epsilon: float) -> IntArray:
        return counts

    def laplace_source(self, *, scale: float, sensitivity: int, epsilon: float) -> NoisyCounts:
        return lambda counts: counts

    def max_norm(self, counts: IntArray, *, scale: float, sensitivity: int, epsilon: float) -> IntArray:
        return counts

    def noisy_max(self, scores: IntArray, *, scale: float, sensitivity: int, epsilon: float) -> IntArray:
        return np.zeros(len(scores), dtype=np.int64)

    def uniforms(self, count: int) -> FloatArray:
        return np.full(count, 0.5)


def noise_from(seed: int | None) -> Noise:
    """OpenDP's noise, or with a seed NumPy's, for research."""
    return OpenDPNoise() if seed is None else SeededNoise(seed)


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
    See :mod:`microagg.privacy.max_norm`.
    """
    epsilon = float_below(budget.remaining)
    scale = _scale(Fraction(sensitivity), epsilon, on)
    budget.spend("L-infinity", on=on, epsilon=epsilon, sensitivity=sensitivity, scale=scale, draws=len(counts))
    return noise.max_norm(counts, scale=scale, sensitivity=sensitivity, epsilon=epsilon)


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


def _with_max_norm(
    counts: IntArray, scale: float, sensitivity: int, epsilon: float, bits: Callable[[int], int]
) -> IntArray:
    """Counts plus noise of that scale, which must be enough.

    The *sums* are clamped, as whole numbers without bounds: a count beside clamped noise would be told exactly.
    """
    _require_enough(float_above(Fraction(sensitivity) / Fraction(scale)), epsilon)
    noise = max_norm_noise(len(counts), 1 / Fraction(scale), bits)
    limit = _LARGEST_COUNT
    sums = [count + one for count, one in zip(counts.tolist(), noise, strict=True)]
    return np.array([min(max(one, -limit), limit) for one in sums], dtype=np.int64)


def _measurement(kind: str, scale: float) -> Any:
    # The parts, not opendp.prelude: that one imports every dataframe library there is.
    from opendp.domains import atom_domain, vector_domain
    from opendp.measurements import make_laplace, make_noisy_max
    from opendp.measures import max_divergence
    from opendp.metrics import l1_distance, linf_distance
    from opendp.mod import enable_features

    enable_features("contrib")
    domain = vector_domain(atom_domain(T="i64"))
    if kind == "laplace":
        return make_laplace(domain, l1_distance(T="i64"), scale=scale)
    return make_noisy_max(domain, linf_distance(T="i64"), max_divergence(), scale=scale)


def _require_enough(proved: float, epsilon: float) -> None:
    if not proved <= epsilon:
        raise GuaranteeError(
            f"the noise would cost epsilon = {proved!r} where {epsilon!r} was promised. Nothing was written"
        )
