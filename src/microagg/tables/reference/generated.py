"""Generated tables, for demonstrations and studies: nobody in them exists."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from microagg.errors import ParameterError

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["generate_gaussian", "generate_survey", "generate_two_classes"]

REGIONS = ("North", "East", "South", "West", "Islands")
EDUCATION = ("primary", "secondary", "vocational", "bachelor", "master")
OCCUPATIONS = ("clerk", "farmer", "manager", "nurse", "salesperson", "teacher", "technician")


def generate_survey(n_records: int = 2_000, *, seed: int = 1) -> pa.Table:
    """Draw a household survey from a random number generator.

    Income depends on age, education and occupation; some ages and educations are missing. All of it is made up.

    Parameters
    ----------
    n_records : int
    seed : int

    Returns
    -------
    pyarrow.Table
        ``person_id, age, region, education, occupation, hours, income, health``
    """
    import pyarrow as pa

    rng = np.random.default_rng(seed)
    age = np.clip(rng.normal(46, 16, n_records), 18, 95).astype(np.int64)
    region = rng.choice(len(REGIONS), n_records, p=[0.3, 0.25, 0.25, 0.17, 0.03])
    education = np.clip(np.rint(rng.normal(2.2 - (age > 65) * 0.8, 1.1)), 0, 4).astype(np.int64)
    occupation = (rng.integers(0, len(OCCUPATIONS), n_records) + education) % len(OCCUPATIONS)
    hours = np.clip(np.rint(rng.normal(38, 7, n_records)), 4, 80).astype(np.int64)
    log_income = 9.6 + 0.012 * age + 0.16 * education + 0.08 * (occupation == 2) + rng.normal(0, 0.35, n_records)
    income = np.round(np.exp(log_income), -2)
    sick = rng.random(n_records) < 0.05 + 0.003 * np.maximum(age - 40, 0)
    lost_age, lost_education = rng.random(n_records) < 0.01, rng.random(n_records) < 0.02
    return pa.table(
        {
            "person_id": [f"P{number:06d}" for number in range(1, n_records + 1)],
            "age": pa.array(age, mask=lost_age),
            "region": np.array(REGIONS)[region],
            "education": pa.array(np.array(EDUCATION)[education], mask=lost_education),
            "occupation": np.array(OCCUPATIONS)[occupation],
            "hours": hours,
            "income": income,
            "health": np.where(sick, "chronic illness", "well"),
        }
    )


def generate_gaussian(n_records: int = 10_000, *, correlation: float = 0.5, seed: int = 1) -> pa.Table:
    """Draw two correlated normal attributes, each of mean 0 and variance 1: the synthetic data of the dependence paper.

    Parameters
    ----------
    n_records : int
    correlation : float
        In [-1, 1].
    seed : int

    Returns
    -------
    pyarrow.Table
        ``x`` (to be known) and ``y`` (to be hidden).

    Examples
    --------
    >>> generate_gaussian(3).column_names
    ['x', 'y']
    """
    import pyarrow as pa

    if not -1.0 <= correlation <= 1.0:
        raise ParameterError(f"correlation must be within -1 and 1. Got {correlation} instead")
    x, alone = np.random.default_rng(seed).normal(size=(2, n_records))
    return pa.table({"x": x, "y": correlation * x + np.sqrt(1.0 - correlation**2) * alone})


def generate_two_classes(
    n_records: int = 1_000, *, apart: float = 2.0, correlation: float = 0.5, share: float = 0.5, seed: int = 1
) -> pa.Table:
    """Draw two attributes and a label: two normal classes of one covariance, as in the discriminant paper.

    Parameters
    ----------
    n_records : int
    apart : float
        Distance of the two classes' means, along the diagonal.
    correlation : float
        Of the two attributes within a class.
    share : float
        Of the records with label 1.
    seed : int

    Returns
    -------
    pyarrow.Table
        ``x1``, ``x2`` and the label ``y``, 0 or 1.

    Examples
    --------
    >>> sorted(set(generate_two_classes(50)["y"].to_pylist()))
    [0, 1]
    """
    import pyarrow as pa

    rng = np.random.default_rng(seed)
    y = (rng.random(n_records) < share).astype(np.int64)
    first, second = rng.normal(size=(2, n_records))
    shift = apart / np.sqrt(2.0) * (y - 0.5)
    x2 = correlation * first + np.sqrt(1.0 - correlation**2) * second
    return pa.table({"x1": first + shift, "x2": x2 + shift, "y": y})
