"""Where standard error is no terminal, long work tells how it goes on in plain lines."""

from __future__ import annotations

import subprocess
import sys

import pytest

from microagg._progress import report, shown_by
from microagg._progress_lines import ProgressLines


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def heard():
    clock, said = Clock(), []
    return clock, said, ProgressLines(said.append, every=10.0, clock=clock)


def test_short_work_says_nothing(heard):
    clock, said, lines = heard
    with shown_by(lines.listen):
        for step in range(10):
            clock.now = step
            report("forming cells", step / 10)
        report("forming cells", 1.0)
    assert not said


def test_long_work_says_how_far_it_is_at_most_every_ten_seconds(heard):
    clock, said, lines = heard
    with shown_by(lines.listen):
        for step in range(40):
            clock.now = step
            report("forming cells", step / 40)
    assert said == ["forming cells: 25 %", "forming cells: 50 %", "forming cells: 75 %"]


def test_a_task_that_is_silent_is_told_again(heard):
    clock, said, lines = heard
    lines.listen("searching cells: loses 3.1 %", 0.4)
    clock.now = 12.0
    lines.tick()
    clock.now = 15.0
    lines.tick()
    assert said == ["searching cells: 40 % (loses 3.1 %)"]


def test_compiling_is_said_at_once_and_once(heard):
    clock, said, lines = heard
    lines.listen("compiling the scan, first use on this machine, about 9 seconds", 0.0)
    lines.listen("compiling the scan, first use on this machine, about 9 seconds", 0.0)
    clock.now = 30.0
    lines.tick()
    assert said == ["microagg: compiling the scan, first use on this machine, about 9 seconds"]


def test_lines_go_to_standard_error_of_a_command_without_a_terminal():
    script = (
        "from microagg import _progress_lines; _progress_lines.EVERY = 0.0\n"
        "from microagg.cli.terminal import shows_progress\n"
        "from microagg._progress import report\n"
        "with shows_progress(): report('forming cells', 0.4)\n"
    )
    ended = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert ended.stderr == "forming cells: 40 %\n"
    assert not ended.stdout
