"""Differentially private methods: what each must know how to do, and the one way they are run."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

from microagg._validation import Constraint
from microagg.errors import GuaranteeError
from microagg.methods.output import MethodOutput
from microagg.privacy.budget import Budget
from microagg.privacy.guarantee import Guarantee, differential_privacy
from microagg.privacy.noise import Noise, Silence
from microagg.privacy.verify import Finding
from microagg.private.ledger import CountedNoise, require_spent
from microagg.private.public_column import PublicColumn, put_on_public_scale
from microagg.recipe.output import RowOrder
from microagg.recipe.privacy import BoundsSource
from microagg.recipe.recipe import Recipe
from microagg.recipe.unit import epsilon_of_record
from microagg.schema.attribute import Kind, Role
from microagg.tables.frames import Frame
from microagg.tables.labels import labels_of

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = [
    "PrivateMethod",
    "bounds_read_from_data",
    "budget_for_statement",
    "dp_guarantee",
    "form_of",
    "option_of",
    "own_columns_of",
    "protect",
    "protect_columns",
]

Spend = Callable[[Sequence[PublicColumn], Recipe, Noise, Budget], MethodOutput]
"""What spends a budget on columns: the `protect` of a method, or the like."""


class PrivateMethod(ABC):
    """A differentially private method of the catalogue; the `protected_by` of its entry names a class like this.

    A new method fills in `guarantee`, `protect` and `findings`, and sets those of the attributes below whose default
    does not fit.

    Attributes
    ----------
    forms : tuple of str
        What ``[privacy] form`` may be; the first is the default and promises most.
    linked_forms : tuple of str
        Forms in which a row is still a record, so that other attributes may stand beside it.
    rows : dict of form to str
        What the rows of forms that are not linked are: "means" where values in a row belong together; others are
        "ranks".
    options : dict of name to Constraint
        Further keys of ``[privacy]``.
    defaults : dict
        Their values where a recipe leaves them out.
    uses_space : bool
        Whether ``[space]`` and the weights of attributes mean anything to it.
    uses_blocks : bool
        Whether ``[blocks]`` means anything to it: it then forms cells of each block, and :meth:`follow` must say what
        a release with such cells spends.
    """

    forms: ClassVar[tuple[str, ...]] = ("records",)
    linked_forms: ClassVar[tuple[str, ...]] = ()
    rows: ClassVar[Mapping[str, str]] = {}
    options: ClassVar[Mapping[str, Constraint]] = {}
    defaults: ClassVar[Mapping[str, Any]] = {}
    uses_space: ClassVar[bool] = False
    uses_blocks: ClassVar[bool] = False

    @abstractmethod
    def guarantee(self, recipe: Recipe) -> Guarantee:
        """What is promised, from the recipe alone: a check can then compare it with a statement."""

    @abstractmethod
    def protect(self, columns: Sequence[PublicColumn], recipe: Recipe, noise: Noise, budget: Budget) -> MethodOutput:
        """Spend the budget on the columns. Control flow and sensitivities may depend on public facts only."""

    @abstractmethod
    def findings(self, table: pa.Table, recipe: Recipe) -> list[Finding]:
        """What can be seen on a table as it is written."""

    def check(self, recipe: Recipe) -> None:
        """Raise ValueError with the line that mends the recipe, if the method cannot carry it out."""
        return

    def own_columns(self, recipe: Recipe) -> tuple[str, ...] | None:
        """The columns of a table that is published instead of records; None if records are published."""
        return None

    def follow(
        self, columns: Sequence[PublicColumn], recipe: Recipe, budget: Budget, blocks: Sequence[Mapping[str, Any]]
    ) -> MethodOutput:
        """What a release says beside its table, worked out again without any record: `columns` hold none.

        Parameters
        ----------
        columns : sequence of PublicColumn
            Blank: only their public scales are known.
        recipe : Recipe
        budget : Budget
        blocks : sequence of dict
            The cells as the manifest describes them.
        """
        return self.protect(columns, recipe, Silence(), budget)


def protect(frame: Frame, recipe: Recipe, noise: Noise) -> MethodOutput:
    """Measure the protected attributes on public scales and let the recipe's method spend its budget on them."""
    assert recipe.privacy is not None
    asked_for = set(recipe.schema.quasi_identifiers)
    names = [name for name in frame.names if name in asked_for]
    from_data = bounds_read_from_data(recipe)
    columns = [
        put_on_public_scale(
            frame.column(name),
            recipe.attributes[name],
            stored_format=labels_of(frame.table.schema.field(name)).format,
            clamp=recipe.privacy.clamp,
            bounds_from_data=name in from_data,
        )
        for name in names
    ]
    return protect_columns(columns, recipe, noise)


