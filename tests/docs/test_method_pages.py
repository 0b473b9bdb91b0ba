"""The pages of methods are those of the catalogue, and the tree that leads to a method tells what it promises."""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path
from types import ModuleType

import pytest

from microagg.methods.catalogue import METHODS, SHORT_NAMES
from microagg.methods.method import K_ANONYMOUS

ROOT = Path(__file__).resolve().parents[2]
TREE = (ROOT / "docs" / "which_method.md").read_text(encoding="utf-8").partition("## The tree")[2].partition("\n## ")[0]
BRANCHES = re.split(r"^- ", TREE, flags=re.MULTILINE)[1:]


def script(path: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(Path(path).stem, ROOT / path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


PAGES = script("tools/site/method_pages.py")
NAMES = [method.name for method in PAGES.methods()]


@pytest.mark.parametrize("name", NAMES)
def test_the_page_of_a_method_has_the_words_of_the_catalogue(name):
    path = PAGES.FOLDER / f"{name}.md"
    assert path.exists(), f"measure it (python tools/site/costs.py {name}), then run: python tools/site/method_pages.py"
    text = path.read_text(encoding="utf-8")
    assert text == PAGES.page_of(METHODS[name], text), "run: python tools/site/method_pages.py"
    assert re.search(r"^## When to take it\n\n\S", text, re.MULTILINE), "say when to take it, by hand"


def test_the_table_of_methods_is_that_of_the_catalogue():
    text = (PAGES.FOLDER / "index.md").read_text(encoding="utf-8")
    assert text == PAGES.index(text), "run: python tools/site/method_pages.py"


def test_there_is_no_page_of_a_method_that_is_not():
    assert {path.stem for path in PAGES.FOLDER.glob("*.md")} == {*NAMES, "index"}


@pytest.mark.parametrize("name", ["mdav", "vmdav", "pcp", "insensitive_mdav", "individual_ranking", "mic1d"])
def test_the_picture_of_a_method_is_what_it_publishes(name):
    pictures = script("docs/pictures/methods.py")
    shown = (pictures.FOLDER / f"{name}.svg").read_text(encoding="utf-8")
    assert shown == pictures.picture(METHODS[name]), f"run: python docs/pictures/methods.py {name}"


def test_every_method_has_a_picture():
    assert {path.stem for path in (ROOT / "docs" / "pictures" / "methods").glob("*.svg")} == set(NAMES)


def named_in(branch: str) -> set[str]:
    return {SHORT_NAMES.get(name, name) for name in re.findall(r"`(\w+)`\]", branch)}


def test_the_tree_leads_to_every_method_once():
    found = [name for branch in BRANCHES for name in sorted(named_in(branch))]
    assert sorted(found) == sorted(NAMES)


def test_the_branches_of_the_tree_hold_what_promises_that():
    private, anonymous, *less = BRANCHES
    of_originals = {name for name in NAMES if "epsilon-differential privacy of the original" in METHODS[name].guarantee}
    assert named_in(private) == of_originals
    assert named_in(anonymous) == {name for name in NAMES if METHODS[name].guarantee == K_ANONYMOUS}
    assert {name for branch in less for name in named_in(branch)} == {"individual_ranking", "mic1d", "dp_moments"}
