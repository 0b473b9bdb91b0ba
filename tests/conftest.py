"""What all tests share: where the reference data lies, the table libraries, and small recipes."""

from __future__ import annotations

import os
import signal
import tomllib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

import microagg
from microagg.partition.uncompiled.choice import always_by
from optional_packages import pandas as pd
from optional_packages import polars as pl

# Property tests draw the same examples on every run: a failure is a fact about the code, not about the day.
settings.register_profile(
    "microagg",
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.differing_executors],
)
settings.load_profile("microagg")

# What runs in the background of a shell script may not hear Ctrl-C, nor would processes that tests start and interrupt.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

_ROOT = Path(__file__).resolve().parents[1]
_TEST_DATA = tomllib.loads((_ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["microagg"]["test-data"]
_BESIDE = (_ROOT / _TEST_DATA["folder"]).resolve()
if "MICROAGG_DATA" not in os.environ and _BESIDE.is_dir():
    os.environ["MICROAGG_DATA"] = str(_BESIDE)

# A test that is skipped because the machine lacks something gives a reason that begins so, and names it.
_LACKS = "needs "

# Some tests of these draw noise, records or searches from the system's randomness, without a seed.
_DRAWING = {
    *("aggregate/test_sampling.py", "partition/test_near_optimal.py", "private/test_budget_kept.py"),
    *("privacy/test_mechanism.py", "private/test_private_loss.py", "private/test_cross_moment.py"),
    *("methods/test_methods.py", "private/test_private.py", "private/test_private_limits.py"),
    *("private/test_private_types.py", "releases/test_release.py", "releases/test_sampled.py"),
    *("releases/test_searching.py", "report/test_public_form.py"),
}


# These hold kernels against their plain listings, on small tables. Left to itself, a process that has not loaded a
# kernel would have NumPy answer for them (see `microagg.partition.uncompiled`), and the kernels would go untested. All
# other tests leave the choice alone, as users do; that it changes no result is tested in partition/test_uncompiled.py.
_OF_KERNELS = ("partition", "contract", "reference")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--repeat", type=int, default=1, help="How many times to run each test that is marked chance.")
    parser.addoption(
        "--complete",
        action="store_true",
        help="Fail if the machine lacks what a test needs, and name it.",
    )
    parser.addoption(
        "--cluster",
        action="store_true",
        help="Also run the tests that start a Spark cluster of several processes, which take minutes.",
    )


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "kernel: also run with the just-in-time compiler off")
    config.addinivalue_line("markers", "chance: may draw from the system's randomness; see --repeat")


def _lacking(config: pytest.Config) -> list[str]:
    """What the skipped tests would have needed."""
    reporter = config.pluginmanager.get_plugin("terminalreporter")
    if reporter is None or not config.getoption("--complete"):
        return []
    reasons = {report.longrepr[2].removeprefix("Skipped: ") for report in reporter.getreports("skipped")}
    return sorted(reason.removeprefix(_LACKS) for reason in reasons if reason.startswith(_LACKS))


@pytest.hookimpl(tryfirst=True)
def pytest_sessionfinish(session: pytest.Session) -> None:
    if _lacking(session.config) and session.exitstatus == pytest.ExitCode.OK:
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


@pytest.hookimpl(trylast=True)
def pytest_unconfigure(config: pytest.Config) -> None:
    if lacking := _lacking(config):
        print(f"not on this machine: {'; '.join(lacking)}")


def _draws(path: Path) -> bool:
    return "/".join(path.parts[-2:]) in _DRAWING


def pytest_itemcollected(item: pytest.Item) -> None:
    if _draws(item.path):
        item.add_marker(pytest.mark.chance)


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    repeats = metafunc.config.getoption("--repeat")
    if repeats > 1 and _draws(metafunc.definition.path):
        metafunc.fixturenames.append("repetition")
        metafunc.parametrize("repetition", range(repeats))


@pytest.fixture(autouse=True)
def kernels_where_they_are_tested(request: pytest.FixtureRequest) -> Iterator[None]:
    """Let kernels form the cells in the tests of kernels."""
    with always_by("kernels" if request.path.parent.name in _OF_KERNELS else None):
        yield


@pytest.fixture
def reference_data() -> Callable[[str], Any]:
    """Load a reference table as pyarrow, or skip with the line that gets it."""

    def load(name: str) -> Any:
        assert name in _TEST_DATA["tables"], f"pyproject.toml does not declare that tests need the table {name}"
        entry = {entry.name: entry for entry in microagg.datasets.available()}[name]
        if entry.where == "not here":
            pytest.skip(f"{_LACKS}the table {name} (microagg datasets --fetch {name})")
        return getattr(microagg.datasets, f"load_{name}")()

    return load


def _pandas(data: dict[str, Any]) -> Any:
    return pd.DataFrame(data)


def _polars(data: dict[str, Any]) -> Any:
    return pl.DataFrame(data)


def _pyarrow(data: dict[str, Any]) -> Any:
    import pyarrow as pa

    return pa.table(data)


@pytest.fixture(params=[_pandas, _polars, _pyarrow], ids=["pandas", "polars", "pyarrow"])
def constructor(request: pytest.FixtureRequest) -> Callable[[dict[str, Any]], Any]:
    """Build a table of each supported library from lists."""
    return request.param
