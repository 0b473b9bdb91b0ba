"""Sweeps: nothing finished is lost or done twice, nothing stale is used, and both sides are measured aright."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

import microagg
from declarations import numeric, ordinal
from microagg import Recipe
from microagg.errors import InputError, ParameterError
from microagg.frontier import sweep as engine
from microagg.frontier import workers as sweep_workers
from optional_packages import need

MEASURES = ["SSE_SST", "D", "label_purity", "eigenvalue_difference", "distance_linkage", "distance_to_closest", "k"]


@pytest.fixture(autouse=True)
def no_pictures(monkeypatch):
    """They take longer than all else here, and have tests of their own."""
    monkeypatch.setattr("microagg.frontier.plot.can_plot", lambda: False)


def people(n_records=120, seed=1):
    x = np.random.default_rng(seed).normal(size=(3, n_records))
    return pa.table({"age": x[0], "size": x[1], "pay": x[0] + x[2]})


def recipe_of(attributes=None, **sweep):
    declared = attributes or {"age": numeric(), "size": numeric(), "pay": {"role": "confidential", "kind": "numeric"}}
    return Recipe(k=3, attributes=declared, sweep={"measures": MEASURES, **sweep})


def files_in(folder):
    return {file.name: file.stat().st_mtime_ns for file in (Path(folder) / "points").iterdir()}


def test_processes_give_the_table_that_one_process_gives(tmp_path):
    recipe = recipe_of(methods=["mdav", "near_optimal"], k=[3, 6], repeats=2)
    recipe = recipe.changed({"method": "near_optimal", "partition": {"effort": "fast"}})
    alone = microagg.sweep(people(), recipe, workers=1)
    together = microagg.sweep(people(), recipe, workers=2, folder=tmp_path / "f")
    assert together.frame().equals(alone.frame())
    assert len(files_in(tmp_path / "f")) == 2 + 4
    assert alone["near_optimal-k3"].repeats == 2
    assert alone["near_optimal-k3"].spreads["SSE_SST"] is not None
    assert alone["mdav-k3"].spreads["SSE_SST"] is None
    assert alone["mdav-k3"].guarantee == "k-anonymity (k = 3)"


def test_workers_know_the_folder_wherever_they_were_started(tmp_path, monkeypatch):
    for name in ("first", "second"):  # the second sweep meets the workers of the first
        (tmp_path / name).mkdir()
        monkeypatch.chdir(tmp_path / name)
        microagg.sweep(people(), recipe_of(methods=["mdav"], k=[3, 4]), workers=2, folder="f")
        assert len(files_in(tmp_path / name / "f")) == 2
        assert "-r f/recipes/mdav-k3.toml" in (tmp_path / name / "f" / "which.txt").read_text()


KILLED = """
import sys, numpy as np, microagg
sys.path.insert(0, {tests!r})
from releases_sweep_table import people, recipe
microagg.sweep(people(), recipe, workers=2, folder={folder!r})
"""
SHARED = """
import numpy as np, pyarrow as pa
from microagg import Recipe
def people():
    x = np.random.default_rng(1).normal(size=(3, 1000))
    return pa.table({"age": x[0], "size": x[1], "pay": x[0] + x[2]})
columns = {name: {"role": "quasi_identifier", "kind": "numeric"} for name in ("age", "size", "pay")}
recipe = Recipe(k=3, attributes=columns, aggregate={"form": "sampled"}, sweep={
    "methods": ["mdav", "pcp", "vmdav"], "k": [3, 4, 5, 6], "repeats": 2,
    "measures": ["SSE_SST", "distance_linkage", "count_query_error"]})
