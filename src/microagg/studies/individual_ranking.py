"""Differentially private individual ranking, as published and as it can be: the paper's tables, and what order gains.

Every figure comes from releases (`microagg.release` with a seed), but for two devices of the papers that exist here
only: the noise of the comparator MV, drawn per record and not divided over the attributes, which is no differential
privacy; and plain Laplace noise that is not clamped. Run it with ::

    python -m microagg.studies.individual_ranking            # a few minutes
    python -m microagg.studies.individual_ranking --runs 3   # quicker, noisier
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from microagg._typing import FloatArray
from microagg.partition.insensitive import InsensitiveMDAV
from microagg.privacy.budget import Budget
from microagg.privacy.mechanism import Grid, SeededNoise, add_laplace
from microagg.private.public_column import FROM_DATA_FACTOR
from microagg.recipe.recipe import Recipe
from microagg.releases.pipeline import release
from microagg.schema.taxonomy import Taxonomy
from microagg.tables.reference import datasets

__all__ = [
    "FIRST_EIGHT",
    "FIRST_FOUR",
    "PUBLISHED",
    "adult",
    "adult_taxonomies",
    "census",
    "errors",
    "jensen_shannon",
    "masked",
    "plain_laplace_log2_sse",
    "published_mv",
    "relative_error",
    "variance_change",
]


FIRST_EIGHT = ("AFNLWGT", "AGI", "EMCONTRB", "FEDTAX", "PTOTVAL", "STATETAX", "TAXINC", "POTHVAL")
FIRST_FOUR = ("FEDTAX", "POTHVAL", "INTVAL", "FICA")  # of the cross-moment paper, in file order

# Table 1: variation of variances, for each k under epsilon 0.1 (IR, MV), 1 (IR, MV) and 10 (IR, MV).
PUBLISHED: dict[str, dict[int, tuple[float, ...]]] = {
    "AFNLWGT": {
        2: (25.89, 25.06, 22.84, 25.01, 9.42, 24.77),
        25: (21.74, 24.57, 8.08, 20.19, 0.16, 3.06),
        50: (20.75, 23.05, 2.33, 9.80, 0.02, 0.45),
        100: (15.27, 17.38, 0.38, 0.95, 0.02, 0.89),
    },
    "AGI": {
        2: (9.14, 8.21, 7.40, 8.20, 3.45, 8.12),
        25: (8.33, 8.05, 2.30, 6.62, 0.12, 1.23),
        50: (7.41, 7.52, 1.13, 3.63, 0.04, 0.12),
        100: (5.69, 5.84, 0.11, 0.50, 0.05, 0.18),
    },
    "EMCONTRB": {
        2: (24.97, 24.90, 11.79, 22.89, 0.47, 10.36),
        25: (24.83, 24.80, 12.85, 22.72, 0.44, 8.63),
        50: (24.17, 24.83, 9.64, 22.56, 0.37, 8.10),
        100: (23.63, 24.78, 9.60, 22.27, 0.10, 6.84),
    },
    "FEDTAX": {
        2: (10.46, 9.58, 8.69, 9.55, 3.72, 9.46),
        25: (9.43, 9.35, 2.39, 7.64, 0.08, 1.13),
        50: (8.29, 8.78, 1.16, 3.81, 0.00, 0.06),
        100: (5.78, 6.65, 0.48, 0.42, 0.03, 0.23),
    },
    "PTOTVAL": {
        2: (16.71, 15.87, 14.50, 15.84, 6.59, 15.62),
        25: (14.35, 15.54, 5.33, 12.87, 0.16, 2.22),
        50: (13.13, 14.60, 2.41, 6.63, 0.01, 0.06),
        100: (9.86, 11.48, 0.18, 0.94, 0.05, 0.27),
    },
    "STATETAX": {
        2: (22.07, 21.22, 19.30, 21.21, 8.20, 21.04),
        25: (19.50, 20.73, 6.36, 17.12, 0.19, 2.37),
        50: (15.61, 19.44, 3.63, 8.05, 0.03, 0.15),
        100: (10.20, 14.81, 0.45, 0.85, 0.04, 0.44),
    },
    "TAXINC": {
        2: (8.61, 7.69, 6.91, 7.69, 3.12, 7.57),
        25: (7.63, 7.54, 2.97, 6.14, 0.03, 1.12),
        50: (6.57, 7.05, 0.95, 3.25, 0.02, 0.06),
        100: (4.95, 5.44, 0.30, 0.41, 0.01, 0.20),
    },
    "POTHVAL": {
        2: (70.22, 69.71, 64.01, 69.66, 24.06, 68.89),
        25: (63.42, 68.21, 14.90, 55.85, 0.05, 5.93),
        50: (49.28, 64.05, 3.66, 25.56, 0.12, 0.25),
        100: (41.36, 47.38, 0.78, 2.05, 0.21, 0.81),
    },
}

NUMERIC: dict[str, Any] = {"role": "quasi_identifier", "kind": "numeric"}
AS_PUBLISHED: dict[str, Any] = {"method": "dp_individual_ranking", "form": "aligned", "monotone": "off"}


def census(names: Sequence[str] | None = None) -> Any:
    """The Census table, or some of its columns."""
    table = datasets.load_census()
    return table if names is None else table.select(list(names))


def adult() -> Any:
    """Adult as the paper takes it: the training part, four attributes, complete records."""
    import pyarrow.compute as pc

    table = datasets.load_adult()
    table = table.filter(pc.equal(table["split"], "train"))
    complete = np.all([pc.is_valid(column).to_numpy(zero_copy_only=False) for column in table.columns], axis=0)
    return table.select(["age", "hours-per-week", "occupation", "native-country"]).filter(complete)


def adult_taxonomies(path: str | Path) -> dict[str, tuple[Taxonomy, list[str]]]:
    """WordNet trees of Adult's occupation and native-country, each label in its synset's place; and the labels."""
    trees = {}
    for name, told in json.loads(Path(path).read_text(encoding="utf-8"))["attributes"].items():
        label_of = {entry["synset"]: label for label, entry in told["mapping"].items()}
        parents = {
            label_of.get(edge["child"], edge["child"]): label_of.get(edge["parent"], edge["parent"])
            for edge in told["edges"]
        }
        trees[name] = Taxonomy.from_parents(parents), list(told["mapping"])
    return trees


def masked(
    table: Any,
    *,
    method: str,
    k: int | None,
    epsilon: float,
    seed: int,
    attributes: Mapping[str, Any] | None = None,
    **more: Any,
) -> Any:
    """A release in the order of its input; numeric bounds as in the paper, from 0 to 1.5 x the largest value."""
    declared = attributes or dict.fromkeys(table.column_names, NUMERIC)
    recipe = Recipe(
        method=method,
        **({} if k is None else {"k": k}),
        privacy={"epsilon": epsilon, "bounds": "from_data", **more},
        output={"order": "kept"},
        attributes=dict(declared),
    )
    return release(table, recipe, seed=seed).table


def variance_change(original: FloatArray, published: FloatArray) -> float:
    """|var' - var| / var."""
    return float(abs(published.var() - original.var()) / original.var())


