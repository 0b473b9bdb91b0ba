"""Random tables with requirements on confidential attributes, and what any release of them must be like."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as parquet

import microagg
from declarations import nominal, numeric, ordinal
from microagg import Recipe
from microagg.errors import InputError
from microagg.releases.check.check import check_release
from optional_packages import pandas as pd
from requirement_oracle import Asked, Scale, classes_of, classes_that_miss, cost_of_the_stated_plan

Rng = np.random.Generator
Columns = dict[str, list[Any]]

METHODS = ("mdav", "vmdav", "near_optimal", "pcp", "zscores")
WAYS = ("search", "swap", "merge", "closeness_first")
GRADES = ("least", "low", "mid", "high", "top")  # not "none", which counts as missing: a reader may take it for that
WORK = {
    "office": "any",
    "field": "any",
    "idle": "any",
    "clerk": "office",
    "boss": "office",
    "smith": "field",
    "wood": "field",
    "joiner": "wood",
    "carver": "wood",
}
PLACES = {"north": "land", "south": "land", "hill": "north", "moor": "north", "port": "south"}


@dataclass(frozen=True)
class Protected:
    """A table, the recipe that protects it, and what that asks for."""

    columns: Columns
    recipe: Recipe
    asked: tuple[Asked, ...]

    @property
    def table(self) -> pa.Table:
        return pa.table({name: pa.array(values, _arrow_type(values)) for name, values in self.columns.items()})

    def asking(self, attribute: str, key: str, bound: Any) -> Protected:
        """The same with another bound.

        Raises
        ------
        InputError, ValueError
            If a recipe may not ask for it.
        """
        declared = {name: choice.model_dump(exclude_none=True) for name, choice in self.recipe.protect.items()}
        declared[attribute] = {**declared[attribute], key: bound}
        asked = tuple(
            Asked(one.attribute, one.key, bound, one.scale) if (one.attribute, one.key) == (attribute, key) else one
            for one in self.asked
        )
        return Protected(self.columns, self.recipe.changed({"protect": declared}), asked)


def _arrow_type(values: Sequence[Any]) -> pa.DataType:
    present = [value for value in values if value is not None]
    if any(isinstance(value, str) for value in present):
        return pa.string()
    return pa.int64() if present and all(isinstance(value, int) for value in present) else pa.float64()


# Random tables


def random_protected(rng: Rng, *, by: str | None = None, method: str | None = None) -> Protected:
    """Records of all kinds, with ties and missing values, and requirements of which some are just out of reach."""
    n_records, k = int(rng.integers(20, 121)), int(rng.integers(2, 6))
    columns: Columns = {}
    attributes: dict[str, Any] = {}
    missing = {"policy": str(rng.choice(["own_cell", "impute", "suppress"])), "small": "merge_small"}
    gaps = float(rng.choice([0.0, 0.0, 0.1]))
    for place in range(int(rng.integers(1, 4))):
        name = f"q{place}"
        columns[name], attributes[name] = _quasi_identifier(rng, n_records)
        columns[name] = with_gaps(rng, columns[name], gaps)
    strata: dict[str, Any] = {}
    if rng.random() < 0.25:
        columns["region"] = rng.choice(["east", "west", "isle"], n_records, p=[0.5, 0.4, 0.1]).tolist()
        attributes["region"] = nominal()
        strata = {"by": ["region"], "small": str(rng.choice(["merge_small", "merge_small", "refuse"]))}
    asked: list[Asked] = []
    by = str(rng.choice(WAYS)) if by is None else by
    for place in range(int(rng.integers(1, 3))):
        name = f"secret{place}"
        values, scale, attributes[name] = _confidential(rng, n_records, ordered=by == "closeness_first" and not place)
        columns[name] = with_gaps(rng, values, float(rng.choice([0.0, 0.0, 0.0, 0.1, 0.5])))
        keys = _some_keys(rng, scale)
        if by == "closeness_first" and not place:
            keys = ["t_closeness", *(key for key in keys if key != "t_closeness")]
        asked += [Asked(name, key, _some_bound(rng, key, columns[name], scale), scale) for key in keys]
    protect: dict[str, dict[str, Any]] = {}
    for one in asked:
        protect.setdefault(one.attribute, {})[one.key] = one.bound
    recipe = Recipe(
        k=k,
        method=str(rng.choice(METHODS)) if method is None else method,
        space={"standardize": str(rng.choice(["zscore", "minmax"]))},
        missing=missing,
        strata=strata,
        attributes=attributes,
        protect=protect,
        rearrange={"by": by, "effort": "fast"},
    )
    return Protected(columns, recipe, tuple(asked))


def with_gaps(rng: Rng, values: Sequence[Any], share: float) -> list[Any]:
    lacks = rng.random(len(values)) < share
    return [None if lacking else value for value, lacking in zip(values, lacks, strict=True)]


def _quasi_identifier(rng: Rng, n: int) -> tuple[list[Any], dict[str, Any]]:
    form = rng.integers(5)
    if form == 0:
        return rng.normal(size=n).tolist(), numeric()
    if form == 1:
        return rng.integers(0, int(rng.choice([3, 40])), n).tolist(), numeric()
    if form == 2:
        return rng.choice(GRADES, n).tolist(), ordinal(categories=list(GRADES))
    if form == 3:
        return rng.choice(list("abcdef")[: int(rng.integers(1, 7))], n).tolist(), nominal()
    return rng.choice(["hill", "moor", "port"], n).tolist(), nominal(taxonomy=PLACES)


def _confidential(rng: Rng, n: int, *, ordered: bool) -> tuple[list[Any], Scale, dict[str, Any]]:
    form = rng.integers(4 if ordered else 6)
    if form == 0:
        values = rng.integers(0, int(rng.choice([1, 3, 8])), n, endpoint=True).tolist()
    elif form == 1:
        values = np.round(rng.gamma(2.0, 5.0, n), int(rng.choice([0, 1]))).tolist()
    elif form == 2:  # one value is frequent
        values = np.where(rng.random(n) < 0.6, 0, rng.integers(1, 9, n)).tolist()
    elif form == 3:
        values = rng.choice(GRADES[: int(rng.integers(2, 6))], n).tolist()
        return values, Scale("ordinal", GRADES), {**ordinal(categories=list(GRADES)), "role": "confidential"}
    elif form == 4:
        names = ["flu", "gout", "burn", "cold", "itch"][: int(rng.integers(1, 6))]
        values = rng.choice(names, n, p=rng.dirichlet(np.ones(len(names)))).tolist()
        return values, Scale("nominal"), {**nominal(), "role": "confidential"}
    else:
        nodes = ["clerk", "boss", "smith", "joiner", "carver", "idle"]
        nodes = nodes + (["office", "wood", "any"] if rng.random() < 0.15 else [])
        values = rng.choice(nodes, n, p=rng.dirichlet(np.ones(len(nodes)))).tolist()
        return values, Scale("nominal", parents=WORK), {**nominal(taxonomy=WORK), "role": "confidential"}
    return values, Scale("numeric"), {**numeric(), "role": "confidential"}


def _some_keys(rng: Rng, scale: Scale) -> list[str]:
    keys = ["distinct_l", "p_sensitive", "entropy_l", "recursive_c_l", "max_share", "t_closeness", "t_closeness"]
    keys += ["min_range"] if scale.kind == "numeric" else []
    return list(dict.fromkeys(rng.choice(keys, int(rng.integers(1, 3))).tolist()))


def _some_bound(rng: Rng, key: str, values: Sequence[Any], scale: Scale) -> Any:
    """Mostly what cells of a few records can satisfy; now and then just what all records together do, or more."""
    if key == "t_closeness":
        return float(rng.choice([0.05, 0.1, 0.2, 0.3, 0.5]))
    if key == "recursive_c_l":
        return [float(rng.choice([0.5, 1.0, 2.0, 4.0, 8.0])), int(rng.integers(2, 4))]
    best = Asked("", key, None, scale).found(values, values)
    if key in ("distinct_l", "p_sensitive"):
        return max(2, int(best) + int(rng.choice([0, 1])) if rng.random() < 0.15 else int(rng.integers(2, 4)))
    if key == "entropy_l":
        bound = best * float(rng.choice([0.5, 0.6, 0.7, 0.8, 0.9, 0.999, 1.001]))
        return max(round(bound, 4), 1.1)
    if key == "max_share":
        return min(round(best + float(rng.choice([-0.01, 0.001, 0.1, 0.2, 0.2, 0.3, 0.4])), 3), 0.95)
    return max(round(best * float(rng.choice([0.1, 0.2, 0.4, 0.6, 1.0, 1.01])), 2), 0.5)


# Groups that no cell may cross


def possible_groupings(one: Protected) -> list[list[list[int]]]:
    """The records of each group, in all ways that ties between group sizes allow; records left out are in none.

    Strata and, within them, patterns of missing values; those of fewer than k records are pooled, and a pool of fewer
    than k joins the smallest group that is not.
    """
    recipe, columns = one.recipe, one.columns
    known = list(recipe.schema.quasi_identifiers)
    records = list(range(len(columns[known[0]])))
    if recipe.missing.policy == "suppress":
        records = [i for i in records if all(columns[name][i] is not None for name in known)]
    outer = [records]
    if recipe.strata.by:
        outer = _split(records, lambda i: tuple(columns[name][i] for name in recipe.strata.by))
    results = []
    for strata in _pooled(outer, recipe.k):
        if recipe.missing.policy != "own_cell":
            results.append(strata)
            continue
        inner = [
            _pooled(_split(stratum, lambda i: tuple(columns[name][i] is None for name in known)), recipe.k)
            for stratum in strata
        ]
        results += [[group for stratum in chosen for group in stratum] for chosen in product(*inner)]
    return results


def _split(records: Sequence[int], key: Any) -> list[list[int]]:
    found: dict[Any, list[int]] = {}
    for i in records:
        found.setdefault(key(i), []).append(i)
    return list(found.values())


def _pooled(groups: Sequence[list[int]], k: int) -> list[list[list[int]]]:
    large = [group for group in groups if len(group) >= k]
    pool = [i for group in groups if len(group) < k for i in group]
    if not pool:
        return [large]
    if len(pool) >= k or not large:
        return [[*large, pool]]
    least = min(len(group) for group in large)
    return [
        [group + pool if place == chosen else group for place, group in enumerate(large)]
        for chosen, smallest in enumerate(large)
        if len(smallest) == least
    ]


# Refusals

_REFUSAL = re.compile(r"protect\.(\w+)\.(\w+): no partition satisfies .*, since .* do not\. (.*)", re.DOTALL)
_NAMED = re.compile(r"The (?:largest|smallest) that can be is (?:about |any c above \S+: )?\w+ = (.+)")
_OTHER_REFUSALS = ("have fewer than k", "records are complete", "no value at all", "needs at least")


@dataclass(frozen=True)
class Refusal:
    """That no partition satisfies a requirement, as the package says it."""

    asked: Asked
    bound: Any = None  # what would be possible; None if none was named

    @classmethod
    def of(cls, error: InputError, one: Protected) -> Refusal | None:
        """None if the table was refused for something else, which every release may be."""
        said = str(error)
        found = _REFUSAL.fullmatch(said)
        if found is None:
            assert any(words in said for words in _OTHER_REFUSALS), said
            return None
        attribute, key, mend = found.groups()
        (asked,) = (asked for asked in one.asked if (asked.attribute, asked.key) == (attribute, key))
        named = _NAMED.fullmatch(mend)
        if named is None:
            return cls(asked)
        bound = [float(part) for part in named[1].strip("[]").split(",")]
        if key == "recursive_c_l":
            return cls(asked, [bound[0], int(bound[1])])
        return cls(asked, int(bound[0]) if key in ("distinct_l", "p_sensitive") else bound[0])


def confirm(refusal: Refusal, one: Protected) -> None:
    """One cell for each group is the best that there is: it must miss the requirement."""
    asked = refusal.asked
    values = one.columns[asked.attribute]
    misses = []
    for groups in possible_groupings(one):
        table = [values[i] for group in groups for i in group]
        misses.append(any(_misses([values[i] for i in group], table, asked) for group in groups))
    assert any(misses), f"refused, though one cell for each group satisfies {asked.key} = {asked.bound}"


def confirm_that_no_bound_is_possible(refusal: Refusal, one: Protected) -> None:
    """Where none is named, a group must have too few values for any that a recipe may ask for."""
    asked = refusal.asked
    least = asked.bound[1] if asked.key == "recursive_c_l" else 2
    values = one.columns[asked.attribute]
    found = [
        {values[i] for i in group} - ({None} if asked.key == "min_range" else set())
        for groups in possible_groupings(one)
        for group in groups
    ]
    assert min(map(len, found)) < least, f"no bound of {asked.key} was named, though one is possible"


def _misses(values: Sequence[Any], table: Sequence[Any], asked: Asked) -> bool:
    if asked.key == "t_closeness" and asked.scale.kind != "nominal" and None in table:
        return cost_of_the_stated_plan(values, table, asked.scale) > asked.bound - 1e-9
    return not asked.holds(values, table, slack=-1e-9)


# Releases


def read_plainly(folder: Path, one: Protected, written_as: str) -> Columns:
    """The columns of a written table, by pandas or pyarrow alone; None where a value is missing."""
    numbers = [name for name, attribute in one.recipe.attributes.items() if attribute.kind == "numeric"]
    if written_as == "parquet":
        table = parquet.read_table(folder / "table.parquet")
        columns = {name: table[name].to_pylist() for name in table.column_names}
    else:
        frame = pd.read_csv(folder / "table.csv", dtype=str, keep_default_na=False)
        columns = {name: [text or None for text in frame[name]] for name in frame.columns}
        for name in numbers:
            columns[name] = [None if text is None else float(text) for text in columns[name]]
    for name in numbers:
        columns[name] = [None if value is None or math.isnan(value) else value for value in columns[name]]
    return columns


def check_file(folder: Path, one: Protected, written_as: str, counts: Sequence[Any]) -> None:
    """k and every requirement hold on the file by the oracle, and are counted there as the statement says."""
    columns = read_plainly(folder, one, written_as)
    classes = classes_of(columns, one.recipe.schema.quasi_identifiers)
    assert min(map(len, classes)) >= one.recipe.k, f"{min(map(len, classes))} records share a combination"
    by_name = {(count.attribute, count.requirement): count for count in counts}
    assert len(by_name) == len(one.asked)
    for asked in one.asked:
        missed = classes_that_miss(asked, columns, classes)
        assert not missed, f"{len(missed)} of {len(classes)} classes miss {asked.key} = {asked.bound}: {asked.scale}"
        count, table = by_name[asked.attribute, asked.key], columns[asked.attribute]
        assert (count.n_classes, count.n_missing) == (len(classes), 0)
        worst = worst_of(asked, [[table[i] for i in records] for records in classes], table)
        assert math.isclose(count.found, worst, rel_tol=1e-9, abs_tol=1e-9), (
            f"{asked.key} is {worst}, and stated as {count.found}"
        )
    n_taken = sum(map(len, possible_groupings(one)[0]))
    assert sum(map(len, classes)) == n_taken, "records were lost or made up"


def worst_of(asked: Asked, classes: Sequence[Sequence[Any]], table: Sequence[Any]) -> float:
    """What the requirement bounds, of the class that is nearest to its bound."""
    if asked.key == "t_closeness" and asked.scale.kind != "nominal":
        return max(cost_of_the_stated_plan(values, table, asked.scale) for values in classes)
    found = [asked.found(values, table) for values in classes]
    return min(found) if asked.key in ("distinct_l", "p_sensitive", "entropy_l", "min_range") else max(found)


def try_protected(one: Protected, folder: Path, *, seed: int = 0, formats: Sequence[str] = ("csv", "parquet")) -> str:
    """Release a table and hold it against the oracle; how that ended, in a word or two."""
    try:
        made = microagg.release(one.table, one.recipe, seed=seed)
    except InputError as error:
        refusal = Refusal.of(error, one)
        if refusal is None:
            return "not for this"
        confirm(refusal, one)
        if refusal.bound is None:
            confirm_that_no_bound_is_possible(refusal, one)
            return "refused, too few values"
        try_named_bounds(one, refusal, seed)
        return "refused"
    for written_as in formats:
        out = made.save(folder / written_as, format=written_as)
        check_file(out, one, written_as, made.statement.requirements)
        broken = [finding for finding in check_release(out) if not finding.holds]
        assert not broken, f"check: {broken}"
    return "released"


def try_named_bounds(one: Protected, refusal: Refusal | None, seed: int = 0) -> None:
    """The bound that a refusal names is accepted; other requirements may be refused in turn, each once."""
    mended: set[tuple[str, str]] = set()
    while refusal is not None and refusal.bound is not None:  # ends: each requirement is mended once
        which = (refusal.asked.attribute, refusal.asked.key)
        assert which not in mended, f"the named bound {refusal.asked.bound} of {which[1]} is refused"
        mended.add(which)
        try:
            one = one.asking(*which, refusal.bound)
        except ValueError as error:
            raise AssertionError(f"a recipe may not ask for the named bound {which[1]} = {refusal.bound}") from error
        try:
            microagg.release(one.table, one.recipe, seed=seed)
        except InputError as error:
            refusal = Refusal.of(error, one)
        else:
            refusal = None


def same_twice(one: Protected, seed: int) -> bool:
    """Whether a seed gives the same release twice."""
    first, second = (microagg.release(one.table, one.recipe, seed=seed).table for _ in range(2))
    return bool(first.equals(second))
