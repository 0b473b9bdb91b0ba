"""Taxonomies: reading, refusing, and the semantic distance."""

from __future__ import annotations

import math

import pytest

from microagg.errors import RecipeError
from microagg.schema.taxonomy import Taxonomy

OUTLINE = """
work
  office
    clerk
    manager
  field
    farmer
"""


def test_outline_nested_and_parents_tell_the_same_tree(tmp_path):
    (tmp_path / "tree.txt").write_text(OUTLINE)
    (tmp_path / "tree.json").write_text('{"work": {"office": ["clerk", "manager"], "field": ["farmer"]}}')
    outline, nested = Taxonomy.load(tmp_path / "tree.txt"), Taxonomy.load(tmp_path / "tree.json")
    assert outline == nested
    assert outline == Taxonomy.from_parents(dict(outline.parents))
    assert outline.leaves == ("clerk", "manager", "farmer")


def test_semantic_distance_by_hand():
    tree = Taxonomy.from_outline(OUTLINE)
    distances = tree.distances(["clerk", "manager", "farmer"])
    # clerk, manager: 4 ancestors in all (themselves, office, work), 2 of them common.
    assert distances[0, 1] == pytest.approx(math.log2(1 + 2 / 4))
    # clerk, farmer: 5 in all, 1 common.
    assert distances[0, 2] == pytest.approx(math.log2(1 + 4 / 5))
    assert distances.diagonal().tolist() == [0, 0, 0]


def test_a_flat_list_is_a_tree_of_depth_one():
    distances = Taxonomy.flat(["a", "b", "c"]).distances(["a", "b", "c"])
    assert distances[0, 1] == distances[0, 2] == pytest.approx(math.log2(1 + 2 / 3))


@pytest.mark.parametrize(
    ("parents", "message"),
    [
        ({"a": "b", "b": "a"}, "cycle through 'a', 'b'"),
        ({"a": "b", "b": "a", "c": "root"}, "cycle through 'a', 'b'"),
        ({"a": "x", "b": "y"}, "one root; this one has 2"),
    ],
)
def test_what_is_not_a_tree_is_refused(parents, message):
    with pytest.raises(RecipeError, match=message):
        Taxonomy.from_parents(parents)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a\n  b\nc", "second root"),
        ("a\n  b\n  b", "the category of line 2 again"),
        ("a", "no categories"),
        ("", "no categories"),
    ],
)
def test_an_outline_that_is_not_a_tree_is_refused_with_its_line(text, message):
    with pytest.raises(RecipeError, match=message):
        Taxonomy.from_outline(text)


def test_a_missing_or_broken_file_is_refused_by_name_not_by_path(tmp_path):
    with pytest.raises(RecipeError, match=r"no taxonomy file named 'none\.txt'"):
        Taxonomy.load(tmp_path / "none.txt")
    (tmp_path / "broken.json").write_text("{")
    with pytest.raises(RecipeError, match=r"'broken\.json' is not UTF-8 text of its format"):
        Taxonomy.load(tmp_path / "broken.json")
