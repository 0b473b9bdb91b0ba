"""The folder that ``microagg reproduce`` writes."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from microagg.errors import InputError
from microagg.studies.reproduction.experiment import Experiment, Grid
from microagg.studies.reproduction.kept import write_whole
from microagg.studies.reproduction.page import command_of, page_of
from microagg.studies.reproduction.pictures import can_draw, draw_panels
from microagg.studies.reproduction.running import Result, run
from microagg.studies.reproduction.tables import write_tables

__all__ = ["reproduce"]

NOTICE = (
    "Results of 'microagg reproduce': experiments of papers on public reference tables. Some match records to their "
    "originals or draw noise as the papers print it; no file here is a release, and none carries a guarantee.\n"
)


def reproduce(
    experiments: Sequence[Experiment], *, folder: str | Path, grid: Grid, seed: int = 0, workers: int | None = None
) -> list[Result]:
    """Run experiments and write what came out: a folder for each, and the parts from which an unfinished run goes on.

    Each gets ``table.md``, ``table.parquet``, ``points.parquet`` and, with Matplotlib, ``figure.png``; all of them one
    page, ``reproduction.md``.
    """
    folder = Path(folder)
    if folder.exists() and not folder.is_dir():
        raise InputError(f"{folder.name!r} is a file; name a folder to write the results into")
    write_whole(folder / "README.txt", NOTICE.encode())
    results = run(experiments, grid=grid, seed=seed, parts_folder=folder / "parts", workers=workers)
    for result in results:
        own = folder / result.experiment.name
        write_tables(result, own)
        if result.panels and can_draw():
            draw_panels(result.panels, own / "figure.png")
    write_whole(folder / "reproduction.md", page_of(results, [command_of(results, grid, seed)]).encode())
    return results
