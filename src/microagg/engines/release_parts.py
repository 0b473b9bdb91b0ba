"""A release in parts by the way that its method takes: cells in blocks, runs from frequencies, or counts and noise."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import numpy as np

from microagg.engines.counts.private import release_from_counts
from microagg.engines.counts.ranking import Ranking, plan_ranking, state_ranking
from microagg.engines.counts.rules import FROM_COUNTS
from microagg.engines.folder import (
    FilesRelease,
    Order,
    Original,
    Parts,
    count_together,
    put_in_place,
    secret_of,
    spending_of,
)
from microagg.engines.in_parts import release_cells
from microagg.engines.passes import Engine
from microagg.engines.tasks import part_name, write_part
from microagg.errors import InputError
from microagg.privacy.verify import require_k
from microagg.recipe.recipe import Recipe
from microagg.releases.release import Release
from microagg.releases.strategy import strategy_of
from microagg.statements.manifest import Manifest
from microagg.statements.promises import describe_engine, describe_schema
from microagg.tables.frames import Frame

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["release_in_parts"]

Result = TypeVar("Result")


def release_in_parts(original: Original, recipe: Recipe, engine: Engine, staging: Path, order: Order) -> FilesRelease:
    """Release a table by an engine.

    Parameters
    ----------
    original : Original
    recipe : Recipe
        One that can be carried out in parts.
    engine : Engine
    staging : Path
        Where records may lie on their way; removed by the caller.
    order : Order
    """
    spending_of(original, recipe, order)  # what cannot be recorded is refused before the files are read
    if recipe.method not in FROM_COUNTS:
        return release_cells(original, recipe, engine, staging, order)
    if recipe.entry.is_private:
        return _release_drawn(original, recipe, engine, order)
    return _release_runs(original, recipe, engine, staging, order)


@dataclass(frozen=True)
class _Counting:
    """Passes over the original, by an engine."""

    engine: Engine
    original: Original

    def gather(self, task: Callable[[Iterator[pa.Table]], Result]) -> Iterator[Result]:
        return self.engine.gather(self.original, task, "counting values")


def _release_drawn(original: Original, recipe: Recipe, engine: Engine, order: Order) -> FilesRelease:
    """Counts by the engine; noise and records here, once: one file, as a release in memory writes it."""
    spending = spending_of(original, recipe, order)
    with spending.noting_failure():
        digest = original.digest()
        spending.know(sha256=digest.sha256)
        drawn = release_from_counts(_Counting(engine, original), recipe, seed=order.seed, before_noise=spending.pay)
        strategy = strategy_of(recipe)
        statement = drawn.statement
        spending.know(guarantees=statement.guarantees)
        spending.pay()
        if order.state_total:
            statement = replace(statement, total=spending.total)
        manifest = Manifest(
            recipe=recipe.as_dict(),
            stages=(describe_schema(recipe), *drawn.stages.as_list(recipe.entry, recipe.k)),
            input={
                "n_records": drawn.n_records,
                "n_columns": original.n_columns,
                **strategy.describe_input(digest),
            },
            seeded=order.seed is not None,
            id=spending.id,
        )
        made = Release(
            frame=Frame.wrap(drawn.table),
            recipe=recipe,
            statement=statement,
            manifest=manifest,
            digest=digest,
            blocks=(),
            information_loss=None,
            spending=spending,
        )
    written = made.save(order.folder, format="parquet", overwrite=order.overwrite, sign=order.sign)
    return FilesRelease(written, statement, manifest, engine.name, 0, None, made.receipt_path(written), spending.words)


def _release_runs(original: Original, recipe: Recipe, engine: Engine, staging: Path, order: Order) -> FilesRelease:
    """Individual ranking: frequencies first, then every part by itself."""
    ranking = plan_ranking(_Counting(engine, original), recipe, secret_of(order.seed))
    n_parts = max(1, -(-ranking.n_records // recipe.engine.shard_records))

    def make(partial: Path) -> Parts:
        scattered = engine.scatter(original, DealOut(ranking, n_parts), n_parts, "sorting records into parts")
        groups = [[number] for number in np.flatnonzero(scattered.counts).tolist()]
        scratch = staging / "parts"
        scratch.mkdir()
        counts = scattered.collect(groups, WriteRuns(ranking, partial, scratch), "replacing values")
        if sum(counts) != ranking.n_records:
            raise InputError("the files changed while they were read. Nothing was written")
        paths = [partial / part_name(number) for number in range(len(groups))]
        counted = [
            count_together(engine, paths, [attribute.name], recipe, singles=place == 0)
            for place, attribute in enumerate(ranking.attributes)
        ]
        for one in counted:
            require_k(one.recount, "the written files together")
        cut = describe_engine(recipe, engine.name, len(paths))
        return Parts(
            tuple(paths),
            state_ranking(ranking, counted, order.seed),
            replace(ranking.stages, partition={"engine": cut}),
            ranking.n_input,
            sum(facts.cells.n_cells for facts in ranking.facts),
            ranking.information_loss,
        )

    return put_in_place(original, recipe, engine.name, make, order)


@dataclass(frozen=True)
class DealOut:
    """Records on heaps, one for each part of the release."""

    ranking: Ranking
    n_parts: int

    def __call__(self, batches: Iterator[pa.Table]) -> Iterator[tuple[int, pa.Table]]:
        for table in batches:
            parts = self.ranking.part_of(table, self.n_parts)
            for number in range(self.n_parts):
                rows = np.flatnonzero(parts == number)
                if len(rows):
                    yield number, table.take(rows).combine_chunks()


@dataclass(frozen=True)
class WriteRuns:
    """From the records of a part to a file of what is published of them, read back; how many they are."""

    ranking: Ranking
    folder: Path
    scratch: Path

    def __call__(self, part: int, rows: list[pa.Table]) -> int:
        import pyarrow as pa

        released = self.ranking.release_part(pa.concat_tables(rows), part)
        write_part(released, self.folder / part_name(part), self.scratch)
        return int(released.num_rows)
