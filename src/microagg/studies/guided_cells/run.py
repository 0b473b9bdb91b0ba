"""Split, release, learn and test: every method on the same splits of a table."""

from __future__ import annotations

import argparse
import json
import math
import os
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from microagg._labels import cells_in_order
from microagg._random import uniforms_from
from microagg._typing import FloatArray, IntArray
from microagg.aggregate.centroid import Cells
from microagg.evaluation.learning import learn
from microagg.partition.mdav import MDAV
from microagg.recipe.choices import AggregateChoice
from microagg.recipe.recipe import Recipe
from microagg.releases.drawing.shared import draw_shared
from microagg.releases.guidance import cells_diversity, shape_space
from microagg.releases.prepare import prepare
from microagg.releases.representatives import published_columns, sampled_columns
from microagg.space.guides import GuidedSpace, PlainSpace
from microagg.space.guides.alpha import smallest_table
from microagg.space.guides.prediction import PredictionChoice
from microagg.space.mixed import mixed_space
from microagg.space.points import Points
from microagg.space.prediction import cross_fitted
from microagg.studies import guided_cells as study
from microagg.studies.guided_cells.settings import SETTINGS, Setting
from microagg.studies.guided_cells.summary import TEST_SHARE, as_markdown, gather_scores
from microagg.tables.frames import Frame

__all__ = ["METHODS", "Split", "run", "splits_of"]


def spaces(target: str) -> dict[str, dict[str, Any]]:
    """The spaces that are compared; `plain` is lambda = 0, so that its purity is reported too."""
    return {
        "plain": {"dependence": {"lambda": 0.0}},
        "discriminant (auto)": {"discriminant": {"target": target, "alpha": "auto"}},
        "dependence (0.2)": {"dependence": {"lambda": 0.2}},
        "prediction": {"prediction": {"target": target}},
    }


METHODS = tuple(spaces(""))
SHARE = 10
"""Records that share a number, in the relaxed form of draws of what many share."""

SCORES_OF_CLASSES = (("Accuracy", "accuracy"), ("F-measure", "f_measure"))
SCORES_OF_NUMBERS = (("R squared", "r_squared"),)


class Split:
    """One split of a table, and what all k, methods and forms share of it.

    Parameters
    ----------
    setting : Setting
    number : int
        The number of the split; also the seed of what is drawn.
    train, test : Frame
    """

    def __init__(self, setting: Setting, number: int, train: Frame, test: Frame) -> None:
        self.setting, self.number, self.train, self.test = setting, number, train, test
        recipe = Recipe(k=2, attributes=setting.attributes, space=spaces(setting.target)["plain"])
        prepared = prepare(train, recipe)
        self._schema, self._frame = recipe.schema, prepared.frame
        self._measured, self._guides = list(prepared.measured.values()), list(prepared.guides.values())
        self._matrix = mixed_space(self._measured, recipe.space.standardize).matrix
        self._scores: dict[tuple[int, bytes], dict[str, Any]] = {}

    @cached_property
    def _predictions(self) -> FloatArray:
        return cross_fitted(self._matrix, self._guides[0].values, classes=self.setting.has_classes)

    def unprotected(self) -> dict[str, Any]:
        """The point of the records as they are."""
        return {"scores": {"-": self._score(self.train)}, "purity": math.nan}

    def can(self, k: int, method: str) -> bool:
        """Whether there are records enough."""
        needed = smallest_table(k) if method == "discriminant (auto)" else k
        return self.train.n_records >= needed

    def cells(self, k: int, method: str) -> tuple[IntArray, Recipe, GuidedSpace]:
        """The cells of a method, the recipe that makes them, and the space they were formed in."""
        recipe = Recipe(k=k, attributes=self.setting.attributes, space=spaces(self.setting.target)[method])

        def form_cells(space: FloatArray | Points) -> IntArray:
            return cells_in_order(MDAV(k=k).fit(space).labels_)

        names = tuple(column.name for column in self._measured)
        guide = recipe.space.guide
        if isinstance(guide, PredictionChoice):  # whose predictions are the same for every k
            plain = PlainSpace(Points(self._matrix), names, self._guides, recipe.space.standardize, k, form_cells)
            guided = guide.shape(plain, predict=lambda *_, **__: self._predictions)
        else:
            guided = shape_space(Points(self._matrix), names, self._guides, recipe, form_cells)
        return form_cells(guided.points), recipe, guided

    def point(self, k: int, method: str) -> dict[str, Any]:
        """Form cells once, publish them in every form, and learn from each."""
        started = time.process_time()
        labels, recipe, guided = self.cells(k, method)
        seconds = time.process_time() - started
        return {
            "scores": self._scores_of(labels, k, recipe),
            "purity": cells_diversity(self._guides, labels).as_dict()["purity"],
            "alpha": guided.facts.get("alpha"),
            "cpu_seconds": seconds,
        }

    def publish(self, labels: IntArray, k: int, recipe: Recipe) -> dict[str, Frame]:
        """What these cells publish, in every form."""
        cells = Cells(labels)
        arrays = {
            "centroids": published_columns(self._measured, cells, Points(self._matrix), recipe),
            "sampled": sampled_columns(self._measured, cells, uniforms_from(self.number), k),
            "paired": sampled_columns(self._measured, cells, uniforms_from(self.number), k, self._guides),
            "shared": self._shared(cells, k),
        }
        if k > SHARE:
            arrays["share = 10"] = self._shared(cells, k, SHARE)
        return {form: self._frame.with_arrays(columns) for form, columns in arrays.items()}

    def _shared(self, cells: Cells, k: int, share: int | None = None) -> dict[str, Any]:
        rare = AggregateChoice().rarest(k)
        uniforms = uniforms_from(self.number)
        drawn = draw_shared(self._measured, cells, uniforms, k, self._guides, share=share, rare=rare)
        return drawn.arrays(self._measured)

    def _scores_of(self, labels: IntArray, k: int, recipe: Recipe) -> dict[str, Any]:
        """Equal cells publish the same: the discriminant with alpha = 1 learns nothing that plain cells did not."""
        key = (k, labels.tobytes())
        if key not in self._scores:
            self._scores[key] = {form: self._score(made) for form, made in self.publish(labels, k, recipe).items()}
        return self._scores[key]

    def _score(self, made: Frame) -> dict[str, float | None]:
        scores = learn(made, self.test, self._schema, self.setting.target, model=self.setting.model)
        return {"accuracy": scores.accuracy, "f_measure": scores.f_measure, "r_squared": scores.r_squared}


