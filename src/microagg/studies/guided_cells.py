"""The honest gain of guided cells: accuracy of models trained on releases, tested on records that had no part in them.

Every method sees the training part only; nothing is chosen on the test part. Run it with ::

    python -m microagg.studies.guided_cells --quick          # minutes
    python -m microagg.studies.guided_cells --splits 20      # the whole table
"""

from __future__ import annotations

import argparse
import json
import math
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from microagg.evaluation.learning import learn
from microagg.releases.pipeline import release
from microagg.releases.recipe import Recipe
from microagg.tables import datasets
from microagg.tables.frames import Frame

__all__ = ["SETTINGS", "Outcome", "as_markdown", "paired_interval", "run"]

TEST_SHARE = 0.25

NUMERIC: dict[str, Any] = {"role": "quasi_identifier", "kind": "numeric"}
NOMINAL: dict[str, Any] = {"role": "quasi_identifier", "kind": "nominal"}
LABEL: dict[str, Any] = {"role": "confidential", "kind": "nominal"}


@dataclass(frozen=True)
class Setting:
    """A table, what its columns are, and the model that learns from it."""

    name: str
    load: Callable[[], Any]
    attributes: dict[str, dict[str, Any]]
    target: str
    model: str


@dataclass(frozen=True)
class Outcome:
    """Scores of one method over the splits, with those of its paired comparisons.

    Attributes
    ----------
    accuracy, f_measure : list of float
        One per split.
    purity : float
        Mean share of the most frequent label in a cell: the price.
    seconds : float
        Mean time of a release.
    """

    setting: str
    k: int
    method: str
    form: str
    accuracy: list[float]
    f_measure: list[float]
    purity: float
    seconds: float


def _adult(share: float) -> Any:
    """The six attributes of the discriminant paper; records without missing values, or a stratified sample."""
    import pyarrow as pa
    import pyarrow.compute as pc

    table = datasets.load_adult()
    complete = np.ones(table.num_rows, dtype=bool)
    for name in table.column_names:
        complete &= pc.is_valid(table[name]).to_numpy(zero_copy_only=False)
    names = ["age", "education-num", "marital-status", "sex", "capital-gain", "hours-per-week", "income"]
    table = table.select(names).filter(pa.array(complete))
    if share == 1.0:
        return table
    income = np.array(table["income"].to_pylist())
    rng = np.random.default_rng(0)
    rows = [rng.permutation(np.flatnonzero(income == value)) for value in np.unique(income)]
    return table.take(np.sort(np.concatenate([part[: round(share * len(part))] for part in rows])))


def _breast_cancer() -> Any:
    table = datasets.load_breast_cancer().drop_columns(["id"])
    return table.drop_null()


def _heart() -> Any:
    import pyarrow as pa

    table = datasets.load_heart().drop_null()
    sick = np.where(table["num"].to_numpy() > 0, "yes", "no")
    return table.drop_columns(["num"]).append_column("sick", pa.array(sick))


_ADULT = {
    # Publicly known bounds: those of the questionnaire.
    "age": NUMERIC | {"bounds": [17, 90]},
    "education-num": NUMERIC | {"bounds": [1, 16]},
    "marital-status": NOMINAL,
    "sex": NOMINAL,
    "capital-gain": NUMERIC | {"bounds": [0, 99_999]},
    "hours-per-week": NUMERIC | {"bounds": [1, 99]},
    "income": LABEL,
}
_CANCER = (
    "clump_thickness",
    "uniformity_of_cell_size",
    "uniformity_of_cell_shape",
    "marginal_adhesion",
    "single_epithelial_cell_size",
    "bare_nuclei",
    "bland_chromatin",
    "normal_nucleoli",
    "mitoses",
)
_HEART_NOMINAL = ("sex", "cp", "fbs", "restecg", "exang", "thal")
_HEART_NUMERIC = ("age", "trestbps", "chol", "thalach", "oldpeak", "slope", "ca")

SETTINGS = {
    "adult10": Setting("Adult (10 %)", lambda: _adult(0.1), _ADULT, "income", "gradient_boosting"),
    "adult": Setting("Adult", lambda: _adult(1.0), _ADULT, "income", "gradient_boosting"),
    "breast_cancer": Setting(
        "Breast Cancer",
        _breast_cancer,
        dict.fromkeys(_CANCER, NUMERIC | {"bounds": [1, 10]}) | {"class": LABEL},
        "class",
        "logistic_regression",
    ),
    "heart": Setting(
        "Heart",
        _heart,
        dict.fromkeys(_HEART_NUMERIC, NUMERIC) | dict.fromkeys(_HEART_NOMINAL, NOMINAL) | {"sick": LABEL},
        "sick",
        "logistic_regression",
    ),
}


def spaces(target: str) -> dict[str, dict[str, Any]]:
    """The spaces that are compared; `plain` is lambda = 0, so that its purity is reported too."""
    return {
        "plain": {"dependence": {"lambda": 0.0}},
        "discriminant (auto)": {"discriminant": {"target": target, "alpha": "auto"}},
        "dependence (0.2)": {"dependence": {"lambda": 0.2}},
        "prediction (1)": {"prediction": {"target": target, "weight": 1.0}},
        "prediction (3)": {"prediction": {"target": target, "weight": 3.0}},
    }