def relative_error(original: FloatArray, published: FloatArray) -> float:
    """Mean of |a - a'| / max(|a|, domain / 100), the domain being 1.5 x the largest value."""
    floor = FROM_DATA_FACTOR * float(original.max()) / 100
    return float(np.mean(np.abs(original - published) / np.maximum(np.abs(original), floor)))


def jensen_shannon(original: npt.NDArray[Any], published: npt.NDArray[Any], n_bins: int | None = 100) -> float:
    """Jensen-Shannon divergence in bits: of histograms with bins of a hundredth of the domain, or of single values."""
    if n_bins is None:
        both = np.unique(np.concatenate([original, published]), return_inverse=True)[1]
        codes = both[: len(original)], both[len(original) :]
        counts = [np.bincount(one, minlength=int(both.max()) + 1) for one in codes]
    else:
        domain = (0.0, FROM_DATA_FACTOR * float(original.max()))
        counts = [np.histogram(column, n_bins, domain)[0] for column in (original, published)]
    p, q = (count / count.sum() for count in counts)
    middle = (p + q) / 2
    return float(sum(0.5 * np.sum(one[one > 0] * np.log2(one[one > 0] / middle[one > 0])) for one in (p, q)))


def errors(table: Any, published: Any, trees: Mapping[str, Taxonomy] | None = None) -> tuple[float, float]:
    """Relative error and divergence, means over attributes; of categories semantic distance and frequencies."""
    found = []
    for name in table.column_names:
        if trees is not None and name in trees:
            labels = sorted({*table[name].to_pylist(), *published[name].to_pylist()})
            place = {label: code for code, label in enumerate(labels)}
            before, after = (np.array([place[label] for label in one[name].to_pylist()]) for one in (table, published))
            apart = trees[name].distances(labels)[before, after]
            found.append((float(apart.mean()), jensen_shannon(before, after, n_bins=None)))
            continue
        first, second = (one[name].to_numpy().astype(np.float64) for one in (table, published))
        found.append((relative_error(first, second), jensen_shannon(first, second, 100 if trees is None else None)))
    return float(np.mean([error for error, _ in found])), float(np.mean([divergence for _, divergence in found]))


