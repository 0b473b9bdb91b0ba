"""A budget is divided exactly, spent once and recorded."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from microagg.errors import GuaranteeError, InputError
from microagg.privacy.budget import Budget, check_epsilon, float_above, float_below


@pytest.mark.parametrize("epsilon", [0, -1, math.nan, math.inf, 1e6 + 1, "1", None, True])
def test_an_epsilon_that_cannot_be_promised_is_refused(epsilon):
    with pytest.raises(InputError, match="epsilon must be a finite number above 0 and at most 1e"):
        Budget(epsilon)


@given(st.floats(1e-9, 1e6), st.integers(1, 40))
def test_shares_add_up_to_the_whole_and_never_to_more(epsilon, n_shares):
    budget = Budget(epsilon)
    shares = budget.divide([str(i) for i in range(n_shares)])
    assert budget.remaining == 0
    amounts = [share.spend("laplace", on=name) for name, share in shares.items()]
    assert sum(map(Fraction, amounts)) == budget.spent <= Fraction(epsilon)
    assert math.fsum(amounts) == pytest.approx(epsilon)
    assert [one.epsilon for one in budget.ledger] == amounts


def test_shares_follow_the_weights():
    shares = Budget(2.0).divide({"a": 0.75, "b": 0.25})
    assert (shares["a"].epsilon, shares["b"].epsilon) == (1.5, 0.5)


@pytest.mark.parametrize(
    ("weights", "said"),
    [({"a": 0.5, "b": 0.4}, "sum to 1; these sum to 0.9"), ({"a": 1.5, "b": -0.5}, "above 0: look at 'b'")],
)
def test_weights_that_do_not_sum_are_refused(weights, said):
    with pytest.raises(InputError, match=said):
        Budget(1.0).divide(weights)


def test_overspending_is_refused_and_recorded_nowhere():
    budget = Budget(1.0)
    budget.spend("laplace", on="a", epsilon=0.7)
    with pytest.raises(GuaranteeError, match=r"laplace on b would spend epsilon = 0.4, but only 0.3 of 1 is left"):
        budget.spend("laplace", on="b", epsilon=0.4)
    assert [one.on for one in budget.ledger] == ["a"]
    budget.spend("laplace", on="c")
    with pytest.raises(GuaranteeError, match="is left"):
        budget.spend("laplace", on="d")
    with pytest.raises(GuaranteeError, match="nothing is left"):
        budget.divide(["e"])


def test_what_is_given_to_shares_cannot_be_spent_beside_them():
    budget = Budget(1.0)
    budget.divide(["a", "b"])
    with pytest.raises(GuaranteeError):
        budget.spend("laplace", on="all", epsilon=0.1)


def test_shares_of_shares_compose():
    budget = Budget(3.0)
    first, second = budget.divide(["a", "b"]).values()
    for part in first.divide(["x", "y"]).values():
        for name, share in part.divide(["mean", "variance"]).items():
            share.spend("laplace", on=name)
    second.spend("exponential", on="b", epsilon=1.0)
    assert budget.spent == Fraction(5, 2)
    stated = budget.as_dict()
    assert (stated["epsilon"], stated["spent"], len(stated["expenses"])) == (3.0, 2.5, 5)


@given(st.fractions(0, 10**6))
def test_floats_beside_a_fraction_enclose_it(exact):
    assert Fraction(float_below(exact)) <= exact <= Fraction(float_above(exact))
    assert float_above(exact) - float_below(exact) <= math.ulp(float_above(exact))


def test_epsilons_of_other_number_types_are_floats():
    assert check_epsilon(Fraction(1, 4)) == 0.25
