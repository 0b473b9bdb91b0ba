"""The site is built without a warning, loads nothing from elsewhere, has no dead link, and is short of ways."""

from __future__ import annotations

import doctest
import os
import posixpath
import re
import subprocess
import sys
from collections import deque
from dataclasses import dataclass, field
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest

import microagg
from documented import DOCS, PAGES, ROOT, named
from optional_packages import need

for package in ("mkdocs", "material", "mkdocstrings", "mkdocstrings_handlers.python"):
    need(package)

CLICKS = 3


@dataclass
class Read(HTMLParser):
    """A page of the site: its anchors, the links of the menu and those of its text, and what it loads."""

    anchors: set[str] = field(default_factory=set)
    links: list[str] = field(default_factory=list)
    of_text: list[str] = field(default_factory=list)
    loaded: list[str] = field(default_factory=list)
    within: bool = False

    def __post_init__(self) -> None:
        super().__init__()

    def handle_starttag(self, tag, attrs):
        found = dict(attrs)
        self.within = self.within or tag == "article"
        self.anchors |= {found[name] for name in ("id", "name") if found.get(name)}
        if tag == "a" and found.get("href"):
            self.links.append(found["href"])
            if self.within:
                self.of_text.append(found["href"])
        elif found.get("src") or (tag == "link" and found.get("rel") != "canonical"):
            self.loaded.append(found.get("src") or found["href"])

    def handle_endtag(self, tag):
        self.within = self.within and tag != "article"


@pytest.fixture(scope="module")
def built(tmp_path_factory) -> Path:
    """The site, built as `make docs` builds it."""
    folder = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(folder)]
    environment = {**os.environ, "NO_MKDOCS_2_WARNING": "1", "PYTHONPATH": str(ROOT / "src")}
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, env=environment, check=False)
    assert done.returncode == 0, done.stderr
    assert "WARNING" not in done.stderr, done.stderr
    return folder


@pytest.fixture(scope="module")
def pages(built) -> dict[str, Read]:
    """Every page of the site, read."""
    found = {}
    for path in built.rglob("*.html"):
        found[path.relative_to(built).as_posix()] = read = Read()
        read.feed(path.read_text(encoding="utf-8"))
    return found


def target_of(page: str, link: str) -> tuple[str, str]:
    """Which page of the site a link leads to, and to which place on it."""
    parts = urlsplit(link)
    path = posixpath.normpath(posixpath.join(posixpath.dirname(page), unquote(parts.path))) if parts.path else page
    return path, unquote(parts.fragment)


def elsewhere(link: str) -> bool:
    return bool(urlsplit(link).scheme or urlsplit(link).netloc)


def test_every_page_of_the_repository_is_on_the_site(built, pages):
    for page in PAGES:
        if page.is_relative_to(DOCS):
            place = page.relative_to(DOCS).with_suffix(".html").as_posix()
            assert place in pages, named(page)
    index = (built / "llms.txt").read_text(encoding="utf-8")
    listed = set(re.findall(r"\]\(([^)]+)\)", index))
    assert listed == {page for page in pages if page != "404.html"}


def test_every_mark_of_a_page_is_filled(built):
    for path in built.rglob("*.html"):
        assert "<!-- site:" not in path.read_text(encoding="utf-8"), path.name


def test_the_reference_of_python_has_every_public_name_where_a_reader_looks_for_it(pages):
    anchors = pages["reference/python.html"].anchors
    public = {f"microagg.{name}" for name in microagg.__all__ if name not in ("__version__", "datasets")}
    assert public | {"microagg.sklearn.Microaggregate"} <= anchors
    assert "and" not in anchors  # once a heading over all that nobody had put anywhere


def test_nothing_is_loaded_from_elsewhere(built, pages):
    for page, read in pages.items():
        assert not [one for one in read.loaded if elsewhere(one) and not one.startswith("data:")], page
    for style in built.rglob("*.css"):
        assert not re.search(r"(?:@import|url\()\s*[\"']?(?:https?:)?//", style.read_text(encoding="utf-8")), style.name


def test_no_link_is_dead(built, pages):
    dead = []
    for page, read in pages.items():
        for link in (*read.links, *read.loaded):
            if elsewhere(link) or page == "404.html":
                continue
            path, anchor = target_of(page, link)
            if not (built / path).exists() or (anchor and path in pages and anchor not in pages[path].anchors):
                dead.append(f"{page}: {link}")
    assert not dead


def clicks(pages: dict[str, Read]) -> dict[str, int]:
    """How many clicks it takes to each page by the links of texts alone, without the menu or search."""
    found, waiting = {"index.html": 0}, deque(["index.html"])
    while waiting:
        page = waiting.popleft()
        for link in pages[page].of_text:
            path, _ = target_of(page, link)
            if not elsewhere(link) and path in pages and path not in found:
                found[path] = found[page] + 1
                waiting.append(path)
    return found


def test_every_page_is_three_clicks_from_the_front_page(pages):
    found = clicks(pages)
    far = {page: found.get(page) for page in pages if page != "404.html" and found.get(page, CLICKS + 1) > CLICKS}
    assert not far


def test_every_question_and_its_answer_are_three_clicks_from_the_front_page(pages):
    first = {target_of("index.html", link)[0] for link in pages["index.html"].of_text}
    assert "questions.html" in first
    questions = pages["questions.html"]
    answers = [target_of("questions.html", link) for link in questions.of_text if not elsewhere(link)]
    for path, anchor in answers:  # one click to the questions, one to the question, one to its answer
        assert path not in pages or not anchor or anchor in pages[path].anchors, (path, anchor)
    assert len([link for link in questions.of_text if not link.startswith("#")]) >= 40


def test_search_has_its_words_and_needs_no_server(built, pages):
    index = (built / "search" / "search_index.js").read_text(encoding="utf-8")
    assert index.startswith("var __index = ")
    for word in ("t_closeness", "MDAV", "missing.policy", "release_files"):
        assert word in index, word
    assert all("javascripts/iframe-worker.js" in " ".join(read.loaded) for read in pages.values())


@pytest.mark.parametrize("name", ["index", "roles"])
def test_the_tools_of_the_site_do_what_their_docstrings_say(name, monkeypatch):
    monkeypatch.syspath_prepend(ROOT / "tools" / "site")
    module = __import__(name)
    assert doctest.testmod(module).failed == 0
    for own in ("index", "repository", "roles"):
        sys.modules.pop(own, None)
