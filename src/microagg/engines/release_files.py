"""Release a table that lies in files, by the engine that fits it."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

from microagg.engines.files import find_files
from microagg.engines.folder import FilesRelease
from microagg.engines.outofcore import release_out_of_core
from microagg.engines.rules import find_unsupported
from microagg.errors import InputError, ParameterError, did_you_mean
from microagg.recipe.recipe import Recipe
from microagg.statements.promises import OUT_OF_CORE, SPARK
from microagg.tables.formats.registry import format_of

__all__ = ["ENGINES", "choose_engine", "only_file", "release_files"]

LOCAL, AUTO = "local", "auto"
ENGINES = (AUTO, LOCAL, OUT_OF_CORE, SPARK)

SHARE_OF_MEMORY = 0.25
"""A file that takes more than this share of memory when it is read is released out of core, if nothing else is said."""
_GROWS = {"parquet": 1.0, "csv": 2.0, "tsv": 2.0, "csv.gz": 10.0}  # memory for a byte on disk, roughly


def release_files(
    source: str | Path | Any,
    recipe: Recipe,
    folder: str | Path,
    *,
    engine: str = AUTO,
    workers: int | None = None,
    session: Any = None,
    master: str | None = None,
    seed: int | None = None,
    overwrite: bool = False,
    sign: str | Path | None = None,
    state_total: bool = False,
    tell: Callable[[str], None] | None = None,
) -> FilesRelease:
    """Release a table that lies in one or more files, and write it into a new folder, whole or not at all.

    Parameters
    ----------
    source : path or pattern
        A Parquet or CSV file, a folder of them, or a pattern like ``"data/*.parquet"``. For ``engine="spark"`` also a
        Spark DataFrame.
    recipe : Recipe
        Its ``[engine]`` says how large the parts are that a table is cut into.
    folder : path
        Must not exist, unless `overwrite`.
    engine : {"auto", "local", "outofcore", "spark"}, default "auto"
        ``local`` holds the whole table in memory, as :func:`microagg.release` does. ``outofcore`` cuts it into
        neighbouring parts on disk, forms cells within them, and counts the guarantee on all written files together;
        it writes Parquet. ``auto`` takes it for several files, and for one that would take more than a quarter of
        memory. ``spark`` does what ``outofcore`` does with the workers of an Apache Spark cluster (the extra
        ``spark``, and Java); folders must be on a file system that they share. The two write the same bytes for the
        same seed.
    workers : int, optional
        Processes that share the work; default 1 out of core, all cores of this machine for Spark without a master. A
        script that asks for more than one must keep its own work behind ``if __name__ == "__main__":``, since they
        import it. They change nothing but time and memory.
    session : SparkSession, optional
        Of a cluster, for ``engine="spark"``; default: that of the DataFrame, the active one, or a new one.
    master : str, optional
        Where a new session goes, for ``engine="spark"``: ``"spark://host:7077"``; default: this machine.
    seed : int, optional
        Fixes chance, for research.
    overwrite : bool, default False
    sign : path, optional
        A private key, as in :meth:`microagg.Release.save`.
    state_total : bool, default False
        The statement says what releases of the file have spent, if a ledger is kept of it.
    tell : callable, optional
        Called with a sentence if `auto` chose the out-of-core engine.

    Returns
    -------
    FilesRelease

    Raises
    ------
    InputError
        The files or the recipe cannot be released so. Nothing was written.
    GuaranteeError
        The guarantee does not hold on the written files. Nothing is left of them.
    """
    if not isinstance(recipe, Recipe):
        raise ParameterError("recipe must be a microagg.Recipe: Recipe(k=..., attributes={...}) or Recipe.load(path)")
    if seed is not None and (isinstance(seed, bool) or not isinstance(seed, int) or seed < 0):
        raise ParameterError("seed must be a whole number of at least 0, or left out")
    if engine == SPARK:
        from microagg.engines.spark import release_on_spark

        return release_on_spark(
            source,
            recipe,
            folder,
            session=session,
            master=master,
            workers=workers,
            seed=seed,
            overwrite=overwrite,
            sign=sign,
            state_total=state_total,
        )
    if session is not None or master is not None:
        raise ParameterError("session and master belong to engine = 'spark'")
    if not isinstance(source, (str, Path)):
        raise ParameterError(
            "source must be a path or a pattern; a Spark DataFrame needs engine = 'spark', other tables "
            "microagg.release"
        )
    chosen, why = choose_engine(source, recipe, engine)
    if why and tell is not None:
        tell(why)
    if chosen == OUT_OF_CORE:
        return release_out_of_core(
            source,
            recipe,
            folder,
            seed=seed,
            overwrite=overwrite,
            sign=sign,
            state_total=state_total,
            workers=1 if workers is None else workers,
        )
    return _release_locally(
        source, recipe, Path(folder), seed=seed, overwrite=overwrite, sign=sign, state_total=state_total
    )


def choose_engine(source: str | Path, recipe: Recipe, engine: str) -> tuple[str, str]:
    """The engine to take, and why, if nobody said which."""
    if engine not in ENGINES:
        hint = did_you_mean(engine, ENGINES)
        raise ParameterError(f"engine must be one of {', '.join(ENGINES)}. Got {engine!r} instead.{hint}")
    if engine != AUTO:
        return engine, ""
    paths = find_files(source)
    kind = format_of(paths[0]).name
    if len(paths) > 1:
        return OUT_OF_CORE, f"The table lies in {len(paths):,} files: released out of core, in parts."
    needed = _bytes_in_memory(paths[0], kind)
    room = SHARE_OF_MEMORY * memory_of_machine()
    if kind not in _GROWS or needed <= room or find_unsupported(recipe):
        return LOCAL, ""
    return OUT_OF_CORE, (
        f"The table would take about {needed / 2**30:.1f} GiB, more than {100 * SHARE_OF_MEMORY:.0f} % of memory: "
        "released out of core, in parts (--engine local holds it in memory)."
    )


def _bytes_in_memory(path: Path, kind: str) -> float:
    if kind != "parquet":
        return path.stat().st_size * _GROWS.get(kind, 1.0)
    import pyarrow as pa
    from pyarrow import parquet

    try:
        with parquet.ParquetFile(path) as file:
            groups = (file.metadata.row_group(place) for place in range(file.metadata.num_row_groups))
            return float(sum(group.total_byte_size for group in groups))
    except (OSError, pa.ArrowException):  # said in full by who reads it
        return 0.0


def memory_of_machine() -> float:
    """Bytes of memory that this process may use: the machine's, or fewer where a container says so."""
    try:
        found = float(os.sysconf("SC_PAGE_SIZE")) * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, ValueError, OSError):
        return float("inf")
    for limit in (Path("/sys/fs/cgroup/memory.max"), Path("/sys/fs/cgroup/memory/memory.limit_in_bytes")):
        try:
            found = min(found, float(limit.read_text(encoding="ascii")))
        except (OSError, ValueError):  # none, or "max"
            continue
    return found


