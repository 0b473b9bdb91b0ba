"""A private method that did not pay for what it publishes is refused, whatever it says."""

from __future__ import annotations

import json
from dataclasses import replace
from fractions import Fraction

import pyarrow as pa
import pytest

import microagg
from declarations import numeric
from microagg import Recipe
from microagg.errors import GuaranteeError
from microagg.methods import catalogue
from microagg.methods.output import MethodOutput
from microagg.privacy.budget import Budget
from microagg.private.laplace import PlainLaplace
from microagg.private.ledger import fault_of_ledger
from microagg.releases.check.check import check_release

TABLE = pa.table({"x": [1.0, 2.0, 3.0], "y": [4.0, 5.0, 6.0]})
RECIPE = Recipe(
    method="dp_laplace",
    privacy={"epsilon": 1.0},
    attributes={"x": numeric(bounds=[0, 10]), "y": numeric(bounds=[0, 10])},
)


class Toy(PlainLaplace):
    """Publishes the records themselves, and spends as each test says."""

    def protect(self, columns, recipe, noise, budget):
        self.spend(columns, noise, budget)
        arrays = {column.name: column.publish(column.values) for column in columns}
        return MethodOutput(arrays, budget=self.told(budget))

    def told(self, budget):
        return budget

    @staticmethod
    def spend(columns, noise, budget):
        """Nothing."""


class DividesOnly(Toy):
    @staticmethod
    def spend(columns, noise, budget):
        budget.divide([column.name for column in columns])


class SpendsOnPaper(Toy):
    @staticmethod
    def spend(columns, noise, budget):
        budget.spend("Laplace", on="everything", draws=6)


class DrawsLessNoiseThanItTells(Toy):
    @staticmethod
    def spend(columns, noise, budget):
        budget.spend("Laplace", on="x", draws=3)
        noise.laplace(columns[0].grid.counts(columns[0].values), scale=1e-3, sensitivity=1, epsilon=1e3)


class SpendsOnOne(Toy):
    @staticmethod
    def spend(columns, noise, budget):
        share = budget.divide([column.name for column in columns])["x"]
        epsilon = share.spend("Laplace", on="x", draws=3)
        column = columns[0]
        noise.laplace(column.grid.counts(column.values), scale=2.0, sensitivity=1, epsilon=epsilon)


class AnotherBudget(Toy):
    def told(self, budget):
        other = Budget(1.0)
        other.spend("Laplace", on="nothing of these")
        return other


class LeavesOneOut(PlainLaplace):
    """Protects one column and says nothing of the other, which would be published as it is."""

    def protect(self, columns, recipe, noise, budget):
        protected = super().protect(columns, recipe, noise, budget)
        return replace(protected, arrays={"x": protected.arrays["x"]})


@pytest.fixture
def use(monkeypatch):
    def instead_of_laplace(toy):
        entry = replace(catalogue.METHODS["dp_laplace"], protected_by=toy)
        assert type(entry.private) is toy
        monkeypatch.setitem(catalogue.METHODS._entries, "dp_laplace", entry)
        return Recipe(**RECIPE.as_dict())

    return instead_of_laplace


@pytest.mark.parametrize(
    ("toy", "said"),
    [
        (Toy, "nothing was spent of its budget"),
        (DividesOnly, "nothing was spent of its budget"),
        (SpendsOnPaper, "states other noise than was drawn"),
        (DrawsLessNoiseThanItTells, "states other noise than was drawn"),
        (SpendsOnOne, "nothing was spent on 'y'"),
        (AnotherBudget, "spent another budget than the recipe's"),
        (LeavesOneOut, "protected 1 of 2 attributes"),
    ],
)
def test_a_method_that_did_not_pay_is_refused(use, toy, said):
    recipe = use(toy)
    with pytest.raises(GuaranteeError) as refused:
        microagg.release(TABLE, recipe)
    assert said in str(refused.value)


@pytest.mark.parametrize("budget", [None, {}, {"epsilon": 1.0, "spent": 0.0, "expenses": []}])
def test_a_release_without_a_ledger_is_not_written(tmp_path, budget):
    made = microagg.release(TABLE, RECIPE)
    with pytest.raises(GuaranteeError, match="nothing was spent of its budget"):
        replace(made, statement=replace(made.statement, budget=budget)).save(tmp_path / "out")
    assert list(tmp_path.iterdir()) == []


def told(**changes):
    """What a statement tells of one expense on both attributes."""
    expense = {"mechanism": "Laplace", "on": "x, y", "epsilon": 1.0, "draws": 3, "attributes": ["x", "y"], **changes}
    return {"epsilon": 1.0, "spent": 1.0, "expenses": [expense]}


@pytest.mark.parametrize(
    ("budget", "said"),
    [
        (told(), ""),
        (told(epsilon=0.0), "expenses of nothing"),
        (told(epsilon=-0.5), "expenses of nothing"),
        (told(epsilon=float("nan")), "expenses of nothing"),
        (told(draws=0), "expenses of nothing"),
        (told(epsilon=1.5), "does not fit the budget"),
        (told() | {"spent": 2.0}, "does not fit the budget"),
        (told() | {"epsilon": 2.0}, "does not fit the budget"),
        (told(attributes=["x"]), "nothing was spent on 'y'"),
        (told(attributes=None), "damaged"),
        (told() | {"spent": "much"}, "damaged"),
        (told() | {"expenses": [7]}, "damaged"),
        ([], "nothing was spent"),
    ],
)
def test_what_is_wrong_with_a_ledger_is_said(budget, said):
    fault = fault_of_ledger(budget, RECIPE)
    assert said in fault
    assert bool(said) == bool(fault)


def test_check_sees_an_attribute_that_was_not_paid_for(tmp_path):
    import hashlib

    folder = microagg.release(TABLE, RECIPE).save(tmp_path / "out")
    statement = json.loads((folder / "statement.json").read_text())
    statement["budget"]["expenses"][1] |= {"on": "x", "attributes": ["x"]}
    text = json.dumps(statement)
    (folder / "statement.json").write_text(text)
    manifest = json.loads((folder / "manifest.json").read_text())
    manifest["output"]["sha256"]["statement.json"] = hashlib.sha256(text.encode()).hexdigest()
    (folder / "manifest.json").write_text(json.dumps(manifest))
    assert any("nothing was spent on 'y'" in finding.detail for finding in check_release(folder) if not finding.holds)


def test_shares_know_what_they_are_for():
    budget = Budget(1.0, ["x", "y", "z"])
    shares = budget.divide(["x, y", "z"], attributes={"x, y": ["x", "y"], "z": ["z"]})
    kinds = shares["x, y"].divide({"mean": 0.5, "covariance": 0.5})
    kinds["mean"].spend("Laplace", on="means")
    shares["z"].divide(["z"])["z"].spend("Laplace", on="z")
    assert [expense.attributes for expense in budget.ledger] == [("x", "y"), ("z",)]
    assert budget.spent == Fraction(1, 4) + Fraction(1, 2)
