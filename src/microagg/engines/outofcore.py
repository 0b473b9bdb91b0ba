"""The out-of-core engine: passes over files, shards on disk, one of them in memory at a time.

(a) One pass for counts, ends and categories, which decides every refusal. (b) One pass for means and a sample, from
which the trees are grown. (c) One pass that writes each record to its shard, in a hidden folder. (d) Shard by shard,
from records to what is published of them. (e) What was written is read back and counted, all files together; then every
file is hashed, the manifest written, and the folder put in its place.
"""

from __future__ import annotations

import hashlib
import secrets
import shutil
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from microagg._progress import report
from microagg._typing import IntArray
from microagg.engines.files import BATCH_RECORDS, FileSource
from microagg.engines.plan import Plan, Sampling
from microagg.engines.rules import refuse_unsupported
from microagg.engines.shard_release import ShardFacts, release_shard
from microagg.engines.shards import hash_rows, key_of, merge_small
from microagg.engines.survey import RowHash, Survey, column_of, group_keys, staying
from microagg.errors import InputError
from microagg.methods.output import CellSizes, Stages
from microagg.methods.searches import Searches
from microagg.privacy.verify import require_k, require_public, values_out_of_type
from microagg.recipe.recipe import Recipe
from microagg.releases.folder.atomic import refuse_existing, whole_or_nothing
from microagg.releases.folder.orphans import PARTIAL, hidden_folder, holding
from microagg.releases.folder.receipt import Receipt
from microagg.releases.folder.signing import SIGNATURE, sign_manifest
from microagg.releases.release import FILES, MANIFEST, STATEMENT, STATEMENT_TEXT
from microagg.releases.strategy import strategy_of
from microagg.statements.exposure import Categories
from microagg.statements.manifest import InputDigest, Manifest, sha256_of_file
from microagg.statements.parts import PartsCount, count_parts, hash_values, read_part
from microagg.statements.promises import (
    ENGINES_IN_PARTS,
    describe_aggregation,
    describe_engine,
    describe_schema,
    describe_space,
    formed_in_blocks,
)
from microagg.statements.statement import Statement
from microagg.tables.write import write_table

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["FilesRelease", "release_out_of_core"]

(OUT_OF_CORE,) = ENGINES_IN_PARTS
_MOST_OPEN = 900


@dataclass(frozen=True)
class FilesRelease:
    """A release that was written.

    Attributes
    ----------
    folder : Path
    statement : Statement
        As written.
    manifest : Manifest
    engine : str
    n_cells : int
    information_loss : float or None
        100 SSE/SST of the cells, in the space they were formed in.
    receipt : Path
        To keep, not to publish.
    words : tuple of str
        What else the data holder should know.
    """

    folder: Path
    statement: Statement
    manifest: Manifest = field(repr=False)
    engine: str
    n_cells: int
    information_loss: float | None
    receipt: Path
    words: tuple[str, ...] = ()


def release_out_of_core(
    source: str | Path,
    recipe: Recipe,
    folder: str | Path,
    *,
    seed: int | None = None,
    overwrite: bool = False,
    sign: str | Path | None = None,
    batch_records: int = BATCH_RECORDS,
) -> FilesRelease:
    """Release a table that need not fit in memory; see :func:`microagg.release_files`."""
    refuse_unsupported(recipe)
    refuse_existing(Path(folder), overwrite, FILES)
    folder = Path(folder).absolute()
    files = FileSource.open(source, recipe)
    run = _Run(files, recipe, _secret_of(seed), batch_records)
    try:
        return _release(run, folder, seed, overwrite, sign)
    except MemoryError:
        raise InputError(
            "there is not enough memory for a shard. Nothing was written. Make them smaller in the recipe: [engine] "
            f"shard_records = {max(recipe.engine.shard_records // 4, 10)}"
        ) from None


