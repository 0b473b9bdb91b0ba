"""Plain Laplace noise on every value: the baseline that needs no partition, and the most noise."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

from microagg._validation import Constraint
from microagg.methods.output import Protected
from microagg.privacy.budget import Budget
from microagg.privacy.guarantee import ORIGINAL_RECORDS, Guarantee
from microagg.privacy.mechanism import Noise, add_laplace
from microagg.privacy.verify import Finding
from microagg.private.base import promised
from microagg.private.findings import check_public_values
from microagg.private.public_column import PublicColumn
from microagg.recipe.recipe import Recipe

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["PlainLaplace"]


class PlainLaplace:
    """Laplace noise of scale width / (share of epsilon) on each value of each attribute.

    Notes
    -----
    Sensitivity. One attribute's values are a vector with one entry per record. Replacing a record changes one entry, by
    the width of the domain at most: that is the L1 sensitivity of the vector. The attributes compose sequentially to
    epsilon. Row i depends on record i alone, so no pattern of the rows tells anything else, and clamping and rounding
    each noisy value is post-processing.
    """

    forms: ClassVar[tuple[str, ...]] = ("records",)
    linked_forms: ClassVar[tuple[str, ...]] = ("records",)
    options: ClassVar[Mapping[str, Constraint]] = {}
    defaults: ClassVar[Mapping[str, Any]] = {}
    uses_space: ClassVar[bool] = False

    @classmethod
    def guarantee(cls, recipe: Recipe) -> Guarantee:
        """Epsilon-DP of the original records."""
        return promised(recipe, target=ORIGINAL_RECORDS, linked=True)

    @classmethod
    def protect(cls, columns: Sequence[PublicColumn], recipe: Recipe, noise: Noise, budget: Budget) -> Protected:
        """Add noise to every value."""
        assert recipe.privacy is not None
        shares = budget.divide(recipe.privacy.weights or [column.name for column in columns])
        arrays = {}
        for column in columns:
            grid = column.grid
            noisy = add_laplace(
                grid.counts(column.values),
                grid.steps,
                budget=shares[column.name],
                noise=noise,
                on=column.name,
                step=grid.width / grid.steps,
            )
            arrays[column.name] = column.published(grid.values(noisy.astype(float)))
        stages: dict[str, dict[str, Any]] = {
            "partition": {"blocks": []},
            "noise": {"mechanism": "Laplace", "on": "every value"},
        }
        return Protected(arrays, (), None, (), stages, budget)

    @classmethod
    def findings(cls, table: pa.Table, recipe: Recipe) -> list[Finding]:
        """Only that values are public ones can be seen."""
        return [check_public_values(table, recipe)]
