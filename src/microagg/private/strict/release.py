"""From records to drawn points: measure under the budget, then model and draw."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from microagg._typing import FloatArray, IntArray
from microagg.privacy.budget import Budget
from microagg.privacy.noise import Noise
from microagg.private.strict.copula import measure_same_sides
from microagg.private.strict.drawing import draw_records
from microagg.private.strict.marginals import measure_marginals
from microagg.private.strict.model import Model, TableQuestions, build_model, empty_model
from microagg.private.strict.plan import PARTS, Plan
from microagg.private.strict.records import Records
from microagg.private.strict.scales import Scale
from microagg.private.strict.tables import group_leaves, n_groups_for

__all__ = ["Measured", "chance_from", "draw_from", "measure"]

_GROUPS_OF_COPULA = 8


@dataclass(frozen=True)
class Measured:
    """What noise let be known of the records. Records can be forgotten from here on."""

    model: Model
    n_records: int


def measure(
    records: Records,
    scales: Sequence[Scale],
    n_records: int,
    plan: Plan,
    *,
    budget: Budget,
    noise: Noise,
    rng: np.random.Generator,
    weights: Mapping[str, float] | None = None,
) -> Measured:
    """Spend the whole budget on counts of the records.

    Parameters
    ----------
    records : Records
    scales : sequence of Scale
    n_records : int
    plan : Plan
    budget : Budget
    noise : Noise
    rng : Generator
        For the pool, which further choices are compared with; nothing secret hangs on it.
    weights : dict, optional
        How the share of the marginals is divided among attributes.
    """
    names = [scale.name for scale in scales]
    used = {part: getattr(plan, part) for part in PARTS if getattr(plan, part) > 0}
    shares = budget.divide(used, attributes=dict.fromkeys(used, names))
    weights = weights or plan.weights_of({scale.name: scale.ordered for scale in scales})
    marginals = measure_marginals(records, scales, n_records, budget=shares["marginals"], noise=noise, weights=weights)
    ordered = [j for j, scale in enumerate(scales) if scale.ordered]
    correlations = np.eye(len(ordered))
    if "pairs" in shares:
        correlations = measure_same_sides(records, ordered, marginals, n_records, budget=shares["pairs"], noise=noise)
    n_groups = _GROUPS_OF_COPULA
    if plan.n_tables:
        n_groups = n_groups_for(n_records, shares["tables"].epsilon / plan.n_tables)
    groups = [group_leaves(marginal, n_groups) for marginal in marginals]
    model = empty_model(marginals, groups, correlations, n_records, rng)
    if plan.n_tables:
        records.group([marginal.edges[:-1] for marginal in marginals], groups)
        questions = TableQuestions(records, model, plan, n_records, shares.get("choices"), shares["tables"], noise)
        model = build_model(model, questions, plan, rng)
    return Measured(model, n_records)


def draw_from(measured: Measured, rng: np.random.Generator) -> list[IntArray]:
    """Points of as many rows as there were records."""
    return draw_records(measured.model, measured.n_records, rng)


def chance_from(noise: Noise) -> np.random.Generator:
    """A generator for what is not noise, from the source of noise."""
    words: FloatArray = noise.uniforms(4)
    return np.random.default_rng([int(word * 2**52) for word in words])
