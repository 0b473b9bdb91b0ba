"""Confidential values in cells: what a recipe asks for holds on the file by the oracle, or cannot be had."""

from __future__ import annotations

import tempfile
from pathlib import Path

import numpy as np

from campaigns.campaign import Campaign
from protected_tables import random_protected, same_twice, try_protected


def case(number: int) -> str:
    """Protect one random table; how that ended."""
    one = random_protected(np.random.default_rng([number, 19]))
    with tempfile.TemporaryDirectory() as folder:
        ended = try_protected(one, Path(folder), seed=number, formats=(("csv",), ("parquet",))[number % 2])
    if ended == "released" and number % 7 == 0:
        assert same_twice(one, number), "a seed gives two releases"
    return f"{ended} ({one.recipe.rearrange.by})"


CAMPAIGN = Campaign(
    name="protected_releases",
    promise="what is asked of confidential values holds on the file by the oracle; what is refused no cells satisfy",
    case=case,
    quick=10,
    long=3000,
    seconds=300.0,  # the first cases of a process compile
    packages=("pandas",),
)
