"""docs/recipe.md names every method with the parameters that a recipe may set."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from microagg.methods.catalogue import METHODS

PAGE = Path(__file__).parents[2] / "docs" / "recipe.md"
ROWS = {
    name: row
    for row in PAGE.read_text(encoding="utf-8").splitlines()
    if row.startswith("| `")
    for name in re.findall(r"`(\w+)`", row.split("|")[1])
    if name in METHODS and row.count("|") == 4
}
ALSO_SET = {"algorithm"}  # decides how fast MDAV is, never what it gives


@pytest.mark.parametrize("name", [name for name in METHODS if not name.startswith("dp_moments")])
def test_the_table_of_methods_has_every_method_and_option(name):
    assert name in ROWS
    unnamed = [option for option in METHODS[name].options if f"`{option}`" not in ROWS[name]]
    assert set(unnamed) <= ALSO_SET


def test_the_page_speaks_of_moments_over_other_cells():
    text = PAGE.read_text(encoding="utf-8")
    assert "`dp_moments`" in text
    assert "dp_moments_" in text
