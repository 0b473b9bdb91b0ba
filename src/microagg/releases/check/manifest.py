"""Whether a manifest says of recipe, stages and sizes what can be true, and nothing that no manifest has."""

from __future__ import annotations

import datetime as dt
import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from microagg._halt import BUDGET, TIME_LIMIT
from microagg.errors import InputError
from microagg.evaluation.diversity import STEP, Diversity
from microagg.methods.output import CellSizes
from microagg.methods.searches import ENDS, STARTS
from microagg.privacy.verify import Finding
from microagg.private.moments.plan import groups_of
from microagg.recipe.about import AboutChoice
from microagg.recipe.choices import Draws
from microagg.recipe.protect import rearranges
from microagg.recipe.recipe import Recipe
from microagg.releases.check.published import PublishedFolder
from microagg.releases.folder.json_files import same
from microagg.releases.guidance import fault_of_guidance
from microagg.space.blocks import BlockForm, choose_blocks, contiguous_blocks
from microagg.statements.exposure_text import count_of_many
from microagg.statements.manifest import FORMAT, LIBRARIES
from microagg.statements.promises import (
    ENGINES_IN_PARTS,
    describe_aggregation,
    describe_engine,
    describe_rearrangement,
    describe_schema,
    describe_space,
)

__all__ = ["VERSION", "check_blocks", "check_manifest"]

_KEYS = ("format", "id", "date", "microagg", "versions", "seeded", "recipe", "stages", "input", "output")
VERSION = re.compile(r"\d+(\.\d+)+[\w.+-]*")
_SHA256 = re.compile(r"[0-9a-f]{64}")
_ID = re.compile(r"[0-9a-f]{32}")
_OF_REARRANGEMENT = ("stopped_by", "share_of_steps")
_OF_CELLS = ("schema", "space", "partition", "rearrange", "aggregate")


def check_manifest(release: PublishedFolder) -> list[Finding]:
    """Everything of a manifest that a reader can work out again."""
    try:
        fault = _fault_of_frame(release) or _fault_of_sizes(release) or _fault_of_stages(release)
    except (LookupError, TypeError, ValueError, AttributeError, ArithmeticError, AssertionError, InputError):
        fault = "is damaged"
    return [Finding("manifest", not fault, fault or "its recipe, stages and sizes go together")]


def check_blocks(release: PublishedFolder) -> list[Finding]:
    """Cells must speak for every quasi-identifier once; several blocks only where the recipe asks for them."""
    if release.is_private:
        return []
    blocks = [tuple(block["attributes"]) for block in release.blocks]
    if release.recipe.entry.mixes_values:
        return [Finding("cells", not blocks, "none: the method has no cells of records and promises nothing")]
    if not _are_blocks_of_recipe(release, blocks):
        return [Finding("cells", False, "do not speak for every quasi-identifier once, as the recipe has it")]
    fault = "; ".join(filter(None, (_fault_of_cells(release, block) for block in release.blocks)))
    counts = release.recounts
    if not fault and any(one.n_combinations > b["n_cells"] for one, b in zip(counts, release.blocks, strict=False)):
        fault = "the table has more combinations than there are cells"
    return [Finding("cells", not fault, fault or "every quasi-identifier is in one block of cells")]


