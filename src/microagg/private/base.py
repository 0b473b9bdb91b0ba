"""Differentially private methods: what each must know how to do, and the one way they are run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, Protocol

from microagg._validation import Constraint
from microagg.errors import GuaranteeError
from microagg.methods.catalogue import method_named
from microagg.methods.output import Protected
from microagg.privacy.budget import Budget
from microagg.privacy.guarantee import Guarantee, differential_privacy
from microagg.privacy.mechanism import Noise
from microagg.privacy.verify import Finding
from microagg.private.ledger import CountedNoise, require_spent
from microagg.private.public_column import PublicColumn, put_on_public_scale
from microagg.recipe.output import RowOrder
from microagg.recipe.privacy import BoundsSource
from microagg.recipe.recipe import Recipe
from microagg.schema.attribute import Kind, Role
from microagg.tables.frames import Frame
from microagg.tables.labels import labels_of

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = [
    "PrivateMethod",
    "bounds_read_from_data",
    "form_of",
    "option_of",
    "own_columns_of",
    "promised",
    "protect",
    "told_budget",
]


class PrivateMethod(Protocol):
    """A differentially private method of the catalogue; `Method.private_path` names a class with these.

    Attributes
    ----------
    forms : tuple of str
        What ``[privacy] form`` may be; the first is the default and promises most.
    options : dict of name to Constraint
        Further keys of ``[privacy]``.
    defaults : dict
        Their values where a recipe leaves them out.
    linked_forms : tuple of str
        Forms in which a row is still a record, so that other attributes may stand beside it.
    uses_space : bool
        Whether ``[space]`` and the weights of attributes mean anything to it.

    A class may also have `rows` (of forms that are not linked: "means" where values in a row belong together, else they
    are "ranks"), `uses_blocks` (True if ``[blocks]`` means something to it), `check(recipe)` (raises ValueError
    with the line that mends the recipe), and `own_columns(recipe)` (the columns of a table that is not of records, or
    None).
    """

    forms: ClassVar[tuple[str, ...]]
    options: ClassVar[Mapping[str, Constraint]]
    defaults: ClassVar[Mapping[str, Any]]
    linked_forms: ClassVar[tuple[str, ...]]
    uses_space: ClassVar[bool]

    @classmethod
    def guarantee(cls, recipe: Recipe) -> Guarantee:
        """What is promised, from the recipe alone: a check can then compare it with a statement."""
        ...

    @classmethod
    def protect(cls, columns: Sequence[PublicColumn], recipe: Recipe, noise: Noise, budget: Budget) -> Protected:
        """Spend the budget on the columns. Control flow and sensitivities may depend on public facts only."""
        ...

    @classmethod
    def findings(cls, table: pa.Table, recipe: Recipe) -> list[Finding]:
        """What can be seen on a table as it is written."""
        ...


def protect(frame: Frame, recipe: Recipe, noise: Noise) -> Protected:
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
    budget, counted = Budget(recipe.privacy.epsilon, names), CountedNoise(noise)
    protected: Protected = method_named(recipe.method).private.protect(columns, recipe, counted, budget)
    if protected.budget is not budget:
        raise GuaranteeError(f"{recipe.method} spent another budget than the recipe's. Nothing was written")
    require_spent(recipe, budget.as_dict(), drawn=counted.drawn)
    if protected.table is None and set(protected.arrays) != set(names):
        raise GuaranteeError(
            f"{recipe.method} protected {len(protected.arrays)} of {len(names)} attributes. Nothing was written"
        )
    return protected


def form_of(recipe: Recipe) -> str:
    """The form of release that the recipe chooses."""
    assert recipe.privacy is not None
    return recipe.privacy.form or str(method_named(recipe.method).private.forms[0])


def own_columns_of(recipe: Recipe) -> tuple[str, ...] | None:
    """The columns of a table that a private method publishes instead of records; None if it publishes records."""
    private = method_named(recipe.method).private
    if recipe.privacy is None or not hasattr(private, "own_columns"):
        return None
    columns: tuple[str, ...] | None = private.own_columns(recipe)
    return columns


def option_of(recipe: Recipe, name: str) -> Any:
    """One of the method's own keys of ``[privacy]``, or its default."""
    assert recipe.privacy is not None
    return recipe.privacy.options.get(name, method_named(recipe.method).private.defaults[name])


def bounds_read_from_data(recipe: Recipe) -> tuple[str, ...]:
    """Attributes whose bounds the recipe lets the data decide."""
    if recipe.privacy is None or recipe.privacy.bounds is not BoundsSource.FROM_DATA:
        return ()
    return tuple(
        name
        for name in recipe.schema.quasi_identifiers
        if recipe.attributes[name].kind is Kind.NUMERIC and recipe.attributes[name].bounds is None
    )


def promised(recipe: Recipe, *, target: str, linked: bool, beside: bool = True, **more: Any) -> Guarantee:
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
    return differential_privacy(
        recipe.privacy.epsilon,
        recipe.schema.quasi_identifiers,
        target=target,
        unprotected=recipe.schema.of_role(Role.CONFIDENTIAL, Role.NON_CONFIDENTIAL) if beside else (),
        bounds_from_data=bounds_read_from_data(recipe),
        order_kept=linked and recipe.output.order is RowOrder.KEPT,
        **more,
    )


def told_budget(budget: Budget, recipe: Recipe) -> dict[str, Any]:
    """The budget as the statement tells it; scales that came from bounds read from the data would tell those."""
    told = budget.as_dict()
    if bounds_read_from_data(recipe):
        told["expenses"] = [{**one, "sensitivity": None, "scale": None} for one in told["expenses"]]
    return told
