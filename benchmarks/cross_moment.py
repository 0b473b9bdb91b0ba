"""What moments, noise, repair and sampling cost, beside the partition and as the table grows.

Run with ``python benchmarks/cross_moment.py [n_records]``. The bar: 1,000,000 records of four attributes in 1,000 cells
under 15 seconds on two cores, without the partition; and growth no more than linear.
"""

from __future__ import annotations

import sys
import time

import numpy as np

from microagg.methods.cross_moment_numbers import PAPER_METHODS
from microagg.privacy.budget import Budget
from microagg.privacy.noise import OpenDPNoise
from microagg.private.moments.masked import drawn_records, kept_moments, masked_moments

ATTRIBUTES, CELLS, BAR = 4, 1000, 15.0
METHODS = ("1", "3", "2", "12", "8", "15", "18")


def seconds_of(number: str, values: np.ndarray, labels: np.ndarray) -> dict[str, float]:
    """Seconds of each stage, with the noise that is published."""
    plan, widths, noise = PAPER_METHODS[number].plan, np.ones(values.shape[1]), OpenDPNoise()
    marks = [time.perf_counter()]
    moments = kept_moments(values, labels, plan)
    marks.append(time.perf_counter())
    moments = masked_moments(moments, widths, plan, budget=Budget(1.0), noise=noise, on="all")
    marks.append(time.perf_counter())
    drawn_records(moments, labels, widths, noise.uniforms)
    marks.append(time.perf_counter())
    return dict(zip(("moments", "noise and repair", "sampling"), np.diff(marks), strict=True))


def main(n_records: int) -> None:
    rng = np.random.default_rng(0)
    values = rng.beta(2.0, 5.0, (n_records, ATTRIBUTES))
    labels = np.sort(rng.permutation(np.arange(n_records) % CELLS))
    sorting = min(_timed(lambda: np.sort(values, axis=0)) for _ in range(3))
    seconds_of("3", values[:10_000], np.arange(10_000) % CELLS)  # import and compile
    print(f"{n_records} x {ATTRIBUTES} in {CELLS} cells; sorting the four columns takes {sorting:.2f} s")
    print(f"{'method':<46}{'moments':>9}{'noise':>9}{'sampling':>10}{'all':>8}  times the sorts")
    worst = 0.0
    for number in METHODS:
        found = seconds_of(number, values, labels)
        total = sum(found.values())
        worst = max(worst, total)
        stages = list(found.values())
        print(
            f"{number + ' ' + PAPER_METHODS[number].name:<46}{stages[0]:>9.2f}{stages[1]:>9.2f}{stages[2]:>10.2f}"
            f"{total:>8.2f}  {total / sorting:.1f}"
        )
    print(f"slowest: {worst:.2f} s (bar: {BAR:g} s for 1,000,000 records on two cores)")
    print("\ngrowth of method 8, records and cells doubled each time:")
    before = None
    for share in (4, 2, 1):
        n, cells = n_records // share, CELLS // share
        total = sum(seconds_of("8", values[:n], np.arange(n) % cells).values())
        ratio = "" if before is None else f"  {total / before:.2f} times as long (linear: 2)"
        print(f"  {n:>9} records in {cells:>5} cells: {total:6.2f} s{ratio}")
        before = total


def _timed(work) -> float:
    started = time.perf_counter()
    work()
    return time.perf_counter() - started


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 1_000_000)
