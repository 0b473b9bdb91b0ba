"""Cross-moment microaggregation under differential privacy: cells answer with a mean and its central moments."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from microagg._labels import cells_in_order
from microagg._typing import FloatArray, IntArray
from microagg._validation import Choice, ChoiceOrWeights, Constraint, Integer
from microagg.aggregate.content import Content, Coskewness
from microagg.aggregate.moments import CrossMoments
from microagg.errors import TableError
from microagg.methods.cross_moment import COEFFICIENTS_PROMISE, SPECTRA_PROMISE
from microagg.methods.moment_plan import STRATEGIES, Plan
from microagg.methods.output import Block, CellSizes, MethodOutput, Stages
from microagg.methods.searches import require_uninterrupted, told_of_limit
from microagg.privacy.budget import Budget
from microagg.privacy.guarantee import EPSILON_DP, EPSILON_IDP, MICROAGGREGATED, Guarantee
from microagg.privacy.noise import Noise, Silence
from microagg.privacy.verify import Finding
from microagg.private.base import PrivateMethod, dp_guarantee, form_of, option_of
from microagg.private.findings import check_public_values
from microagg.private.moments.masked import blank_moments, drawn_records, kept_moments, mask_of, masked_moments
from microagg.private.moments.plan import MOMENTS, SAMPLED, check_moments, groups_of, is_individual, plan_of
from microagg.private.moments.table import COLUMNS, check_moments_table, moments_table
from microagg.private.public_column import PublicColumn
from microagg.recipe.output import RowOrder
from microagg.recipe.recipe import Recipe
from microagg.tables.phrases import columns_phrase, names_phrase

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["CrossMoment"]

_WIDEST_RAW = 1e60  # bounds in whose own unit third moments, their noise and its repair are floats


class CrossMoment(PrivateMethod):
    """Mean and central moments of each cell with Laplace noise, repaired, and records drawn from them.

    Other Parameters
    ----------------
    m : {0, 1, 2}, default 1
        How many central moments are kept beside the mean of a cell: none, the covariance, or also the coskewness.
        Take care: every further moment takes a share of the budget, so that all get more noise.
    statistics : {"coefficients", "spectra"}, default "coefficients"
        Whether noise is added to the moments themselves, or to their eigenvalues and eigenvectors.
        Take care: spectra promise less (individual differential privacy), and were worse in every experiment.
    content : {"variances", "pure"}, default "variances"
        Whether the moments of each attribute alone are kept, or also those between attributes.
    coskewness : {"marginal", "all"}, optional
        Which elements of the coskewness get noise and are published: those of each attribute alone, or all of them.
    masking : {"joint", "separate"}, default "joint"
        Whether all statistics of a cell share one scale of noise, or each kind has a share of the budget.
    strategy : {"balanced", "mean_first"} or weights that sum to 1, optional
        How separate masking divides the budget among mean, covariance and coskewness.
    repair : {"fixed_diagonal", "clipped_eigenvalues"}, default "fixed_diagonal"
        How a noisy covariance is made a possible one again: with its variances kept, or by cutting off negative
        eigenvalues.
    truncation : {"by_mean", "by_width"}, optional
        To what noisy variances are cut: what values with the cell's published mean can have, or what the width of the
        domain allows.
    units : {"domain", "raw"}, default "domain"
        Whether noise is scaled in parts of the declared domain, or in the attributes' own units.
        Take care: in raw units the noise depends on whether income is counted in dollars or cents.

    Notes
    -----
    Sensitivity: :mod:`microagg.privacy.sensitivity`, with one draw of noise per statistic and cell
    (:mod:`microagg.private.moments.masking`). The partition is taken as given: the promise is about the
    microaggregated data set. Groups of attributes, each with cells of its own, share the budget (Algorithm 3).
    """

    forms: ClassVar[tuple[str, ...]] = (SAMPLED, MOMENTS)
    linked_forms: ClassVar[tuple[str, ...]] = (SAMPLED,)
    options: ClassVar[Mapping[str, Constraint]] = {
        "m": Integer(0, 2),
        "statistics": Choice(("coefficients", "spectra")),
        "content": Choice(tuple(map(str, Content))),
        "coskewness": Choice(tuple(map(str, Coskewness))),
        "masking": Choice(("joint", "separate")),
        "strategy": ChoiceOrWeights(tuple(STRATEGIES)),
        "repair": Choice(("fixed_diagonal", "clipped_eigenvalues")),
        "truncation": Choice(("by_mean", "by_width")),
        "units": Choice(("domain", "raw")),
    }
    defaults: ClassVar[Mapping[str, Any]] = {
        "m": 1,
        "statistics": "coefficients",
        "content": "variances",
        "coskewness": None,
        "masking": "joint",
        "strategy": None,
        "repair": "fixed_diagonal",
        "truncation": None,
        "units": "domain",
    }
    uses_blocks: ClassVar[bool] = True

    def check(self, recipe: Recipe) -> None:
        """Raise ValueError with the line that mends the recipe."""
        check_moments(recipe)

    def guarantee(self, recipe: Recipe) -> Guarantee:
        """Epsilon-DP (coefficients) or epsilon-individual-DP (spectra) of the microaggregated data set."""
        plan, several = plan_of(recipe), len(groups_of(recipe)) > 1
        form = form_of(recipe)
        return dp_guarantee(
            recipe,
            target=MICROAGGREGATED,
            linked=form == SAMPLED,
            beside=form == SAMPLED,
            model=EPSILON_IDP if is_individual(plan) else EPSILON_DP,
            equal_values=form == SAMPLED and plan.m == 0,
            assumptions=(
                "which records share a cell, and so how many there are in each, is given: it is not protected, and a "
                "replaced record stays in its cell",
                *(("each group of attributes has cells of its own; their epsilons add up",) if several else ()),
            ),
            not_promised=(
                *(
                    ("hiding of which cell holds the first records of the input: cells stand in the order of these",)
                    if recipe.output.order is RowOrder.KEPT and form == MOMENTS
                    else ()
                ),
                "a record that would have been put into another cell: two cells would change, and others with them",
                *(_SPECTRAL_CAVEATS if is_individual(plan) else ()),
            ),
        )

    def protect(self, columns: Sequence[PublicColumn], recipe: Recipe, noise: Noise, budget: Budget) -> MethodOutput:
        """Form cells, mask their moments, and draw records or publish the moments themselves."""
        plan, raw = plan_of(recipe), option_of(recipe, "units") == "raw"
        by_name = {column.name: column for column in columns}
        groups = groups_of(recipe, [column.name for column in columns])
        shares = _shares(budget, groups, recipe)
        arrays: dict[str, Any] = {}
        blocks: list[Block] = []
        tables: list[pa.Table] = []
        remarks: list[str] = []
        if raw or form_of(recipe) == MOMENTS:
            _require_cubes(columns)
        for attributes, share in zip(groups, shares, strict=True):
            own = [by_name[name] for name in attributes]
            widths = np.array([column.high - column.low if raw else 1.0 for column in own])
            scales = np.array([1.0 if raw else column.high - column.low for column in own])
            lows = np.array([column.low for column in own])
            values = np.ascontiguousarray((np.column_stack([column.values for column in own]) - lows) / scales)
            labels = _cells(values, recipe, noise)
            kept = kept_moments(values, labels, plan)
            for remark in _outnumbered(kept, attributes, plan):
                warnings.warn(remark, UserWarning, stacklevel=2)
                remarks.append(remark)
            moments = masked_moments(kept, widths, plan, budget=share, noise=noise, on=names_phrase(attributes))
            blocks.append(Block(tuple(attributes), labels))
            if form_of(recipe) == MOMENTS:
                if recipe.output.order is RowOrder.SHUFFLED:  # cells are numbered by their first record
                    moments = moments.of_cells(np.argsort(noise.uniforms(len(moments.sizes))))
                units = np.array([column.steps_per_unit for column in own])
                tables.append(moments_table(moments, attributes, lows / units, scales / units, block=len(tables)))
                continue
            drawn = drawn_records(moments, labels, widths, noise.uniforms)
            arrays |= {
                column.name: column.publish(column.low + scales[j] * drawn[:, j]) for j, column in enumerate(own)
            }
        return MethodOutput(
            arrays,
            tuple(blocks),
            _stages(recipe, plan, [block.sizes for block in blocks], raw=raw),
            _remarks(recipe, plan, remarks),
            budget=budget,
            table=_join(tables),
        )

    def follow(
        self, columns: Sequence[PublicColumn], recipe: Recipe, budget: Budget, blocks: Sequence[Mapping[str, Any]]
    ) -> MethodOutput:
        """What a release with such cells tells, beside its table: none of it depends on what the records hold."""
        plan, raw = plan_of(recipe), option_of(recipe, "units") == "raw"
        by_name = {column.name: column for column in columns}
        groups = [tuple(block["attributes"]) for block in blocks]
        cells = [[block[key] for key in ("n_cells", "smallest_cell", "largest_cell")] for block in blocks]
        remarks: list[str] = []
        for attributes, of_cells, share in zip(groups, cells, _shares(budget, groups, recipe), strict=True):
            own = [by_name[name] for name in attributes]
            widths = np.array([column.high - column.low if raw else 1.0 for column in own])
            blank = blank_moments(plan, len(own), *of_cells)
            remarks += _outnumbered(blank, attributes, plan)
            mask_of(plan)(blank, widths, shares=plan.shares, budget=share, noise=Silence(), on=names_phrase(attributes))
        sizes = [CellSizes(names, *of_cells) for names, of_cells in zip(groups, cells, strict=True)]
        stages = _stages(recipe, plan, sizes, raw=raw)
        return MethodOutput({}, stages=stages, remarks=_remarks(recipe, plan, remarks), budget=budget)

    def own_columns(self, recipe: Recipe) -> tuple[str, ...] | None:
        """The columns of a table of moments; None if records are published."""
        return COLUMNS if form_of(recipe) == MOMENTS else None

    def findings(self, table: pa.Table, recipe: Recipe) -> list[Finding]:
        """Records within the public bounds; or a table of moments whose means are."""
        if form_of(recipe) == MOMENTS:
            return [check_moments_table(table, recipe)]
        return [check_public_values(table, recipe)]


_SPECTRAL_CAVEATS = (
    "differential privacy: noise on eigenvectors is scaled to the gaps between the eigenvalues of these very records "
    "(local sensitivity), and someone who could tell its scale would learn of those gaps",
    "the paper's proof: its bound on eigenvectors is false as printed (they have no sign, and can swap); a wider one, "
    "of eigenvectors up to their sign, is used here",
    "exactness: eigenvalues and eigenvectors are computed in floating point, with an allowance for rounding that is "
    "ample but not proved",
)


def _shares(budget: Budget, groups: Sequence[Sequence[str]], recipe: Recipe) -> list[Budget]:
    assert recipe.privacy is not None
    weights = recipe.privacy.weights
    if len(groups) == 1:
        return [budget]
    names = [", ".join(group) for group in groups]
    attributes = dict(zip(names, groups, strict=True))
    if weights is None:
        return list(budget.divide(names, attributes=attributes).values())
    by_group = {name: sum(weights[one] for one in group) for name, group in attributes.items()}
    return list(budget.divide(by_group, attributes=attributes).values())


def _require_cubes(columns: Sequence[PublicColumn]) -> None:
    """Third moments are cubes: refuse bounds in whose own unit these would overflow or vanish."""
    widths = {column.name: column.high - column.low for column in columns}
    unfit = [name for name, width in widths.items() if not 1 / _WIDEST_RAW < width < _WIDEST_RAW]
    if unfit:
        raise TableError(
            f"{columns_phrase(unfit)}: bounds this wide or narrow have no moments in their own unit. Draw records by "
            '[privacy] form = "sampled", units = "domain"'
        )


def _cells(values: FloatArray, recipe: Recipe, noise: Noise) -> IntArray:
    """The method's partition of the records, in the domain-scaled space (or, with raw units, in that)."""
    method = recipe.entry
    options = dict(recipe.partition)
    if method.searches_by_chance:
        options["random_state"] = int(noise.uniforms(1)[0] * 2**31)
    fitted = method.partitioner(recipe.k, **options).fit(values)
    require_uninterrupted(fitted)
    labels: IntArray = fitted.labels_.reshape(len(values), -1)[:, 0]
    return cells_in_order(labels)


