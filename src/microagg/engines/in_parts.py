"""A release in parts, from the first pass to the folder in its place; an engine carries out the passes.

(a) One pass for counts, ends and categories, which decides every refusal. (b) One pass for means and a sample, from
which the trees are grown. (c) One pass that puts each record on the heap of its shard. (d) Shard by shard, from records
to what is published of them. (e) What was written is read back and counted, all files together; then every file is
hashed, the manifest written, and the folder put in its place.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from microagg.engines.folder import FilesRelease, Order, Original, Parts, count_together, put_in_place, secret_of
from microagg.engines.passes import Engine
from microagg.engines.planning.layout import Layout
from microagg.engines.planning.plan import Plan, Sampling
from microagg.engines.planning.survey import Survey
from microagg.engines.shard_release import ShardFacts
from microagg.engines.shards import key_of
from microagg.engines.tasks import RouteRecords, SurveyTable, TakeSample, WriteShard, part_name
from microagg.errors import InputError
from microagg.methods.output import CellSizes, Stages
from microagg.methods.searches import Searches
from microagg.privacy.verify import require_k
from microagg.recipe.recipe import Recipe
from microagg.releases.strategy import strategy_of
from microagg.statements.exposure import Categories
from microagg.statements.parts import PartsCount
from microagg.statements.promises import (
    describe_aggregation,
    describe_engine,
    describe_space,
    formed_in_blocks,
)
from microagg.statements.statement import Statement

if TYPE_CHECKING:
    pass

__all__ = ["release_cells"]


def release_cells(original: Original, recipe: Recipe, engine: Engine, staging: Path, order: Order) -> FilesRelease:
    """Carry out all passes of a method whose cells are formed in blocks, and put the folder in its place.

    Parameters
    ----------
    original : Original
    recipe : Recipe
    engine : Engine
    staging : Path
        Where records may lie on their way; removed by the caller.
    order : Order
        Where the release goes, and how.
    """
    run = _Run(original, recipe, secret_of(order.seed), engine)
    survey = run.survey()
    plan = run.plan(survey)

    def make(partial: Path) -> Parts:
        facts = run.write(plan, partial, staging)
        parts = [partial / part_name(number) for number in range(len(facts))]
        names = [name for name in original.names if name in plan.constants.columns]
        counted = count_together(engine, parts, names, recipe)
        require_k(counted.recount, "the written files together")
        lost = sum(one.lost for one in facts)
        return Parts(
            tuple(parts),
            _statement(run, survey, plan, facts, counted, order.seed),
            _stages(run, names, facts),
            survey.n_input,
            sum(one.n_cells for one in facts),
            100.0 * lost / plan.spread if plan.spread > 0 else 0.0,
        )

    return put_in_place(original, recipe, engine.name, make, order)


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
