"""What came out of the study of guided cells: means over splits, paired intervals, a table."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

__all__ = ["TEST_SHARE", "Outcome", "as_markdown", "outcomes_of", "paired_interval"]

TEST_SHARE = 0.25


@dataclass(frozen=True)
class Outcome:
    """Scores of one method over the splits.

    Attributes
    ----------
    splits : tuple of int
        Those that were run.
    accuracy, f_measure : tuple of float
        One per split.
    purity : float
        Mean share of the most frequent label in a cell: the price.
    """

    data: str
    k: int
    method: str
    form: str
    splits: tuple[int, ...]
    accuracy: tuple[float, ...]
    f_measure: tuple[float, ...]
    purity: float


def outcomes_of(points: Sequence[dict[str, Any]]) -> list[Outcome]:
    """Gather points (one data set, split, k and method each) into outcomes, in the order the points come."""
    gathered: dict[tuple[str, int, str, str], list[dict[str, Any]]] = defaultdict(list)
    for point in points:
        for form, scores in point["scores"].items():
            key = (point["data"], point["k"], point["method"], form)
            gathered[key].append({"split": point["split"], "purity": point["purity"], **scores})
    outcomes = []
    for (data, k, method, form), several in gathered.items():
        several.sort(key=lambda one: int(one["split"]))
        outcomes.append(
            Outcome(
                data,
                k,
                method,
                form,
                tuple(one["split"] for one in several),
                tuple(one["accuracy"] for one in several),
                tuple(one["f_measure"] for one in several),
                float(np.mean([one["purity"] for one in several])),
            )
        )
    return outcomes


def paired_interval(differences: Sequence[float]) -> tuple[float, float]:
    """Mean difference and the half-width of its 95 % interval over repeated splits.

    Splits share records, so their differences are not independent: the variance of their mean is taken as
    ``s^2 (1/J + n_test/n_train)`` [1]_.

    References
    ----------
    .. [1] Nadeau, C. & Bengio, Y. (2003). Inference for the generalization error. Machine Learning 52, 239-281.

    Examples
    --------
    >>> paired_interval([1.0, 1.0, 1.0])
    (1.0, 0.0)
    """
    from scipy.stats import t

    values = np.asarray(differences, dtype=np.float64)
    if len(values) < 2:
        return float(values.mean()), math.inf
    correction = 1.0 / len(values) + TEST_SHARE / (1.0 - TEST_SHARE)
    width = t.ppf(0.975, len(values) - 1) * math.sqrt(float(values.var(ddof=1)) * correction)
    return float(values.mean()), float(width)


def as_markdown(outcomes: Sequence[Outcome]) -> str:
    """The table: accuracy and F in per cent, their gains over plain centroids with intervals, and the price.

    A gain is taken over the splits that both were run on.
    """
    lines = [
        "| k | cells | published | accuracy | F | gain in accuracy | gap closed | gain in F | purity |",
        "|---|---|---|---|---|---|---|---|---|",
    ]
    whole = {one.data: one for one in outcomes if one.method == "unprotected"}
    plain = {(one.data, one.k): one for one in outcomes if one.method == "plain" and one.form == "centroids"}
    for one in outcomes:
        base = plain.get((one.data, one.k))
        gain, closed, gain_f = "-", "-", "-"
        if base is not None and one is not base:
            gain, gain_f = (f"{_gain(one, base, score)[0]:+.2f} +- {_gain(one, base, score)[1]:.2f}" for score in _BOTH)
            gap = _gain(whole[one.data], base, "accuracy", one.splits)[0]
            closed = f"{100 * _gain(one, base, 'accuracy')[0] / gap:.0f} %" if gap > 0.5 else "(no gap)"
        purity = "-" if math.isnan(one.purity) else f"{one.purity:.3f}"
        k, form = ("-", "-") if one.method == "unprotected" else (str(one.k), one.form)
        lines.append(
            f"| {k} | {one.method} | {form} | {100 * np.mean(one.accuracy):.2f} | {100 * np.mean(one.f_measure):.2f} | "
            f"{gain} | {closed} | {gain_f} | {purity} |"
        )
    return "\n".join(lines) + "\n"


_BOTH = ("accuracy", "f_measure")


def _gain(one: Outcome, base: Outcome, score: str, splits: Sequence[int] | None = None) -> tuple[float, float]:
    """Mean difference of a score and its interval, in points, over the splits that both have and `splits` names."""
    ours, theirs = (dict(zip(each.splits, getattr(each, score), strict=True)) for each in (one, base))
    shared = [split for split in ours if split in theirs and (splits is None or split in splits)]
    return paired_interval([100 * (ours[split] - theirs[split]) for split in shared])
