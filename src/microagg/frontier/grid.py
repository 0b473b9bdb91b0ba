"""The points of a sweep: recipes that differ in method, k, epsilon, l, t or a key of a guide; what makes no sense."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import product
from typing import Any

from microagg.errors import RecipeError
from microagg.methods.catalogue import METHODS, method_named
from microagg.methods.method import K_ANONYMOUS, Method
from microagg.privacy.ways import Way
from microagg.recipe.choices import AggregateChoice, AggregateForm, BlocksChoice, SpaceChoice
from microagg.recipe.guide_rules import can_be_guided, forms_cells_of_records
from microagg.recipe.recipe import Recipe
from microagg.recipe.sweep import SWEPT_REQUIREMENTS, SweepChoice
from microagg.schema.attribute import Role
from microagg.space.guides import registered_guides, swept_guides
from microagg.tables.phrases import columns_phrase

__all__ = ["GridPoint", "SweepGrid", "grid_of", "settings_of_points"]

_KS = (2, 3, 5, 10, 25, 50)
_EPSILONS = (0.1, 1.0, 10.0)

Settings = Mapping[str, Any]


@dataclass(frozen=True)
class GridPoint:
    """One recipe of a sweep.

    Attributes
    ----------
    name : str
        Its settings in one word, fit for a file name.
    settings : mapping
        Those of :func:`settings_of_points`; None where one means nothing to the method.
    recipe : Recipe
        As one would release with it: rows shuffled if the recipe says so, and no ``[sweep]``.
    repeats : int
        1 unless the result depends on chance.
    """

    name: str
    settings: Settings
    recipe: Recipe
    repeats: int


@dataclass(frozen=True)
class SweepGrid:
    """The points of a sweep, and why others were not made.

    Attributes
    ----------
    points : tuple of GridPoint
    left_out : tuple of str
        Sentences.
    """

    points: tuple[GridPoint, ...]
    left_out: tuple[str, ...]

    @property
    def guided(self) -> bool:
        """Whether the cells of any point look at attributes that are published as they are."""
        return any(point.recipe.guides for point in self.points)

    @property
    def protected(self) -> bool:
        """Whether the cells of any point must hide confidential values."""
        return any(point.recipe.protect for point in self.points)


def settings_of_points() -> tuple[str, ...]:
    """What points differ in.

    Examples
    --------
    >>> settings_of_points()
    ('method', 'k', 'epsilon', 'l', 't', 'lambda', 'alpha')
    """
    return ("method", "k", "epsilon", *SWEPT_REQUIREMENTS, *swept_guides())


def grid_of(recipe: Recipe, n_records: int | None = None) -> SweepGrid:
    """Combine the values of ``[sweep]``, or those derived from the recipe, into points that can be released.

    Parameters
    ----------
    recipe : Recipe
    n_records : int, optional
        Records of the table: a larger k is left out, and derived values of k are at most half of it.

    Examples
    --------
    >>> from microagg import Recipe
    >>> recipe = Recipe(k=4, sweep={"methods": ["mdav", "dp_laplace"], "k": [2, 4]}, attributes={
    ...     "age": {"role": "quasi_identifier", "kind": "numeric"}})
    >>> grid = grid_of(recipe)
    >>> [point.name for point in grid.points]
    ['mdav-k2', 'mdav-k4']
    >>> grid.left_out[0][:53]
    'dp_laplace: attributes.age: dp_laplace needs its publ'
    """
    choice = recipe.sweep or SweepChoice()
    points: list[GridPoint] = []
    left_out: dict[str, None] = {}
    for name in choice.methods or _derived_methods(recipe):
        method = method_named(name)
        fitting, remarks = _fitting(recipe, method)
        left_out |= dict.fromkeys(remarks)
        n_before = len(points)
        for settings, changes in _variants(recipe, choice, method, n_records):
            if n_records is not None and not method.mixes_values and changes["k"] > n_records:
                left_out[f"k = {changes['k']}: the table has {n_records} records"] = None
                continue
            swept = {key: value for key, value in settings.items() if key in SWEPT_REQUIREMENTS}
            try:
                changed = recipe.changed({**fitting, **changes})
                changed = changed.protecting(**{SWEPT_REQUIREMENTS[key]: value for key, value in swept.items()})
            except RecipeError as error:
                left_out[f"{name}: {error}"] = None
                continue
            repeats = choice.repeats if _depends_on_chance(changed, method) else 1
            shown = settings | {key: _required(changed, key) for key in SWEPT_REQUIREMENTS}
            points.append(GridPoint(_name_of(shown), shown, changed, repeats))
        if len(points) > n_before:
            left_out |= dict.fromkeys(_unprotected(choice, method))
    if not points:
        raise RecipeError("no point of the sweep can be released:\n" + "\n".join(left_out))
    return SweepGrid(tuple(points), tuple(left_out))


def _derived_methods(recipe: Recipe) -> tuple[str, ...]:
    """The recipe's own method, and all that promise k-anonymity of whole records without further declarations."""
    alike = [
        name
        for name, method in METHODS.items()
        if method.guarantee == K_ANONYMOUS and not method.data_free_space and forms_cells_of_records(method)
    ]
    return tuple(dict.fromkeys([recipe.method, *alike]))


