"""A search always ends: every loop has a reason to, and tables that made rounding go round in circles are done."""

from __future__ import annotations

import ast
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

import microagg
from microagg import MDAV, NearOptimal, refine
from microagg._halt import StopCondition
from microagg._kernels.random import seed_rng
from microagg.partition._kernels.local_search import annealing as kernels
from microagg.partition._kernels.local_search import cell_lists as cell_kernels
from microagg.partition._kernels.local_search import pool as pool_kernels
from microagg.partition.base import within_cell_sse
from microagg.partition.local_search.efforts import Effort
from microagg.partition.local_search.search import near_records
from microagg.partition.local_search.starts import start_of_search
from microagg.partition.refine import improve_cells
from microagg.space.points import Points

PACKAGE = Path(microagg.__file__).parent
KERNELS = sorted(PACKAGE.glob("**/_kernels/**/*.py"))

# Values that a program would call equal, but for their last bits.
NEARLY_ZERO = (0.0, 0.1 + 0.2 - 0.3, 0.1 + 0.7 - 0.8, 0.005, 1.0)


def ends_within(seconds: float, code: str) -> str:
    """What a program prints; one that does not end is killed, and the test fails."""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=seconds, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def sse(X: np.ndarray, labels: np.ndarray) -> float:
    labels = np.unique(labels, return_inverse=True)[1]
    return within_cell_sse(X, labels, int(labels.max()) + 1)


