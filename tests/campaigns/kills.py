"""Releases, reports and sweeps killed at a step of their files or at a moment, all chosen by chance.

Afterwards the folder is whole and passes its check, or is as it was before, or is not there; and the next start of
anything in that place, whatever its name, leaves no trace of the killed run.
"""

from __future__ import annotations

import os
import shutil
import signal
import sys
import tempfile
import time
import traceback
from collections.abc import Callable
from pathlib import Path

import numpy as np

import microagg
from campaigns.campaign import Campaign
from microagg import Recipe
from microagg.releases.check.check import check_release
from microagg.releases.folder.receipt import Receipt
from microagg.releases.folder.signing import write_key_pair
from release_kinds import RECIPES, made, people

FORMATS = ("csv", "csv.gz", "tsv", "parquet", "feather", "sav", "dta")
STEPS = ("open", "os.", "shutil.", "tempfile.")
LEFT = (".partial", ".pending", ".replaced")
_steps: dict[str, int | None] = {"taken": None, "left": None}


def _kill_at_the_chosen_step(event: str, _: object) -> None:
    if not event.startswith(STEPS):
        return
    if _steps["taken"] is not None:
        _steps["taken"] += 1
    if _steps["left"] is not None:
        if _steps["left"] == 0:
            _steps["left"] = None
            os.kill(os.getpid(), signal.SIGKILL)
        _steps["left"] -= 1


sys.addaudithook(_kill_at_the_chosen_step)


def in_a_child(
    work: Callable[[], object],
    *,
    rehearsal: Callable[[], object] = lambda: None,
    share: float | None = None,
    seconds: float | None = None,
) -> str:
    """Do something in a process of its own, killed after a share of its steps or after a time.

    The rehearsal does the same elsewhere, to import what is needed and to count the steps.
    """
    ready, tell = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            rehearsal()
            _steps["taken"] = 0
            rehearsal()
            taken, _steps["taken"] = _steps["taken"], None
            os.write(tell, b"!")
            _steps["left"] = None if share is None else int(share * taken)
            work()
            _steps["left"] = None
            os._exit(0)
        except BaseException:
            _steps["left"] = None
            traceback.print_exc()
            os._exit(1)
    os.close(tell)
    os.read(ready, 1)
    os.close(ready)
    if seconds is not None:
        time.sleep(seconds)
        os.kill(child, signal.SIGKILL)  # one that is done waits to be asked how it ended: the number is its own
    _, status = os.waitpid(child, 0)
    if os.WIFSIGNALED(status):
        assert os.WTERMSIG(status) == signal.SIGKILL, status
        return "killed"
    assert os.WEXITSTATUS(status) == 0, "the work itself failed"
    return "done"


def whole(folder: Path) -> None:
    """Pass the check, against the receipt too."""
    wrong = [finding for finding in check_release(folder) if not finding.holds]
    assert not wrong, wrong


def traces(room: Path) -> list[str]:
    return [str(path.relative_to(room)) for path in room.rglob("*") if path.name.endswith(LEFT)]


def _sweep(room: Path) -> None:
    recipe = Recipe(**RECIPES["individual ranking"])
    recipe = recipe.changed({"sweep": {"methods": ["mdav", "pcp"], "k": [2, 4], "measures": ["KS"], "repeats": 1}})
    microagg.sweep(people("individual ranking"), recipe, folder=room / "frontier", workers=1)


def case(number: int) -> str:
    rng = np.random.default_rng(number)
    kind = list(RECIPES)[int(rng.integers(len(RECIPES)))]
    action = str(rng.choice(["save", "overwrite", "report", "sweep"], p=[0.35, 0.35, 0.2, 0.1]))
    file_format = str(rng.choice(FORMATS))
    begins = action in ("overwrite", "report")
    scratch = Path(tempfile.mkdtemp())
    room = scratch / "room"
    room.mkdir()
    try:
        key = write_key_pair(scratch / "key")[0] if rng.random() < 0.3 else None
        first, second = made(kind), made(kind, seeded=True)

        def begin(place: Path) -> None:
            if begins:
                first.save(place / "out", report=bool(number % 2), sign=key, overwrite=True)

        def work(place: Path) -> None:
            if action == "sweep":
                _sweep(place)
            elif action == "report":
                first.report(place / "out" / "report.html", sign=key)
            else:
                over = begins or place != room
                second.save(place / "out", format=file_format, report=True, overwrite=over, sign=key)

        def rehearse() -> None:
            with tempfile.TemporaryDirectory(dir=scratch) as place:
                begin(Path(place))
                work(Path(place))

        in_a_child(lambda: begin(room))
        chosen = {"share": float(rng.random())} if rng.random() < 0.7 else {"seconds": float(rng.uniform(0, 0.15))}
        end = in_a_child(lambda: work(room), rehearsal=rehearse, **chosen)
        folder = room / "out"
        if folder.exists():
            in_a_child(lambda: whole(folder))
        else:
            assert not begins or end == "killed"  # in the instant between two renames
        in_a_child(lambda: first.save(room / "next", format="csv"))
        assert not traces(room), traces(room)
        assert folder.exists() or not begins
        if folder.exists():
            in_a_child(lambda: whole(folder))
        receipts = [Receipt.load(path) for path in room.glob("out.receipt-*.json")]
        assert bool(receipts) is folder.exists(), "a receipt without its release, or a release without its receipt"
        if action == "sweep":
            in_a_child(lambda: _sweep(room))
            assert (room / "frontier" / "which.txt").exists()
            assert not traces(room), traces(room)
        left = "whole" if folder.exists() else "nothing there"
        return f"{action} {end}" if action == "sweep" else f"{action} {end}, {left}"
    finally:
        shutil.rmtree(scratch)


CAMPAIGN = Campaign(
    name="kills",
    promise="A killed run leaves a whole folder or the one before, and the next start leaves no trace of it.",
    case=case,
    quick=8,
    long=600,
    seconds=120,
    packages=("cryptography",),
)
