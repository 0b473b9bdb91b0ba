"""Draw docs/pictures/frontier.svg: risk against utility of a generated survey. Run: python docs/pictures/frontier.py"""

from __future__ import annotations

import sys
from pathlib import Path

import microagg
from microagg.cli.demo import RECIPE
from microagg.tables.reference.generated import generate_survey


def draw(path: Path, n_records: int = 2_000) -> None:
    folder = path.parent / "frontier_recipe.toml"
    folder.write_text(RECIPE, encoding="utf-8")
    recipe = microagg.Recipe.load(folder).changed(
        {"sweep.methods": ["mdav", "near_optimal", "vmdav", "pcp"], "sweep.k": [3, 5, 10, 20], "sweep.repeats": 1}
    )
    folder.unlink()
    microagg.sweep(generate_survey(n_records), recipe, workers=1).plot(path)


if __name__ == "__main__":
    draw(Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).with_name("frontier.svg"))
