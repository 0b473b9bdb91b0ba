"""What paired draws are drawn from where a recipe leaves it open."""

from __future__ import annotations

from microagg.aggregate.content import Content
from microagg.recipe.choices import Draws
from microagg.recipe.recipe import Recipe

__all__ = ["LEAST_CELLS", "drawn_words", "settle_draws"]


LEAST_CELLS = 10
"""So many times k records (or units) a table needs: with fewer, intervals of k of them are too wide to say much."""


def settle_draws(recipe: Recipe, n_counted: int) -> Recipe:
    """Write into a recipe what its paired draws are drawn from, if it does not say so.

    They are drawn from what many records share where the table has records enough, and from moments of cells where it
    has not, or where the recipe asks for more than means and covariances. `n_counted` is the number of records, or of
    units with ``[unit]``: the choice depends on it and on k alone, so it tells nothing else about the table. The recipe
    of the manifest has it written out.

    Examples
    --------
    >>> recipe = Recipe(k=5, aggregate={"form": "sampled", "paired_with": "ill"}, attributes={
    ...     "age": {"role": "quasi_identifier", "kind": "numeric"}, "ill": {"role": "confidential", "kind": "nominal"}})
    >>> [str(settle_draws(recipe, n_counted).aggregate.draws) for n_counted in (49, 50)]
    ['moments', 'shared']
    """
    choice = recipe.aggregate
    if choice.draws is not None or not choice.paired_with:
        return recipe
    of_moments = choice.moments > 1 or choice.content is Content.VARIANCES
    of_shared = choice.share is not None or choice.rare is not None
    shared = of_shared or (not of_moments and n_counted >= LEAST_CELLS * recipe.k)
    return recipe.changed({"aggregate.draws": str(Draws.SHARED if shared else Draws.MOMENTS)})


def drawn_words(recipe: Recipe) -> str:
    """What paired draws of a release were drawn from, and which tables get that by default: a choice is not silent.

    Examples
    --------
    >>> recipe = Recipe(k=5, aggregate={"form": "sampled", "paired_with": "ill"}, attributes={
    ...     "age": {"role": "quasi_identifier", "kind": "numeric"}, "ill": {"role": "confidential", "kind": "nominal"}})
    >>> print(drawn_words(settle_draws(recipe, n_counted=49)))  # doctest: +ELLIPSIS
    records were drawn from moments of their cells: [aggregate] draws = 'moments', which is the default ...
    """
    least = f"{LEAST_CELLS} k = {LEAST_CELLS * recipe.k} {'records' if recipe.unit is None else 'units'}"
    source, size = (
        ("numbers and intervals that many share", "at least")
        if recipe.aggregate.way_of_drawing is Draws.SHARED
        else ("moments of their cells", "fewer than")
    )
    return (
        f"records were drawn from {source}: [aggregate] draws = {str(recipe.aggregate.way_of_drawing)!r}, which is the "
        f"default of paired draws where a table has {size} {least}"
    )
