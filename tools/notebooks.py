"""Run the notebooks of examples/ and write what their cells show. Run: python tools/notebooks.py

A cell is run as Python alone would run it, so nothing of Jupyter is needed. `tests/examples` holds what is stored
against what the cells show.
"""

from __future__ import annotations

import ast
import contextlib
import io
import json
import os
import tempfile
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).resolve().parents[1] / "examples"
_FORMS = {"text/html": "_repr_html_", "image/svg+xml": "_repr_svg_"}


def notebooks() -> list[Path]:
    """All notebooks."""
    return sorted(FOLDER.glob("*.ipynb"))


def shown_by(path: Path) -> list[list[dict[str, Any]]]:
    """What each code cell shows, run in order in an empty folder."""
    cells = [cell for cell in json.loads(path.read_text(encoding="utf-8"))["cells"] if cell["cell_type"] == "code"]
    names: dict[str, Any] = {"__name__": "__main__"}
    before = Path.cwd()
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        try:
            numbered = enumerate(("".join(cell["source"]) for cell in cells), start=1)
            return [_run(source, names, f"{path.name}, cell {count}", count) for count, source in numbered]
        finally:
            os.chdir(before)


def _run(source: str, names: dict[str, Any], where: str, count: int) -> list[dict[str, Any]]:
    tree = ast.parse(source, where)
    last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
    said, value = io.StringIO(), None
    with contextlib.redirect_stdout(said):
        exec(compile(tree, where, "exec"), names)
        if last is not None:
            value = eval(compile(ast.Expression(last.value), where, "eval"), names)
    outputs: list[dict[str, Any]] = []
    if said.getvalue():
        outputs.append({"name": "stdout", "output_type": "stream", "text": said.getvalue().splitlines(keepends=True)})
    if value is not None:
        forms = {"text/plain": repr(value)}
        forms |= {form: getattr(value, name)() for form, name in _FORMS.items() if hasattr(value, name)}
        data = {form: text.splitlines(keepends=True) for form, text in forms.items() if text is not None}
        outputs.append({"data": data, "execution_count": count, "metadata": {}, "output_type": "execute_result"})
    return outputs


def write(path: Path) -> None:
    """Run a notebook and store what its cells show."""
    content = json.loads(path.read_text(encoding="utf-8"))
    code = [cell for cell in content["cells"] if cell["cell_type"] == "code"]
    for count, (cell, outputs) in enumerate(zip(code, shown_by(path), strict=True), start=1):
        cell |= {"outputs": outputs, "execution_count": count}
    path.write_text(json.dumps(content, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


if __name__ == "__main__":
    for one in notebooks():
        write(one)
        print(one.name)
