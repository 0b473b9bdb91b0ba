"""The registry of guides: what it refuses, what it keeps free, and that nothing else names a guide."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path
from typing import Any, ClassVar

import pytest
from pydantic import BaseModel

import microagg
from microagg.errors import ParameterError
from microagg.frontier.frontier import Axes, Frontier
from microagg.recipe.choices import SpaceChoice
from microagg.recipe.sweep import SweepChoice
from microagg.space.guides import Guide, GuidedSpace, SweptKey, register_guide, registered_guides
from microagg.space.guides.registry import TAKEN

SOURCE = Path(microagg.__file__).parent
PARTICULAR = ("studies/", "cli/demo.py")  # studies of papers, two of which are named as guides are, and an example


class Toy(Guide):
    name: ClassVar[str] = "toy"
    named_by: ClassVar[str] = "target"

    target: str = "pay"
    scale: float = 1.0

    def guiding_attributes(self, schema: Any) -> tuple[str, ...]:
        return (self.target,)

    def shape(self, plain: Any) -> GuidedSpace:
        return GuidedSpace(plain.matrix, {})

    @property
    def fact_keys(self) -> frozenset[str]:
        return frozenset()

    def facts_fit(self, facts: Any) -> bool:
        return True

    def describe(self, facts: Any) -> str:
        return "toy"


def toy(**attributes: Any) -> type[Guide]:
    """A guide that differs from the toy in what is given."""
    return type("OtherToy", (Toy,), {"__module__": __name__, "__annotations__": {}, **attributes})


class Unfinished(Toy):
    describe = Guide.describe


class Nameless(Guide):
    guiding_attributes, shape, fact_keys = Toy.guiding_attributes, Toy.shape, Toy.fact_keys
    facts_fit, describe = Toy.facts_fit, Toy.describe


@pytest.mark.parametrize(
    ("guide", "message"),
    [
        (Unfinished, "the guide Unfinished cannot be registered: it lacks describe"),
        (Nameless, "it has no name"),
        (toy(name="prediction"), r"another guide has the table \[space.prediction\]"),
        (toy(name="standardize"), r"\[space.standardize\] cannot be the name of its table"),
        (toy(name="model_dump"), r"\[space.model_dump\] cannot be"),
        (toy(name="two words"), r"\[space.two words\] cannot be"),
        (toy(named_by="attributes"), "it has no key 'attributes' that names attributes"),
        (toy(swept=SweptKey("lambda", (1.0,))), "a sweep cannot vary 'lambda': the guide has no such key"),
        (toy(swept=SweptKey("k", (1.0,)), k=2, __annotations__={"k": int}), "sweep.k cannot be the name of a key"),
        (
            toy(swept=SweptKey("alpha", (1.0,)), alpha=1.0, __annotations__={"alpha": float}),
            "another guide has the key sweep.alpha",
        ),
    ],
)
def test_a_class_that_cannot_be_a_guide_is_refused(guide, message):
    before = registered_guides()
    with pytest.raises(ParameterError, match=message):
        register_guide(guide)
    assert registered_guides() == before


def test_a_guide_that_is_registered_again_stays_where_it_is():
    before = registered_guides()
    register_guide(before[0])
    assert registered_guides() == before


def test_no_guide_can_take_a_name_that_means_something_else():
    own = {
        name for table in (SpaceChoice, SweepChoice) for name in {*dir(table), *table.model_fields} if name[0] != "_"
    }
    assert own - set(dir(BaseModel)) - set(TAKEN) == set()
    assert set(Frontier((), Axes("SSE_SST", "distance_linkage"), ()).frame().column_names) <= TAKEN


def test_nothing_else_names_a_guide():
    names = {guide.name for guide in registered_guides()}
    found = []
    for path in sorted(SOURCE.rglob("*.py")):
        place = path.relative_to(SOURCE).as_posix()
        if place.startswith(("space/", *PARTICULAR)):
            continue
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            word = node.attr if isinstance(node, ast.Attribute) else getattr(node, "value", None)
            if isinstance(word, str) and (word in names or any(word.startswith(f"space.{name}") for name in names)):
                found.append(f"{place}:{node.lineno}: {word[:40]}")
    assert found == []


def test_the_registry_is_light_to_import():
    heavy = "('sklearn', 'scipy', 'numba', 'pandas', 'polars', 'pyarrow')"
    code = f"import microagg.space.guides, sys; print([name for name in {heavy} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
