"""A release in parts, from the first pass to the folder in its place; an engine carries out the passes.

(a) One pass for counts, ends and categories, which decides every refusal. (b) One pass for means and a sample, from
which the trees are grown. (c) One pass that puts each record on the heap of its shard. (d) Shard by shard, from records
to what is published of them. (e) What was written is read back and counted, all files together; then every file is
hashed, the manifest written, and the folder put in its place.
"""

from __future__ import annotations

import hashlib
import secrets
import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from microagg.engines.passes import Engine, Source
from microagg.engines.planning.layout import Layout
from microagg.engines.planning.plan import Plan, Sampling
from microagg.engines.planning.survey import Survey
from microagg.engines.shard_release import ShardFacts
from microagg.engines.shards import key_of
from microagg.engines.tasks import CountHeap, RouteRecords, ScatterPart, SurveyTable, TakeSample, WriteShard, part_name
from microagg.errors import InputError
from microagg.methods.output import CellSizes, Stages
from microagg.methods.searches import Searches
from microagg.privacy.verify import require_k
from microagg.recipe.recipe import Recipe
from microagg.releases.folder.atomic import whole_or_nothing
from microagg.releases.folder.orphans import PARTIAL, hidden_folder, holding
from microagg.releases.folder.receipt import Receipt
from microagg.releases.folder.signing import SIGNATURE, sign_manifest
from microagg.releases.release import FILES, MANIFEST, STATEMENT, STATEMENT_TEXT
from microagg.releases.strategy import strategy_of
from microagg.statements.exposure import Categories
from microagg.statements.manifest import InputDigest, Manifest, sha256_of_file
from microagg.statements.parts import COUNTING, PartsCount, question_of
from microagg.statements.promises import (
    describe_aggregation,
    describe_engine,
    describe_schema,
    describe_space,
    formed_in_blocks,
)
from microagg.statements.statement import Statement
from microagg.tables.parts.files import read_part

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["FilesRelease", "Original", "release_in_parts", "secret_of", "staging_beside"]


class Original(Source, Protocol):
    """The table that is released.

    Attributes
    ----------
    names : list of str
        Columns that are published, in their order.
    n_columns : int
        Of the original.
    """

    names: list[str]
    n_columns: int

    def digest(self) -> InputDigest:
        """Its fingerprint."""
        ...


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


@dataclass(frozen=True)
class WrittenParts:
    """The files of a release, one piece each, to be read back."""

    paths: tuple[Path, ...]
    names: tuple[str, ...]

    @property
    def n_pieces(self) -> int:
        return len(self.paths)

    @property
    def n_rows(self) -> int | None:
        return None

    def read(self, piece: int) -> Iterator[pa.Table]:
        yield read_part(self.paths[piece], self.names)