def splits_of(setting: Setting, numbers: Sequence[int]) -> Iterator[Split]:
    """Splits by number, stratified by classes; a split is the same however many are asked for."""
    from sklearn.model_selection import ShuffleSplit, StratifiedShuffleSplit

    frame = Frame.wrap(setting.load())
    codes = frame.column(setting.target).encoded[0]
    kind = StratifiedShuffleSplit if setting.has_classes else ShuffleSplit
    splitter = kind(max(numbers) + 1, test_size=TEST_SHARE, random_state=0)
    for number, (train, test) in enumerate(splitter.split(codes, codes)):
        if number in numbers:
            yield Split(setting, number, frame.take(np.sort(train)), frame.take(np.sort(test)))


def run(
    setting: Setting,
    ks: Sequence[int],
    numbers: Sequence[int],
    *,
    methods: Sequence[str] = METHODS,
    results: Path | None = None,
    tell: Callable[[str], None] = lambda line: None,
) -> list[dict[str, Any]]:
    """Split, release, learn, test: every method on the same splits. One point per split, k and method.

    The first points are of the unprotected records (k = 1). With `results`, points found in that folder are taken from
    there, and new ones are put there as soon as they are finished.
    """
    points = []
    for split in splits_of(setting, numbers):
        wanted = [(1, "unprotected"), *((k, method) for k in ks for method in methods if split.can(k, method))]
        for k, method in wanted:
            names = {"data": setting.name, "split": split.number, "k": k, "method": method}
            kept = None if results is None else results / f"{_file_name(names)}.json"
            if kept is not None and kept.exists():
                points.append(json.loads(kept.read_text(encoding="utf-8")))
                continue
            point = names | (split.unprotected() if k == 1 else split.point(k, method))
            points.append(point)
            if kept is not None:
                _write_whole(kept, json.dumps(point))
            tell(f"{setting.name}, split {split.number}, k = {k}, {method}")
    order = {method: place for place, method in enumerate(("unprotected", *METHODS))}
    return sorted(points, key=lambda point: (point["k"], order[point["method"]]))


def _file_name(names: dict[str, Any]) -> str:
    return "-".join("".join(c if c.isalnum() else "_" for c in str(value)) for value in names.values())


def _write_whole(path: Path, text: str) -> None:
    """So that a run that is stopped leaves no half a point."""
    path.parent.mkdir(parents=True, exist_ok=True)
    draft = path.with_suffix(f".{os.getpid()}")
    draft.write_text(text, encoding="utf-8")
    draft.replace(path)


def _part(text: str) -> tuple[int, int]:
    part, _, parts = text.partition("/")
    if not (part.isdigit() and parts.isdigit() and 1 <= int(part) <= int(parts)):
        raise argparse.ArgumentTypeError("must be like 1/2")
    return int(part), int(parts)


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the study from the command line; the tables go to standard output."""
    parser = argparse.ArgumentParser(prog="python -m microagg.studies.guided_cells", description=study.__doc__)
    parser.add_argument("--quick", action="store_true", help="three splits, two k")
    parser.add_argument("--data", nargs="+", choices=list(SETTINGS), default=["adult10", "breast_cancer", "heart"])
    parser.add_argument("--k", nargs="+", type=int, default=[5, 20, 50, 100, 200])
    parser.add_argument("--methods", nargs="+", choices=METHODS, default=METHODS)
    parser.add_argument("--splits", type=int, default=20)
    parser.add_argument("--part", type=_part, default=(1, 1), help="of the splits: 1/2 and 2/2 for two processes")
    parser.add_argument("--results", type=Path, help="folder of finished points")
    chosen = parser.parse_args(arguments)
    ks, splits = ([20, 100], 3) if chosen.quick else (chosen.k, chosen.splits)
    part, parts = chosen.part
    numbers = range(part - 1, splits, parts)
    for name in chosen.data:
        points = run(SETTINGS[name], ks, numbers, methods=chosen.methods, results=chosen.results, tell=_tell)
        outcomes = gather_scores(points)
        print(f"## {SETTINGS[name].name}\n")
        for title, score in SCORES_OF_CLASSES if SETTINGS[name].has_classes else SCORES_OF_NUMBERS:
            print(f"{title}:\n\n{as_markdown(outcomes, score)}")


def _tell(line: str) -> None:
    print(line, file=sys.stderr, flush=True)