def _fitting(recipe: Recipe, method: Method) -> tuple[dict[str, Any], list[str]]:
    """The keys of the recipe that must change for a method to carry it out, and remarks about what that drops."""
    changes: dict[str, Any] = {"method": method.name, "sweep": None}
    remarks = []
    if method.name != recipe.method:
        changes["partition"] = {}
    changes["privacy"] = _privacy_for(recipe, method)
    if method.is_private and not method.private.uses_space:
        plain = {"space": SpaceChoice(), "blocks": BlocksChoice(), "aggregate": AggregateChoice()}
        dropped = [f"[{key}]" for key, fresh in plain.items() if getattr(recipe, key) != fresh]
        if dropped:
            remarks.append(f"{method.name}: made without {', '.join(dropped)}, which it does not take")
        changes |= plain
        if method.whole_table and _beside(recipe):
            remarks.append(
                f"{method.name}: measured on {columns_phrase(_beside(recipe))}, too, which others publish as they are"
            )
    elif recipe.guides and not can_be_guided(method):
        remarks.append(f"{method.name}: made without a guide, as it does not form cells of records in a space")
        changes |= _unguided()
    return changes, remarks


def _beside(recipe: Recipe) -> list[str]:
    """Attributes that other methods publish as they are."""
    roles = (Role.CONFIDENTIAL, Role.NON_CONFIDENTIAL)
    return [name for name, attribute in recipe.attributes.items() if attribute.role in roles]


def _privacy_for(recipe: Recipe, method: Method) -> dict[str, Any] | None:
    """What of ``[privacy]`` a method understands; its epsilon is set point by point."""
    if not method.is_private:
        return None
    if recipe.privacy is None:
        return {}
    private = method.private
    known = {*type(recipe.privacy).model_fields, *private.options}
    kept = {key: value for key, value in recipe.privacy.model_dump(exclude_none=True).items() if key in known}
    if kept.get("form") not in private.forms:
        kept.pop("form", None)
    return kept


def _variants(
    recipe: Recipe, choice: SweepChoice, method: Method, n_records: int | None
) -> Iterator[tuple[dict[str, Any], dict[str, Any]]]:
    """Settings that mean something to the method, each with the keys of the recipe that they change."""
    for k in _ks(recipe, choice, n_records) if method.has_cells else (None,):
        for epsilon in _epsilons(recipe, choice) if method.is_private else (None,):
            chosen = (
                {} if epsilon is None else {"privacy": {**(_privacy_for(recipe, method) or {}), "epsilon": epsilon}}
            )
            own = {"method": method.name, "k": k, "epsilon": epsilon}
            for required, (guide, changes) in product(_requirements(choice, method), _guides(recipe, choice, method)):
                settings = dict.fromkeys(settings_of_points()) | own | required | guide
                yield settings, {"k": k or 1, **chosen, **changes}