def _outnumbered(moments: CrossMoments, attributes: Sequence[str], plan: Plan) -> list[str]:
    """Say so if cells have more statistics than records."""
    n_statistics, smallest = moments.statistics.shape[1], int(moments.sizes.min())
    if n_statistics <= smallest:
        return []
    return [
        f"each cell of {names_phrase(attributes)} publishes {n_statistics} statistics (m = {plan.m}, {len(attributes)} "
        f"attributes), but the smallest has {smallest} records: more numbers than records, and noise on each"
    ]


def _remarks(recipe: Recipe, plan: Plan, of_cells: Sequence[str]) -> tuple[str, ...]:
    promise = SPECTRA_PROMISE if is_individual(plan) else COEFFICIENTS_PROMISE
    of_rows = ("a row of the table is a statistic of a cell, not a record",) if form_of(recipe) == MOMENTS else ()
    return (promise, *of_cells, *told_of_limit(recipe.partition), *of_rows)


def _join(tables: Sequence[pa.Table]) -> pa.Table | None:
    import pyarrow as pa

    return pa.concat_tables(tables) if tables else None


def _stages(recipe: Recipe, plan: Plan, cells: Sequence[CellSizes], *, raw: bool) -> Stages:
    masking = "joint" if plan.shares is None else "separate"
    return Stages(
        cells=tuple(cells),
        space={"units": "raw" if raw else "domain"},
        aggregate={
            "m": plan.m,
            "statistics": "spectra" if plan.spectra else "coefficients",
            "content": str(plan.content),
            **({"coskewness": str(plan.coskewness)} if plan.m == 2 else {}),
            "published": form_of(recipe),
        },
        noise={
            "mechanism": "Laplace",
            "masking": masking,
            **({} if plan.shares is None else {"shares": list(plan.shares)}),
            "repair": "fixed_diagonal" if plan.fixed_diagonal else "clipped_eigenvalues",
            "truncation": "by_mean" if plan.within_mean else "by_width",
        },
    )
