"""Where Numba lacks what it does not document, kernels do without: with a warning, and with the very same labels."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tomllib
import warnings
from pathlib import Path

import numpy as np
import pytest

from mdav_tables import compiled, near_constant, outliers, smooth, ties
from microagg import MDAV, VMDAV, NearOptimal, OptimalUnivariate, Projection
from microagg.partition.uncompiled.choice import always_by

FIT = """
import json, sys, warnings
{pretend}
sys.path.insert(0, {tests!r})
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    from test_numba_internals import fit_everything
    labels = fit_everything()
from microagg._kernels import jit
said = [str(warning.message) for warning in caught if issubclass(warning.category, RuntimeWarning)]
print(json.dumps({{"labels": labels, "said": said, "has_vectors": jit.HAS_VECTORS}}))
"""
WITHOUT = "sys.modules['microagg._kernels.numba_internals'] = None"


@pytest.fixture
def numba_internals():
    from microagg._kernels import numba_internals  # not above: this file is imported where it is missing

    return numba_internals


def fit_everything() -> dict[str, list[int]]:
    """Labels of every method that has kernels, on tables with ties and outliers, some large enough for a tree."""
    labels = {}
    with always_by("kernels"):  # NumPy would answer for small tables
        for seed, kind in enumerate((smooth, ties, outliers, near_constant)):
            X = kind(np.random.default_rng(seed), 3100, 3)
            for algorithm in ("auto", "tree", "brute", "plain"):
                labels[f"{kind.__name__} {algorithm}"] = MDAV(k=20, algorithm=algorithm).fit(X).labels_
            labels[f"{kind.__name__} 2k"] = MDAV(k=20, variant="2k").fit(X[:300]).labels_
            labels[f"{kind.__name__} vmdav"] = VMDAV(k=20).fit(X).labels_
            labels[f"{kind.__name__} projection"] = Projection(k=4).fit(X).labels_
            labels[f"{kind.__name__} univariate"] = OptimalUnivariate(k=4).fit(X[:, :1]).labels_
            labels[f"{kind.__name__} near"] = NearOptimal(k=3, effort="fast", random_state=1).fit(X[:200]).labels_
    return {name: found.tolist() for name, found in labels.items()}


def run(pretend: str) -> dict:
    tests = str(Path(__file__).parent)
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(Path(__file__).parents[1]), *sys.path])}
    command = [sys.executable, "-c", FIT.format(pretend=pretend, tests=tests)]
    done = subprocess.run(command, capture_output=True, text=True, env=environment)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@compiled
def test_without_the_internals_labels_are_the_same_and_a_warning_says_so_once():
    without = run(WITHOUT)
    assert without["has_vectors"] is False
    assert len(without["said"]) == 1
    assert "results are the same" in without["said"][0]
    expected = fit_everything()
    assert without["labels"].keys() == expected.keys()
    for name, labels in expected.items():
        np.testing.assert_array_equal(without["labels"][name], labels, err_msg=name)


@pytest.mark.parametrize("version", ["0.60.0", "0.61.2", "0.68.1", "0.68.0rc1"])
def test_tested_versions_are_used(numba_internals, version):
    numba_internals.check_this_numba(version)


@pytest.mark.parametrize("version", ["0.59.1", "0.69.0", "0.69.0dev0+12.g1f3", "1.0.0"])
def test_other_versions_are_refused_by_name(numba_internals, version):
    with pytest.raises(ImportError, match=version.replace("+", r"\+")):
        numba_internals.check_this_numba(version)


@pytest.mark.parametrize("option", ["_nrt", "forceinline", "no_cfunc_wrapper", "no_cpython_wrapper"])
def test_a_numba_without_an_option_is_refused(numba_internals, monkeypatch, option):
    class Options:
        pass

    known = {*numba_internals.ALLOCATE_NOTHING, *numba_internals.NOT_FROM_PYTHON, *numba_internals.FORCE_INLINE}
    for name in known - {option}:
        setattr(Options, name, True)
    monkeypatch.setattr(numba_internals, "CPUTargetOptions", Options)
    with pytest.raises(ImportError, match=option):
        numba_internals.check_this_numba("0.68.1")


def test_the_tested_range_is_the_declared_one(numba_internals):
    project = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text())["project"]
    first, below = (".".join(map(str, v)) for v in (numba_internals.TESTED_FROM, numba_internals.TESTED_BELOW))
    assert f"numba>={first},<{below}" in project["dependencies"]
    assert any(dependency.startswith("llvmlite>=") for dependency in project["dependencies"])


def test_a_complete_numba_gives_no_warning():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        from microagg._kernels.jit import HAS_VECTORS
    assert HAS_VECTORS
