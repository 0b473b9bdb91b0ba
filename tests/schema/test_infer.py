"""Guesses of `microagg init`: reasons given, questions marked, a draft that loads."""

from __future__ import annotations

import datetime as dt

import pyarrow as pa
import pytest

from microagg.recipe.recipe import Recipe
from microagg.schema.infer import draft_recipe, guess_schema
from microagg.tables.frames import Frame

TABLE = pa.table(
    {
        "PatientID": [f"x{i}" for i in range(40)],
        "age": [20 + i for i in range(39)] + [None],
        "birth_date": [dt.date(1980, 1, 1)] * 40,
        "annual income": [1000.5 * i - 3 for i in range(40)],
        "grade": [i % 3 for i in range(40)],
        "zip": [f"{i:05d}" for i in range(40)],
        "remark": [f"free text number {i}" for i in range(40)],
        "smoker": [i % 2 == 0 for i in range(40)],
        "q[1].x\n#": ["yes", "no"] * 20,
    }
)


@pytest.fixture
def guesses():
    return {guess.name: guess for guess in guess_schema(Frame.wrap(TABLE))}


@pytest.mark.parametrize(
    ("column", "role", "kind"),
    [
        ("PatientID", "identifier", None),
        ("age", "quasi_identifier", "numeric"),
        ("birth_date", "quasi_identifier", "numeric"),
        ("annual income", "confidential", "numeric"),
        ("zip", "quasi_identifier", "nominal"),
        ("remark", "identifier", None),
        ("smoker", "quasi_identifier", "nominal"),
    ],
)
def test_roles_and_kinds_are_guessed(guesses, column, role, kind):
    assert (guesses[column].role, guesses[column].kind) == (role, kind)


def test_every_guess_has_a_reason_and_doubt_has_a_question(guesses):
    assert all(guess.reasons for guess in guesses.values())
    assert any("amounts" in question for question in guesses["grade"].decide)
    assert guesses["smoker"].decide
    assert not guesses["age"].decide


def test_the_draft_loads_and_declares_every_column(guesses):
    text = draft_recipe(list(guesses.values()), table_name="data.csv", n_records=40)
    recipe = Recipe.loads(text)
    assert list(recipe.attributes) == TABLE.column_names
    assert text.count("DECIDE") > 3
    assert '"age" 1' in text  # its missing value is named in the section on missing values


def test_suggested_bounds_are_round_and_commented_out(guesses):
    low, high = guesses["age"].suggested_bounds
    assert low <= 20
    assert high >= 58
    text = draft_recipe(list(guesses.values()), table_name="data.csv", n_records=40)
    assert "# bounds = [0, 100]" in text
    assert not any(line.startswith("bounds") for line in text.splitlines())


def test_codes_with_leading_zeros_are_categories():
    (guess,) = guess_schema(Frame.wrap(pa.table({"zip": [8001, 8002, 43000]})), codes=["zip"])
    assert guess.kind == "nominal"