def published_mv(table: Any, *, k: int, epsilon: float, seed: int) -> dict[str, FloatArray]:
    """What the paper's column MV shows: insensitive MDAV with noise per record, not divided over the attributes.

    Not differentially private: each centroid goes out k times with independent noise, and every attribute takes all
    of epsilon. It exists to compare with the printed figures; the honest method is ``dp_insensitive_mdav``.
    """
    values = np.column_stack([table[name].to_numpy().astype(np.float64) for name in table.column_names])
    bounds = FROM_DATA_FACTOR * values.max(axis=0)
    labels = InsensitiveMDAV(k=k).fit(values / bounds).labels_
    means = np.column_stack([np.bincount(labels, column) / np.bincount(labels) for column in values.T])
    scale = (len(values) / k) * bounds / (k * epsilon)
    noisy = means[labels] + np.random.default_rng(seed).laplace(scale=scale, size=values.shape)
    return dict(zip(table.column_names, np.clip(noisy, 0, bounds).T, strict=True))


def plain_laplace_log2_sse(names: Sequence[str], epsilon: float, seeds: Sequence[int]) -> float:
    """log2 of the mean sum of squared errors of plain Laplace noise that is not clamped, in raw units."""
    table = census(names)
    total = 0.0
    for seed in seeds:
        noise = SeededNoise(seed)
        for name, share in Budget(epsilon).divide(names).items():
            values = table[name].to_numpy().astype(np.float64)
            grid = Grid.for_sums(0.0, FROM_DATA_FACTOR * float(values.max()), len(values))
            noisy = add_laplace(grid.counts(values), grid.steps, budget=share, noise=noise, on=name)
            total += float(np.sum((grid.values(noisy.astype(np.float64)) - values) ** 2))
    return float(np.log2(total / len(seeds)))


def _table_1(runs: int) -> list[str]:
    table = census(FIRST_EIGHT)
    lines = [_row("attribute", "k", "eps", "IR published", "IR", "MV published", "MV, the paper's device"), _rule(7)]
    for k in (2, 25, 50, 100):
        for place, epsilon in enumerate((0.1, 1.0, 10.0)):
            ours = [masked(table, k=k, epsilon=epsilon, seed=seed, **AS_PUBLISHED) for seed in range(runs)]
            theirs = [published_mv(table, k=k, epsilon=epsilon, seed=seed) for seed in range(runs)]
            for name in FIRST_EIGHT:
                original = table[name].to_numpy().astype(np.float64)
                ir = np.mean([variance_change(original, one[name].to_numpy()) for one in ours])
                mv = np.mean([variance_change(original, one[name]) for one in theirs])
                said = PUBLISHED[name][k][2 * place : 2 * place + 2]
                lines.append(_row(name, k, f"{epsilon:g}", said[0], f"{ir:.2f}", said[1], f"{mv:.2f}"))
    return lines


def _order(runs: int) -> list[str]:
    """What monotone post-processing gains, and what flat steps cost a histogram."""
    lines = [_row("attributes", "k", "eps", "form", "monotone", "relative error", "JSD"), _rule(7)]
    forms = [("aligned", "off"), ("aligned", "steps"), ("aligned", "interpolated"), ("marginals", "interpolated")]
    for names, k in [(FIRST_FOUR, 5), (None, 25), (None, 100)]:
        table = census(names)
        for epsilon in (0.1, 1.0, 10.0):
            for form, monotone in forms:
                how: dict[str, Any] = {**AS_PUBLISHED, "form": form, "monotone": monotone}
                # A list in rank order is compared with the ranked original: its rows are no records.
                against = table if form == "aligned" else _ranked(table)
                found = [errors(against, masked(table, k=k, epsilon=epsilon, seed=s, **how)) for s in range(runs)]
                error, divergence = np.mean(found, axis=0)
                lines.append(
                    _row(table.num_columns, k, f"{epsilon:g}", form, monotone, f"{error:.2f}", f"{divergence:.3f}")
                )
    return lines