def only_file(source: str | Path) -> Path:
    """The file of a table that is held in memory.

    Raises
    ------
    InputError
        If there is none, or more than one.
    """
    paths = find_files(source)
    if len(paths) > 1:
        raise InputError(
            f"the table lies in {len(paths):,} files; engine = 'local' takes one. Choose --engine outofcore"
        )
    return paths[0]


def _release_locally(source: str | Path, recipe: Recipe, folder: Path, **options: Any) -> FilesRelease:
    from microagg.releases.folder.atomic import refuse_existing
    from microagg.releases.input import read_table
    from microagg.releases.pipeline import release
    from microagg.releases.release import FILES
    from microagg.tables.formats.registry import writable_names

    source = only_file(source)
    refuse_existing(folder, options["overwrite"], FILES)
    kind = format_of(source).name if format_of(source).name in writable_names() else "csv"
    table = read_table(source, recipe, as_text=format_of(source).is_text)
    made = release(table, recipe, seed=options["seed"], source=source, state_total=options["state_total"])
    written = made.save(folder, format=kind, overwrite=options["overwrite"], sign=options["sign"])
    receipt = made.receipt_path(written)
    return FilesRelease(
        written,
        made.statement,
        made.manifest,
        LOCAL,
        made.n_cells,
        made.information_loss,
        receipt,
        made.spending.words,
    )
