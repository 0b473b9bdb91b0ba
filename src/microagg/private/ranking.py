"""Differentially private individual ranking: every attribute sorted alone, runs of k published with noise."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from microagg._typing import FloatArray, IntArray
from microagg._validation import Choice, Constraint
from microagg.methods.method import PUBLIC_SPACE, Method
from microagg.methods.output import Block, CellSizes, MethodOutput, Stages
from microagg.partition.runs import Larger, order_of, run_labels, run_sizes
from microagg.privacy.budget import Budget
from microagg.privacy.categorical import distance_counts, marginality_order, noisy_run_centroids
from microagg.privacy.guarantee import MICROAGGREGATED, ORIGINAL_RECORDS, Guarantee
from microagg.privacy.noise import Noise
from microagg.privacy.ranking import in_order, noisy_run_means, spread_steps
from microagg.privacy.verify import Finding
from microagg.private.base import PrivateMethod, dp_guarantee, form_of, option_of
from microagg.private.findings import check_public_values, check_ranks_ascend, check_shared_alone
from microagg.private.public_column import PublicColumn
from microagg.recipe.recipe import Recipe
from microagg.schema.attribute import Kind
from microagg.schema.taxonomy import Taxonomy, category_text
from microagg.tables.words import Words

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["ENTRY", "PrivateRanking"]


MARGINALS, ALIGNED = "marginals", "aligned"
INTERPOLATED, STEPS, OFF = "interpolated", "steps", "off"

SHOWS_CELLS = (
    "hiding of who was ranked together: with k = 2, records 0, 1, 10, 11 publish their first two values equal; with "
    "the first replaced by 12 they never are, at any epsilon"
)
SHOWS_RANKS = "relations between attributes: each was sorted alone, and a row is a rank, not a record"


class PrivateRanking(PrivateMethod):
    """Individual ranking with noise on the means of runs; categories by the exponential mechanism.

    Two forms. ``marginals`` publishes each attribute's list of run means in rank order, unlinked: epsilon-DP of the
    original records. ``aligned`` (the paper's) gives each record the noisy mean of its own run: which records share
    a run is then visible and depends on the records, so only the microaggregated data set, given the partition, is
    protected.

    Other Parameters
    ----------------
    monotone : {"interpolated", "steps", "off"}, default "interpolated"
        Whether noisy means of sorted values are put back into order, which costs no privacy: isotonic regression is
        post-processing. ``"interpolated"`` spreads its flat steps, ``"steps"`` leaves them, ``"off"`` publishes noisy
        means as the paper does.

    References
    ----------
    .. [1] Sanchez, D., Domingo-Ferrer, J., Martinez, S. & Soria-Comas, J. (2016). Utility-preserving differentially
       private data releases via individual ranking microaggregation. Information Fusion 30, 1-14.
       doi:10.1016/j.inffus.2015.11.002
    """

    forms: ClassVar[tuple[str, ...]] = (MARGINALS, ALIGNED)
    linked_forms: ClassVar[tuple[str, ...]] = (ALIGNED,)
    options: ClassVar[Mapping[str, Constraint]] = {"monotone": Choice((INTERPOLATED, STEPS, OFF))}
    defaults: ClassVar[Mapping[str, Any]] = {"monotone": INTERPOLATED}

    def guarantee(self, recipe: Recipe) -> Guarantee:
        """Of the original records for ``marginals``; of the microaggregated data set for ``aligned``."""
        aligned = form_of(recipe) == ALIGNED
        return dp_guarantee(
            recipe,
            target=MICROAGGREGATED if aligned else ORIGINAL_RECORDS,
            linked=aligned,
            not_promised=(SHOWS_CELLS if aligned else SHOWS_RANKS,),
        )

    def protect(self, columns: Sequence[PublicColumn], recipe: Recipe, noise: Noise, budget: Budget) -> MethodOutput:
        """Spend the budget attribute by attribute."""
        assert recipe.privacy is not None
        aligned, monotone = form_of(recipe) == ALIGNED, option_of(recipe, "monotone")
        larger: Larger = recipe.partition.get("larger", "middle")
        sizes = run_sizes(len(columns[0].values), recipe.k, larger)
        shares = budget.divide(recipe.privacy.weights or [column.name for column in columns])
        arrays, blocks = {}, []
        for column in columns:
            on = f"means of {len(sizes)} runs of {column.name}"
            if column.kind is Kind.NOMINAL:
                places, of_runs = _centroids(column, sizes, budget=shares[column.name], noise=noise)
            else:
                places = column.values
                means = noisy_run_means(places, sizes, column.grid, budget=shares[column.name], noise=noise, on=on)
                of_runs = _in_order(means, sizes, column, monotone)
            interpolated = monotone == INTERPOLATED and column.kind is not Kind.NOMINAL
            if aligned:
                labels = run_labels(order_of(places), sizes)
                blocks.append(Block((column.name,), labels))
                of_runs = spread_steps(of_runs, sizes, by_rank=False) if interpolated else of_runs
                arrays[column.name] = column.publish(of_runs[labels])
            else:
                by_rank = spread_steps(of_runs, sizes, by_rank=True) if interpolated else np.repeat(of_runs, sizes)
                arrays[column.name] = column.publish(by_rank)
        remarks = () if aligned else ("a row is a rank: its values belong to no record and not to each other",)
        stages = Stages(
            cells=tuple(CellSizes.of((column.name,), sizes) for column in columns),
            partition={"larger": larger},
            noise={"form": form_of(recipe), "monotone": monotone},
        )
        return MethodOutput(arrays, tuple(blocks), stages, remarks, budget=budget, linked=aligned)

    def findings(self, table: pa.Table, recipe: Recipe) -> list[Finding]:
        """Public values; that ranks ascend; or, of the aligned form, that values are shared by k records."""
        found = [check_public_values(table, recipe)]
        if form_of(recipe) == ALIGNED:
            found.append(check_shared_alone(table, recipe))
        elif option_of(recipe, "monotone") != OFF:
            found.append(check_ranks_ascend(table, recipe))
        return found


ENTRY = Method(
    name="dp_individual_ranking",
    title="Differentially private individual ranking",
    summary="Every attribute sorted and cut alone; means of runs with k times less noise, put back into order.",
    cells_by="microagg.partition.ranking:IndividualRanking",
    partitions="attributes",
    preset={"cut": "fixed"},
    protected_by=PrivateRanking,
    space=PUBLIC_SPACE,
    aggregate="mean of a run; for categories the marginality centroid",
    noise="Laplace, width x attributes / (k epsilon) on each mean; exponential mechanism over the taxonomy",
    guarantee=(
        "epsilon-differential privacy of the original records (form marginals), or of the microaggregated data set "
        "given the partition (form aligned)"
    ),
    reference="Sanchez et al. (2016), doi:10.1016/j.inffus.2015.11.002",
    explained=Words(
        "It sorts every attribute alone, cuts it into runs of k and adds noise to the mean of each run. Averages of k "
        "records need k times less noise than single values.",
        "By default each attribute is published as a sorted list: a row is a rank, not a person. Form 'aligned' keeps "
        "rows together and no longer protects the original records.",
        formula="noise of scale width x attributes / (k x epsilon) on the mean of each run",
        more="docs/differential_privacy.md",
    ),
)


def _in_order(means: FloatArray, sizes: IntArray, column: PublicColumn, monotone: str) -> FloatArray:
    """The noisy means within the bounds, in order or as they are."""
    return np.clip(means, column.low, column.high) if monotone == OFF else in_order(means, sizes, column.grid)


def _centroids(column: PublicColumn, sizes: IntArray, *, budget: Budget, noise: Noise) -> tuple[FloatArray, FloatArray]:
    """Each record's place in the public order of categories, and the category that each run publishes."""
    tree = column.attribute.taxonomy
    labels = [category_text(label) for label in column.labels]
    # A list of categories is a tree of depth one, whose root is no category.
    distances = (Taxonomy.flat(labels) if tree is None else tree).distances(labels)
    domain = np.asarray(column.domain, dtype=np.int64)
    order = domain[marginality_order(distances[np.ix_(domain, domain)])]
    place_of = np.zeros(len(labels), dtype=np.int64)
    place_of[order] = np.arange(len(order))
    places = place_of[column.values.astype(np.int64)]
    chosen = noisy_run_centroids(
        places,
        sizes,
        distance_counts(distances)[order],
        budget=budget,
        noise=noise,
        on=f"centroids of {len(sizes)} runs of {column.name}",
    )
    return places.astype(np.float64), chosen.astype(np.float64)