"""


@pytest.mark.skipif(os.name == "nt", reason="ends a group of processes")
def test_a_killed_sweep_goes_on_where_it_was_and_ends_with_the_same_table(tmp_path):
    (tmp_path / "releases_sweep_table.py").write_text(SHARED)
    folder = tmp_path / "frontier"
    script = KILLED.format(tests=str(tmp_path), folder=str(folder))
    child = subprocess.Popen([sys.executable, "-c", script], start_new_session=True)
    try:
        deadline = time.monotonic() + 240
        while len(list((folder / "points").glob("*.json"))) < 4:
            assert child.poll() is None, "the sweep ended before it could be killed"
            assert time.monotonic() < deadline
            time.sleep(0.02)
    finally:
        os.killpg(child.pid, signal.SIGKILL)  # the child and its own workers
        child.wait()
    before = {name: when for name, when in files_in(folder).items() if name.endswith(".json")}
    assert 4 <= len(before) < 24
    assert not (folder / "frontier.csv").exists()

    scope: dict = {}
    exec(SHARED, scope)
    asked = []
    with pytest.MonkeyPatch.context() as patch:
        run = sweep_workers._run
        patch.setattr(sweep_workers, "_run", lambda table, task: asked.append(task) or run(table, task))
        resumed = microagg.sweep(scope["people"](), scope["recipe"], workers=1, folder=folder)
    after = files_in(folder)
    assert len(asked) == 24 - len(before)  # no finished point again
    assert {name: after[name] for name in before} == before
    undisturbed = microagg.sweep(scope["people"](), scope["recipe"], workers=1, folder=tmp_path / "other")
    assert resumed.frame().equals(undisturbed.frame())
    for name in ("frontier.csv", "frontier.parquet"):
        assert (folder / name).read_bytes() == (tmp_path / "other" / name).read_bytes()


def test_nothing_stale_is_used(tmp_path):
    recipe = recipe_of(methods=["mdav"], k=[3])
    microagg.sweep(people(), recipe, workers=1, folder=tmp_path / "f")
    first = set(files_in(tmp_path / "f"))

    def started_again(table=None, changed=recipe, **how):
        before = set(files_in(tmp_path / "f"))
        microagg.sweep(people() if table is None else table, changed, workers=1, folder=tmp_path / "f", **how)
        return len(set(files_in(tmp_path / "f")) - before)

    assert started_again() == 0
    assert started_again(people(seed=2)) == 1
    assert started_again(changed=recipe.changed({"space.standardize": "minmax"})) == 1
    assert started_again(changed=recipe.changed({"sweep.measures": ["SSE_SST", "distance_linkage"]})) == 1
    assert started_again(seed=1) == 1
    assert started_again(risk="DR") == 1
    assert first <= set(files_in(tmp_path / "f"))


def test_a_damaged_point_is_made_again(tmp_path):
    recipe = recipe_of(methods=["mdav"], k=[3])
    wanted = microagg.sweep(people(), recipe, workers=1, folder=tmp_path / "f")
    (file,) = (tmp_path / "f" / "points").iterdir()
    content = json.loads(file.read_text())
    for damage in ("{", json.dumps({**content, "key": "0" * 64, "values": {}})):
        file.write_text(damage)
        found = microagg.sweep(people(), recipe, workers=1, folder=tmp_path / "f")
        assert found.frame().equals(wanted.frame())
        assert json.loads(file.read_text())["key"] == content["key"]


def test_failures_are_recorded_and_not_repeated_silently(tmp_path):
    table = people(40).append_column("region", pa.array(["canary north"] * 5 + ["south"] * 35))
    columns = {"age": numeric(), "size": numeric(), "pay": "confidential"}
    declared = {**columns, "region": {"role": "quasi_identifier", "kind": "nominal"}}
    recipe = recipe_of(declared, methods=["mdav"], k=[3, 6]).changed({"strata": {"by": ["region"]}})
    found = microagg.sweep(table, recipe, workers=1, folder=tmp_path / "f")
    (said,) = found["mdav-k6"].failures
    assert "region" in said
    assert "canary" not in (tmp_path / "f" / "which.txt").read_text() + (tmp_path / "f" / "frontier.csv").read_text()
    assert [point.name for point in found.best()] == ["mdav-k3"]
    before = files_in(tmp_path / "f")
    again = microagg.sweep(table, recipe, workers=1, folder=tmp_path / "f")
    assert files_in(tmp_path / "f") == before
    assert "1 releases failed at an earlier start and were not tried again" in str(again)
    microagg.sweep(table, recipe, workers=1, folder=tmp_path / "f", retry_failed=True)
    changed = [name for name, when in files_in(tmp_path / "f").items() if when != before[name]]
    assert [name.partition(".")[0] for name in changed] == ["mdav-k6"]


def test_an_unforeseen_error_withholds_its_message(monkeypatch):
    def broken(*_, **__):
        raise RuntimeError("canary")

    monkeypatch.setattr("microagg.frontier.point.release", broken)
    found = microagg.sweep(people(), recipe_of(methods=["mdav"], k=[3]), workers=1)
    (said,) = found["mdav-k3"].failures
    assert said.startswith("unforeseen RuntimeError at test_sweep.py:")


def test_an_interrupted_search_is_not_a_finished_point(tmp_path, monkeypatch):
    def interrupted(table, recipe, **how):
        with contextlib.suppress(KeyboardInterrupt):  # as a search does that gives its best so far
            signal.raise_signal(signal.SIGINT)
        return microagg.release(table, recipe, **how)

    monkeypatch.setattr("microagg.frontier.point.release", interrupted)
    usual = signal.signal(signal.SIGINT, signal.default_int_handler)  # tests in the background ignore it
    try:
        with pytest.raises(KeyboardInterrupt):
            microagg.sweep(people(), recipe_of(methods=["mdav"], k=[3]), workers=1, folder=tmp_path / "f")
        assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    finally:
        signal.signal(signal.SIGINT, usual)
    assert not files_in(tmp_path / "f")


def test_both_sides_are_at_hand_so_rows_are_aligned_even_if_records_are_left_out():
    x = people()["age"].to_pylist()
    holes = people().set_column(0, "age", pa.array([None, *x[1:50], None, *x[51:]]))
    recipe = recipe_of(methods=["mdav"], k=[3]).changed({"missing.policy": "suppress"})
    point = microagg.sweep(holes, recipe, workers=1)["mdav-k3"]
    whole = microagg.sweep(people(), recipe, workers=1)["mdav-k3"]
    assert point.values["SSE_SST"] == pytest.approx(whole.values["SSE_SST"], rel=0.5)
    assert point.values["distance_linkage"] <= 1 / 3


def test_rows_that_are_no_records_are_not_compared_as_if_they_were():
    bounded = {name: numeric(bounds=[-9, 9]) for name in ("age", "size", "pay")}
    recipe = recipe_of(
        bounded, methods=["mdav", "dp_individual_ranking", "dp_laplace"], k=[6], epsilon=[5.0], repeats=2
    )
    found = microagg.sweep(people(), recipe, workers=1)
    unlinked = found["dp_individual_ranking-k6-epsilon5"]
    assert unlinked.values["SSE_SST"] is None
    assert unlinked.values["eigenvalue_difference"] is not None
    assert "protecting the original records" in unlinked.guarantee
    assert found["dp_laplace-epsilon5"].values["SSE_SST"] is not None
    assert (found.axes.utility, found.axes.risk) == ("eigenvalue_difference", "distance_to_closest")
    assert engine.CHOSEN_BY_LOOKING in found.remarks
    assert engine.NO_PROMISE in found.remarks


def test_guided_points_are_judged_by_dependence_and_diversity():
    recipe = recipe_of(methods=["mdav"], k=[6], **{"lambda": [0.0, 0.9]})
    found = microagg.sweep(people(), recipe, workers=1)
    assert (found.axes.utility, found.axes.risk) == ("D", "label_purity")
    assert "with lambda = 0.5" in str(found)
    by_linkage = microagg.sweep(people(), recipe, workers=1, risk="distance_linkage")
    assert engine.GUIDED_LOOKS_FREE in by_linkage.remarks
    assert engine.GUIDED_LOOKS_FREE not in found.remarks


def test_the_same_weight_of_dependence_for_all_points():
    recipe = recipe_of(methods=["mdav"], k=[6], **{"lambda": [0.0, 0.9]})
    found = microagg.sweep(people(), recipe, workers=1)
    plain = microagg.release(people(), recipe.changed({"k": 6, "sweep": None, "output.order": "kept"}), seed=0)
    judged = microagg.evaluate(people(), plain.table, recipe, measures="D", aligned=True)
    assert found["mdav-k6-lambda0"].values["D"] == judged["D"].value


def test_blocks_and_single_attributes_do_not_look_k_anonymous():
    found = microagg.sweep(people(), recipe_of(methods=["individual_ranking"], k=[3]), workers=1)
    assert found.points[0].guarantee == (
        "k-anonymity (k = 3) on each of 2 blocks of attributes alone, not on their combination"
    )


def test_frames_of_other_libraries_keep_what_their_dtypes_say():
    pd = need("pandas")
    words = pd.Categorical(["low", "mid", "high"] * 10, categories=["low", "mid", "high"], ordered=True)
    frame = pd.DataFrame({"level": words, "age": np.arange(30.0)})
    recipe = recipe_of({"level": ordinal(), "age": numeric()}, methods=["mdav"], k=[3])
    found = microagg.sweep(frame, recipe, workers=2)
    assert not found.points[0].failures
    assert found.frame("pandas")["SSE_SST"].iloc[0] > 0


def test_recipes_of_the_best_make_the_releases_that_were_measured(tmp_path):
    recipe = recipe_of(methods=["mdav", "pcp"], k=[3, 6]).changed({"output.order": "shuffled"})
    found = microagg.sweep(people(), recipe, workers=1, folder=tmp_path / "f")
    written = {file.stem: Recipe.load(file) for file in (tmp_path / "f" / "recipes").iterdir()}
    assert set(written) == {point.name for point in found.best()}
    for name, one in written.items():
        assert one.sweep is None
        assert str(one.output.order) == "shuffled"
        assert "seed" not in one.dumps()
        assert (one.method, one.k) == (found[name].settings["method"], found[name].settings["k"])
    microagg.sweep(people(), recipe.changed({"sweep.k": [6]}), workers=1, folder=tmp_path / "f")
    assert all(file.stem.endswith("k6") for file in (tmp_path / "f" / "recipes").iterdir())
    assert "do not publish" in (tmp_path / "f" / "INTERNAL.txt").read_text()


def test_a_folder_of_something_else_is_left_alone(tmp_path):
    (tmp_path / "notes.txt").write_text("mine")
    (tmp_path / "file").write_text("mine")
    recipe = recipe_of(methods=["mdav"], k=[3])
    for folder in (tmp_path, tmp_path / "file"):
        with pytest.raises(InputError, match=r"no sweep wrote|is a file"):
            microagg.sweep(people(), recipe, workers=1, folder=folder)
    assert sorted(file.name for file in tmp_path.iterdir()) == ["file", "notes.txt"]


def test_bad_arguments_are_refused():
    with pytest.raises(ParameterError, match="utility must be a measure of utility"):
        microagg.sweep(people(), recipe_of(), utility="k")
    with pytest.raises(ParameterError, match="workers"):
        microagg.sweep(people(), recipe_of(), workers=0)
    with pytest.raises(ParameterError, match="recipe must be a microagg"):
        microagg.sweep(people(), {"k": 3})
    with pytest.raises(ParameterError, match="no measure or group of measures is called 'nonsense'"):
        microagg.sweep(people(), recipe_of().changed({"sweep.measures": ["nonsense"]}))


def test_time_left_is_told(monkeypatch):
    heard = []
    from microagg._progress import shown_by

    with shown_by(lambda task, share: heard.append((task, share))):
        microagg.sweep(people(), recipe_of(methods=["mdav"], k=[3, 4]), workers=1)
    told = [(task, share) for task, share in heard if task.startswith("sweeping: ")]
    assert [share for _, share in told] == [0.5, 1.0]
    assert told[0][0].startswith("sweeping: 1 of 2 releases, about ")


def test_what_t_asks_for_is_made_promised_compared_and_told(tmp_path):
    measures = ["SSE_SST", "t_closeness", "distance_linkage"]
    recipe = recipe_of(methods=["mdav", "individual_ranking"], k=3, t=[0.2, 0.4], l=2, measures=measures)
    recipe = recipe.protecting(t_closeness=0.5).changed({"rearrange.by": "swap"})
    found = microagg.sweep(people(), recipe, workers=1, folder=tmp_path / "f")
    assert [point.name for point in found.points] == ["mdav-k3-l2-t0.2", "mdav-k3-l2-t0.4"]
    for point in found.points:
        assert 0 < point.values["t_closeness"] <= point.settings["t"]
    assert found.points[0].guarantee == (
        "k-anonymity (k = 3), distinct l-diversity (l = 2) of 'pay', t-closeness (t = 0.2) of 'pay'"
    )
    assert (found.axes.utility, found.axes.risk) == ("SSE_SST", "t_closeness")
    table = found.frame()
    assert table["t"].to_pylist() == [0.2, 0.4]
    assert table["l"].to_pylist() == [2, 2]
    assert str(table.schema.field("l").type) == "int64"
    told = (tmp_path / "f" / "which.txt").read_text()
    assert "-r " in told
    assert "mdav-k3-l2-t0.2.toml --l 2 --t 0.2 -o release-mdav-k3-l2-t0.2" in told
    kept = Recipe.load(tmp_path / "f" / "recipes" / "mdav-k3-l2-t0.2.toml")
    assert kept.protecting(distinct_l=2, t_closeness=0.2) == kept
    assert not any("does not see" in said for said in found.remarks)
    unseen = microagg.sweep(people(), recipe, workers=1, folder=tmp_path / "f", risk="distance_linkage")
    assert any("does not see what is required" in said for said in unseen.remarks)
