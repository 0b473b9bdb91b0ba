"""The ways to a release: cells of records, draws from cells, mixed values, or noise under a budget.

A recipe takes one of them. Each knows how its releases are made, what they promise, and what of the promise can be
found on a table; :func:`microagg.releases.pipeline.release` and the checks ask it, and nobody asks which one it is.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

from microagg.errors import TableError
from microagg.methods.output import MethodOutput
from microagg.privacy.guarantee import Guarantee
from microagg.privacy.noise import noise_from
from microagg.privacy.verify import Finding, find_drawn, find_k
from microagg.private.base import budget_for_statement, protect
from microagg.private.findings import check_private_table
from microagg.private.ledger import require_spent
from microagg.private.public_types import with_public_columns
from microagg.recipe.choices import AggregateForm
from microagg.recipe.recipe import Recipe
from microagg.releases.account.spending import pay_first
from microagg.releases.cells import form_cells
from microagg.releases.prepare import Prepared, prepare, unprepared
from microagg.releases.units import units_words
from microagg.releases.values import mix_values
from microagg.schema.taxonomy import category_text
from microagg.statements.manifest import InputDigest
from microagg.statements.promises import (
    SEEDED_NOISE,
    Blocks,
    promise_confidential_values,
    promise_draws,
    promise_k_anonymity,
)
from microagg.tables.formats.base import FileFormat
from microagg.tables.frames import Frame
from microagg.tables.phrases import columns_phrase

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["Strategy", "strategy_of"]


class Strategy(ABC):
    """One way to a release, for one recipe.

    Attributes
    ----------
    is_private : bool
        Whether nothing but noise may tell what the records hold: then nothing of the input is fingerprinted.
    is_counted : bool
        Whether what is promised can be counted on the released table.
    before_noise : function
        Called before the first noise is drawn, if any is.
    """

    is_private: ClassVar[bool] = False
    is_counted: ClassVar[bool] = False

    def __init__(self, recipe: Recipe) -> None:
        self.recipe = recipe
        self.before_noise: Callable[[], None] = lambda: None

    def prepare(self, frame: Frame, seed: int | None) -> Prepared:
        """The records that take part, with missing values and weights settled."""
        return prepare(frame, self.recipe)

    @abstractmethod
    def make(self, prepared: Prepared, seed: int | None) -> MethodOutput:
        """What is published of the protected attributes."""

    @abstractmethod
    def guarantees(self, blocks: Blocks) -> tuple[Guarantee, ...]:
        """What is promised, from the recipe and the blocks of cells alone, so that a check can tell it again."""

    def findings(self, table: pa.Table) -> list[Finding]:
        """What a table as it would be written must show, beyond what is counted."""
        return []

    @abstractmethod
    def find_promise(self, table: pa.Table, cells: Sequence[tuple[Sequence[str], int | None]]) -> list[Finding]:
        """What of the promise can be seen on a written table.

        Parameters
        ----------
        table : Arrow table
            As it is written.
        cells : sequence of (attributes, smallest)
            Attributes that share cells, and the size of the smallest cell if a manifest tells it.
        """

    def replace_columns(self, frame: Frame, arrays: Mapping[str, pa.Array]) -> Frame:
        """The table with the protected columns replaced."""
        return frame.with_arrays(arrays)

    def remarks(self, seed: int | None) -> tuple[str, ...]:
        """What the statement must add about how chance was drawn."""
        return ()

    def describe_input(self, digest: InputDigest) -> dict[str, str]:
        """What the manifest says of the input beside its size."""
        return {"sha256_salted": digest.salted_sha256}

    def describe_budget(self, output: MethodOutput) -> dict[str, Any] | None:
        """The budget that was spent, for the statement."""
        return None

    def require_room_in(self, file_format: FileFormat) -> None:
        """Raise if files of this format cannot hold what is published."""
        return

    def require_paid(self, budget: Mapping[str, Any] | None) -> None:
        """Raise unless a statement's budget paid for what is published."""
        return


class RepresentedCells(Strategy):
    """Cells of records, each of which publishes one representative: k-anonymity, counted on the table."""

    is_counted = True

    def make(self, prepared: Prepared, seed: int | None) -> MethodOutput:
        return form_cells(prepared, self.recipe, seed)

    def guarantees(self, blocks: Blocks) -> tuple[Guarantee, ...]:
        return (*promise_k_anonymity(self.recipe, blocks), *promise_confidential_values(self.recipe, blocks))

    def find_promise(self, table: pa.Table, cells: Sequence[tuple[Sequence[str], int | None]]) -> list[Finding]:
        return [find_k(table, attributes, self.recipe.k) for attributes, _ in cells]


