"""Whenever a release in parts is interrupted or killed, nothing of it is there, and the next run leaves no trace."""

from __future__ import annotations

import os
import signal
import sys
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from typer.testing import CliRunner

from microagg import Recipe
from microagg.cli.app import app
from microagg.cli.terminal import INTERRUPTED
from microagg.engines import files, folder, in_parts, tasks
from microagg.engines.outofcore import release_out_of_core
from microagg.engines.planning import plan, survey
from microagg.releases.check.check import check_release
from microagg.releases.folder import atomic
from microagg.statements import parts
from microagg.tables.parts import heaps

NUMERIC = {"role": "quasi_identifier", "kind": "numeric"}
RECIPE = Recipe(
    k=5,
    attributes={"x": NUMERIC, "y": NUMERIC, "s": "confidential"},
    engine={"shard_records": 300, "block_records": 100, "sample_per_shard": 50},
)
TEXT = """
k = 5
[engine]
shard_records = 300
block_records = 100
sample_per_shard = 50
[attributes]
x = { role = "quasi_identifier", kind = "numeric" }
y = { role = "quasi_identifier", kind = "numeric" }
s = "confidential"
"""
STEPS = {
    "find the files": (files, "find_files"),
    "survey": (survey.Survey, "add"),
    "sample": (plan.Sampling, "add"),
    "grow": (plan.Sampling, "finish"),
    "scatter": (tasks.RouteRecords, "_spread"),
    "put on heaps": (heaps.Heaps, "write"),
    "cells": (tasks, "release_shard"),
    "write": (tasks, "write_table"),
    "count": (parts.PartsQuestion, "count"),
    "state": (in_parts, "_statement"),
    "hash": (folder, "sha256_of_file"),
    "put in place": (atomic, "_put_in_place"),
}


@pytest.fixture
def room(tmp_path: Path) -> Path:
    rng = np.random.default_rng(0)
    table = pa.table({"x": rng.normal(size=1_000), "y": rng.normal(size=1_000), "s": rng.integers(0, 3, 1_000)})
    pq.write_table(table, tmp_path / "data.parquet")
    (tmp_path / "recipe.toml").write_text(TEXT, encoding="utf-8")
    return tmp_path


def held(room: Path) -> list[str]:
    return sorted(path.name for path in room.iterdir())


@pytest.mark.parametrize("step", list(STEPS))
def test_an_interrupt_at_any_step_leaves_nothing(room, monkeypatch, step):
    where, name = STEPS[step]

    def interrupted(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr(where, name, interrupted)
    with pytest.raises(KeyboardInterrupt):
        release_out_of_core(room / "data.parquet", RECIPE, room / "out")
    assert held(room) == ["data.parquet", "recipe.toml"]


def test_ctrl_c_in_the_command_says_so(room, monkeypatch):
    made = tasks.release_shard

    def press(*arguments):
        os.kill(os.getpid(), signal.SIGINT)
        return made(*arguments)

    monkeypatch.setattr(tasks, "release_shard", press)
    given = ["release", str(room / "data.parquet"), "-r", str(room / "recipe.toml"), "-o", str(room / "out")]
    result = CliRunner().invoke(app, [*given, "--engine", "outofcore"])
    assert result.exit_code == INTERRUPTED
    assert "nothing was written" in result.output
    assert held(room) == ["data.parquet", "recipe.toml"]


@pytest.mark.skipif(sys.platform == "win32", reason="no fork")
@pytest.mark.parametrize(
    ("step", "overwrite"),
    [*((step, True) for step in STEPS), ("write", False), ("count", False), ("put in place", False)],
)
def test_a_kill_at_any_step_publishes_nothing(room, step, overwrite):
    if overwrite:
        release_out_of_core(room / "data.parquet", RECIPE, room / "out", seed=1)
        before = (room / "out" / "manifest.json").read_bytes()
    where, name = STEPS[step]
    release_out_of_core(room / "data.parquet", RECIPE, room / "warm")  # kernels are compiled before the fork
    child = os.fork()
    if child == 0:
        try:
            setattr(where, name, lambda *_, **__: os.kill(os.getpid(), signal.SIGKILL))
            release_out_of_core(room / "data.parquet", RECIPE, room / "out", overwrite=overwrite)
        finally:
            os._exit(1)
    _, status = os.waitpid(child, 0)
    assert os.WIFSIGNALED(status)
    if overwrite:
        assert (room / "out" / "manifest.json").read_bytes() == before
    else:
        assert not (room / "out").exists()
    release_out_of_core(room / "data.parquet", RECIPE, room / "out", overwrite=overwrite)
    assert not list(room.glob(".*"))
    assert all(finding.holds for finding in check_release(room / "out"))
