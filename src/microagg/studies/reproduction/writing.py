"""The folder that ``microagg reproduce`` writes."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from microagg.errors import InputError, ParameterError
from microagg.studies.reproduction.catalogue import PAPERS, named
from microagg.studies.reproduction.experiment import Experiment, Grid
from microagg.studies.reproduction.kept import write_whole
from microagg.studies.reproduction.page import command_of, page_of, page_with
from microagg.studies.reproduction.pictures import can_draw, draw_panels
from microagg.studies.reproduction.running import Result, run
from microagg.studies.reproduction.sections import read_sections
from microagg.studies.reproduction.tables import write_tables

__all__ = ["reproduce"]

NOTICE = (
    "Results of 'microagg reproduce': experiments of papers on public reference tables. Some match records to their "
    "originals or draw noise as the papers print it; no file here is a release, and none carries a guarantee.\n"
)


def reproduce(
    experiments: Sequence[Experiment | str] | None = None,
    *,
    folder: str | Path,
    grid: Grid | str = Grid.STANDARD,
    seed: int = 0,
    workers: int | None = None,
    page: str | Path | None = None,
) -> list[Result]:
    """Run published tables and figures again and write what came out: a folder for each.

    The parts from which an unfinished run goes on are kept in the same folder.

    Parameters
    ----------
    experiments : sequence of str, optional
        Names as ``microagg reproduce`` lists them, or a paper's for all of its own; default all.
    folder : str or Path
    grid : {"standard", "quick", "full"}
    seed : int
    workers : int, optional
        How many processes; default one per core.
    page : str or Path, optional
        A page of results made before: these experiments take their places in it, and the others stay as they are.

    Returns
    -------
    list of Result
        With ``rows`` (published, ours, verdict), ``points`` and ``panels`` of each.

    Notes
    -----

    Each gets ``table.md``, ``table.parquet``, ``points.parquet`` and, with Matplotlib, ``figure.png``; all of them one
    page, ``reproduction.md``.
    """
    if grid not in list(Grid):
        raise ParameterError(f"grid must be one of {', '.join(Grid)}. Got {grid!r} instead")
    folder, grid = Path(folder), Grid(grid)
    wanted = list(PAPERS) if experiments is None else experiments
    chosen = named([one for one in wanted if isinstance(one, str)])
    chosen += [one for one in wanted if not isinstance(one, str)]
    if folder.exists() and not folder.is_dir():
        raise InputError(f"{folder.name!r} is a file; name a folder to write the results into")
    if page is not None:
        read_sections(_read(Path(page)))  # refuses another file before hours of work
    write_whole(folder / "README.txt", NOTICE.encode())
    results = run(chosen, grid=grid, seed=seed, parts_folder=folder / "parts", workers=workers)
    for result in results:
        own = folder / result.experiment.name
        write_tables(result, own)
        if result.panels and can_draw():
            draw_panels(result.panels, own / "figure.png")
    command = command_of(results, grid, seed)
    write_whole(folder / "reproduction.md", page_of(results, [command]).encode())
    if page is not None:
        write_whole(Path(page), page_with(_read(Path(page)), results, command).encode())
    return results


def _read(page: Path) -> str:
    try:
        return page.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        raise InputError(f"{page.name!r} is no page of results that can be read") from None