def _ranked(table: Any) -> Any:
    import pyarrow as pa

    return pa.table({name: np.sort(table[name].to_numpy()) for name in table.column_names})


def _figures(runs: int) -> list[str]:
    """The settings of figures 1 and 3: Census, three numbers of attributes, with the baselines as they are proved."""
    lines = [_row("attributes", "k", "eps", "method", "relative error", "JSD"), _rule(6)]
    methods: dict[str, dict[str, Any]] = {
        "individual ranking, as published": AS_PUBLISHED,
        "individual ranking, in order": {"method": "dp_individual_ranking", "form": "aligned"},
        "insensitive MDAV": {"method": "dp_insensitive_mdav", "form": "aligned"},
        "plain Laplace": {"method": "dp_laplace"},
    }
    for names in (FIRST_EIGHT[:1], FIRST_EIGHT, None):
        table = census(names)
        for k in (5, 25, 100):
            for epsilon in (0.1, 1.0, 10.0):
                for title, how in methods.items():
                    size = None if how["method"] == "dp_laplace" else k
                    found = [errors(table, masked(table, k=size, epsilon=epsilon, seed=s, **how)) for s in range(runs)]
                    error, divergence = np.mean(found, axis=0)
                    lines.append(_row(table.num_columns, k, f"{epsilon:g}", title, f"{error:.2f}", f"{divergence:.3f}"))
    return lines


def _adult(runs: int, taxonomies: Path) -> list[str]:
    """The settings of figure 2: Adult with two numeric and two categorical attributes."""
    trees = adult_taxonomies(taxonomies)
    table = adult()
    attributes: dict[str, Any] = dict.fromkeys(table.column_names, NUMERIC)
    for name, (tree, labels) in trees.items():
        attributes[name] = {"role": "quasi_identifier", "kind": "nominal", "taxonomy": tree, "categories": labels}
    only_trees = {name: tree for name, (tree, _) in trees.items()}
    lines = [_row("attributes", "k", "eps", "monotone", "relative error", "JSD"), _rule(6)]
    for k in (25, 100, 200):
        for epsilon in (0.1, 1.0, 10.0):
            for monotone in ("off", "interpolated"):
                how: dict[str, Any] = {**AS_PUBLISHED, "monotone": monotone, "attributes": attributes}
                found = [
                    errors(table, masked(table, k=k, epsilon=epsilon, seed=seed, **how), only_trees)
                    for seed in range(runs)
                ]
                error, divergence = np.mean(found, axis=0)
                lines.append(_row(4, k, f"{epsilon:g}", monotone, f"{error:.3f}", f"{divergence:.3f}"))
    return lines


def _row(*entries: Any) -> str:
    return "| " + " | ".join(map(str, entries)) + " |"


def _rule(n_columns: int) -> str:
    return "|" + "---|" * n_columns


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the study from the command line; the tables go to standard output."""
    parser = argparse.ArgumentParser(prog="python -m microagg.studies.individual_ranking", description=__doc__)
    parser.add_argument("--runs", type=int, default=10, help="releases per figure; the paper took 10")
    parser.add_argument("--taxonomies", type=Path, help="adult_taxonomies.json; without it Adult is left out")
    chosen = parser.parse_args(arguments)
    sections = {
        "Table 1, variation of variances": _table_1(chosen.runs),
        "What order gains": _order(chosen.runs),
        "Census": _figures(chosen.runs),
    }
    if chosen.taxonomies is not None:
        sections["Adult"] = _adult(max(1, chosen.runs // 3), chosen.taxonomies)
    for title, lines in sections.items():
        print(f"## {title}\n", *lines, "", sep="\n")
    print("## Plain Laplace, log2 SSE, epsilon = 1 (published 47.68, 49.13, 49.97)\n")
    for d in (2, 3, 4):
        print(f"- Census {d}: {plain_laplace_log2_sse(FIRST_FOUR[:d], 1.0, range(60)):.2f}")


if __name__ == "__main__":
    main()
