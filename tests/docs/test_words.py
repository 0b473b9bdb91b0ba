"""The words on docs/measures.md are those of the measures."""

from __future__ import annotations

import importlib.util
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def test_the_page_of_measures_has_the_words_of_the_measures():
    spec = importlib.util.spec_from_file_location("words_of_measures", ROOT / "docs" / "words.py")
    words = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(words)
    page = words.PAGE.read_text(encoding="utf-8")
    assert page == words.page_with(page), "run: python docs/words.py"
