"""The process that works: it can be ended at any time, its death is told, and what is left behind is swept."""

from __future__ import annotations

import http.client
import os
import signal
import time
from pathlib import Path

import numpy as np
import pytest

from optional_packages import need
from studio_pages import SURVEY


def wait_for(happened, seconds=120.0):
    """Wait until something happened; it must."""
    deadline = time.monotonic() + seconds
    while not (found := happened()):
        assert time.monotonic() < deadline, "it never happened"
        time.sleep(0.02)
    return found


def is_alive(pid):
    """Whether a process runs; one that has ended and waits to be noticed does not."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


@pytest.fixture(scope="module")
def large(tmp_path_factory):
    """A table whose cells take a kernel minutes to form, and its recipe."""
    folder = tmp_path_factory.mktemp("large")
    path = folder / "large.csv"
    numbers = np.random.default_rng(0).normal(size=(250_000, 3))
    np.savetxt(path, numbers, fmt="%.4f", delimiter=",", header="a,b,c", comments="")
    lines = [f'[attributes.{name}]\nrole = "quasi_identifier"\nkind = "numeric"\n' for name in "abc"]
    return path, "\n".join(['method = "mdav"\nk = 2\n', *lines])


def test_a_job_ends_in_the_middle_of_a_kernel_and_a_killed_one_is_told(large, tmp_path):
    need("starlette")
    from microagg.studio.jobs import CANCELLED, DONE, FAILED, Jobs

    path, recipe = large
    (tmp_path / "work").mkdir()
    jobs, results = Jobs(tmp_path / "work"), []
    wanted = {
        "path": str(path),
        "recipe": recipe,
        "folder": str(tmp_path),
        "into": str(tmp_path / "out"),
        "seed": 1,
        "file_format": None,
        "sign": None,
        "state_total": False,
        "facts": str(tmp_path / "facts.html"),
    }
    job = jobs.start("release", "a long one", wanted, results.append)
    wait_for(lambda: job.task.startswith(("forming", "compiling")) or not job.is_running)
    assert job.is_running, job.message
    with pytest.raises(ValueError, match="one job at a time"):
        jobs.start("release", "a second one", wanted, results.append)
    worker = jobs._process.pid
    assert jobs.cancel()
    assert job.state == CANCELLED
    assert not is_alive(worker)
    assert not (tmp_path / "out").exists()
    assert not jobs.cancel()

    dying = jobs.start("release", "one that is killed", wanted, results.append)
    os.kill(jobs._process.pid, signal.SIGKILL)
    wait_for(lambda: not dying.is_running)
    assert dying.state == FAILED
    assert "ended from outside (by signal 9)" in dying.message

    small = tmp_path / "small.csv"
    small.write_text(SURVEY)
    after = jobs.start("look", "a short one", {"path": str(small), "chosen": {}, "k": 2}, results.append)
    wait_for(lambda: not after.is_running)
    assert after.state == DONE, after.message
    assert results[0]["records"] == 6
    failing = jobs.start("look", "no file", {"path": str(tmp_path / "no.csv"), "chosen": {}, "k": 2}, results.append)
    wait_for(lambda: not failing.is_running)
    assert failing.state == FAILED
    assert "no.csv" in failing.message
    jobs.close()


def test_a_killed_studio_leaves_nothing_after_the_next_start(running):
    studio = running()
    connection = http.client.HTTPConnection("127.0.0.1", int(studio.origin.rpartition(":")[2]))
    connection.request("GET", studio.address.removeprefix(studio.origin))
    entered = connection.getresponse()
    entered.read()
    cookie = entered.getheader("set-cookie").partition(";")[0]
    body = (
        b'--edge\r\nContent-Disposition: form-data; name="file"; filename="people.csv"\r\n\r\n'
        + SURVEY.encode()
        + b"\r\n--edge--\r\n"
    )
    headers = {"cookie": cookie, "origin": studio.origin, "content-type": "multipart/form-data; boundary=edge"}
    connection.request("POST", "/table/send", body, headers)
    assert connection.getresponse().status == 303
    connection.close()
    assert list(studio.state.rglob("people.csv"))
    numbers = [one.name for one in Path("/proc").iterdir() if one.name.isdecimal()]
    workers = [int(number) for number in numbers if _started_by(number, studio.process.pid)]
    recipe = wait_for(lambda: list(studio.state.rglob("recipe.toml")))[0].read_text()
    studio.kill()
    wait_for(lambda: not any(is_alive(pid) for pid in workers))
    assert list(studio.state.rglob("people.csv"))  # nobody could remove it

    again = running()
    assert not list(again.state.rglob("people.csv"))
    assert len(list(again.state.glob("run-*"))) == 1
    assert next(iter(again.state.rglob("recipe.toml"))).read_text() == recipe
    again.end()
    assert not list(again.state.glob("run-*"))


def _started_by(pid, parent):
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1] == str(parent)
    except FileNotFoundError:
        return False


@pytest.mark.parametrize("name", ["SIGTERM", "SIGHUP"])
def test_a_closed_terminal_ends_a_server_in_order(name):
    need("uvicorn")
    from types import SimpleNamespace

    from microagg.studio.server import _ended_by_signals

    server, number = SimpleNamespace(should_exit=False), getattr(signal, name)
    before = signal.getsignal(number)
    with _ended_by_signals(server):
        signal.raise_signal(number)
    assert server.should_exit
    assert signal.getsignal(number) is before
    signal.signal(number, signal.SIG_IGN)  # as nohup does
    try:
        with _ended_by_signals(SimpleNamespace()):
            signal.raise_signal(number)
    finally:
        signal.signal(number, before)
