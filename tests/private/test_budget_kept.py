"""A private method that spends another budget than the recipe's is found, and nothing is released."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest

import microagg
from microagg.privacy.budget import Budget
from microagg.private.laplace import PlainLaplace


def test_a_method_that_spends_a_budget_of_its_own_is_refused(monkeypatch):
    people = pa.table({"age": np.arange(20.0)})
    recipe = microagg.Recipe(
        method="dp_laplace",
        privacy={"epsilon": 1.0},
        attributes={"age": {"role": "quasi_identifier", "kind": "numeric", "bounds": [0, 100]}},
    )
    honest = PlainLaplace.protect

    def cheat(method, columns, recipe, noise, budget):
        return replace(honest(method, columns, recipe, noise, budget), budget=Budget(99.0))

    microagg.release(people, recipe)
    monkeypatch.setattr(PlainLaplace, "protect", cheat)
    with pytest.raises(microagg.GuaranteeError, match="spent another budget"):
        microagg.release(people, recipe)
