"""The folder of a sweep: finished points, each a small file, and what is written when all are there."""

from __future__ import annotations

import hashlib
import json
import shlex
import shutil
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from microagg._version import __version__
from microagg.errors import InputError
from microagg.frontier.frontier import Frontier, FrontierPoint
from microagg.frontier.text import frontier_text
from microagg.recipe.recipe import Recipe
from microagg.recipe.sweep import SWEPT_REQUIREMENTS
from microagg.releases.folder.atomic import write_file_whole
from microagg.releases.folder.orphans import PARTIAL, SWEEP_NOTICE, hidden_folder, holding, sweep_orphans
from microagg.releases.folder.places import refuse_place
from microagg.tables.write import write_table

__all__ = ["NOTICE", "SweepFolder", "SweepOutcome", "key_of"]

FORMAT = 1
NOTICE = (
    "Internal: do not publish. A sweep measures the original records, again and again, with fixed seeds; its tables "
    "and pictures carry no guarantee, whatever its releases promise. What is published is one release, made with "
    "'microagg release' and without a seed.\n"
)
_OURS = {
    SWEEP_NOTICE,
    "points",
    "recipes",
    "frontier.csv",
    "frontier.parquet",
    "frontier.png",
    "frontier.svg",
    "which.txt",
}


@dataclass(frozen=True)
class SweepOutcome:
    """What one release of a sweep measured, or why it failed.

    Attributes
    ----------
    key : str
        What it was made from, see :func:`key_of`.
    point : str
    repeat : int
    seconds : float
        What release and measures took.
    guarantee : str
    values, baselines : mapping of measure to float or None
    notes : mapping of measure to str
    failure : str
        Empty if it did not fail. Names columns and counts, never values of records.
    """

    key: str
    point: str
    repeat: int
    seconds: float = 0.0
    guarantee: str = ""
    values: Mapping[str, float | None] = field(default_factory=dict)
    baselines: Mapping[str, float | None] = field(default_factory=dict)
    notes: Mapping[str, str] = field(default_factory=dict)
    failure: str = ""


def key_of(input_sha256: str, recipe: Recipe, seed: int, measures: tuple[str, ...], lambda_: float) -> str:
    """A hash of all that decides what a point measures: a finished point with another key is not used.

    The version of microagg is part of it, so that a changed method or measure is not read from an old file.
    """
    content = {
        "format": FORMAT,
        "microagg": __version__,
        "input": input_sha256,
        "recipe": recipe.as_dict(),
        "seed": seed,
        "measures": list(measures),
        "lambda": lambda_,
    }
    return hashlib.sha256(json.dumps(content, sort_keys=True, default=str).encode()).hexdigest()


class SweepFolder:
    """A folder that a sweep writes to, and that the next start reads finished points from.

    Parameters
    ----------
    path : Path
        May be there if an earlier sweep made it, or empty.
    """

    def __init__(self, path: Path) -> None:
        refuse_place(path)
        self.given_path = path
        self.path = path.absolute()  # workers may have been started in another working directory
        self.points = self.path / "points"
        if path.exists() and not path.is_dir():
            raise InputError(f"the output path {path.name!r} is a file, not the folder of a sweep. Choose another")
        sweep_orphans(self.path.parent)
        held = {entry.name for entry in path.iterdir() if not entry.name.startswith(".")} if path.is_dir() else set()
        others = held - _OURS
        if others or (held and SWEEP_NOTICE not in held):
            raise InputError(
                f"the output path {path.name!r} is a folder with {len(others) or len(held)} files that no sweep wrote. "
                "Choose another"
            )

    def open(self) -> None:
        """Make the folder, first of all with the notice that it is internal."""
        self.path.mkdir(parents=True, exist_ok=True)
        write_file_whole(self.path / SWEEP_NOTICE, NOTICE)
        self.points.mkdir(exist_ok=True)

    def file_of(self, point: str, repeat: int, key: str) -> Path:
        return self.points / f"{point}.{repeat}.{key[:16]}.json"

    def finished(self, point: str, repeat: int, key: str) -> SweepOutcome | None:
        """What an earlier start measured of just this point; None if there is nothing, or it is not to be relied on."""
        try:
            content = json.loads(self.file_of(point, repeat, key).read_text(encoding="utf-8"))
            outcome = SweepOutcome(**content)
        except (FileNotFoundError, UnicodeDecodeError, json.JSONDecodeError, TypeError):
            return None
        return outcome if outcome.key == key else None

    def keep(self, outcome: SweepOutcome) -> None:
        """Write a finished point: there whole or not at all."""
        text = json.dumps(asdict(outcome), indent=1, ensure_ascii=False, allow_nan=False) + "\n"
        write_file_whole(self.file_of(outcome.point, outcome.repeat, outcome.key), text)

    def command(self, point: FrontierPoint, data: str) -> str:
        """The command that releases `data` by the recipe of a point, with what it requires of confidential values."""
        recipe = (self.given_path / "recipes" / f"{point.name}.toml").as_posix()
        values = {key: point.settings.get(key) for key in SWEPT_REQUIREMENTS}
        flags = [f"--{key} {value}" for key, value in values.items() if value is not None]
        output = shlex.quote(f"release-{point.name}")
        return " ".join(["microagg release", shlex.quote(data), "-r", shlex.quote(recipe), *flags, "-o", output])

    def write(self, frontier: Frontier, data: str) -> list[str]:
        """Write table, picture, words and the recipes of the points that no other beats; return the files' names."""
        table = frontier.frame()
        for name in ("frontier.csv", "frontier.parquet"):
            self._whole(name, lambda path: write_table(table, path))
        text = frontier_text(frontier, lambda point: self.command(point, data))
        write_file_whole(self.path / "which.txt", f"{text}\n\n{NOTICE}")
        recipes = self.path / "recipes"
        recipes.mkdir(exist_ok=True)
        best = frontier.best()
        for old in {file.name for file in recipes.glob("*.toml")} - {f"{point.name}.toml" for point in best}:
            (recipes / old).unlink()  # of an earlier sweep; the picture no longer shows it
        for point in best:
            write_file_whole(recipes / f"{point.name}.toml", point.recipe)
        files = ["frontier.csv", "frontier.parquet", "which.txt", "recipes/"]
        return [*files, *self._draw(frontier)]

    def _draw(self, frontier: Frontier) -> list[str]:
        from microagg.frontier.plot import can_plot, plot_frontier

        if not can_plot():
            return []
        for name in ("frontier.png", "frontier.svg"):
            self._whole(name, lambda path: plot_frontier(frontier, path))
        return ["frontier.png", "frontier.svg"]

    def _whole(self, name: str, write: Any) -> None:
        """Let `write` make a file under another name; it gets its own when it is whole."""
        folder = hidden_folder(self.path / name, PARTIAL)
        try:
            with holding(folder):
                write(folder / name)
                (folder / name).replace(self.path / name)
        finally:
            shutil.rmtree(folder, ignore_errors=True)
