"""A generated survey, for demonstrations: nobody in it exists."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["generate_survey"]

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
