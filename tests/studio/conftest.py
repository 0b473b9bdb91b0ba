"""What drives a studio from outside: its process, and the browser of the machine."""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from optional_packages import need
from studio_pages import open_studio, with_project

_BROWSERS = ("chromium", "chromium-browser", "google-chrome")
_OPTIONS = [
    *("--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking"),
    *("--disable-component-update", "--disable-sync"),
]


class Running:
    """A studio in a process of its own."""

    def __init__(self, state: Path, *arguments: str) -> None:
        for package in ("starlette", "uvicorn", "python_multipart"):
            need(package)
        self.state = state
        self.process = subprocess.Popen(
            [sys.executable, "-m", "microagg", "studio", "--no-browser", *arguments],
            stderr=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            text=True,
            cwd=state.parent,
            env={**os.environ, "MICROAGG_STUDIO_STATE": str(state), "OMP_NUM_THREADS": "1"},
        )
        said = ""
        self.address = ""
        assert self.process.stderr is not None
        for line in self.process.stderr:
            said += line
            found = re.search(r"http://127\.0\.0\.1:\d+/enter\?token=\S+", line)
            if found:
                self.address = found[0]
                break
        assert self.address, said
        self.origin = self.address.partition("/enter")[0]

    def kill(self) -> None:
        self.process.kill()
        self._wait()

    def end(self) -> None:
        """As Ctrl-C does."""
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGINT)
            self._wait()

    def _wait(self) -> None:
        self.process.communicate(timeout=60)


@pytest.fixture
def running(tmp_path: Path) -> Iterator[Callable[..., Running]]:
    """Start studios, all with the same state folder; they are ended with the test."""
    started: list[Running] = []

    def start(*arguments: str) -> Running:
        started.append(Running(tmp_path / "state", *arguments))
        return started[-1]

    yield start
    for one in started:
        one.end()


@pytest.fixture(scope="session")
def chromium() -> Iterator[Any]:
    """The browser of the machine."""
    sync_api = need("playwright.sync_api")
    path = next((found for name in _BROWSERS if (found := shutil.which(name))), None)
    if path is None:
        pytest.skip("needs a browser (apt-get install chromium)")
    with sync_api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=_OPTIONS)
        yield browser
        browser.close()


@pytest.fixture
def opened(tmp_path: Path) -> Iterator[tuple[Any, Any, Any]]:
    """A studio that listens nowhere, a browser in it, and the table that is open."""
    studio, browser, _ = open_studio(tmp_path)
    project = with_project(studio, tmp_path)
    yield studio, browser, project
    studio.close()
