"""Individual risk in a population of which the table is a sample, after Benedetti and Franconi."""

from __future__ import annotations

import numpy as np

from microagg._typing import FloatArray, IntArray

__all__ = ["expected_inverse_size", "individual_risk", "match_probability", "people_can_be", "unusable_weights"]

_CLOSED_FORM_UP_TO = 30  # records of a class; for more, the series needs a few dozen terms whatever the odds
_TERMS = 100
_MOST_PEOPLE = 1e15


def unusable_weights(weights: FloatArray) -> int:
    """How many sampling weights are missing or not above 0."""
    return int((~np.isfinite(weights) | (weights <= 0)).sum())


def people_can_be(weights: FloatArray) -> bool:
    """Whether weights may sum to people: not beyond all sense, where sums are not numbers any more."""
    return bool(weights.max(initial=0.0) <= _MOST_PEOPLE / max(len(weights), 1))


def individual_risk(sizes: IntArray, population: FloatArray) -> FloatArray:
    """The expected chance that a record of a class is found, where the population has about `population` like it.

    Parameters
    ----------
    sizes : ndarray of shape (n_classes,)
        f, the records of each class.
    population : ndarray of shape (n_classes,)
        F-hat, the sum of their sampling weights. Below f it counts as f: all of them are in the table.

    Notes
    -----
    F given f is taken to be negative binomial, the number of draws until the f-th success of chance p = f / F-hat. The
    risk is the mean of 1/F.

    References
    ----------
    .. [1] Benedetti, R. & Franconi, L. (1998). Statistical and technological solutions for controlled data
       dissemination. Pre-proceedings of New Techniques and Technologies for Statistics 1, 225-232.
    .. [2] Franconi, L. & Polettini, S. (2004). Individual risk estimation in mu-Argus: a review. Privacy in
       Statistical Databases, LNCS 3050, 262-272.

    Examples
    --------
    >>> individual_risk(np.array([1, 2]), np.array([215.0, 360.0])).round(4)
    array([0.0251, 0.0054])
    """
    return expected_inverse_size(sizes, sizes / np.maximum(population, sizes))


def expected_inverse_size(sizes: IntArray, chances: FloatArray) -> FloatArray:
    """The mean of 1/F for F negative binomial with f = `sizes` and p = `chances`.

    Notes
    -----
    With a = p / (1 - p) it is the integral of a u^(f-1) / (a + u) over u in [0, 1]. So I(1) = a ln(1/p) and
    I(f) = a / (f - 1) - a I(f - 1): for f = 2, a - a^2 ln(1/p). An error grows by a in each step, which shrinks it
    where p is small. Elsewhere, and for large f, the same number is p / f times the hypergeometric series
    F(1, 1; f + 1; 1 - p) = 1 + (1-p) 1/(f+1) + (1-p)^2 2!/((f+1)(f+2)) + ..., whose terms are all positive.
    """
    risks = np.empty(len(sizes))
    by_steps = (sizes <= _CLOSED_FORM_UP_TO) & (chances < 1 / 3)
    risks[by_steps] = _by_steps(sizes[by_steps], chances[by_steps])
    risks[~by_steps] = _by_series(sizes[~by_steps].astype(np.float64), chances[~by_steps])
    return risks


def _by_steps(sizes: IntArray, chances: FloatArray) -> FloatArray:
    odds = chances / (1.0 - chances)
    risks = -odds * np.log(chances)
    for size in range(2, int(sizes.max(initial=1)) + 1):
        larger = sizes >= size
        risks[larger] = odds[larger] * (1.0 / (size - 1) - risks[larger])
    return risks


def _by_series(sizes: FloatArray, chances: FloatArray) -> FloatArray:
    term = np.ones(len(sizes))
    total = np.ones(len(sizes))
    for n in range(1, _TERMS + 1):
        term *= (1.0 - chances) * n / (sizes + n)
        total += term
    return chances / sizes * total


def match_probability(n_unique: int, n_pairs: int, fraction: float) -> tuple[float, float | None]:
    """The chance that a match with a unique record is right (data intrusion simulation), with its standard error.

    Parameters
    ----------
    n_unique, n_pairs : int
        Classes of one record, of which there is at least one, and of two.
    fraction : float
        The share of the population that is in the table.

    Returns
    -------
    (chance, standard error)
        The standard error takes both counts for Poisson numbers; without any pair it is not known, and None.

    References
    ----------
    .. [1] Skinner, C. J. & Elliot, M. J. (2002). A measure of disclosure risk for microdata. JRSS B 64(4), 855-867.
       doi:10.1111/1467-9868.00365

    Examples
    --------
    >>> chance, error = match_probability(4, 3, 0.01)
    >>> round(chance, 5), round(error, 5)
    (0.00669, 0.00507)
    """
    right, wrong = fraction * n_unique, 2.0 * (1.0 - fraction) * n_pairs
    chance = right / (right + wrong)
    if not n_pairs:
        return chance, None
    return chance, chance * (1.0 - chance) * float(np.sqrt(1.0 / n_unique + 1.0 / n_pairs))
