"""Doctests of a module that needs an extra to be imported are skipped where that is not installed, by its name."""

from __future__ import annotations

import re
import tomllib
from importlib import import_module
from pathlib import Path

import pytest

_SOURCE = Path(__file__).resolve().parent
_PROJECT = tomllib.loads((_SOURCE.parent / "pyproject.toml").read_text(encoding="utf-8"))["project"]
_EXTRAS = {one for extra in _PROJECT["optional-dependencies"].values() for one in extra}

# What modules of src import of an extra has the name of what is installed: python-multipart is python_multipart.
_OPTIONAL = {re.split(r"[^\w.-]", one)[0].lower().replace("-", "_") for one in _EXTRAS} - {"microagg"}


def _lacking(module: str) -> str | None:
    """The package of an extra for want of which a module cannot be imported."""
    try:
        import_module(module)
    except ModuleNotFoundError as error:
        package = (error.name or "").partition(".")[0]
        return package if package in _OPTIONAL else None
    except Exception:
        return None  # A fault, which pytest meets again and reports.
    return None


@pytest.hookimpl(tryfirst=True)
def pytest_make_collect_report(collector: pytest.Collector) -> pytest.CollectReport | None:
    """Skip a module that lacks something; all others are left to pytest, which need not import them again."""
    path = collector.path
    if not isinstance(collector, pytest.File) or path.parent == _SOURCE:
        return None
    module = ".".join(path.relative_to(_SOURCE).with_suffix("").parts).removesuffix(".__init__")
    if (package := _lacking(module)) is None:
        return None
    return pytest.CollectReport(collector.nodeid, "skipped", (str(path), 1, f"Skipped: needs {package}"), [])
