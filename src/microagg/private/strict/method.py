"""Ranked graph and ranked copula: whole tables, epsilon-differentially private for the original records."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from microagg._validation import Constraint, Integer, Optional, Real
from microagg.errors import did_you_mean
from microagg.methods.method import PUBLIC_SPACE, Method
from microagg.methods.output import MethodOutput, Stages
from microagg.privacy.budget import Budget
from microagg.privacy.guarantee import ORIGINAL_RECORDS, Guarantee
from microagg.privacy.noise import Noise, Silence
from microagg.privacy.verify import Finding
from microagg.private.base import PrivateMethod, dp_guarantee, option_of
from microagg.private.findings import check_public_values
from microagg.private.public_column import PublicColumn
from microagg.private.strict.plan import PARTS, Plan, make_plan
from microagg.private.strict.records import Records
from microagg.private.strict.release import Measured, chance_from, draw_from, measure
from microagg.private.strict.scales import Scale
from microagg.recipe.recipe import Recipe
from microagg.recipe.unit import epsilon_of_record
from microagg.schema.attribute import Kind
from microagg.tables.words import Words

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["COPULA", "GRAPH", "RankedCopula", "RankedGraph", "RecordsOn"]

RecordsOn = Callable[[Sequence[Scale]], Records]
"""What gives the records as points of scales."""

DRAWN = "drawn"
LITTLE = 50.0  # records x epsilon / attributes, below which hardly any dependence stands out of its noise


@dataclass(frozen=True)
class Shares:
    """Shares above 0 that sum to 1, one for each of some parts."""

    parts: tuple[str, ...]

    def allows(self, value: Any) -> bool:
        return (
            isinstance(value, Mapping)
            and sorted(value) == sorted(self.parts)
            and all(Real(0.0, open_low=True).allows(share) for share in value.values())
            and abs(math.fsum(value.values()) - 1.0) <= 1e-9
        )

    def describe(self) -> str:
        return f"shares above 0 that sum to 1, of {', '.join(self.parts)}"

    def bad_values(self) -> list[Any]:
        return [{}, {self.parts[0]: 1.0}, dict.fromkeys(self.parts, 1.0), None, 1]


@dataclass(frozen=True)
class NumbersByName:
    """A number for each of some attributes."""

    def allows(self, value: Any) -> bool:
        return isinstance(value, Mapping) and all(
            isinstance(name, str) and Real(-math.inf).allows(number) for name, number in value.items()
        )

    def describe(self) -> str:
        return "a finite number for each of some attributes"

    def bad_values(self) -> list[Any]:
        return [{"x": "0"}, {"x": math.nan}, None, 0]


class RankedGraph(PrivateMethod):
    """Records drawn from a model of noisy counts: of each attribute's values, and of how attributes go together.

    All published attributes are protected, confidential ones as well: nothing stands beside the release as it is. No
    row belongs to a record.

    All keys have defaults that follow from the number of records, epsilon, and the number and kinds of attributes.
    ``weights`` divides the share of the marginals among attributes.

    Other Parameters
    ----------------
    shares : table of shares above 0 that sum to 1, optional
        How the budget is divided among marginals, pairs, choices and tables. Left out, it follows from public numbers.
    tables : int from 0 to 10,000, optional
        How many two-way tables are counted beside those that join nominal attributes. More tables keep more relations,
        each with more noise.
    origins : table of attribute to number, optional
        Around which value the numbers of an attribute crowd, so that they are told apart more finely there. Left out,
        it is 0 or the bound next to it.
        Take care: an origin is published. It must come from general knowledge, not from the table.

    Notes
    -----
    Proof: docs/algorithms/ranked_graph.md.
    """

    forms: ClassVar[tuple[str, ...]] = (DRAWN,)
    rows: ClassVar[Mapping[str, str]] = {DRAWN: "drawn"}
    options: ClassVar[Mapping[str, Constraint]] = {
        "shares": Optional(Shares(PARTS)),
        "tables": Optional(Integer(0, 10_000)),
        "origins": NumbersByName(),
    }
    defaults: ClassVar[Mapping[str, Any]] = {"shares": None, "tables": None, "origins": {}}
    with_tables: ClassVar[bool] = True

    def check(self, recipe: Recipe) -> None:
        """Origins must be of numbers."""
        for name in option_of(recipe, "origins"):
            numbers = [one for one in recipe.schema.quasi_identifiers if recipe.attributes[one].kind is Kind.NUMERIC]
            if name not in numbers:
                raise ValueError(f"privacy.origins: {name!r} is not a numeric attribute.{did_you_mean(name, numbers)}")

    def guarantee(self, recipe: Recipe) -> Guarantee:
        """Epsilon-DP of the original records, whole."""
        return dp_guarantee(
            recipe,
            target=ORIGINAL_RECORDS,
            linked=False,
            beside=False,
            assumptions=(
                "noise of the L-infinity mechanism and of joint histograms was drawn exactly, in whole numbers, by "
                "microagg itself, from the system's secure source",
            ),
            not_promised=(
                "values or combinations of records: every row was drawn from noisy counts, and one that equals a "
                "record does so by chance",
            ),
        )

    def protect(self, columns: Sequence[PublicColumn], recipe: Recipe, noise: Noise, budget: Budget) -> MethodOutput:
        """Measure, model and draw."""
        return self.protect_records(columns, len(columns[0].values), _records_in(columns), recipe, noise, budget)

    def protect_records(
        self,
        columns: Sequence[PublicColumn],
        n_records: int,
        records_on: RecordsOn,
        recipe: Recipe,
        noise: Noise,
        budget: Budget,
    ) -> MethodOutput:
        """:meth:`protect`, of records that need not be in the columns.

        Parameters
        ----------
        columns : sequence of PublicColumn
            Of which only what is public is looked at.
        n_records : int
        records_on : function
            The records, as points of the scales that it is called with.
        recipe, noise, budget
            As of :meth:`protect`.
        """
        chance = chance_from(noise)
        measured, scales, plan = self._measure(columns, n_records, records_on, recipe, noise, budget, chance)
        points = draw_from(measured, chance)
        arrays = {
            column.name: column.publish(scale.values_of(drawn, chance.random(len(drawn))))
            for column, scale, drawn in zip(columns, scales, points, strict=True)
        }
        return self._output(arrays, recipe, plan, measured.n_records, len(columns), budget)

    def follow(
        self, columns: Sequence[PublicColumn], recipe: Recipe, budget: Budget, blocks: Sequence[Mapping[str, Any]]
    ) -> MethodOutput:
        """What is spent, without drawing anything."""
        noise = Silence()
        n_records, records_on = len(columns[0].values), _records_in(columns)
        measured, _, plan = self._measure(columns, n_records, records_on, recipe, noise, budget, chance_from(noise))
        return self._output({}, recipe, plan, measured.n_records, len(columns), budget)

    def _measure(
        self,
        columns: Sequence[PublicColumn],
        n_records: int,
        records_on: RecordsOn,
        recipe: Recipe,
        noise: Noise,
        budget: Budget,
        chance: np.random.Generator,
    ) -> tuple[Measured, list[Scale], Plan]:
        assert recipe.privacy is not None
        origins = option_of(recipe, "origins")
        scales = [
            Scale.of(column, origins[column.name] * column.steps_per_unit if column.name in origins else None)
            for column in columns
        ]
        n_ordered = sum(scale.ordered for scale in scales)
        plan = make_plan(
            n_records,
            epsilon_of_record(recipe),
            n_ordered,
            len(scales) - n_ordered,
            shares=option_of(recipe, "shares"),
            n_more=option_of(recipe, "tables"),
            with_tables=self.with_tables,
        )
        measured = measure(
            records_on(scales),
            scales,
            n_records,
            plan,
            budget=budget,
            noise=noise,
            rng=chance,
            weights=recipe.privacy.weights,
        )
        return measured, scales, plan

    def _output(
        self,
        arrays: Mapping[str, pa.Array],
        recipe: Recipe,
        plan: Plan,
        n_records: int,
        n_attributes: int,
        budget: Budget,
    ) -> MethodOutput:
        epsilon = epsilon_of_record(recipe)
        remarks = ["a row was drawn from a model of noisy counts: its values belong together, and to no record"]
        if n_attributes > 1 and n_records * epsilon / n_attributes < LITTLE:
            remarks.append(
                f"{n_records} records, epsilon = {epsilon:g} {'' if recipe.unit is None else 'for each '}and "
                f"{n_attributes} attributes: noise hides nearly all dependence between attributes; fewer attributes or "
                "a larger epsilon would keep more"
            )
        stages = Stages(noise={"form": DRAWN, "plan": plan.as_dict()})
        return MethodOutput(arrays, stages=stages, remarks=tuple(remarks), budget=budget, linked=False)

    def findings(self, table: pa.Table, recipe: Recipe) -> list[Finding]:
        """Only that values are public ones can be seen."""
        return [check_public_values(table, recipe)]


def _records_in(columns: Sequence[PublicColumn]) -> RecordsOn:
    """The records that columns hold."""
    return lambda scales: Records(
        [scale.points_of(column.values) for scale, column in zip(scales, columns, strict=True)]
    )


class RankedCopula(RankedGraph):
    """:class:`RankedGraph` without tables: marginals and one correlation for each pair, for few ordered attributes."""

    options: ClassVar[Mapping[str, Constraint]] = {"origins": NumbersByName()}
    with_tables: ClassVar[bool] = False


GRAPH = Method(
    name="dp_ranked_graph",
    title="Ranked graph",
    summary=(
        "The whole table under differential privacy of the original records: noisy counts of values, noisy counts of "
        "how attributes go together, and records drawn from them."
    ),
    protected_by=RankedGraph,
    space=PUBLIC_SPACE,
    aggregate="records drawn from a model of noisy counts",
    noise="Laplace or one joint draw on counts of values; L-infinity mechanism on counts of pairs; Laplace on tables; "
    "exponential mechanism for which tables",
    guarantee="epsilon-differential privacy of the original records, all attributes together",
    reference="docs/algorithms/ranked_graph.md",
    whole_table=True,
    explained=Words(
        "It counts how values are distributed and how attributes go together, adds noise to the counts, and draws a "
        "new table from them. All attributes are protected, and no row is a person's.",
        "What the counts do not show is not in the table: relations of three and more attributes are weak. With few "
        "records or a small epsilon noise decides.",
        formula="noisy counts of values + noisy counts of pairs + noisy two-way tables where the model is furthest "
        "off; records drawn from them",
        more="docs/algorithms/ranked_graph.md",
    ),
)

COPULA = Method(
    name="dp_ranked_copula",
    title="Ranked copula",
    summary="Ranked graph for few numbers: noisy counts of values and one correlation for each pair of attributes.",
    protected_by=RankedCopula,
    space=PUBLIC_SPACE,
    aggregate="records drawn from a model of noisy counts",
    noise="Laplace or one joint draw on counts of values; L-infinity mechanism on counts of pairs",
    guarantee="epsilon-differential privacy of the original records, all attributes together",
    reference="docs/algorithms/ranked_graph.md",
    kinds=(Kind.NUMERIC, Kind.ORDINAL),
    whole_table=True,
    explained=Words(
        "It is the ranked graph for few numbers: noisy distributions and one noisy correlation for each pair of "
        "attributes, from which a new table is drawn.",
        "One number per pair keeps only relations that go in one direction. It takes numbers and ordered categories "
        "only.",
        formula="noisy counts of values + one noisy rank correlation for each pair; records drawn from them",
        more="docs/algorithms/ranked_graph.md",
    ),
)
