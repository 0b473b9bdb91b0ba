"""Plain Laplace noise on every value: the baseline that needs no partition, and the most noise."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, ClassVar

from microagg.methods.method import PUBLIC_SPACE, Method
from microagg.methods.output import MethodOutput, Stages
from microagg.privacy.budget import Budget
from microagg.privacy.guarantee import ORIGINAL_RECORDS, Guarantee
from microagg.privacy.mechanism import add_laplace
from microagg.privacy.noise import Noise
from microagg.privacy.verify import Finding
from microagg.private.base import PrivateMethod, dp_guarantee
from microagg.private.findings import check_public_values
from microagg.private.public_column import PublicColumn
from microagg.recipe.recipe import Recipe
from microagg.schema.attribute import Kind
from microagg.tables.words import Words

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["ENTRY", "PlainLaplace"]


class PlainLaplace(PrivateMethod):
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

    def guarantee(self, recipe: Recipe) -> Guarantee:
        """Epsilon-DP of the original records."""
        return dp_guarantee(recipe, target=ORIGINAL_RECORDS, linked=True)

    def protect(self, columns: Sequence[PublicColumn], recipe: Recipe, noise: Noise, budget: Budget) -> MethodOutput:
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
            arrays[column.name] = column.publish(grid.values(noisy.astype(float)))
        stages = Stages(noise={"mechanism": "Laplace", "on": "every value"})
        return MethodOutput(arrays, stages=stages, budget=budget)

    def findings(self, table: pa.Table, recipe: Recipe) -> list[Finding]:
        """Only that values are public ones can be seen."""
        return [check_public_values(table, recipe)]


ENTRY = Method(
    name="dp_laplace",
    title="Plain Laplace noise",
    summary="Every value alone with Laplace noise: differentially private without a partition, and the most noise.",
    protected_by=PlainLaplace,
    space=PUBLIC_SPACE,
    aggregate="none",
    noise="Laplace, width x attributes / epsilon on every value",
    guarantee="epsilon-differential privacy of the original records",
    reference="Dwork et al. (2006), doi:10.1007/11681878_14",
    kinds=(Kind.NUMERIC, Kind.ORDINAL),
    explained=Words(
        "It adds noise to every single value. It is the plainest way to differential privacy, and a yardstick for the "
        "others.",
        "At a usual epsilon the noise is wider than the data. Do not judge differential privacy by it.",
        formula="x + noise of scale width x attributes / epsilon on every value",
        more="docs/differential_privacy.md",
    ),
)
