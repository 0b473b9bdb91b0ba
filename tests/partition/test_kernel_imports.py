"""Kernels stay pure: they import NumPy, Numba, the standard library and other kernels, and nothing else."""

from __future__ import annotations

import ast
import sys
from pathlib import Path

import pytest

import microagg

PACKAGE = Path(microagg.__file__).parent
KERNELS = sorted(PACKAGE.glob("**/_kernels/**/*.py"))
INTERNALS = PACKAGE / "_kernels" / "numba_internals.py"


def imported_modules(path: Path) -> set[str]:
    """Every module that a file names in an import, wherever that stands; of a relative import the dots."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            module = "." * node.level + (node.module or "")
            found |= {f"{module}.{alias.name}" for alias in node.names}
    return found


def is_allowed(module: str, path: Path) -> bool:
    top = module.split(".")[0]
    if top == "microagg":
        return "_kernels" in module.split(".")
    if top == "llvmlite":
        return path == INTERNALS
    return top in {"numpy", "numba"} or top in sys.stdlib_module_names


@pytest.mark.parametrize("path", KERNELS, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_a_kernel_imports_numpy_numba_and_kernels_only(path):
    foreign = {module for module in imported_modules(path) if not is_allowed(module, path)}
    assert not foreign


@pytest.mark.parametrize("path", KERNELS, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_what_numba_does_not_document_is_in_one_file(path):
    """Kernels elsewhere use ``numba.njit`` and ``numba.config``, and are compiled by `jit` alone."""
    if path == INTERNALS:
        return
    from_numba = {module for module in imported_modules(path) if module.split(".")[0] == "numba"}
    assert from_numba <= ({"numba.njit", "numba.config"} if path.parent == PACKAGE / "_kernels" else set())


def test_the_rule_notices_what_it_forbids(tmp_path):
    path = tmp_path / "kernel.py"
    path.write_text(
        "import numpy as np\n"
        "from microagg._kernels.jit import entry\n"
        "def f():\n"
        "    from microagg import _progress\n"
        "    import scipy.spatial\n"
        "    from . import rows\n"
        "    from llvmlite import ir\n"
    )
    foreign = {module for module in imported_modules(path) if not is_allowed(module, path)}
    assert foreign == {"microagg._progress", "scipy.spatial", "..rows", "llvmlite.ir"}


def test_there_are_kernels():
    assert len(KERNELS) > 30
    assert INTERNALS in KERNELS
