"""The pictures of README and docs are made by scripts that still run."""

from __future__ import annotations

import importlib.util
from pathlib import Path

from optional_packages import need

PICTURES = Path(__file__).resolve().parents[2] / "docs" / "pictures"


def test_the_frontier_of_the_readme_can_be_drawn(tmp_path):
    need("matplotlib")
    spec = importlib.util.spec_from_file_location("frontier_picture", PICTURES / "frontier.py")
    script = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(script)
    script.draw(tmp_path / "frontier.svg", n_records=300)
    drawn = (tmp_path / "frontier.svg").read_text(encoding="utf-8")
    assert "<svg" in drawn
    assert (PICTURES / "frontier.svg").exists()