def _release(run: _Run, folder: Path, seed: int | None, overwrite: bool, sign: str | Path | None) -> FilesRelease:
    recipe = run.recipe
    survey = run.survey()
    plan = run.plan(survey)
    digest = InputDigest.of_files(run.files.paths)
    folder.parent.mkdir(parents=True, exist_ok=True)
    beside: dict[str, str] = {}
    with (
        _staging(folder) as staging,
        whole_or_nothing(folder, overwrite=overwrite, ours=FILES, beside=beside) as partial,
    ):
        shards = run.scatter(plan, staging)
        facts = [_write_shard(run, plan, shard, number, len(shards), partial) for number, shard in enumerate(shards)]
        parts = [partial / _name_of(number) for number in range(len(shards))]
        names = [name for name in run.files.names if name in plan.constants.columns]
        counted = count_parts(parts, names, recipe, scratch=staging)
        require_k(counted.recount, "the written files together")
        statement = _statement(run, survey, plan, facts, counted, seed)
        (partial / STATEMENT).write_text(statement.as_json(), encoding="utf-8")
        (partial / STATEMENT_TEXT).write_text(str(statement), encoding="utf-8")
        hashes = {path.name: sha256_of_file(path) for path in (*parts, partial / STATEMENT, partial / STATEMENT_TEXT)}
        manifest = Manifest(
            recipe=recipe.as_dict(),
            stages=(describe_schema(recipe), *_stages(recipe, names, facts).as_list(recipe.entry, recipe.k)),
            input={
                "n_records": survey.n_input,
                "n_columns": run.files.n_columns,
                **strategy_of(recipe).describe_input(digest),
            },
            output={"tables": [path.name for path in parts], "sha256": hashes},
            seeded=seed is not None,
        )
        (partial / MANIFEST).write_text(manifest.as_json(), encoding="utf-8")
        if sign is not None:
            signature = sign_manifest((partial / MANIFEST).read_bytes(), sign)
            (partial / SIGNATURE).write_text(signature, encoding="utf-8")
        published = {file.name: sha256_of_file(file) for file in sorted(partial.iterdir())}
        receipt = Receipt(digest, manifest.id, published)
        beside[receipt.name_beside(folder)] = receipt.as_json()
    lost = sum(one.lost for one in facts)
    loss = 100.0 * lost / plan.spread if plan.spread > 0 else 0.0
    n_cells = sum(one.n_cells for one in facts)
    place = folder.with_name(receipt.name_beside(folder))
    return FilesRelease(folder, statement, manifest, OUT_OF_CORE, n_cells, loss, place)


def _secret_of(seed: int | None) -> bytes:
    """What the run's chance comes from: the system's source of randomness unless a seed is given."""
    if seed is None:
        return secrets.token_bytes(32)
    return hashlib.sha256(f"microagg, fixed for research: {int(seed)}".encode()).digest()


@contextmanager
def _staging(folder: Path) -> Iterator[Path]:
    """A hidden folder for records on their way, for their owner only; if the run is killed, the next one removes it."""
    staging = hidden_folder(folder, PARTIAL)
    with holding(staging):
        try:
            yield staging
        finally:
            shutil.rmtree(staging, ignore_errors=True)


