"""Whether a statement makes the remarks that its release asks for, and none that no release makes.

What follows from recipe, manifest and table is made again, word for word. The rest is about the original, which a
reader does not have: it must be one of the sentences that there are, about attributes and numbers that can be.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from microagg.methods.searches import REMARKS as OF_SEARCHES
from microagg.recipe.choices import MissingPolicy
from microagg.recipe.output import Formulas, formula_words
from microagg.recipe.protect import rearranges
from microagg.recipe.recipe import Recipe
from microagg.releases.check.published import PublishedFolder
from microagg.releases.guidance import guidance_words, pairing_words
from microagg.releases.pipeline import INDEX_DROPPED
from microagg.releases.prepare import REMARKS as OF_MISSING
from microagg.releases.prepare import STRATA, counted_in, published_of_merged, strata_phrase
from microagg.releases.rearrangement import limit_words
from microagg.releases.units import SURPLUS, units_words
from microagg.releases.values import VALUES_MIXED
from microagg.statements.promises import SEEDED_NOISE, formed_in_blocks
from microagg.tables.formats.registry import format_of
from microagg.tables.phrases import columns_phrase

__all__ = ["fault_of_remarks"]

_QUOTED = r"('([^'\\]|\\.)*'|\"([^\"\\]|\\.)*\")"  # a name as repr shows it
_NUMBERS = {
    "<count>": r"\d{1,15}",
    "<number>": r"\d{1,15}(\.\d+)?(e[+-]?\d{1,3})?",
    "<records>": r"(fewer than|about) \d{1,15} in all",
    "<groups>": r"( in \d{1,15} of \d{1,15} groups of records)?",
    "<index>": rf"without a name|({_QUOTED}|a level without a name)(, ({_QUOTED}|a level without a name))*",
}


def fault_of_remarks(release: PublishedFolder, remarks: Sequence[str]) -> str:
    """What is wrong with the remarks of a statement, but for that of its seed; empty if nothing is.

    Raises
    ------
    KeyError, TypeError, ValueError
        If the manifest does not state what they are made from.
    """
    due, open_ones = list(_due(release)), [_compile(one, release.recipe) for one in _possible(release)]
    lacking = [remark for remark in due if remark not in remarks]
    if lacking:
        return f"one is missing: {lacking[0][:60]} ..."
    asked_for = [_compile(one, release.recipe) for one in _asked_for(release)]
    lacking_patterns = [one for one in asked_for if not any(one.fullmatch(remark) for remark in remarks)]
    if lacking_patterns:
        return f"{len(lacking_patterns)} that the recipe or the table asks for are missing"
    unknown = [
        remark
        for remark in remarks
        if remark not in due and not any(one.fullmatch(remark) for one in (*asked_for, *open_ones))
    ]
    return f"{len(unknown)} are not remarks that microagg makes about such a release" if unknown else ""


def _due(release: PublishedFolder) -> Iterator[str]:
    """Remarks that recipe, manifest and table make, to the word."""
    recipe = release.recipe
    if release.is_private:
        yield from release.made_again.remarks
        yield from units_words(recipe, ())
        if release.manifest["seeded"]:
            yield SEEDED_NOISE
    elif recipe.sampling_weight is not None:
        yield f"representatives are weighted by {recipe.sampling_weight!r}"
    if release.engine is not None and "n_blocks" in release.engine:
        yield formed_in_blocks(release.engine["n_blocks"], len(release.table_names))
    stages = {stage["stage"]: stage for stage in release.manifest["stages"]}
    if not release.is_private and release.blocks:
        blocks = [block["attributes"] for block in release.blocks]
        yield from units_words(recipe, release.blocks)
        if rearranges(recipe):
            yield from limit_words(recipe, stages["rearrange"])
        if recipe.guides:
            for facts, attributes in zip(stages["space"]["guided"], blocks, strict=True):
                yield from guidance_words(facts, attributes, recipe)
        if recipe.aggregate.paired_with:
            for facts, attributes in zip(stages["aggregate"]["paired"], blocks, strict=True):
                yield from pairing_words(facts, attributes, recipe)
    path, policy = release.folder / release.table_name, recipe.output.formulas
    found = format_of(path).count_formula_cells(path, release.table)
    if found and policy is not Formulas.REFUSE:
        yield formula_words(policy, columns_phrase(list(found)))


def _asked_for(release: PublishedFolder) -> Iterator[str]:
    """Sentences that must be there, whose numbers a reader cannot know."""
    recipe = release.recipe
    if release.is_private:
        return
    if recipe.entry.mixes_values:
        yield VALUES_MIXED
    if recipe.strata.by and release.blocks:
        yield STRATA
    protected = [name for name in recipe.schema.quasi_identifiers if name in release.table.column_names]
    tells_missing = format_of(release.folder / release.table_name).tells_missing_from_empty
    missing = tells_missing and any(release.has_missing(name) for name in protected)
    if recipe.missing.policy is MissingPolicy.OWN_CELL and missing and release.blocks:
        yield from OF_MISSING[MissingPolicy.OWN_CELL]


def _possible(release: PublishedFolder) -> Iterator[str]:
    """Sentences that may be there."""
    recipe = release.recipe
    yield INDEX_DROPPED
    if release.is_private:
        yield from (SURPLUS,) if recipe.unit is not None else ()
        return
    yield from OF_MISSING.get(recipe.missing.policy, ())
    if recipe.entry.searches_by_chance:
        yield from OF_SEARCHES


def _compile(pattern: str, recipe: Recipe) -> re.Pattern[str]:
    known = "|".join(re.escape(columns_phrase([name]).removeprefix("column ")) for name in recipe.attributes)
    fillings = {
        **_NUMBERS,
        "<columns>": rf"columns? ({known})(, ({known}))*( and [\d,]{{1,15}} more)?",
        "<strata>": re.escape(strata_phrase(recipe)),
        "<published>": published_of_merged(recipe),
        "<counted>": counted_in(recipe),
        "<max_records>": "" if recipe.unit is None else str(recipe.unit.max_records),
        "<k>": str(recipe.k),
        "<n_attributes>": str(len(recipe.schema.quasi_identifiers)),
    }
    return re.compile(re.sub("<[a-z_]+>", lambda token: f"({fillings[token[0]]})", pattern))