def _ks(recipe: Recipe, choice: SweepChoice, n_records: int | None) -> tuple[int, ...]:
    if choice.k is not None:
        return choice.k
    derived = {k for k in _KS if n_records is None or 2 * k <= n_records}
    return tuple(sorted(derived | ({recipe.k} if recipe.k > 1 else set())))


def _epsilons(recipe: Recipe, choice: SweepChoice) -> tuple[float, ...]:
    own = () if recipe.privacy is None else (recipe.privacy.epsilon,)
    return choice.epsilon or tuple(sorted({*_EPSILONS, *own}))


def _requirements(choice: SweepChoice, method: Method) -> list[dict[str, Any]]:
    """Every combination of l and t that ``[sweep]`` names, for a method whose cells can be rearranged."""
    named = {key: getattr(choice, key) for key in SWEPT_REQUIREMENTS if _can_be_rearranged(method)}
    named = {key: values for key, values in named.items() if values is not None}
    return [dict(zip(named, values, strict=True)) for values in product(*named.values())]


def _unprotected(choice: SweepChoice, method: Method) -> list[str]:
    """A remark, if a method is made without what ``[sweep]`` requires of confidential values.

    A recipe's own ``[protect]`` is never dropped: such a method is left out, in its own words.
    """
    named = [key for key in SWEPT_REQUIREMENTS if getattr(choice, key) is not None]
    if not named or _can_be_rearranged(method):
        return []
    return [
        f"{method.name}: made without {' and '.join(named)}, as it does not put records into cells that could be "
        "rearranged"
    ]


def _can_be_rearranged(method: Method) -> bool:
    """Whether requirements on confidential values mean anything to a method; a recipe may refuse for other reasons."""
    return not (method.is_private or method.mixes_values) and method.partitions == "records"


def _required(recipe: Recipe, key: str) -> Any:
    """The l or t of a recipe, if all that it protects has the same one; the promise of a point names them singly."""
    values = {getattr(choice, SWEPT_REQUIREMENTS[key]) for choice in recipe.protect.values()}
    return values.pop() if len(values) == 1 else None


def _guides(recipe: Recipe, choice: SweepChoice, method: Method) -> Iterator[tuple[dict[str, Any], dict[str, Any]]]:
    """The space is guided in one way at a time: by each guide that is swept, or as the recipe says."""
    swept = list(_swept(recipe, choice)) if can_be_guided(method) else []
    yield from swept or [({}, {})]


def _swept(recipe: Recipe, choice: SweepChoice) -> Iterator[tuple[dict[str, Any], dict[str, Any]]]:
    """Every value of every guide's key that ``[sweep]`` names, or else that suits the guide of the recipe."""
    for key, guide in swept_guides().items():
        own = recipe.space.guide if isinstance(recipe.space.guide, guide) else None
        table = {} if own is None else own.model_dump(by_alias=True, exclude_none=True)
        for value in choice.given_by_guides.get(key) or (() if own is None else own.values_to_sweep()):
            yield {key: value}, {**_unguided(), f"space.{guide.name}": {**table, key: value}}


def _unguided() -> dict[str, None]:
    """The changes that leave a recipe without a guide."""
    return {f"space.{guide.name}": None for guide in registered_guides()}


def _depends_on_chance(recipe: Recipe, method: Method) -> bool:
    searches = method.searches_by_chance or (recipe.protect and recipe.rearrange.by is Way.SEARCH)
    return bool(method.is_private or searches or recipe.aggregate.form is AggregateForm.SAMPLED)


def _name_of(settings: Settings) -> str:
    """The settings in one word.

    Examples
    --------
    >>> _name_of({"method": "mdav", "k": 5, "epsilon": None, "lambda": 0.2, "alpha": None})
    'mdav-k5-lambda0.2'
    """
    parts = [str(settings["method"])]
    for key, value in settings.items():
        if key == "method":
            continue
        if value is not None:
            parts.append(f"{key}{value:.12g}" if isinstance(value, float) else f"{key}{value}")
    return "-".join(parts)
