"""A release in parts by the way that its method takes: cells in blocks, runs from frequencies, or counts and noise."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import numpy as np

from microagg._typing import IntArray
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
from microagg.engines.shard_release import canonical_order
from microagg.engines.shards import generator_for
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

_NUMBER = "file"


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
        date = recipe.about.day
        statement = replace(statement, about=recipe.about.of_release(date))
        manifest = Manifest(
            date=date,
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
        # Records that are alike are released together, and dealt out to files by chance afterwards: which of them lie
        # in one file tells nothing.
        alike = engine.scatter(original, PutTogether(ranking, n_parts), n_parts, "sorting records")
        groups = [[number] for number in np.flatnonzero(alike.counts).tolist()]
        scratch = staging / "parts"
        scratch.mkdir()
        paths = alike.collect(groups, ReplaceValues(ranking, n_parts, scratch), "replacing values")
        dealt = engine.scatter(Replaced(tuple(paths)), DealOut(), n_parts, "dealing records out")
        if int(dealt.counts.sum()) != ranking.n_records:
            raise InputError("the files changed while they were read. Nothing was written")
        groups = [[number] for number in np.flatnonzero(dealt.counts).tolist()]
        dealt.collect(groups, WritePart(ranking.secret, partial, scratch), "writing files")
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
class PutTogether:
    """Records on heaps, those that are alike on the same one."""

    ranking: Ranking
    n_heaps: int

    def __call__(self, batches: Iterator[pa.Table]) -> Iterator[tuple[int, pa.Table]]:
        for table in batches:
            yield from _by_number(table, self.ranking.part_of(table, self.n_heaps))


@dataclass(frozen=True)
class ReplaceValues:
    """From the records of a heap to what is published of them, each with the number of a file, by chance."""

    ranking: Ranking
    n_parts: int
    scratch: Path

    def __call__(self, heap: int, rows: list[pa.Table]) -> Path:
        import pyarrow as pa

        released = self.ranking.release_part(pa.concat_tables(rows), heap)
        chance = generator_for(self.ranking.secret, "files", heap)
        numbers = pa.array(chance.integers(0, self.n_parts, released.num_rows))
        path = self.scratch / f"{secrets.token_hex(8)}.arrow"
        numbered = pa.table([numbers, *released.columns], names=[_NUMBER, *released.column_names])
        with pa.OSFile(str(path), "wb") as sink, pa.ipc.new_stream(sink, numbered.schema) as writer:
            writer.write_table(numbered)
        return path


@dataclass(frozen=True)
class Replaced:
    """What is published, heap by heap."""

    paths: tuple[Path, ...]
    n_rows: int | None = None

    @property
    def n_pieces(self) -> int:
        return len(self.paths)

    def read(self, piece: int) -> Iterator[pa.Table]:
        import pyarrow as pa

        with pa.OSFile(str(self.paths[piece]), "rb") as file, pa.ipc.open_stream(file) as reader:
            yield reader.read_all()


class DealOut:
    """Rows on heaps, by the number that they got."""

    def __call__(self, batches: Iterator[pa.Table]) -> Iterator[tuple[int, pa.Table]]:
        for table in batches:
            yield from _by_number(table.remove_column(0), table.column(0).to_numpy())


@dataclass(frozen=True)
class WritePart:
    """From the rows of a heap to a file of the release, in an order of chance, read back."""

    secret: bytes
    folder: Path
    scratch: Path

    def __call__(self, part: int, rows: list[pa.Table]) -> None:
        import pyarrow as pa

        table = pa.concat_tables(rows, promote_options="permissive").unify_dictionaries()
        order = canonical_order(table)
        order = order[generator_for(self.secret, "order", "dealt", part).permutation(len(order))]
        released = Frame.wrap(table.take(order)).without_unused_categories().table
        write_part(released, self.folder / part_name(part), self.scratch)


def _by_number(table: pa.Table, numbers: IntArray) -> Iterator[tuple[int, pa.Table]]:
    """Rows with the same number, number by number; those with a negative one are left out."""
    order = np.argsort(numbers, kind="stable")
    found, starts = np.unique(numbers[order], return_index=True)
    arranged = table.take(order).combine_chunks()
    for number, start, stop in zip(found.tolist(), starts, [*starts[1:], len(order)], strict=True):
        if number >= 0:
            yield number, arranged.slice(start, stop - start)