def _are_blocks_of_recipe(release: PublishedFolder, blocks: Sequence[tuple[str, ...]]) -> bool:
    recipe = release.recipe
    protected = set(recipe.schema.quasi_identifiers)
    names = [name for name in release.table.column_names if name in protected]
    if sorted(name for block in blocks for name in block) != sorted(protected) or len(names) != len(protected):
        return False
    if recipe.entry.partitions == "attributes":
        return list(blocks) == list(contiguous_blocks(names, 1))
    form, size = recipe.blocks.form, recipe.blocks.size
    if form in (BlockForm.CORRELATED, BlockForm.SPREAD):  # which go together was read from the records
        assert size is not None
        return len(blocks) == -(-len(names) // size) and all(len(block) <= size for block in blocks)
    return list(blocks) == list(choose_blocks(form, names, size=size, given=recipe.blocks.attributes))


def _fault_of_cells(release: PublishedFolder, block: Mapping[str, Any]) -> str:
    """Whether so many cells of such sizes can hold the records."""
    n_cells, smallest, largest = (block[key] for key in ("n_cells", "smallest_cell", "largest_cell"))
    n_records = release.n_rows
    if release.rows_are_statistics:
        n_records = release.manifest["input"]["n_records"]
    if not release.recipe.k <= smallest <= largest:
        return f"the manifest states cells of {smallest} to {largest} records, and k = {release.recipe.k}"
    units = block.get("fewest_units")
    if (units is not None) is not (release.recipe.unit is not None and not release.is_private):
        return "the manifest states units, and its recipe has none, or the other way round"
    if units is not None and not (type(units) is int and release.recipe.k <= units <= smallest):
        return f"the manifest states cells of {units} units, and k = {release.recipe.k}"
    even = smallest == largest
    fits = (
        n_cells * smallest <= n_records <= n_cells * largest
        if even or n_cells < 2
        else ((n_cells - 1) * smallest + largest <= n_records <= smallest + (n_cells - 1) * largest)
    )
    return "" if fits else f"the manifest states {n_cells} cells of sizes that {n_records} records cannot have"


def _fault_of_frame(release: PublishedFolder) -> str:
    """What is written around recipe and stages."""
    manifest = release.manifest
    # Releases of earlier versions have no date.
    due = [key for key in _KEYS if key != "date" or release.same_version or "date" in manifest]
    if sorted(manifest) != sorted(due) or not same(manifest["format"], FORMAT):
        return "has other keys than a manifest, or is of another format"
    if not _ID.fullmatch(manifest["id"]) or not VERSION.fullmatch(manifest["microagg"]):
        return "has no id, or no version"
    if "date" in manifest and not _is_day_of(release.recipe, manifest["date"]):
        return "has no date, or another one than its recipe"
    versions = manifest["versions"]
    if release.same_version and sorted(versions) != sorted(("python", *LIBRARIES)):
        return "lists other libraries than microagg uses"
    if not all(VERSION.fullmatch(version) for version in versions.values()):
        return "lists versions that are not versions"
    if sorted(manifest["output"]) not in (["sha256", "table"], ["sha256", "tables"]) or not all(
        map(_SHA256.fullmatch, release.hashes.values())
    ):
        return "lists files without their SHA-256"
    plain = json.loads(json.dumps(release.recipe.as_dict(), default=str))
    return "" if same(plain, manifest["recipe"]) else "has a recipe with keys or values that no recipe has"


def _is_day_of(recipe: Recipe, date: Any) -> bool:
    """Whether this is a day, and the one that the recipe declares, if it does."""
    day = AboutChoice(date=date).day
    return day == date and recipe.about.date in (None, dt.date.fromisoformat(day))


def _fault_of_sizes(release: PublishedFolder) -> str:
    about, recipe = release.manifest["input"], release.recipe
    keys = ["n_columns", "n_records", *([] if release.is_private else ["sha256_salted"])]
    if sorted(about) != keys:
        return "says something else about the input than its size" + ("" if release.is_private else " and fingerprint")
    if not release.is_private and not _SHA256.fullmatch(about["sha256_salted"]):
        return "has no fingerprint of the input"
    if not same(about["n_columns"], len(recipe.attributes)):
        return "states another number of columns than its recipe"
    if not isinstance(about["n_records"], int) or isinstance(about["n_records"], bool):
        return "does not state the number of records"
    return ""


def _fault_of_stages(release: PublishedFolder) -> str:
    """Stages are those of the method, and say what the recipe says."""
    stages, recipe = release.manifest["stages"], release.recipe
    found = {stage["stage"]: {key: value for key, value in stage.items() if key != "stage"} for stage in stages}
    if len(found) < len(stages):
        return "has a stage twice"
    if not same({"stage": "schema", **found.pop("schema")}, describe_schema(recipe)):
        return "states other roles than its recipe"
    partition = found.pop("partition")
    if not same([partition["method"], partition["k"]], [recipe.method, recipe.k]):
        return "states another method or k than its recipe"
    of_cells = {"method", "k", "blocks", *(() if release.engine is None else ("engine",))}
    if not release.is_private and set(partition) != of_cells:
        return "says something about its cells that no release says"
    if release.engine is not None and not _is_engine(release, release.engine):
        return "says something about its parts that its recipe and files do not have"
    if any(set(block) - set(CellSizes.keys()) for block in release.blocks):
        return "says something about cells that no release says"
    if release.is_private:
        return _fault_of_private_stages(release, found)
    due = [stage for stage in _OF_CELLS if stage != "rearrange" or rearranges(recipe)]
    if [stage["stage"] for stage in stages] != due:
        return "has other stages than its method"
    n_cells = sum(block["n_cells"] for block in release.blocks)
    if rearranges(recipe) and not _is_rearrangement(found["rearrange"], recipe, n_cells):
        return "states other rearranged cells than its recipe"
    return (
        _fault_of_search(release)
        or _fault_of_space(release, found["space"])
        or _fault_of_aggregate(release, found["aggregate"])
    )


def _is_engine(release: PublishedFolder, stated: Mapping[str, Any]) -> bool:
    """Whether parts are stated as the recipe sizes them, as many as there are files, and blocks that cells can fill."""
    n_blocks = stated.get("n_blocks")
    due = describe_engine(release.recipe, str(stated["name"]), len(release.table_names), n_blocks)
    if not same(stated, due) or stated["name"] not in ENGINES_IN_PARTS:
        return False
    if release.recipe.method == "individual_ranking":
        return n_blocks is None
    return type(n_blocks) is int and len(release.table_names) <= n_blocks <= release.blocks[0]["n_cells"]


def _is_rearrangement(stated: Mapping[str, Any], recipe: Recipe, n_cells: int) -> bool:
    """Whether cells were rearranged as the recipe says, and cut by no other limit than its own."""
    facts = {key: value for key, value in stated.items() if key not in _OF_REARRANGEMENT}
    ends = stated["stopped_by"]
    was_cut = TIME_LIMIT in ends
    return (
        same(facts, describe_rearrangement(recipe))
        and set(ends) <= {BUDGET, TIME_LIMIT}
        and all(type(count) is int and count > 0 for count in ends.values())
        and 1 <= sum(ends.values()) <= n_cells  # one search for each group of records
        and ("share_of_steps" in stated) is was_cut
        and (not was_cut or (type(stated["share_of_steps"]) is float and 0.0 <= stated["share_of_steps"] <= 1.0))
        and (not was_cut or recipe.rearrange.time_limit is not None)
    )


def _fault_of_search(release: PublishedFolder) -> str:
    """What ended the searches for cells: every search once, and cut by no other limit than the recipe's."""
    recipe = release.recipe
    for block in release.blocks:
        search = block.get("search")
        if (search is not None) is not recipe.entry.searches_by_chance:
            return "states a search for cells, and its method has none, or the other way round"
        if search is None:
            continue
        ends, limit = search["stopped_by"], recipe.partition.get("time_limit")
        was_cut = TIME_LIMIT in ends
        keys = ["searches", "stopped_by", "started_from", *(["time_limit", "share_of_steps"] if was_cut else [])]
        if sorted(search) != sorted(keys) or (was_cut and not same(search["time_limit"], limit)):
            return "states another search for cells than its recipe"
        if set(ends) - set(ENDS) or set(search["started_from"]) - set(STARTS):
            return "states searches for cells that no search comes to"
        if {sum(ends.values()), sum(search["started_from"].values())} != {search["searches"]}:
            return "states searches for cells that do not add up"
    return ""


def _fault_of_space(release: PublishedFolder, space: dict[str, Any]) -> str:
    recipe = release.recipe
    stated = {key: value for key, value in space.items() if key != "guided"}
    if not same(stated, describe_space(recipe)):
        return "states another space than its recipe"
    guided = space.get("guided", [])
    if ("guided" in space) and not recipe.guides:
        return "states guided cells, and its recipe has no guide"
    if recipe.guides and len(guided) != len(release.blocks):
        return "does not state how the cells of every block were guided"
    faults = (
        fault_of_guidance(facts, recipe) or _fault_of_diversity(facts["diversity"], block)
        for facts, block in zip(guided, release.blocks if guided else (), strict=True)
    )
    return next(filter(None, faults), "")


def _fault_of_diversity(stated: Mapping[str, Any], block: Mapping[str, Any]) -> str:
    """Whether a diversity of cells is one, and of the cells of a block."""
    diversity = Diversity(**stated)
    fits = diversity.n_cells == block["n_cells"] and same(diversity.step, STEP)
    fits = fits and 1 <= diversity.smallest <= diversity.mean and 0 < diversity.purity <= 1
    return "" if fits else "states a diversity that its cells cannot have"


def _fault_of_aggregate(release: PublishedFolder, aggregate: dict[str, Any]) -> str:
    stated = {key: value for key, value in aggregate.items() if key != "paired"}
    if not same(stated, describe_aggregation(release.recipe)) or (
        "paired" in aggregate and not release.recipe.aggregate.paired_with
    ):
        return "states other representatives or draws than its recipe"
    paired = aggregate.get("paired", [])
    if release.recipe.aggregate.paired_with and len(paired) != len(release.blocks):
        return "does not state how the draws of every block were paired"
    for facts, block in zip(paired, release.blocks if paired else (), strict=True):
        due = {"paired_with": list(release.recipe.aggregate.paired_with), "model": "gradient boosting"}
        stated = {key: value for key, value in facts.items() if key not in ("equal", "pooled")}
        if not same(stated, {**due, "diversity": facts["diversity"]}) or not _draws_fit(release, facts, block):
            return "states other paired draws than its recipe"
        fault = _fault_of_diversity(facts["diversity"], block)
        if fault:
            return fault
    if any(set(block.get("spiked", ())) - set(block["attributes"]) for block in release.blocks):
        return "states shared values of attributes that are not in the block"
    if release.strategy.is_counted and any("spiked" in block for block in release.blocks):
        return "states draws, and its recipe representatives"
    return ""


def _draws_fit(release: PublishedFolder, facts: Mapping[str, Any], block: Mapping[str, Any]) -> bool:
    """Whether what is stated of draws of shared values can be: shares, and counts of columns of the block."""
    if release.recipe.aggregate.way_of_drawing is not Draws.SHARED:
        return not {"equal", "pooled"} & set(facts)
    equal, pooled = facts["equal"], facts.get("pooled", {})
    fits = set(equal) == {"released", "released_unique", "untouched", "untouched_unique"}
    fits = fits and all(type(share) is float and 0.0 <= share <= 1.0 for share in equal.values())
    fits = fits and equal["released_unique"] <= equal["released"] and equal["untouched_unique"] <= equal["untouched"]
    fits = fits and set(pooled) <= set(block["attributes"])
    k = release.recipe.k
    return fits and all(
        count is None or (type(count) is int and count == count_of_many(count, k)) for count in pooled.values()
    )


def _fault_of_private_stages(release: PublishedFolder, found: dict[str, Any]) -> str:
    """Noise and cells of a private method: what the recipe chooses, and sizes that go together."""
    recipe = release.recipe
    private = recipe.entry.private
    if set(found) - {"space", "aggregate", "noise"}:
        return "has other stages than its method"
    blocks = [set(block["attributes"]) for block in release.blocks]
    if blocks and sorted(name for block in blocks for name in block) != sorted(recipe.schema.quasi_identifiers):
        return "has cells that do not speak for every protected attribute once"
    if private.uses_blocks and {*map(frozenset, blocks)} != {*map(frozenset, groups_of(recipe))}:
        return "has other groups of attributes than its recipe"
    faults = [_fault_of_cells(release, block) for block in release.blocks] or [""]
    fault = next(filter(None, faults), "") or _fault_of_statistics(release)
    if fault or not release.same_version:
        return fault
    stages = [describe_schema(recipe), *release.made_again.stages.as_list(recipe.entry, recipe.k)]
    due = json.loads(json.dumps(stages))
    return "" if same(release.manifest["stages"], due) else "states other stages than its recipe makes"


def _fault_of_statistics(release: PublishedFolder) -> str:
    """A table of moments states every cell once, and their records are those of the input."""
    if not release.rows_are_statistics:
        return ""
    rows = release.table
    block, cell, size = (np.asarray(rows[name].cast("int64")) for name in ("block", "cell", "n_records"))
    cells = np.unique(np.column_stack([block, cell, size]), axis=0)
    for number, facts in enumerate(release.blocks):
        own = cells[cells[:, 0] == number]
        stated = [len(own), int(own[:, 2].min(initial=2**62)), int(own[:, 2].max(initial=0))]
        if len(set(own[:, 1].tolist())) < len(own) or stated != [
            facts[k] for k in ("n_cells", "smallest_cell", "largest_cell")
        ]:
            return "states other cells than the table of moments"
        if int(own[:, 2].sum()) != release.manifest["input"]["n_records"]:
            return "states another number of records than the table of moments"
    return ""
