"""The exact privacy loss of what a method was told: the same answers, and how likely each table would have given them.

A run on one table is written down: what each mechanism was asked and what it answered. The same answers are then given
to a run on a neighbouring table. If the method looks at records through its mechanisms alone, that run asks for the
same and publishes the same, and the logarithm of the ratio of the two likelihoods is the privacy loss of this outcome:
no sample, no bound. Differential privacy says that it is never above epsilon.
"""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass, field
from typing import Any

import numpy as np


@dataclass
class Exchange:
    """One question to a mechanism and its answer."""

    mechanism: str
    asked: dict[str, Any]
    values: np.ndarray
    answer: np.ndarray


@dataclass
class WrittenDown:
    """A source of noise that writes down every question and answer."""

    noise: Any
    exchanges: list[Exchange] = field(default_factory=list)

    def _note(self, mechanism: str, asked: dict[str, Any], values: np.ndarray, answer: np.ndarray) -> np.ndarray:
        self.exchanges.append(Exchange(mechanism, asked, np.array(values), np.array(answer)))
        return answer

    def laplace(self, counts, **asked):
        return self._note("laplace", asked, counts, self.noise.laplace(counts, **asked))

    def laplace_source(self, **asked):
        add = self.noise.laplace_source(**asked)
        return lambda counts: self._note("source", asked, counts, add(counts))

    def max_norm(self, counts, **asked):
        return self._note("max_norm", asked, counts, self.noise.max_norm(counts, **asked))

    def histograms(self, counts, **asked):
        return self._note("histograms", asked, counts, self.noise.histograms(counts, **asked))

    def noisy_max(self, scores, **asked):
        return self._note("noisy_max", asked, scores, self.noise.noisy_max(scores, **asked))

    def uniforms(self, count):
        return self._note("uniforms", {}, np.array([count]), self.noise.uniforms(count))


class AnotherQuestionError(AssertionError):
    """A run on a neighbouring table asked for something else: control flow depends on the records."""


class Replayed:
    """A source that gives the answers of another run."""

    def __init__(self, exchanges: list[Exchange]) -> None:
        self._due = iter(exchanges)
        self.noise = self

    def _answer(self, mechanism: str, asked: dict[str, Any], values: np.ndarray) -> np.ndarray:
        exchange = next(self._due, None)
        if (
            exchange is None
            or exchange.mechanism != mechanism
            or exchange.asked != asked
            or exchange.values.shape != np.shape(values)
        ):
            raise AnotherQuestionError(mechanism)
        return exchange.answer

    def laplace(self, counts, **asked):
        return self._answer("laplace", asked, counts)

    def laplace_source(self, **asked):
        return lambda counts: self._answer("source", asked, counts)

    def max_norm(self, counts, **asked):
        return self._answer("max_norm", asked, counts)

    def histograms(self, counts, **asked):
        return self._answer("histograms", asked, counts)

    def noisy_max(self, scores, **asked):
        return self._answer("noisy_max", asked, scores)

    def uniforms(self, count):
        return self._answer("uniforms", {}, np.array([count]))


def loss_of(exchange: Exchange, other: Exchange, *, splits: bool) -> float:
    """ln of how much likelier the answer is after one question than after the other.

    Of the splits of a tree only whether a noisy count is above zero is used, so that is the answer whose likelihood
    counts.
    """
    before, after, answer = exchange.values, other.values, exchange.answer
    if exchange.mechanism == "uniforms":
        return 0.0
    scale = exchange.asked["scale"]
    if splits:
        return sum(
            log_share(int(a), float(scale), above=bool(r > 0)) - log_share(int(b), float(scale), above=bool(r > 0))
            for a, b, r in zip(before, after, answer, strict=True)
        )
    if exchange.mechanism in ("laplace", "source"):
        return float((np.abs(answer - after) - np.abs(answer - before)).sum() / scale)
    if exchange.mechanism == "max_norm":
        return float((np.abs(answer - after).max() - np.abs(answer - before).max()) / scale)
    if exchange.mechanism == "histograms":
        ends = np.cumsum(exchange.asked["lengths"])[:-1]
        return float((records_moved(answer - after, ends) - records_moved(answer - before, ends)) / scale)
    return sum(
        math.log(chance_of_choice(a, int(r), scale) / chance_of_choice(b, int(r), scale))
        for a, b, r in zip(before, after, answer, strict=True)
    )


def records_moved(change: np.ndarray, ends: np.ndarray) -> int:
    """The least number of records whose replacement makes a change of several histograms; their totals stay."""
    parts = np.split(change, ends)
    assert all(part.sum() == 0 for part in parts)
    return max(int(np.maximum(part, 0).sum()) for part in parts)


def log_share(count: int, scale: float, *, above: bool) -> float:
    """ln P(count + Z > 0), or of the opposite, for discrete Laplace noise Z of a scale."""
    a = math.exp(-1.0 / scale)
    tail = a ** (1 - count) / (1 + a) if count <= 0 else a**count / (1 + a)  # P(> 0), or P(<= 0)
    return math.log(tail if above == (count <= 0) else 1.0 - tail)


def chance_of_choice(scores: np.ndarray, chosen: int, scale: float) -> float:
    """The chance that the largest score plus exponential noise of a scale is the chosen one, by integration.

    P(i) = integral of the density of noise z at i times, for every other j, P(noise of j < z + s_i - s_j).
    """
    gaps = (scores[chosen] - np.delete(scores, chosen)) / scale
    start = max(0.0, float(-gaps.min(initial=0.0)))
    # With t = exp(-z) all is a polynomial in t on (0, exp(-start)): P(noise < z + g) = 1 - t exp(-g).
    nodes, weights = np.polynomial.legendre.leggauss(min(64, len(gaps) // 2 + 2))
    top = math.exp(-start)
    t = (nodes + 1.0) / 2.0
    # t exp(-g) = u top exp(-g) with u in (0, 1), written so that nothing overflows
    factors = np.prod(1.0 - t[:, None] * np.exp(-start - gaps)[None, :], axis=1)
    return float(top * (weights / 2.0 * factors).sum())


def losses(first: list[Exchange], second: list[Exchange]) -> dict[str, float]:
    """The privacy loss of a run, part by part; `second` is the same run replayed on the neighbour."""
    parts: dict[str, float] = {}
    runs = zip(first, second, strict=True)
    for (source, _), pairs in itertools.groupby(runs, key=lambda pair: (pair[0].mechanism, str(pair[0].asked))):
        several = list(pairs)
        sensitivity = several[0][0].asked.get("sensitivity")
        splits = source == "source" and sensitivity == 4
        name = "splits" if splits else source if source != "source" else "counts"
        parts[name] = parts.get(name, 0.0) + sum(loss_of(a, b, splits=splits) for a, b in several)
    return parts