@pytest.mark.parametrize("path", KERNELS, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_every_while_of_a_kernel_says_why_it_ends(path):
    lines = path.read_text(encoding="utf-8").splitlines()
    for node in ast.walk(ast.parse("\n".join(lines))):
        if isinstance(node, ast.While):
            said = lines[node.lineno - 1] + (lines[node.lineno - 2] if "#" in lines[node.lineno - 2] else "")
            assert "ends" in said.lower(), f"{path.name}:{node.lineno}: a loop without a reason to end"


# --- the cases that never ended --------------------------------------------------------------------------------------


def test_the_search_ends_on_ages_and_hours_scaled_by_their_bounds(reference_data):
    reference_data("adult")
    told = ends_within(
        540,
        "import numpy as np\n"
        "from microagg import MDAV, NearOptimal, datasets\n"
        "table = datasets.load_adult()\n"
        "bounds = {'age': (16, 90), 'education-num': (1, 16), 'hours-per-week': (1, 99)}\n"
        "X = np.column_stack([(table[name].to_numpy() - low) / (high - low) for name, (low, high) in bounds.items()])\n"
        "assert len(X) == 48842\n"
        "fitted = NearOptimal(k=50, random_state=21).fit(X)\n"
        "assert np.bincount(fitted.labels_).min() >= 50\n"
        "assert fitted.sse_ < 0.9 * MDAV(k=50).fit(X).sse_\n"
        "print(fitted.stopped_by_)",
    )
    assert told.split() == ["budget"]


def test_the_search_ends_where_pools_are_equal_but_for_the_last_bits():
    told = ends_within(
        300,
        "import numpy as np\n"
        "from microagg import MDAV, NearOptimal\n"
        f"values = np.array({NEARLY_ZERO})\n"
        "for seed in range(60):\n"
        "    rng = np.random.default_rng(seed)\n"
        "    X = np.column_stack([rng.integers(-2, 3, 66).astype(float), rng.choice(values, 66)])\n"
        "    fitted = NearOptimal(k=3, effort='fast', random_state=seed).fit(X)\n"
        "    assert np.bincount(fitted.labels_).min() >= 3\n"
        "    assert fitted.sse_ <= MDAV(k=3).fit(X).sse_\n"
        "print('ended')",
    )
    assert told.split() == ["ended"]


@pytest.mark.kernel
def test_descent_ends_in_a_pool_of_which_only_rounding_is_left():
    ends_within(
        300,
        "import numpy as np\n"
        "import sys\n"
        f"sys.path.insert(0, {str(Path(__file__).parent)!r})\n"
        "from test_termination import descend_everywhere\n"
        "descend_everywhere()",
    )


def descend_everywhere() -> None:
    """Sweeps and disturbed pools of tables on which descent went round in circles."""
    k, n_records, stop = 3, 40, StopCondition().flag
    for seed in (6, 8, 9, 16):
        rng = np.random.default_rng(seed)
        X = np.column_stack([rng.integers(-2, 3, n_records).astype(float), rng.choice(NEARLY_ZERO, n_records)])
        cells = cell_kernels.list_cells(rng.permutation(np.arange(n_records) % (n_records // 4)), k)
        pool = pool_kernels.allocate_pool(6, k, 2)
        near, chance = near_records(Points(X), k, StopCondition()), seed_rng([seed, 1, 2, 3])
        before = sse(X, cells.label)
        kernels.sweep(X, near, cells, pool, k, cell_kernels.one_of_each_cell(cells, chance), 6, chance, stop, None)
        assert sse(X, cells.label) <= before * (1 + 1e-9)
        kernels.anneal(X, near, cells, pool, k, 100, 3, 5, 0.1, np.arange(1.0, n_records + 1.0), chance, stop, None)
        assert np.bincount(cells.label, minlength=len(cells.size))[cells.size > 0].min() >= k


# --- limits ----------------------------------------------------------------------------------------------------------

MINUTES = Effort(sweeps=6, steps=1e6, shrink=0.0, least=1e6)


def test_a_limit_cuts_a_search_of_hours_and_the_result_says_so():
    X = np.random.default_rng(0).normal(size=(2_000, 3))
    start = MDAV(k=3).fit(X)
    begun = time.monotonic()
    found = improve_cells(Points(X), start.labels_, 3, MINUTES, 0, StopCondition(1.0))
    assert time.monotonic() - begun < 60.0
    assert found.stopped_by == "time limit"
    assert 0.0 <= found.share < 1.0
    assert sse(X, found.labels) <= start.sse_


@pytest.mark.parametrize("k", [1_000, 1_400])
def test_a_limit_acts_within_the_large_pools_of_large_k(k):
    X = np.random.default_rng(0).normal(size=(6_000, 3))
    begun = time.monotonic()
    found = improve_cells(Points(X), MDAV(k=k).fit(X).labels_, k, MINUTES, 0, StopCondition(0.5))
    assert time.monotonic() - begun < 60.0
    assert found.stopped_by == "time limit"


@pytest.mark.parametrize("time_limit", [1e-9, 0.01, 0.3])
@pytest.mark.parametrize("n_records", [400, 21_000])
def test_a_search_without_time_has_cells_all_the_same_and_says_what_they_are(time_limit, n_records):
    X = np.random.default_rng(0).normal(size=(n_records, 4))
    fitted = NearOptimal(k=5, effort="best", time_limit=time_limit).fit(X)
    sizes = np.bincount(fitted.labels_)
    assert sizes.min() >= 5
    assert sizes.max() < 10
    assert fitted.stopped_by_ == "time limit"
    assert fitted.start_ in ("mdav", "split", "median splits")
    assert n_records > 5_000 or fitted.start_ == "mdav"
    if fitted.start_ == "mdav":
        assert fitted.sse_ <= MDAV(k=5).fit(X).sse_


def test_a_halt_that_is_over_leaves_median_splits():
    X = np.random.default_rng(0).normal(size=(21_000, 2))
    over = StopCondition(1e-9)
    labels, how = start_of_search(Points(X), 4, "auto", over)
    assert how == "median splits"
    assert np.bincount(labels).min() >= 4


def test_mdav_is_the_start_where_it_costs_little_also_of_many_records():
    X = np.random.default_rng(0).normal(size=(30_000, 3))
    labels, how = start_of_search(Points(X), 10, "auto", StopCondition())
    assert how == "mdav"
    np.testing.assert_array_equal(labels, MDAV(k=10).fit(X).labels_)
    assert start_of_search(Points(X), 10, "split", StopCondition())[1] == "split"


def test_mdav_is_not_the_start_where_it_costs_more_than_a_search(monkeypatch):
    monkeypatch.setattr("microagg.partition.local_search.starts._WORTH_MDAV", 1e-3)
    X = np.random.default_rng(0).normal(size=(120_000, 3))
    labels, how = start_of_search(Points(X), 10, "auto", StopCondition())
    assert how == "split"
    assert np.bincount(labels).min() >= 10
    assert start_of_search(Points(X), 10, "mdav", StopCondition())[1] == "mdav"


@pytest.mark.parametrize("scale", [1e-160, 1e-3, 1e150])
def test_no_scale_of_the_values_makes_a_search_lose_more_than_mdav(scale):
    rng = np.random.default_rng(0)
    X = np.round(rng.normal(size=(80, 2)), 1) * scale
    fitted = NearOptimal(k=4, effort="fast", random_state=0).fit(X)
    assert fitted.sse_ <= MDAV(k=4).fit(X).sse_
    if scale > 1e-100:  # below, squares are 0
        assert fitted.sse_ < 0.99 * MDAV(k=4).fit(X).sse_


def test_large_cells_of_any_partition_are_cut_and_refined():
    X = np.random.default_rng(0).normal(size=(3_000, 2))
    labels = np.arange(3_000) // 30
    refined = refine(labels, X, 3, effort="fast", random_state=0, time_limit=30)
    assert np.bincount(refined).max() < 6
    assert sse(X, refined) < sse(X, labels)
