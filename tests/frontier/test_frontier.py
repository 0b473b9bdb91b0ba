"""Which points no other beats, by what they are compared, and how that is told."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from microagg.errors import ParameterError
from microagg.frontier.frontier import Axes, Frontier, FrontierPoint, axes_for, undominated
from microagg.frontier.text import in_the_middle
from optional_packages import need

LINKED = Axes("SSE_SST", "distance_linkage")
APART = Axes("eigenvalue_difference", "distance_to_closest")  # of the second, more is better


def point(name, axes=LINKED, utility=0.1, risk=0.1, **more):
    settings = {"method": name, "k": 2, "epsilon": None, "lambda": None, "alpha": None}
    return FrontierPoint(name, settings, values={axes.utility: utility, axes.risk: risk}, repeats=1, **more)


few = st.integers(0, 5).map(float)


@given(st.lists(st.tuples(few, few), max_size=25), st.sampled_from([LINKED, APART]))
def test_the_best_are_those_that_no_other_beats(places, axes):
    points = [point(str(i), axes, *place) for i, place in enumerate(places)]
    best = undominated(points, axes)
    sign = 1 if axes is LINKED else -1
    wanted = {
        str(i)
        for i, (u, r) in enumerate(places)
        if not any(a <= u and sign * b <= sign * r and (a, b) != (u, r) for a, b in places)
    }
    assert {one.name for one in best} == wanted
    along = [one.values[axes.utility] for one in best]
    assert along == sorted(along)
    risks = [sign * one.values[axes.risk] for one in best]
    assert risks == sorted(risks, reverse=True)


def test_rounding_errors_make_no_winner():
    points = [point("a", utility=0.3, risk=0.2), point("b", utility=0.1 + 0.2, risk=0.2)]
    assert len(undominated(points, LINKED)) == 2


def test_failed_and_unmeasured_points_are_not_compared():
    points = [point("fine"), point("failed", utility=0.0, failures=("no",)), point("gap", utility=None)]
    assert [one.name for one in undominated(points, LINKED)] == ["fine"]
    frontier = Frontier(tuple(points), LINKED, ("SSE_SST", "distance_linkage"))
    told = frontier.as_text()
    assert "failed failed: no" in told
    assert "has no value for them: gap" in told


def test_axes_are_measures_that_every_point_has():
    everything = dict.fromkeys(("SSE_SST", "distance_linkage", "D", "label_purity", *vars(APART).values()), 1.0)
    linked = FrontierPoint("linked", {}, values=everything)
    unlinked = FrontierPoint("unlinked", {}, values={"eigenvalue_difference": 1.0, "distance_to_closest": 1.0})
    names = FrontierPoint("categories", {}, values={"JSD": 1.0, "distance_to_closest": 1.0})
    failed = FrontierPoint("failed", {}, failures=("no",))
    assert axes_for([linked, failed], guided=False) == LINKED
    protected = FrontierPoint("protected", {}, values=everything | {"t_closeness": 0.1})
    assert axes_for([protected], guided=False, protected=True) == Axes("SSE_SST", "t_closeness")
    assert axes_for([protected, linked], guided=False, protected=True) == LINKED
    assert axes_for([linked], guided=True) == Axes("D", "label_purity")
    assert axes_for([linked, unlinked], guided=True) == APART
    assert axes_for([names], guided=False) == Axes("JSD", "distance_to_closest")


def test_other_axes_can_be_named():
    frontier = Frontier((point("a"),), LINKED, ("SSE_SST", "distance_linkage", "DR"))
    assert frontier.by(risk="DR").axes == Axes("SSE_SST", "DR")
    with pytest.raises(ParameterError, match=r"risk must be a measure of risk\. Got 'SSE' instead"):
        frontier.by(risk="SSE")
    with pytest.raises(ParameterError, match="KS was not measured in this sweep"):
        frontier.by(utility="KS")
    with pytest.raises(KeyError, match="no point 'b'"):
        frontier["b"]


def test_the_middle_way_is_between_the_ends():
    points = [point(n, utility=u, risk=r) for n, u, r in (("a", 0.0, 1.0), ("b", 0.2, 0.1), ("c", 5.0, 0.0))]
    best = undominated(points, LINKED)
    assert in_the_middle(best, "SSE_SST", "distance_linkage").name == "b"
    assert in_the_middle(best[:2], "SSE_SST", "distance_linkage") is None
    told = Frontier(tuple(points), LINKED, ("SSE_SST", "distance_linkage")).as_text()
    for words in ("a  (least lost)", "b  (middle way)", "c  (least risk)", "3 of 3 releases", "promises: nothing"):
        assert words in told


def test_a_measure_that_shares_a_settings_name_keeps_a_column_of_its_own():
    one = FrontierPoint("a", {"method": "mdav", "k": 2}, values={"k": 7.0, "SSE": 1.0}, spreads={"SSE": 0.5}, repeats=2)
    frame = Frontier((one,), LINKED, ("k", "SSE")).frame()
    row = frame.to_pylist()[0]
    assert (row["k"], row["k_measured"], row["SSE"], row["SSE_spread"]) == (2, 7.0, 1.0, 0.5)


def test_stretches_in_words_and_numbers_share_a_column():
    need("polars")
    points = [FrontierPoint(str(alpha), {"method": "mdav", "alpha": alpha}) for alpha in (2.0, "auto", None)]
    assert Frontier(tuple(points), LINKED, ()).frame("polars")["alpha"].to_list() == ["2.0", "auto", None]
    assert Frontier(tuple(points[::2]), LINKED, ()).frame()["alpha"].to_pylist() == [2.0, None]


@pytest.mark.parametrize("axes", [LINKED, APART])
@pytest.mark.parametrize("suffix", ["svg", "png"])
def test_the_picture_is_drawn(tmp_path, axes, suffix):
    need("matplotlib")
    names = ("mdav", "pcp", "mdav-again")
    points = [point(name, axes, 0.1 * 10**i, 0.5 / 10**i, baselines={axes.risk: 1e-4}) for i, name in enumerate(names)]
    frontier = Frontier(tuple(points), axes, (axes.utility, axes.risk))
    for name in ("one", "two"):
        frontier.plot(tmp_path / f"{name}.{suffix}")
    drawn = (tmp_path / f"one.{suffix}").read_bytes()
    assert drawn == (tmp_path / f"two.{suffix}").read_bytes()
    assert drawn[:4] == (b"\x89PNG" if suffix == "png" else b"<?xm")


def test_a_frontier_without_comparable_points_is_drawn_and_told(tmp_path):
    need("matplotlib")
    frontier = Frontier((point("a", utility=None),), LINKED, ("SSE_SST", "distance_linkage"))
    frontier.plot(tmp_path / "empty.svg")
    assert "No release has both measures" in str(frontier)
