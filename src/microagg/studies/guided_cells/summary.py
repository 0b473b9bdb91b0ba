"""What came out of the study of guided cells: means over splits, paired intervals, a table."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from microagg.studies.markdown import markdown_table

__all__ = ["FORMS", "SMALLEST_GAP", "TEST_SHARE", "MethodScores", "as_markdown", "gather_scores", "paired_interval"]

TEST_SHARE = 0.25
SMALLEST_GAP = 0.5  # in points: below this no share is given


@dataclass(frozen=True)
class MethodScores:
    """Scores of one method over the splits.

    Attributes
    ----------
    splits : tuple of int
        Those that were run.
    accuracy, f_measure, r_squared : tuple of float
        One per split; None where the target has no such score.
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
    r_squared: tuple[float | None, ...] = ()


def gather_scores(points: Sequence[dict[str, Any]]) -> list[MethodScores]:
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
            MethodScores(
                data,
                k,
                method,
                form,
                tuple(one["split"] for one in several),
                tuple(one["accuracy"] for one in several),
                tuple(one["f_measure"] for one in several),
                float(np.mean([one["purity"] for one in several])),
                tuple(_number(one.get("r_squared")) for one in several),
            )
        )
    return outcomes


def _number(found: float | None) -> float:
    """A score; nan of points that were kept before it was counted, and of targets that are categories."""
    return float("nan") if found is None else float(found)


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


FORMS = ("centroids", "sampled", "paired", "shared", "share = 10")


def as_markdown(outcomes: Sequence[MethodScores], score: str = "accuracy") -> str:
    """The table of one score on one data set: a row per k and method, a column per form that was run.

    Each entry is the mean in per cent; in brackets the gain over plain centroids with its paired 95 % interval, and the
    share of the gap between plain centroids and unprotected records that it closes. Gains are taken over the splits
    that both were run on.
    """
    (whole,) = (one for one in outcomes if one.method == "unprotected")
    found = {(one.k, one.method, one.form): one for one in outcomes}
    forms = [form for form in FORMS if any(one.form == form for one in outcomes)]
    rest = [""] * (len(forms) - 1)
    rows: list[list[object]] = [["-", "unprotected", len(whole.splits), "-", _mean(whole, score), *rest]]
    for k, method in dict.fromkeys((one.k, one.method) for one in outcomes if one is not whole):
        base = found.get((k, "plain", "centroids"))
        several = [found.get((k, method, form)) for form in forms]
        entries = [
            "-" if one is None else _mean(one, score) + _describe_gain(one, base, whole, score) for one in several
        ]
        first = found[k, method, forms[0]]
        rows.append([k, method, len(first.splits), f"{first.purity:.3f}", *entries])
    return markdown_table(["k", "cells", "splits", "purity", *forms], rows)


def _mean(one: MethodScores, score: str) -> str:
    return f"{100 * np.mean(getattr(one, score)):.2f}"


def _describe_gain(one: MethodScores, base: MethodScores | None, whole: MethodScores, score: str) -> str:
    if base is None or one is base:
        return ""
    mean, width = _gain(one, base, score)
    gap = _gain(whole, base, score, one.splits)[0]
    return f" ({mean:+.2f} +- {width:.2f}; {f'{100 * mean / gap:.0f} %' if gap > SMALLEST_GAP else 'no gap'})"


def _gain(
    one: MethodScores, base: MethodScores, score: str, splits: Sequence[int] | None = None
) -> tuple[float, float]:
    """Mean difference of a score and its interval, in points, over the splits that both have and `splits` names."""
    ours, theirs = (dict(zip(each.splits, getattr(each, score), strict=True)) for each in (one, base))
    shared = [split for split in ours if split in theirs and (splits is None or split in splits)]
    return paired_interval([100 * (ours[split] - theirs[split]) for split in shared])
