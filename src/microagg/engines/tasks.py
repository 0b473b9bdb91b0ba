"""The passes of a release in parts, as tasks that any engine can carry out (:mod:`microagg.engines.passes`)."""

from __future__ import annotations

import copy
import secrets
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from microagg._typing import IntArray
from microagg.engines.planning.layout import Layout
from microagg.engines.planning.plan import Plan, Sampling
from microagg.engines.planning.survey import RowHash, Survey, column_of, group_keys, staying
from microagg.engines.shard_release import ShardFacts, release_shard
from microagg.engines.shards import hash_rows, key_of
from microagg.privacy.verify import require_public, values_out_of_type
from microagg.recipe.recipe import Recipe
from microagg.statements.parts import PartsCount, PartsQuestion
from microagg.tables.parts.files import hash_values, read_part
from microagg.tables.write import write_table

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = [
    "CountHeap",
    "RouteRecords",
    "ScatterPart",
    "SurveyTable",
    "TakeSample",
    "WriteShard",
    "part_name",
    "write_part",
]


def part_name(number: int) -> str:
    """The file of a shard."""
    return f"table-{number:05d}.parquet"


def write_part(table: pa.Table, path: Path, scratch: Path) -> None:
    """Write a file of a release and read it back; it gets its name when it is whole.

    Raises
    ------
    GuaranteeError
        If it shows what it must not.
    """
    unfinished = scratch / f"{secrets.token_hex(8)}-{path.name}"
    write_table(table, unfinished)
    require_public(values_out_of_type(read_part(unfinished)), f"the written file {path.name!r}")
    unfinished.replace(path)


def taking_part(batches: Iterator[pa.Table], recipe: Recipe) -> Iterator[pa.Table]:
    """The records that take part, batch by batch."""
    names = recipe.schema.quasi_identifiers
    for batch in batches:
        stays = staying({name: column_of(batch, name) for name in names}, recipe)
        table = batch if stays is None else batch.filter(stays)
        if table.num_rows:
            yield table


@dataclass(frozen=True)
class SurveyTable:
    """Pass (a): counts, ends and categories."""

    recipe: Recipe
    secret: bytes = field(repr=False)

    def __call__(self, batches: Iterator[pa.Table]) -> Survey:
        survey = Survey(self.recipe, key_of(self.secret, "rows"))
        for batch in batches:
            survey.add(batch)
        return survey


@dataclass(frozen=True)
class TakeSample:
    """Pass (b): means and deviations, a sample, frequent rows."""

    empty: Sampling

    def __call__(self, batches: Iterator[pa.Table]) -> Sampling:
        sampling, recipe = copy.deepcopy(self.empty), self.empty.recipe
        for table in taking_part(batches, recipe):
            columns = {name: column_of(table, name) for name in sampling.constants.columns}
            groups = sampling.constants.groups.number(*group_keys(columns, recipe, table.num_rows))
            sampling.add(columns, groups)
        return sampling


@dataclass(frozen=True)
class RouteRecords:
    """Pass (c): the heap of each record, from its own values alone."""

    plan: Plan
    layout: Layout
    secret: bytes = field(repr=False)

    def __call__(self, batches: Iterator[pa.Table]) -> Iterator[tuple[int, pa.Table]]:
        recipe = self.plan.constants.recipe
        hashes_of = RowHash(recipe, key_of(self.secret, "rows"))
        for table in taking_part(batches, recipe):
            columns = {name: column_of(table, name) for name in self.plan.constants.columns}
            groups = self.plan.constants.groups.number(*group_keys(columns, recipe, table.num_rows))
            leaves = self.plan.route(columns, hashes_of.of(columns, table.num_rows), groups)
            heaps = self.layout.heaps(leaves, self._spread(table, leaves))
            order = np.argsort(heaps, kind="stable")
            found, starts = np.unique(heaps[order], return_index=True)
            arranged = table.take(order).combine_chunks()
            for number, start, stop in zip(found.tolist(), starts, [*starts[1:], len(order)], strict=True):
                yield number, arranged.slice(start, stop - start)

    def _spread(self, table: pa.Table, leaves: IntArray) -> IntArray:
        """Numbers by which records of a frequent row are dealt out, from what else they hold."""
        import pyarrow as pa

        spread = np.zeros(len(leaves), dtype=np.int64)
        rows = np.flatnonzero(leaves >= self.plan.first_leaves[-2])
        if len(rows):
            protected = set(self.plan.constants.columns)
            places = pa.array(rows)
            others = [hash_values(table[name].take(places)) for name in table.column_names if name not in protected]
            hashes = hash_rows(others, len(rows), key_of(self.secret, "pieces"))
            spread[rows] = (hashes >> np.uint64(1)).astype(np.int64)
        return spread


@dataclass(frozen=True)
class WriteShard:
    """Pass (d): from the records of a shard to a file of what is published of them, read back.

    The file gets its name when it is whole. If the task is done again, or twice at a time, the same bytes are put in
    the same place.
    """

    plan: Plan
    folder: Path
    scratch: Path
    secret: bytes = field(repr=False)

    def __call__(self, shard: int, rows: list[pa.Table]) -> ShardFacts:
        import pyarrow as pa

        records = pa.concat_tables(rows)
        rows.clear()
        constants = self.plan.constants
        released, facts = release_shard(records, constants, self.secret, shard, constants.recipe.engine.block_records)
        write_part(released, self.folder / part_name(shard), self.scratch)
        return facts


@dataclass(frozen=True)
class ScatterPart:
    """Pass (e), first half: what of the written files goes to which heap, to be counted."""

    question: PartsQuestion

    def __call__(self, batches: Iterator[pa.Table]) -> Iterator[tuple[int, pa.Table]]:
        for table in batches:
            yield from self.question.scatter(table)


@dataclass(frozen=True)
class CountHeap:
    """Pass (e), second half: what a heap shows."""

    question: PartsQuestion

    def __call__(self, heap: int, rows: list[pa.Table]) -> PartsCount:
        return self.question.count(heap, rows)
