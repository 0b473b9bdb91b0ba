"""Every example runs as its first lines say, and says something."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

import microagg

EXAMPLES = sorted((Path(__file__).parents[2] / "examples").glob("*.py"))


def test_there_are_examples():
    assert 5 <= len(EXAMPLES) <= 8


@pytest.mark.parametrize("script", EXAMPLES, ids=lambda script: script.stem)
def test_the_example_runs(script, tmp_path, pytestconfig):
    if script.stem == "on_a_cluster" and not pytestconfig.getoption("--cluster"):
        pytest.skip("starts a cluster: make test-spark")
    assert f"Run: python examples/{script.name}" in script.read_text(encoding="utf-8")
    package = str(Path(microagg.__file__).parents[1])  # also where it is not installed
    environment = {**os.environ, "PYTHONWARNINGS": "error::DeprecationWarning:__main__", "PYTHONPATH": package}
    done = subprocess.run([sys.executable, str(script)], cwd=tmp_path, capture_output=True, text=True, env=environment)
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip()
