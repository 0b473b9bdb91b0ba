"""Where noise comes from: OpenDP and the system's secure source, or with a seed NumPy's generator.

Mechanisms (:mod:`microagg.privacy.mechanism`) ask for noise of a scale; a source asks again whether that is enough for
the epsilon it is told.
"""

from __future__ import annotations

import random
import secrets
from collections.abc import Callable, Iterable
from fractions import Fraction
from itertools import chain
from typing import Any, Protocol

import numpy as np

from microagg._random import uniforms_from
from microagg._typing import FloatArray, IntArray
from microagg.errors import GuaranteeError
from microagg.privacy.budget import float_above
from microagg.privacy.noise.histograms import histogram_noise
from microagg.privacy.noise.max_norm import max_norm_noise
from microagg.privacy.noise.radius import RandomBits

__all__ = ["Noise", "NoisyCounts", "OpenDPNoise", "SeededNoise", "Silence", "noise_from"]

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
        """`counts` plus noise that falls with its largest coordinate: see :mod:`microagg.privacy.noise.max_norm`."""
        ...

    def histograms(
        self, counts: IntArray, *, lengths: tuple[int, ...], scale: float, sensitivity: int, epsilon: float
    ) -> IntArray:
        """Histograms one after the other, plus one draw for all: see :mod:`microagg.privacy.noise.histograms`."""
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

    def histograms(
        self, counts: IntArray, *, lengths: tuple[int, ...], scale: float, sensitivity: int, epsilon: float
    ) -> IntArray:
        """Drawn from the system's secure source, exactly."""
        return _with_histogram_noise(counts, lengths, scale, sensitivity, epsilon, secrets.randbits)

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
        return _with_max_norm(counts, scale, sensitivity, epsilon, self._bits())

    def histograms(
        self, counts: IntArray, *, lengths: tuple[int, ...], scale: float, sensitivity: int, epsilon: float
    ) -> IntArray:
        return _with_histogram_noise(counts, lengths, scale, sensitivity, epsilon, self._bits())

    def noisy_max(self, scores: IntArray, *, scale: float, sensitivity: int, epsilon: float) -> IntArray:
        noisy = scores + self._rng.exponential(scale=scale, size=scores.shape)
        places: IntArray = np.argmax(noisy, axis=1).astype(np.int64)
        return places

    def uniforms(self, count: int) -> FloatArray:
        return self._uniforms(count)

    def _bits(self) -> RandomBits:
        return random.Random(int(self._rng.integers(2**63))).getrandbits


class Silence:
    """No noise at all, to follow what a method spends where there is no record: **never for records**."""

    def laplace(self, counts: IntArray, *, scale: float, sensitivity: int, epsilon: float) -> IntArray:
        return counts

    def laplace_source(self, *, scale: float, sensitivity: int, epsilon: float) -> NoisyCounts:
        return lambda counts: counts

    def max_norm(self, counts: IntArray, *, scale: float, sensitivity: int, epsilon: float) -> IntArray:
        return counts

    def histograms(
        self, counts: IntArray, *, lengths: tuple[int, ...], scale: float, sensitivity: int, epsilon: float
    ) -> IntArray:
        return counts

    def noisy_max(self, scores: IntArray, *, scale: float, sensitivity: int, epsilon: float) -> IntArray:
        return np.zeros(len(scores), dtype=np.int64)

    def uniforms(self, count: int) -> FloatArray:
        return np.full(count, 0.5)


def noise_from(seed: int | None) -> Noise:
    """OpenDP's noise, or with a seed NumPy's, for research."""
    return OpenDPNoise() if seed is None else SeededNoise(seed)


def _with_max_norm(counts: IntArray, scale: float, sensitivity: int, epsilon: float, bits: RandomBits) -> IntArray:
    """Counts plus noise of that scale, which must be enough."""
    _require_enough(float_above(Fraction(sensitivity) / Fraction(scale)), epsilon)
    return _clamped_sums(counts, max_norm_noise(len(counts), 1 / Fraction(scale), bits))


def _with_histogram_noise(
    counts: IntArray, lengths: tuple[int, ...], scale: float, sensitivity: int, epsilon: float, bits: RandomBits
) -> IntArray:
    """Histograms plus noise of that scale, which must be enough."""
    _require_enough(float_above(Fraction(sensitivity) / Fraction(scale)), epsilon)
    return _clamped_sums(counts, chain.from_iterable(histogram_noise(lengths, 1 / Fraction(scale), bits)))


def _clamped_sums(counts: IntArray, noise: Iterable[int]) -> IntArray:
    """Sums as 64-bit integers: *they* are clamped, for a count beside clamped noise would be told exactly."""
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