def release_in_parts(
    original: Original,
    recipe: Recipe,
    folder: Path,
    engine: Engine,
    staging: Path,
    *,
    seed: int | None,
    overwrite: bool,
    sign: str | Path | None,
) -> FilesRelease:
    """Carry out all passes by an engine, and put the folder in its place.

    Parameters
    ----------
    original : Original
    recipe : Recipe
    folder : Path
        What is written; absolute.
    engine : Engine
    staging : Path
        Where records may lie on their way; removed by the caller.
    seed, overwrite, sign
        As for :func:`microagg.release_files`.
    """
    run = _Run(original, recipe, secret_of(seed), engine)
    survey = run.survey()
    plan = run.plan(survey)
    digest = original.digest()
    beside: dict[str, str] = {}
    with whole_or_nothing(folder, overwrite=overwrite, ours=FILES, beside=beside) as partial:
        facts = run.write(plan, partial, staging)
        parts = [partial / part_name(number) for number in range(len(facts))]
        names = [name for name in original.names if name in plan.constants.columns]
        counted = run.count(parts, names)
        require_k(counted.recount, "the written files together")
        statement = _statement(run, survey, plan, facts, counted, seed)
        (partial / STATEMENT).write_text(statement.as_json(), encoding="utf-8")
        (partial / STATEMENT_TEXT).write_text(str(statement), encoding="utf-8")
        hashes = {path.name: sha256_of_file(path) for path in (*parts, partial / STATEMENT, partial / STATEMENT_TEXT)}
        manifest = Manifest(
            recipe=recipe.as_dict(),
            stages=(describe_schema(recipe), *_stages(run, names, facts).as_list(recipe.entry, recipe.k)),
            input={
                "n_records": survey.n_input,
                "n_columns": original.n_columns,
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
    return FilesRelease(folder, statement, manifest, engine.name, n_cells, loss, place)


def secret_of(seed: int | None) -> bytes:
    """What the run's chance comes from: the system's source of randomness unless a seed is given."""
    if seed is None:
        return secrets.token_bytes(32)
    return hashlib.sha256(f"microagg, fixed for research: {int(seed)}".encode()).digest()


@contextmanager
def staging_beside(folder: Path) -> Iterator[Path]:
    """A hidden folder for records on their way, for their owner only; if the run is killed, the next one removes it."""
    folder.parent.mkdir(parents=True, exist_ok=True)
    staging = hidden_folder(folder, PARTIAL)
    with holding(staging):
        try:
            yield staging
        finally:
            shutil.rmtree(staging, ignore_errors=True)


@dataclass
class _Run:
    """The passes of one run."""

    original: Original
    recipe: Recipe
    secret: bytes = field(repr=False)
    engine: Engine

    def survey(self) -> Survey:
        """Pass (a)."""
        survey = Survey(self.recipe, key_of(self.secret, "rows"))
        for one in self.engine.gather(self.original, SurveyTable(self.recipe, self.secret), "counting records"):
            survey.merge(one)
        survey.refuse()
        return survey

    def plan(self, survey: Survey) -> Plan:
        """Pass (b)."""
        sampling = Sampling(survey, key=key_of(self.secret, "sample"))
        task = TakeSample(Sampling(survey, key=key_of(self.secret, "sample")))
        for one in self.engine.gather(self.original, task, "taking a sample"):
            sampling.merge(one)
        _require_unchanged(sampling.n_seen, survey.n_records)
        return sampling.finish()

    def write(self, plan: Plan, partial: Path, staging: Path) -> list[ShardFacts]:
        """Passes (c) and (d)."""
        layout = Layout.of(plan)
        route = RouteRecords(plan, layout, self.secret)
        scattered = self.engine.scatter(self.original, route, layout.n_heaps, "sorting records into shards")
        n_records = int(plan.constants.groups.sizes.sum())
        _require_unchanged(int(scattered.counts.sum()), n_records)
        shards = layout.shards(plan, scattered.counts, self.recipe.k)
        scratch = staging / "shards"
        scratch.mkdir()
        facts = scattered.collect(shards, WriteShard(plan, partial, scratch, self.secret), "forming cells")
        _require_unchanged(sum(one.n_records for one in facts), n_records)
        return facts

    def count(self, parts: Sequence[Path], names: Sequence[str]) -> PartsCount:
        """Pass (e)."""
        question = question_of(parts, names, self.recipe)
        written = WrittenParts(tuple(parts), question.columns)
        scattered = self.engine.scatter(written, ScatterPart(question), question.n_heaps, COUNTING)
        heaps = [[number] for number in range(question.n_heaps)]
        return question.join(scattered.collect(heaps, CountHeap(question), COUNTING))


def _require_unchanged(found: int, expected: int) -> None:
    if found != expected:
        raise InputError("the files changed while they were read. Nothing was written")


def _stages(run: _Run, names: Sequence[str], facts: Sequence[ShardFacts]) -> Stages:
    recipe = run.recipe
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
        partition={"engine": describe_engine(recipe, run.engine.name, len(facts), n_blocks)},
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
        Categories.between(name, {str(label): n for label, n in survey.of_all[name].counts.items()}, after)
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