def run(
    setting: Setting,
    ks: Sequence[int],
    n_splits: int,
    *,
    methods: Sequence[str] | None = None,
    tell: Callable[[str], None] = lambda line: None,
) -> list[Outcome]:
    """Split, release, learn, test: every method on the same splits.

    The first outcome is of the unprotected records (k = 1).
    """
    from sklearn.model_selection import StratifiedShuffleSplit

    table = setting.load()
    frame = Frame.wrap(table)
    codes = frame.column(setting.target).encoded[0]
    splits = list(StratifiedShuffleSplit(n_splits, test_size=TEST_SHARE, random_state=0).split(codes, codes))
    parts = [(frame.take(np.sort(train)), frame.take(np.sort(test))) for train, test in splits]
    chosen = {name: space for name, space in spaces(setting.target).items() if methods is None or name in methods}
    schema = Recipe(k=2, attributes=setting.attributes).schema

    def scored(made: Frame, test: Frame) -> tuple[float, float]:
        scores = learn(made, test, schema, setting.target, model=setting.model)
        assert scores.accuracy is not None
        assert scores.f_measure is not None
        return scores.accuracy, scores.f_measure

    unprotected = [scored(train, test) for train, test in parts]
    outcomes = [
        Outcome(
            setting.name, 1, "unprotected", "-", [a for a, _ in unprotected], [f for _, f in unprotected], math.nan, 0.0
        )
    ]
    for k in ks:
        for method, space in chosen.items():
            for form in ("representative", "sampled"):
                recipe = Recipe(k=k, attributes=setting.attributes, space=space, aggregate={"form": form})
                scores, purities, seconds = [], [], []
                for i, (train, test) in enumerate(parts):
                    started = time.perf_counter()
                    made = release(train.table, recipe, seed=i)
                    seconds.append(time.perf_counter() - started)
                    scores.append(scored(made.frame, test))
                    (stage,) = (stage for stage in made.manifest.stages if stage["stage"] == "space")
                    purities.append(stage["guided"][0]["diversity"]["purity"])
                outcomes.append(
                    Outcome(
                        setting.name,
                        k,
                        method,
                        "centroids" if form == "representative" else "sampled",
                        [a for a, _ in scores],
                        [f for _, f in scores],
                        float(np.mean(purities)),
                        float(np.mean(seconds)),
                    )
                )
                tell(f"{setting.name}, k = {k}, {method}, {form}: {100 * np.mean([a for a, _ in scores]):.2f}")
    return outcomes


def paired_interval(differences: Sequence[float]) -> tuple[float, float]:
    """Mean difference and the half-width of its 95 % interval over repeated splits.

    Splits share records, so their differences are not independent: the variance of their mean is taken as
    ``s^2 (1/J + n_test/n_train)`` [1]_.

    References
    ----------
    .. [1] Nadeau, C. & Bengio, Y. (2003). Inference for the generalization error. Machine Learning 52, 239-281.

    Examples
    --------
    >>> paired_interval([1.0, 1.0, 1.0])
    (1.0, 0.0)
    """
    from scipy.stats import t

    values = np.asarray(differences, dtype=np.float64)
    correction = 1.0 / len(values) + TEST_SHARE / (1.0 - TEST_SHARE)
    width = t.ppf(0.975, len(values) - 1) * math.sqrt(float(values.var(ddof=1)) * correction)
    return float(values.mean()), float(width)


def as_markdown(outcomes: Sequence[Outcome]) -> str:
    """The table: accuracy and F in per cent, the gain over plain centroids with its interval, and the price."""
    lines = [
        "| data | k | cells | published | accuracy | F | gain in accuracy over plain centroids | gap closed | purity |",
        "|---|---|---|---|---|---|---|---|---|",
    ]
    whole = {outcome.setting: outcome for outcome in outcomes if outcome.k == 1}
    plain = {(o.setting, o.k): o for o in outcomes if o.method == "plain" and o.form == "centroids"}
    for one in outcomes:
        accuracy, f_measure = 100 * np.mean(one.accuracy), 100 * np.mean(one.f_measure)
        gain, closed = "-", "-"
        base = plain.get((one.setting, one.k))
        if base is not None and one is not base:
            mean, width = paired_interval([100 * (a - b) for a, b in zip(one.accuracy, base.accuracy, strict=True)])
            gap = 100 * (np.mean(whole[one.setting].accuracy) - np.mean(base.accuracy))
            gain = f"{mean:+.2f} +- {width:.2f}"
            closed = f"{100 * mean / gap:.0f} %" if gap > 0.5 else "(no gap)"
        purity = "-" if math.isnan(one.purity) else f"{one.purity:.3f}"
        lines.append(
            f"| {one.setting} | {one.k if one.k > 1 else '-'} | {one.method} | {one.form} | {accuracy:.2f} | "
            f"{f_measure:.2f} | {gain} | {closed} | {purity} |"
        )
    return "\n".join(lines) + "\n"


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the study from the command line; the table goes to standard output."""
    parser = argparse.ArgumentParser(prog="python -m microagg.studies.guided_cells", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="few splits, few k, small tables")
    parser.add_argument("--data", nargs="+", choices=list(SETTINGS), default=["adult10", "breast_cancer", "heart"])
    parser.add_argument("--k", nargs="+", type=int, default=[5, 20, 50, 100, 200])
    parser.add_argument("--methods", nargs="+", choices=list(spaces("")), help="default: all")
    parser.add_argument("--splits", type=int, default=20)
    parser.add_argument("--json", type=Path, help="also write every split's scores to this file")
    chosen = parser.parse_args(arguments)
    ks, splits = ([20, 100], 3) if chosen.quick else (chosen.k, chosen.splits)
    outcomes: list[Outcome] = []
    for name in chosen.data:
        outcomes += run(SETTINGS[name], ks, splits, methods=chosen.methods, tell=_tell)
    print(as_markdown(outcomes))
    if chosen.json is not None:
        chosen.json.write_text(json.dumps([asdict(outcome) for outcome in outcomes], indent=1), encoding="utf-8")


def _tell(line: str) -> None:
    import sys

    print(line, file=sys.stderr, flush=True)


if __name__ == "__main__":
    main()