@dataclass
class _Run:
    """One run of the engine over its files."""

    files: FileSource
    recipe: Recipe
    secret: bytes = field(repr=False)
    batch_records: int = BATCH_RECORDS

    def survey(self) -> Survey:
        """Pass (a)."""
        survey = Survey(self.recipe, key_of(self.secret, "rows"))
        report("counting records", 0.0)
        for batch in self.files.batches(self.batch_records):
            survey.add(batch)
        survey.refuse()
        return survey

    def plan(self, survey: Survey) -> Plan:
        """Pass (b)."""
        sampling = Sampling(survey, key=key_of(self.secret, "sample"))
        for table in self.records(survey.n_records, "taking a sample"):
            columns = {name: column_of(table, name) for name in survey.columns}
            sampling.add(columns, sampling.constants.groups.number(*group_keys(columns, self.recipe, table.num_rows)))
        return sampling.finish()

    def records(self, n_records: int, task: str) -> Iterator[pa.Table]:
        """The records that take part, batch by batch."""
        done = 0
        names = self.recipe.schema.quasi_identifiers
        for batch in self.files.batches(self.batch_records):
            stays = staying({name: column_of(batch, name) for name in names}, self.recipe)
            table = batch if stays is None else batch.filter(stays)
            done += table.num_rows
            report(task, min(done / n_records, 1.0))
            if table.num_rows:
                yield table
        if done != n_records:
            raise InputError("the files changed while they were read. Nothing was written")

    def scatter(self, plan: Plan, staging: Path) -> list[list[Path]]:
        """Pass (c): the files that make up each shard."""
        first, size = plan.first_leaves, plan.shard_records
        pieces = [max(1, -(-int(n) // size)) for n in plan.n_heavy]
        ends = np.cumsum([first[-2], *pieces])
        files = self._packed(plan)  # of each leaf
        files += list(range(max(files, default=-1) + 1, max(files, default=-1) + 1 + int(ends[-1]) - first[-2]))
        if max(files) >= _MOST_OPEN:
            raise InputError(
                f"the table would have {max(files) + 1:,} shards, more than {_MOST_OPEN} files that can be written "
                f"together. Make them larger in the recipe: [engine] shard_records = {size * (max(files) // 500 + 1)}"
            )
        counts = np.zeros(len(files), dtype=np.int64)
        hashes_of = RowHash(self.recipe, key_of(self.secret, "rows"))
        names, file_of = list(plan.constants.columns), np.array(files)
        with ExitStack() as stack:
            writers: dict[int, Any] = {}
            for table in self.records(int(plan.constants.groups.sizes.sum()), "sorting records into shards"):
                columns = {name: column_of(table, name) for name in names}
                groups = plan.constants.groups.number(*group_keys(columns, self.recipe, table.num_rows))
                leaves = plan.route(columns, hashes_of.of(columns, table.num_rows), groups)
                is_heavy = leaves >= first[-2]
                if is_heavy.any():
                    leaves[is_heavy] = self._pieces(table, leaves - first[-2], is_heavy, ends, pieces)
                counts += np.bincount(leaves, minlength=len(files))
                _write_rows(table, file_of[leaves], staging, writers, stack)
        return [
            [staging / f"{number}.arrow" for number in sorted({files[leaf] for leaf in shard})]
            for shard in self._shards(plan, files, counts, ends)
        ]

    def _packed(self, plan: Plan) -> list[int]:
        """The file of each leaf of a tree: small groups share one, and none of the others does."""
        files: list[int] = []
        number, room = -1, 0
        for tree, n in zip(plan.trees, plan.n_light, strict=True):
            if tree.n_leaves > 1:
                files += range(number + 1, number + 1 + tree.n_leaves)
                number, room = number + tree.n_leaves, 0
                continue
            if n > room:
                number, room = number + 1, plan.shard_records
            files.append(number)
            room -= int(n)
        return files

    def _pieces(
        self, table: pa.Table, places: IntArray, is_heavy: Any, ends: IntArray, pieces: Sequence[int]
    ) -> IntArray:
        """Which piece of a frequent row's records each is in, by what else it holds."""
        import pyarrow as pa

        rows = np.flatnonzero(is_heavy)
        place = places[rows]
        n_pieces = np.array(pieces, dtype=np.uint64)[place]
        protected = set(self.recipe.schema.quasi_identifiers)
        others = [
            hash_values(table.column(name).take(pa.array(rows))) for name in table.column_names if name not in protected
        ]
        hashes = hash_rows(others, len(rows), key_of(self.secret, "pieces"))
        found: IntArray = ends[place] + (hashes % n_pieces).astype(np.int64)
        return found

    def _shards(self, plan: Plan, files: Sequence[int], counts: IntArray, ends: IntArray) -> list[list[int]]:
        """Leaves in shards of at least k records each, which hold every leaf once."""
        k, first = self.recipe.k, plan.first_leaves
        shards: list[list[int]] = []
        packed: dict[int, list[int]] = {}
        for place, tree in enumerate(plan.trees):
            leaves = range(first[place], first[place + 1])
            if tree.n_leaves > 1:
                merged = merge_small(tree, counts[leaves.start : leaves.stop].tolist(), k)
                shards += [[leaf + leaves.start for leaf in group] for group in merged]
                continue
            if counts[leaves.start]:
                if files[leaves.start] not in packed:
                    shards.append(packed.setdefault(files[leaves.start], []))
                packed[files[leaves.start]].append(leaves.start)
        for start, stop in zip(ends[:-1].tolist(), ends[1:].tolist(), strict=True):
            pieces: list[list[int]] = []
            for leaf in range(start, stop):
                if pieces and sum(counts[one] for one in pieces[-1]) < k:
                    pieces[-1].append(leaf)
                elif counts[leaf]:
                    pieces.append([leaf])
            if len(pieces) > 1 and sum(counts[one] for one in pieces[-1]) < k:
                pieces[-2:] = [pieces[-2] + pieces[-1]]
            shards += [[leaf for leaf in piece if counts[leaf]] for piece in pieces]
        total = sum(int(counts[leaf]) for shard in shards for leaf in shard)
        if total != int(counts.sum()) or total != int(plan.constants.groups.sizes.sum()):
            raise InputError("the files changed while they were read. Nothing was written")
        return shards


def _write_rows(table: pa.Table, numbers: IntArray, staging: Path, writers: dict[int, Any], stack: ExitStack) -> None:
    """Append the records of a batch to the files of their shards."""
    import pyarrow as pa

    order = np.argsort(numbers, kind="stable")
    found, starts = np.unique(numbers[order], return_index=True)
    arranged = table.take(order)
    for number, start, stop in zip(found.tolist(), starts, [*starts[1:], len(order)], strict=True):
        if number not in writers:
            sink = stack.enter_context(pa.OSFile(str(staging / f"{number}.arrow"), "wb"))
            writers[number] = stack.enter_context(pa.ipc.new_stream(sink, table.schema))
        writers[number].write_table(arranged.slice(start, stop - start).combine_chunks())


def _write_shard(run: _Run, plan: Plan, shard: Sequence[Path], number: int, n_shards: int, partial: Path) -> ShardFacts:
    """Pass (d): from a shard's records to the part of the table that is published."""
    import pyarrow as pa

    tables = []
    for path in shard:
        with pa.OSFile(str(path), "rb") as file, pa.ipc.open_stream(file) as reader:
            tables.append(reader.read_all())
        path.unlink()
    report("forming cells", number / n_shards)
    records = pa.concat_tables(tables)
    del tables
    released, facts = release_shard(records, plan.constants, run.secret, number, run.recipe.engine.block_records)
    path = partial / _name_of(number)
    write_table(released, path)
    require_public(values_out_of_type(read_part(path)), f"the written file {path.name!r}")
    return facts


def _name_of(number: int) -> str:
    return f"table-{number:05d}.parquet"


def _stages(recipe: Recipe, names: Sequence[str], facts: Sequence[ShardFacts]) -> Stages:
    searches = Searches([end for one in facts for end in one.searches])
    cells = CellSizes(
        tuple(names),
        sum(one.n_cells for one in facts),
        min(one.smallest for one in facts),
        max(one.largest for one in facts),
        search=searches.facts,
    )
    n_blocks = sum(one.n_blocks for one in facts)
    return Stages(
        cells=(cells,),
        partition={"engine": describe_engine(recipe, OUT_OF_CORE, len(facts), n_blocks)},
        space=describe_space(recipe),
        aggregate=describe_aggregation(recipe),
    )


def _statement(
    run: _Run, survey: Survey, plan: Plan, facts: Sequence[ShardFacts], counted: PartsCount, seed: int | None
) -> Statement:
    recipe, attributes = run.recipe, counted.recount.attributes
    remarks: list[str] = []
    if recipe.sampling_weight is not None:
        remarks.append(f"representatives are weighted by {recipe.sampling_weight!r}")
    if survey.n_records < survey.n_input:
        remarks.append(f"{survey.n_input - survey.n_records} records with a missing quasi-identifier were left out")
    remarks += plan.constants.groups.remarks
    remarks += Searches([end for one in facts for end in one.searches]).remarks(attributes)
    remarks.append(formed_in_blocks(sum(one.n_blocks for one in facts), len(facts)))
    named = tuple(
        Categories.between(name, {str(label): n for label, n in survey.columns[name].counts.items()}, after)
        for name, after in counted.categories.items()
    )
    exposure = replace(counted.exposure, categories=named)
    return Statement(
        strategy_of(recipe).guarantees([(attributes, ())]),
        (counted.recount,),
        counted.recount.n_records,
        remarks=tuple(remarks),
        seeded=seed is not None,
        exposure=tuple(exposure.public()),
    )
