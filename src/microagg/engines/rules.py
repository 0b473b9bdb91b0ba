"""Which recipes can be carried out in parts; what cannot is refused before any record is read."""

from __future__ import annotations

from microagg.engines.counts.rules import FROM_COUNTS, PRIVATE_FROM_COUNTS, find_unsupported_counts
from microagg.errors import InputError
from microagg.recipe.choices import AggregateForm, MissingPolicy
from microagg.recipe.output import RowOrder
from microagg.recipe.recipe import Recipe
from microagg.space.blocks import BlockForm

__all__ = ["IN_BLOCKS", "find_unsupported", "refuse_unsupported"]

IN_BLOCKS = ("mdav", "vmdav", "near_optimal", "pcp", "zscores")
"""Methods whose cells can be formed in blocks of neighbouring records."""

_EFFORTS = ("fast", "default")
_LOCAL = "choose --engine local (engine='local') for a table in one file that fits in memory"


def refuse_unsupported(recipe: Recipe) -> None:
    """Raise if a recipe cannot be carried out in parts.

    Raises
    ------
    InputError
        With what stands in the way, and the line that mends it.
    """
    found = find_unsupported(recipe)
    if found:
        raise InputError(f"a table that is released in parts cannot have this: {found}")


def find_unsupported(recipe: Recipe) -> str:
    """What stands in the way of carrying out a recipe in parts, in a sentence; empty if nothing does."""
    method, partition = recipe.entry, recipe.partition
    if recipe.unit is not None:
        return f"[unit], since records of one unit may lie in several parts. Leave it out, or {_LOCAL}"
    if recipe.method in FROM_COUNTS:
        return find_unsupported_counts(recipe)
    if recipe.method not in IN_BLOCKS:
        what = "it asks more than counts of the records" if method.is_private else "its cells are not formed in blocks"
        others = PRIVATE_FROM_COUNTS if method.is_private else (*IN_BLOCKS, "individual_ranking")
        return f"method = {recipe.method!r}, since {what}. Choose one of {', '.join(others)}, or {_LOCAL}"
    if recipe.guides:
        return f"a guided space, which is learned from all records together. Leave it out of [space], or {_LOCAL}"
    if recipe.aggregate.form is AggregateForm.SAMPLED:
        return f"[aggregate] form = 'sampled'. Set form = 'representative', or {_LOCAL}"
    if recipe.protect:
        return f"[protect], whose requirements need all classes together. Leave it out, or {_LOCAL}"
    if recipe.blocks.form is not BlockForm.ONE:
        return f"[blocks]. Leave it out, or {_LOCAL}"
    if recipe.missing.policy is MissingPolicy.IMPUTE:
        return (
            "[missing] policy = 'impute', which needs the median of all records. Set policy = 'own_cell' or "
            f"'suppress', or {_LOCAL}"
        )
    if recipe.output.order is RowOrder.KEPT:
        return f"[output] order = 'kept', since records are sorted into shards. Set order = 'shuffled', or {_LOCAL}"
    if partition.get("effort", "default") not in _EFFORTS or partition.get("time_limit") is not None:
        return (
            "an effort or a time limit whose cells depend on the machine, or on a proof about all records. Set "
            f"[partition] effort = 'fast' or 'default' without time_limit, or {_LOCAL}"
        )
    if partition.get("certificate"):
        return f"[partition] certificate, a proof about all records together. Leave it out, or {_LOCAL}"
    return ""
