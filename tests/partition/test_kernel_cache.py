"""Compiled kernels are kept until a kernel source changes, wherever they are kept, and never longer."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest

import microagg
from mdav_tables import compiled
from microagg._kernels.first_use import LONG
from microagg._kernels.sources import KEPT_FOLDERS, PREFIX, KernelSources, remove_old_folders

PACKAGE = Path(microagg.__file__).parent

# Packs some points by the kernel `fill_points`, of which an inner part, `pack`, lies in another file.
PACK = """
import json
import numpy as np
from microagg._kernels import first_use
first_use.LONG["fill_points"] = ("the packing of points", 1)
from microagg._progress_lines import lines_of_progress
from microagg.partition._compiling import needs_compiling
from microagg.partition._kernels.mdav.centroid_tracker import track_centroid
from microagg.partition._kernels.mdav.filter_space import filter_space
from microagg.partition._kernels.mdav.rows import distinct_rows
from microagg.partition._kernels.mdav.scan.blocks import build_blocks, fill_points

X = np.random.default_rng(0).normal(size=(20, 3))
space = filter_space(X)
before = needs_compiling(fill_points)
{meanwhile}
with lines_of_progress():
    blocks = build_blocks(distinct_rows(X), space, track_centroid(X, space))
stats = getattr(fill_points, "stats", None)
print(json.dumps({{
    "result": int(blocks.points.sum()),
    "needed": before,
    "needed_after": needs_compiling(fill_points),
    "loaded": sum(stats.cache_hits.values()) if stats else 0,
    "compiled": sum(stats.cache_misses.values()) if stats else 0,
    "folder": stats.cache_path if stats else None,
}}))
"""
SAID = "microagg: compiling the packing of points, first use on this machine, about 1 seconds\n"


class Installation:
    """A copy of the package, and where its kernels are cached."""

    def __init__(self, folder: Path, environment: dict[str, str]) -> None:
        self.package = folder / "site" / "microagg"
        shutil.copytree(PACKAGE, self.package, ignore=shutil.ignore_patterns("__pycache__"))
        kept = {name: value for name, value in os.environ.items() if not name.startswith("NUMBA_")}
        # Python's own compiled files are off, as two edits within a second could not be told apart by their time.
        self.environment = kept | {"PYTHONPATH": str(self.package.parent), "PYTHONDONTWRITEBYTECODE": "1"} | environment

    def start(self, meanwhile: str = "") -> subprocess.Popen[str]:
        command = [sys.executable, "-c", PACK.format(meanwhile=meanwhile)]
        return subprocess.Popen(
            command, env=self.environment, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE
        )

    def run(self, meanwhile: str = "") -> dict:
        return self.finish(self.start(meanwhile))

    def finish(self, process: subprocess.Popen[str]) -> dict:
        output, errors = process.communicate(timeout=300)
        assert process.returncode == 0, errors
        return json.loads(output) | {"said": errors}

    def edit_inner_function(self) -> None:
        """Change what `pack` returns: a file that the cached kernel is not in."""
        path = self.package / "partition" / "_kernels" / "mdav" / "scan" / "grid.py"
        source = path.read_text()
        assert source.count("square >> 1") == 1
        path.write_text(source.replace("square >> 1", "square >> 2"))

    def folders(self) -> set[str]:
        found = self.package.parents[1].rglob(f"{PREFIX}*")
        return {path.name for path in found if path.is_dir()}


def block_the_package(package: Path) -> None:
    """A file where the cache folder would be keeps even a privileged user from writing there."""
    for folder in {path.parent for path in package.glob("**/_kernels/**/*.py")}:
        (folder / "__pycache__").touch()


@compiled
@pytest.mark.parametrize("place", ["beside the sources", "NUMBA_CACHE_DIR", "the user's cache"])
def test_an_edited_inner_function_is_compiled_and_an_unchanged_one_is_loaded(tmp_path, place):
    environment = {"HOME": str(tmp_path / "home"), "XDG_CACHE_HOME": str(tmp_path / "home")}
    if place == "NUMBA_CACHE_DIR":
        environment["NUMBA_CACHE_DIR"] = str(tmp_path / "chosen")
    installation = Installation(tmp_path, environment)
    if place == "the user's cache":
        block_the_package(installation.package)

    first = installation.run()
    assert (first["needed"], first["loaded"], first["compiled"], first["said"]) == (True, 0, 1, SAID)
    assert not first["needed_after"]
    where = {"beside the sources": "__pycache__", "NUMBA_CACHE_DIR": "chosen", "the user's cache": "home"}[place]
    assert where in Path(first["folder"]).parts

    again = installation.run()
    assert (again["needed"], again["loaded"], again["compiled"], again["said"]) == (False, 1, 0, "")
    assert again["result"] == first["result"]

    installation.edit_inner_function()
    edited = installation.run()
    assert (edited["needed"], edited["loaded"], edited["compiled"]) == (True, 0, 1)
    assert edited["result"] != first["result"]
    assert edited["folder"] != first["folder"]


@compiled
def test_several_processes_fill_one_cache_at_once(tmp_path):
    installation = Installation(tmp_path, {"NUMBA_CACHE_DIR": str(tmp_path / "chosen")})
    together = [installation.finish(process) for process in [installation.start() for _ in range(3)]]
    assert len({run["result"] for run in together}) == 1
    again = installation.run()
    assert (again["loaded"], again["compiled"], again["result"]) == (1, 0, together[0]["result"])


@compiled
def test_a_source_that_changes_while_a_process_runs_leaves_nothing_in_the_cache(tmp_path):
    installation = Installation(tmp_path, {"NUMBA_CACHE_DIR": str(tmp_path / "chosen")})
    grid = installation.package / "partition" / "_kernels" / "mdav" / "scan" / "grid.py"
    straddling = installation.run(meanwhile=f"open({str(grid)!r}, 'a').write('# edited meanwhile')")
    assert straddling["compiled"] == 1
    assert not list((tmp_path / "chosen").rglob("*fill_points*"))
    assert installation.run()["compiled"] == 1


@compiled
def test_a_kernel_whose_file_is_gone_from_the_cache_needs_compiling(tmp_path):
    installation = Installation(tmp_path, {"NUMBA_CACHE_DIR": str(tmp_path / "chosen")})
    installation.run()
    for path in (tmp_path / "chosen").rglob("*fill_points*.nbc"):
        path.unlink()
    again = installation.run()
    assert (again["needed"], again["compiled"], again["needed_after"]) == (True, 1, False)


@compiled
def test_without_any_folder_kernels_are_compiled_every_time_and_a_warning_says_so_once(tmp_path):
    (tmp_path / "file").touch()
    nowhere = str(tmp_path / "file" / "folder")
    installation = Installation(tmp_path, {"HOME": nowhere, "XDG_CACHE_HOME": nowhere})
    block_the_package(installation.package)
    for _ in range(2):
        run = installation.run()
        assert (run["needed"], run["loaded"], run["compiled"]) == (True, 0, 1)
        assert run["said"].count("set NUMBA_CACHE_DIR") == 1
    assert not installation.folders()


@compiled
def test_with_the_compiler_off_nothing_is_cached_or_needs_compiling(tmp_path):
    installation = Installation(tmp_path, {"NUMBA_DISABLE_JIT": "1", "NUMBA_CACHE_DIR": str(tmp_path / "chosen")})
    run = installation.run()
    assert (run["needed"], run["needed_after"], run["said"]) == (False, False, "")
    assert not installation.folders()
    assert not (tmp_path / "chosen").exists()


# --- the digest ------------------------------------------------------------------------------------------------------


@pytest.fixture
def package(tmp_path):
    for name in ("_kernels/jit.py", "partition/_kernels/mdav/tree/search.py", "evaluation/_kernels/near.py"):
        path = tmp_path / "package" / name
        path.parent.mkdir(parents=True)
        path.write_text(f"# {name}\n")
    (tmp_path / "package" / "partition" / "mdav.py").write_text("# not a kernel\n")
    return tmp_path / "package"


@pytest.mark.parametrize("name", ["_kernels/jit.py", "partition/_kernels/mdav/tree/search.py"])
def test_the_folder_changes_with_every_kernel_source(package, name):
    before = KernelSources(package, "numba 1")
    (package / name).write_text("# another\n")
    assert not before.are_unchanged()
    assert KernelSources(package, "numba 1").folder != before.folder


def test_the_folder_changes_with_names_and_with_the_compiler_and_with_nothing_else(package):
    before = KernelSources(package, "numba 1")
    assert before.folder.startswith(PREFIX)
    (package / "partition" / "mdav.py").write_text("# still not a kernel\n")
    os.utime(package / "_kernels" / "jit.py", (0, 0))
    assert KernelSources(package, "numba 1").folder == before.folder
    assert KernelSources(package, "numba 2").folder != before.folder
    near = package / "evaluation" / "_kernels" / "near.py"
    near.rename(near.with_name("far.py"))
    assert not before.are_unchanged()
    assert KernelSources(package, "numba 1").folder != before.folder


def test_without_sources_there_is_no_folder(tmp_path):
    assert KernelSources(tmp_path, "numba 1").folder is None


def test_all_kernels_of_the_package_are_part_of_the_digest():
    found = {path for path in PACKAGE.rglob("*.py") if "_kernels" in path.parts}
    assert set(KernelSources(PACKAGE, "")._files) == found


def test_old_folders_go_but_for_the_last_few_and_those_in_use(tmp_path):
    names = [f"{PREFIX}{number}" for number in range(8)]
    now = time.time()
    for age, name in enumerate(names):
        (tmp_path / name).mkdir()
        (tmp_path / name / "kernel.nbc").touch()
        os.utime(tmp_path / name, (now - 86400 * age, now - 86400 * age))
    (tmp_path / "of somebody else").mkdir()
    remove_old_folders(tmp_path / names[0])
    left = {path.name for path in tmp_path.iterdir()}
    assert left == {*names[: 1 + KEPT_FOLDERS], "of somebody else"}
    for name in names[1 + KEPT_FOLDERS :]:  # made again, and just used
        (tmp_path / name).mkdir()
    remove_old_folders(tmp_path / names[0])
    assert {path.name for path in tmp_path.iterdir()} == {names[0], *names[1 + KEPT_FOLDERS :], "of somebody else"}


def test_what_is_said_to_compile_long_are_kernels():
    sources = "".join(path.read_text() for path in PACKAGE.rglob("_kernels/**/*.py"))
    for kernel in LONG:
        assert re.search(rf"@(entry|compiled)\ndef {kernel}\(", sources), kernel