def protect_columns(
    columns: Sequence[PublicColumn], recipe: Recipe, noise: Noise, spend: Spend | None = None
) -> MethodOutput:
    """Let the recipe's method spend its budget on columns that were measured on public scales.

    Parameters
    ----------
    columns : sequence of PublicColumn
        The protected attributes, in the order of the table.
    recipe : Recipe
    noise : Noise
    spend : function, optional
        In place of the method's `protect`, where the records are not in the columns but are counted elsewhere.

    Raises
    ------
    GuaranteeError
        If the budget was not spent as the recipe says, or not on every attribute.
    """
    assert recipe.privacy is not None
    names = [column.name for column in columns]
    budget, counted = Budget(epsilon_of_record(recipe), names), CountedNoise(noise)
    output: MethodOutput = (spend or recipe.entry.private.protect)(columns, recipe, counted, budget)
    if output.budget is not budget:
        raise GuaranteeError(f"{recipe.method} spent another budget than the recipe's. Nothing was written")
    require_spent(recipe, budget.as_dict(), drawn=counted.drawn)
    if output.table is None and set(output.arrays) != set(names):
        raise GuaranteeError(
            f"{recipe.method} protected {len(output.arrays)} of {len(names)} attributes. Nothing was written"
        )
    _require_declared_rows(output, recipe)
    return output


def _require_declared_rows(output: MethodOutput, recipe: Recipe) -> None:
    """Raise unless rows and columns are what the method declares: the recipe was checked against that, not this."""
    own = own_columns_of(recipe)
    found = None if output.table is None else tuple(output.table.column_names)
    if found != own:
        raise GuaranteeError(f"{recipe.method} made a table of other columns than it declares. Nothing was written")
    if own is None and output.linked is not (form_of(recipe) in recipe.entry.private.linked_forms):
        raise GuaranteeError(
            f"{recipe.method} does not say the same by `linked` and `linked_forms` on whether a row of form "
            f"{form_of(recipe)!r} is a record. Nothing was written"
        )


def form_of(recipe: Recipe) -> str:
    """The form of release that the recipe chooses."""
    assert recipe.privacy is not None
    return recipe.privacy.form or str(recipe.entry.private.forms[0])


def own_columns_of(recipe: Recipe) -> tuple[str, ...] | None:
    """The columns of a table that a private method publishes instead of records; None if it publishes records."""
    if recipe.privacy is None:
        return None
    columns: tuple[str, ...] | None = recipe.entry.private.own_columns(recipe)
    return columns


def option_of(recipe: Recipe, name: str) -> Any:
    """One of the method's own keys of ``[privacy]``, or its default."""
    assert recipe.privacy is not None
    return recipe.privacy.options.get(name, recipe.entry.private.defaults[name])


def bounds_read_from_data(recipe: Recipe) -> tuple[str, ...]:
    """Attributes whose bounds the recipe lets the data decide."""
    if recipe.privacy is None or recipe.privacy.bounds is not BoundsSource.FROM_DATA:
        return ()
    return tuple(
        name
        for name in recipe.schema.quasi_identifiers
        if recipe.attributes[name].kind is Kind.NUMERIC and recipe.attributes[name].bounds is None
    )


def dp_guarantee(recipe: Recipe, *, target: str, linked: bool, beside: bool = True, **more: Any) -> Guarantee:
    """`differential_privacy` with what the recipe itself tells.

    Parameters
    ----------
    recipe : Recipe
        Of a private release.
    target : str
        What the model is about; see :func:`~microagg.privacy.guarantee.differential_privacy`, as for ``more``.
    linked : bool
        Whether a row of the release belongs to a record.
    beside : bool, default True
        Whether other attributes are published beside the protected ones.
    """
    assert recipe.privacy is not None
    if recipe.unit is not None:
        more = {**more, "key": recipe.unit.key, "max_records": recipe.unit.max_records}
    return differential_privacy(
        recipe.privacy.epsilon,
        recipe.schema.quasi_identifiers,
        target=target,
        unprotected=recipe.schema.of_role(Role.CONFIDENTIAL, Role.NON_CONFIDENTIAL) if beside else (),
        bounds_from_data=bounds_read_from_data(recipe),
        order_kept=linked and recipe.output.order is RowOrder.KEPT,
        **more,
    )


def budget_for_statement(budget: Budget, recipe: Recipe) -> dict[str, Any]:
    """The budget for the statement; without scales that came from bounds read from the data, which they would show."""
    content = budget.as_dict()
    if bounds_read_from_data(recipe):
        content["expenses"] = [{**one, "sensitivity": None, "scale": None} for one in content["expenses"]]
    return content
