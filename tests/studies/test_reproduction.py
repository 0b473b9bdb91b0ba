"""Published tables and figures run again: verdicts, kept parts, tables, and what no release can reach."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from microagg.cli.app import app
from microagg.errors import InputError, ParameterError
from microagg.studies.reproduction.catalogue import PAPERS, experiments, named
from microagg.studies.reproduction.comparison import LOG2, Verdict, claim, compare
from microagg.studies.reproduction.experiment import Curve, Experiment, Grid, Panel, Part
from microagg.studies.reproduction.kept import KeptParts
from microagg.studies.reproduction.running import run
from microagg.studies.reproduction.sections import commands_without, read_sections
from microagg.studies.reproduction.tables import as_markdown
from microagg.studies.reproduction.writing import reproduce

MEASURED = ("D_X", "D_Y", "l_avg", "DLD")
CALLS: list[int] = []


def squares(*, n: int, seed: int) -> list[dict[str, float]]:
    CALLS.append(n)
    return [{"n": n, "square": n * n + seed}]


SMALL = Experiment(
    "toy.table1",
    "squares",
    "nowhere",
    (),
    lambda grid, seed: [Part.of(squares, n=n, seed=seed) for n in (1, 2, 3)[: grid.pick(2, 3, 3)]],
    lambda points: [compare(f"n = {one['n']}", one["n"] ** 2, one["square"], digits=0) for one in points],
    lambda points: [Panel("p", "n", "s", (Curve("s", (1.0, 2.0), tuple(one["square"] for one in points[:2])),))],
)


@pytest.fixture(autouse=True)
def no_calls_yet():
    CALLS.clear()


@pytest.mark.parametrize(
    ("published", "ours", "more", "verdict"),
    [
        (25.12, 25.1249, {}, "exact"),
        (25.12, 25.1251, {}, "close"),
        (25.0, 25.4, {"error": 0.2}, "exact"),  # two standard errors, which are 1.6 %
        (25.0, 25.4, {"error": 0.5}, "close"),  # chance so large would excuse everything
        (25.0, 28.0, {"error": 1.0}, "close"),
        (25.0, 31.0, {"error": 7.0}, "order"),  # and chance larger still is no closeness either
        (1.0, 1.06, {}, "order"),
        (1.0, 2.1, {}, "not reproduced"),
        (1.0, -1.0, {}, "not reproduced"),
        (0.0, 0.009, {}, "order"),  # a printed 0.00 is anything below half of its last digit
        (35.4, 35.45, {"digits": 1, "scale": LOG2}, "exact"),
        (35.4, 35.54, {"digits": 1, "scale": LOG2}, "close"),
        (35.4, 36.3, {"digits": 1, "scale": LOG2}, "order"),
        (35.4, 36.5, {"digits": 1, "scale": LOG2}, "not reproduced"),
        (1.0, float("nan"), {}, "not reproduced"),
    ],
)
def test_verdicts(published, ours, more, verdict):
    assert compare("x", published, ours, **more).verdict == verdict


def test_curves_that_are_only_drawn_are_never_called_exact():
    assert claim("x", "falls", "falls", True).verdict is Verdict.ORDER
    assert claim("x", "falls", "rises", False, why="because").why == "because"


def test_finished_parts_are_kept_and_a_half_written_one_is_run_again(tmp_path):
    first = run([SMALL], grid=Grid.FULL, seed=4, parts_folder=tmp_path, workers=1)
    assert CALLS == [1, 2, 3]
    again = run([SMALL], grid=Grid.FULL, seed=4, parts_folder=tmp_path, workers=1)
    assert CALLS == [1, 2, 3]
    assert again == first
    kept = sorted(tmp_path.glob("*.json"))
    kept[0].write_text(kept[0].read_text()[:-9])  # as a full disk would leave it
    other = json.loads(kept[1].read_text())
    kept[1].write_text(json.dumps(other | {"key": "of another part"}))
    assert run([SMALL], grid=Grid.FULL, seed=4, parts_folder=tmp_path, workers=1) == first
    assert len(CALLS) == 5


def test_another_seed_or_other_code_is_another_part(tmp_path):
    part = Part.of(squares, n=1, seed=0)
    assert part.key("a") != part.key("b")
    assert part.key("a") != Part.of(squares, n=1, seed=1).key("a")
    store = KeptParts(tmp_path)
    store.keep(part, [{"n": 1}])
    assert store.read(part) == [{"n": 1}]
    store.code = "of another version"
    assert store.read(part) is None


def test_two_runs_write_the_same_tables_on_one_process_and_on_two(tmp_path):
    one = reproduce([SMALL], folder=tmp_path / "one", grid=Grid.QUICK, workers=1)
    two = reproduce([SMALL], folder=tmp_path / "two", grid=Grid.QUICK, workers=1)
    assert one == two
    for name in ("table.md", "table.parquet", "points.parquet"):
        first, second = ((tmp_path / folder / "toy.table1" / name).read_bytes() for folder in ("one", "two"))
        assert first == second


def test_conventions_stand_below_the_table_once():
    rows = [compare(name, 1.0 * n, 5.0 * n - 4, convention="as we read it", why="?") for n, name in enumerate("ab", 1)]
    text = as_markdown(rows)
    assert text.count("as we read it") == 1
    assert "| b | 2.00 | 6.00 | +4.00 | not reproduced | 1, 2 |" in text


def test_experiments_have_names_of_their_own_and_a_paper():
    names = [one.name for one in experiments()]
    assert len(set(names)) == len(names)
    assert {one.paper for one in experiments()} == set(PAPERS)
    assert [one.name for one in named(["mic1d"])] == ["mic1d.table4", "mic1d.table5", "mic1d.table6"]
    with pytest.raises(ParameterError, match=r"Did you mean 'mic1d\.table4'"):
        named(["mic1d.tabel4"])


def test_the_command_lists_experiments_and_refuses_what_it_does_not_know(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    listed = CliRunner().invoke(app, ["reproduce"])
    assert all(one.name in listed.stdout for one in experiments())
    assert CliRunner().invoke(app, ["reproduce", "mic1d.table9"]).exit_code == 2
    assert CliRunner().invoke(app, ["reproduce", "--all", "--quick", "--full"]).exit_code == 2
    assert not list(Path.cwd().iterdir())


def test_who_lacks_the_data_is_told_the_line_that_fetches_it(tmp_path, monkeypatch):
    from microagg.tables.reference import store

    monkeypatch.delenv("MICROAGG_DATA", raising=False)
    monkeypatch.setenv("MICROAGG_CACHE", str(tmp_path / "empty"))

    def no_network(*args, **kwargs):
        raise OSError("no network")

    pooch = pytest.importorskip("pooch")
    monkeypatch.setattr(pooch, "retrieve", no_network)
    monkeypatch.setattr(store, "import_optional", lambda *_: None)
    monkeypatch.chdir(tmp_path)
    told = CliRunner().invoke(app, ["reproduce", "mic1d.table4"])
    assert told.exit_code == 2
    assert "microagg datasets --fetch census" in told.stderr


def test_the_synthetic_tables_are_what_they_say():
    from microagg.datasets import generate_gaussian, generate_two_classes

    x, y = (generate_gaussian(20_000, correlation=0.9, seed=2)[name].to_numpy() for name in "xy")
    assert np.corrcoef(x, y)[0, 1] == pytest.approx(0.9, abs=0.01)
    assert (x.std(), y.std()) == pytest.approx((1, 1), abs=0.02)
    with pytest.raises(ParameterError, match="within -1 and 1"):
        generate_gaussian(5, correlation=1.5)
    drawn = generate_two_classes(20_000, apart=3.0, correlation=0.5, share=0.3, seed=2)
    label = drawn["y"].to_numpy()
    points = np.column_stack([drawn["x1"].to_numpy(), drawn["x2"].to_numpy()])
    assert label.mean() == pytest.approx(0.3, abs=0.02)
    assert np.linalg.norm(points[label == 1].mean(axis=0) - points[label == 0].mean(axis=0)) == pytest.approx(
        3, abs=0.1
    )
    for one in (0, 1):
        np.testing.assert_allclose(np.cov(points[label == one].T), [[1, 0.5], [0.5, 1]], atol=0.06)


def test_mic1d_gives_the_figures_that_the_fidelity_of_its_steps_rests_on(reference_data):
    from microagg.studies.mic1d.run import real_anonymity

    reference_data("census")
    reference_data("water")
    (mdav,) = real_anonymity(data="water", method="MDAV", k=5, blocking="correlated", cut="-")
    assert round(mdav["1G"], 2) == 5.09  # as printed
    (mixed,) = real_anonymity(data="census", method="Mic1D", k=3000, blocking="correlated", cut="-")
    assert (round(mixed["1G"], 2), round(mixed["2G"], 2), round(mixed["3G"], 2)) == (5.74, 8.03, 6.16)


def test_dependence_gives_the_reference_curve(reference_data):
    from microagg.studies.dependence.run import trade_off

    reference_data("census")
    zero, one = trade_off(data="census", k=10, lambdas=(0.0, 1.0), linkage=True)
    assert tuple(zero[what] for what in MEASURED) == pytest.approx((0.0999, 0.3706, 3.08, 0.0907), abs=0.005)
    assert tuple(one[what] for what in MEASURED) == pytest.approx((0.3581, 0.0734, 2.19, 0.0222), abs=0.005)


def test_equation_6_as_printed_draws_by_its_weights():
    from microagg.studies.individual_ranking.devices import printed_choice

    scores = np.tile([0.0, -1.0, -3.0], (40_000, 1))
    shares = np.bincount(printed_choice(scores, 1.0, 2.0, np.random.default_rng(1)), minlength=3) / 40_000
    weights = np.exp([0.0, -1.0, -3.0])
    np.testing.assert_allclose(shares, weights / weights.sum(), atol=0.01)  # four standard errors


def test_comparators_take_categories():
    from microagg.schema.taxonomy import Taxonomy
    from microagg.studies.individual_ranking.devices import (
        Categories,
        Numbers,
        errors_of,
        insensitive_mdav,
        plain_laplace,
        ranked,
    )

    tree = Taxonomy.from_outline("work\n  office\n    clerk\n    manager\n  farm\n    farmer")
    rng = np.random.default_rng(0)
    labels = rng.choice(["clerk", "manager", "farmer"], 60).tolist()
    attributes = [Numbers(rng.integers(1, 60, 60).astype(float), whole=True), Categories.of(labels, tree)]
    nodes = list(tree.nodes)
    assert [nodes[code] for code in attributes[1].codes[attributes[1].places]] == labels
    # Without noise a run of equal categories publishes that category; all epsilon there is gives the same.
    for form in (ranked, insensitive_mdav):
        quiet = form(attributes, 5, None, rng)
        np.testing.assert_array_equal(form(attributes, 5, 1e9, rng)[1], quiet[1])
        assert np.abs(form(attributes, 5, 1e9, rng)[0] - quiet[0]).max() == 0
    assert errors_of(attributes, plain_laplace(attributes, 1e9, rng)) == (0, 0)
    assert errors_of(attributes, plain_laplace(attributes, 0.1, rng))[0] > 0.5


def test_the_trees_come_with_the_package_and_a_recipe_can_name_them(tmp_path):
    from microagg.datasets import load_adult_taxonomies
    from microagg.schema.taxonomy import Taxonomy

    written = CliRunner().invoke(app, ["datasets", "--taxonomies", str(tmp_path / "trees")])
    assert written.exit_code == 0
    assert "Princeton" in (tmp_path / "trees" / "LICENSE-WordNet.txt").read_text()
    for name, tree in load_adult_taxonomies().items():
        assert Taxonomy.load_beside(tmp_path, f"trees/adult_{name}.txt") == tree


def test_no_release_reaches_a_study():
    """Matching to originals, noise per record, undivided budgets and equation 6 as printed live in studies alone."""
    import ast

    import microagg

    root = Path(microagg.__file__).parent
    outside = [path for path in root.rglob("*.py") if "studies" not in path.relative_to(root).parts]
    reaching = set()
    for path in outside:
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            names += [node.module or ""] if isinstance(node, ast.ImportFrom) else []
            names += [node.value] if isinstance(node, ast.Constant) and isinstance(node.value, str) else []
            if any(name.startswith("microagg.studies") for name in names):
                reaching.add(path.relative_to(root).as_posix())
    assert reaching == {"cli/reproduce/command.py", "__init__.py"}  # doors of their own


def test_no_method_of_a_recipe_is_a_device_of_a_study():
    from microagg.methods.catalogue import METHODS

    for method in METHODS.values():
        for made_by in (method.cells_by, method.protected_by):
            where = made_by if isinstance(made_by, str) else getattr(made_by, "__module__", "")
            assert "studies" not in (where or "")


def test_what_is_not_reproduced_says_why():
    assert compare("x", 1.0, 9.0).why
    assert claim("x", "falls", "rises", False).why
    assert not claim("x", "falls", "falls", True, why="because").why


def test_the_page_shows_every_experiment_and_every_error(tmp_path):
    from microagg.studies.errata.catalogue import ERRATA

    page = (
        reproduce([SMALL], folder=tmp_path, grid=Grid.QUICK, workers=1) and (tmp_path / "reproduction.md").read_text()
    )
    assert "| [toy.table1](#toytable1) | squares | figures | 2 |" in page
    assert "microagg reproduce toy.table1 --quick --seed 0" in page
    for erratum in ERRATA:
        assert erratum.name in page
    published = (Path(__file__).parents[2] / "docs" / "results" / "reproduction.md").read_text(encoding="utf-8")
    for one in experiments():
        assert f"### {one.name}\n" in published


def test_one_experiment_takes_its_place_in_a_page_made_before(tmp_path, reference_data):
    reference_data("census")
    reference_data("eia")
    page = tmp_path / "page.md"
    before = (Path(__file__).parents[2] / "docs" / "results" / "reproduction.md").read_text(encoding="utf-8")
    page.write_text(before, encoding="utf-8")
    reproduce(["cross_moment.table1"], folder=tmp_path / "out", grid=Grid.QUICK, workers=1, page=page)
    after = page.read_text(encoding="utf-8")
    assert "microagg reproduce cross_moment.table1 --quick --seed 0\n```" in after
    old, new = read_sections(before), read_sections(after)
    assert list(old) == list(new) == [one.name for one in experiments()]
    assert {name for name in old if old[name] != new[name]} == {"cross_moment.table1"}
    totals = [row for row in after.splitlines() if row.startswith("| 28 experiments")]
    sums = [sum(counts) for counts in zip(*(one.counts for one in new.values()), strict=True)]
    assert totals == ["| 28 experiments |  |  | " + " | ".join(map(str, sums)) + " |"]
    again = tmp_path / "again.md"
    again.write_text(after, encoding="utf-8")
    reproduce(["cross_moment.table1"], folder=tmp_path / "out", grid=Grid.QUICK, workers=1, page=again)
    assert again.read_text(encoding="utf-8") == after


def test_commands_keep_what_another_one_does_not_give():
    every = ["microagg reproduce --all --full --seed 3"]
    (left,) = commands_without(every, [one.name for one in named(["mic1d", "dependence", "discriminant"])])
    assert left == "microagg reproduce individual_ranking cross_moment --full --seed 3"
    assert commands_without(every, ["toy.table1"]) == every
    assert commands_without(["microagg reproduce mic1d --seed 0"], [one.name for one in named(["mic1d"])]) == []


def test_a_page_that_is_none_is_refused_before_anything_runs(tmp_path):
    other = tmp_path / "other.md"
    other.write_text("# Something else\n")
    for page in (other, tmp_path / "missing.md"):
        with pytest.raises(InputError, match="page of results"):
            reproduce([SMALL], folder=tmp_path / "out", grid=Grid.QUICK, workers=1, page=page)
    assert CALLS == []
    assert other.read_text() == "# Something else\n"


def test_there_are_28_tables_and_figures():
    counts = {paper: len(named([paper])) for paper in PAPERS}
    assert counts == {"mic1d": 3, "individual_ranking": 5, "cross_moment": 9, "discriminant": 4, "dependence": 7}


def test_a_file_in_the_place_of_the_folder_is_refused(tmp_path):
    (tmp_path / "taken").write_text("")
    with pytest.raises(InputError, match="is a file"):
        reproduce([SMALL], folder=tmp_path / "taken", grid=Grid.QUICK)
