"""Draw docs/pictures/near_optimal.svg from what ``python benchmarks/near_optimal.py --curve FILE`` wrote.

Needs matplotlib: ``python benchmarks/draw_near_optimal.py FILE docs/pictures/near_optimal.svg``.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import matplotlib as mpl
import matplotlib.pyplot as plt


def main() -> None:
    mpl.use("svg")
    mpl.rcParams["svg.hashsalt"] = "microagg"  # the same picture from the same numbers
    measured = json.loads(Path(sys.argv[1]).read_text())
    figure, axes = plt.subplots(figsize=(7, 4))
    for effort, colour in (("fast", "tab:orange"), ("default", "tab:blue")):
        seconds, losses = zip(*measured["runs"][effort], strict=True)
        axes.plot(seconds, losses, color=colour, label=f'effort="{effort}"')
    axes.axhline(measured["mdav"], color="black", linestyle="--", label=f"MDAV, {measured['mdav']:.3f} %")
    axes.axhline(measured["best"], color="tab:green", label=f'effort="best", {measured["best"]:.3f} %')
    axes.axhline(measured["floor"], color="tab:red", linestyle=":", label=f"proved floor, {measured['floor']:.3f} %")
    axes.set_xscale("log")
    axes.set_xlabel("seconds of CPU")
    axes.set_ylabel("information loss, %")
    axes.set_title("Census, k = 3: what is lost against the time spent")
    axes.legend()
    figure.savefig(sys.argv[2], metadata={"Date": None}, bbox_inches="tight")


if __name__ == "__main__":
    main()
