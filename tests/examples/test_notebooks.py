"""Every notebook runs, and shows what is stored in it; no cell ends in an error."""

import importlib.util
import json
from pathlib import Path

import pytest

from optional_packages import need

ROOT = Path(__file__).parents[2]
NEEDS = {"data_scientist": ("pandas", "matplotlib"), "researcher": ("matplotlib",), "steward": ()}


def _tool():
    spec = importlib.util.spec_from_file_location("notebooks_tool", ROOT / "tools" / "notebooks.py")
    tool = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(tool)
    return tool


tool = _tool()


def comparable(outputs):
    """Outputs without what other versions of pandas and Matplotlib write otherwise: only that it is there counts."""
    found = []
    for output in outputs:
        data = output.get("data", {})
        of_others = "image/svg+xml" in data or any('class="dataframe"' in line for line in data.get("text/html", ()))
        found.append((output["output_type"], sorted(data)) if of_others else output)
    return found


def test_there_is_a_notebook_for_each_kind_of_user():
    assert {path.stem for path in tool.notebooks()} == set(NEEDS)


@pytest.mark.parametrize("path", tool.notebooks(), ids=lambda path: path.stem)
def test_a_notebook_shows_what_is_stored_in_it(path):
    for package in NEEDS[path.stem]:
        need(package)
    cells = [cell for cell in json.loads(path.read_text(encoding="utf-8"))["cells"] if cell["cell_type"] == "code"]
    shown = tool.shown_by(path)
    assert [comparable(one) for one in shown] == [comparable(cell["outputs"]) for cell in cells], (
        "run: python tools/notebooks.py"
    )
    assert any(shown)
