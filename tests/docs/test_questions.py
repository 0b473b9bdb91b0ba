"""The page of questions: enough of them, each answered, and every link leads to the place that it names."""

from __future__ import annotations

import re
from collections import Counter
from functools import cache
from pathlib import Path

import pytest

from microagg.explanations.explain import explain

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "questions.md"
TEXT = PAGE.read_text(encoding="utf-8")
QUESTIONS = re.findall(r"^\d+\. (.*?)(?=^\d+\. |^## |\Z)", TEXT, re.DOTALL | re.MULTILINE)
LINKS = sorted(set(re.findall(r"\]\(([^)\s]+)\)", TEXT)))
LONGEST = 45  # words of an answer


@cache
def anchors_of(page: Path) -> list[str]:
    """The anchors of a page's headings, as pages of repositories are shown; of equal ones the later have numbers."""
    text = re.sub(r"^```.*?^```$", "", page.read_text(encoding="utf-8"), flags=re.DOTALL | re.MULTILINE)
    plain = (re.sub(r"[^\w\- ]", "", one.lower()).replace(" ", "-") for one in re.findall(r"^#+ (.*)$", text, re.M))
    seen: Counter[str] = Counter()
    found = []
    for one in plain:
        found.append(f"{one}-{seen[one]}" if seen[one] else one)
        seen[one] += 1
    return found


def test_there_are_at_least_forty_questions_of_four_kinds_of_people():
    assert len(QUESTIONS) >= 40
    assert re.findall(r"^## An? (.*) asks$", TEXT, re.MULTILINE) == [
        "manager", "data steward", "data-protection officer", "researcher",
    ]  # fmt: skip
    numbers = re.findall(r"^(\d+)\. ", TEXT, re.MULTILINE)
    assert numbers == [str(i + 1) for i in range(len(QUESTIONS))]


@pytest.mark.parametrize("question", QUESTIONS, ids=lambda text: text.split("**")[1][:50])
def test_a_question_is_asked_answered_and_leads_to_the_whole_answer(question):
    asked, answer = re.fullmatch(r"\*\*(.+?)\*\*\s+(.*)", question.strip(), re.DOTALL).groups()
    assert asked[-1] in "?."
    assert len(re.findall(r"\]\([^)]+\)", answer)) == 1
    words = re.sub(r"\[[^\]]*\]\([^)]*\)\s*$", "", answer).split()
    assert 3 <= len(words) <= LONGEST
    assert words[-1][-1] in ".?!"


@pytest.mark.parametrize("link", LINKS)
def test_a_link_leads_to_a_heading(link):
    path, _, anchor = link.partition("#")
    page = (PAGE.parent / path).resolve()
    assert page.is_file()
    assert not anchor or anchor in anchors_of(page)


def test_no_question_is_asked_twice():
    asked = [question.split("**")[1] for question in QUESTIONS]
    assert len(set(asked)) == len(asked)


def test_the_readme_and_the_pages_for_beginners_lead_here():
    for page in ("README.md", "docs/tutorials/steward.md", "docs/guarantees.md"):
        assert "questions.md" in (ROOT / page).read_text(encoding="utf-8")


@pytest.mark.parametrize("page", sorted((ROOT / "docs").glob("*.md")), ids=lambda page: page.name)
def test_anchors_of_all_pages_are_there(page):
    for path, anchor in re.findall(r"\]\(([^)#\s:]*)#([^)\s]+)\)", page.read_text(encoding="utf-8")):
        other = (page.parent / path).resolve() if path else page
        assert anchor in anchors_of(other), f"{path}#{anchor}"


def test_what_the_figures_of_data_protection_are_called_is_explained():
    section = (
        (ROOT / "docs/guarantees.md").read_text(encoding="utf-8").partition("## In the words of data protection")[2]
    )
    named = [name for name in re.findall(r"`([a-z_]+)`", section) if "_" in name or name == "agreement"]
    assert len(named) >= 6
    for name in named:
        assert explain(name).name == name