class SampledCells(Strategy):
    """Cells of records, from whose statistics records are drawn: nothing can be counted afterwards."""

    def make(self, prepared: Prepared, seed: int | None) -> MethodOutput:
        return form_cells(prepared, self.recipe, seed)

    def guarantees(self, blocks: Blocks) -> tuple[Guarantee, ...]:
        return promise_draws(self.recipe, blocks)

    def find_promise(self, table: pa.Table, cells: Sequence[tuple[Sequence[str], int | None]]) -> list[Finding]:
        return [find_drawn(table, attributes, self.recipe.k, smallest) for attributes, smallest in cells]


class MixedValues(Strategy):
    """Values of all attributes in one vector: no record has a cell, and nothing is promised."""

    def make(self, prepared: Prepared, seed: int | None) -> MethodOutput:
        return mix_values(prepared, self.recipe)

    def guarantees(self, blocks: Blocks) -> tuple[Guarantee, ...]:
        return ()

    def find_promise(self, table: pa.Table, cells: Sequence[tuple[Sequence[str], int | None]]) -> list[Finding]:
        return [find_k(table, attributes, self.recipe.k) for attributes, _ in cells]


class NoiseUnderBudget(Strategy):
    """Differential privacy: the method spends the recipe's budget, and the recipe alone decides types and labels."""

    is_private = True

    def prepare(self, frame: Frame, seed: int | None) -> Prepared:
        return unprepared(frame, self.recipe, seed)

    def make(self, prepared: Prepared, seed: int | None) -> MethodOutput:
        return protect(prepared.frame, self.recipe, pay_first(noise_from(seed), self.before_noise))

    def guarantees(self, blocks: Blocks) -> tuple[Guarantee, ...]:
        return (self.recipe.entry.private.guarantee(self.recipe),)

    def findings(self, table: pa.Table) -> list[Finding]:
        found: list[Finding] = self.recipe.entry.private.findings(table, self.recipe)
        return found

    def find_promise(self, table: pa.Table, cells: Sequence[tuple[Sequence[str], int | None]]) -> list[Finding]:
        return check_private_table(table, self.recipe)

    def replace_columns(self, frame: Frame, arrays: Mapping[str, pa.Array]) -> Frame:
        return with_public_columns(frame, arrays, self.recipe)

    def remarks(self, seed: int | None) -> tuple[str, ...]:
        return (*units_words(self.recipe, ()), *(() if seed is None else (SEEDED_NOISE,)))

    def describe_input(self, digest: InputDigest) -> dict[str, str]:
        return {}

    def describe_budget(self, output: MethodOutput) -> dict[str, Any] | None:
        assert output.budget is not None  # `protect` refuses a method that spent none
        return budget_for_statement(output.budget, self.recipe)

    def require_room_in(self, file_format: FileFormat) -> None:
        if file_format.tells_missing_from_empty:
            return
        cut = str if file_format.keeps_blanks_at_end else _without_blanks_at_end
        names = self.recipe.schema.quasi_identifiers
        emptied = [name for name in names if "" in map(cut, self._categories_of(name))]
        if emptied:
            raise TableError(
                f"{file_format.title} files hold no empty text, which is a category of {columns_phrase(emptied)}: it "
                'would be read as missing. Choose another format, such as format = "parquet" or --format parquet'
            )

    def _categories_of(self, name: str) -> set[str]:
        attribute = self.recipe.attributes[name]
        labels = [*(attribute.categories or ()), *(attribute.taxonomy.nodes if attribute.taxonomy else ())]
        return {category_text(label) for label in labels}

    def require_paid(self, budget: Mapping[str, Any] | None) -> None:
        require_spent(self.recipe, budget)


def _without_blanks_at_end(text: str) -> str:
    return text.rstrip(" ")


def strategy_of(recipe: Recipe) -> Strategy:
    """The way that the recipe's method and its ``[aggregate]`` take."""
    if recipe.entry.is_private:
        return NoiseUnderBudget(recipe)
    if recipe.entry.mixes_values:
        return MixedValues(recipe)
    if recipe.aggregate.form is AggregateForm.SAMPLED:
        return SampledCells(recipe)
    return RepresentedCells(recipe)
