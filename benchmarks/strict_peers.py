"""One release of a table by a synthesizer of another package, for comparison with a strictly epsilon-DP one.

The peers are MST and AIM of `dpmm` and MST of `smartnoise-synth`. They promise (epsilon, delta)-differential privacy,
which is weaker than epsilon alone, and they count neighbours that differ by one record added or removed. Their
dependencies exclude each other and are no dependencies of this package, so each lives in an environment of its own,
and this script imports nothing of `microagg`: the interpreter of the peer's environment runs it.

Making the environments (dpmm 0.1 asks for Python 3.10 or 3.11; smartnoise-synth brings PyTorch and JAX, some GB):

    python3.11 -m venv env-dpmm
    env-dpmm/bin/pip install dpmm
    python3.11 -m venv env-smartnoise
    env-smartnoise/bin/pip install smartnoise-synth    # takes `mbi`, its graphical models, from PyPI too

Making one release:

    env-dpmm/bin/python benchmarks/strict_peers.py INPUT OUTPUT --peer dpmm-mst --epsilon 1 --seed 0

INPUT holds `table.csv`, whose values are integer codes 0 .. size - 1, and `domain.json`, what is public about its
columns: `{"age": {"kind": "numeric", "size": 121}, "sex": {"kind": "nominal", "size": 2}}`, where size is the number
of points of the public grid or of categories. OUTPUT gets `release.csv`: codes, as many records as the table. One line
of JSON is printed: the peer and its version, epsilon, delta, seed, seconds of processor and of clock from the table in
memory to the release in memory (imports are not counted).

What each peer is given:

* dpmm: its pipeline with its own defaults, PrivTree bins for numeric columns and domain compression. The pipeline's
  defaults spend 1 on the model and 0.1 on the bins, beside each other; here the total is the epsilon asked for, divided
  in the same proportion. Bounds and categories are declared, so none is read from the data. A code c is given as the
  real number c of [0, size) and dpmm's draw within a bin is rounded down: each code owns an interval of length one.
  AIM gets the model size its authors ask comparisons to use, 80 MB (dpmm's pipeline would set no limit).
  `--bins public` gives it the bins below instead, and the whole epsilon to the model: over many columns, a tenth of
  epsilon leaves PrivTree little to see by.
* smartnoise-mst: numeric columns in public bins, then uniform codes within a bin. The bins are 32 equal shares of the
  measure 0.5 c / (size - 1) + 0.5 log(1 + c) / log(size), and zero is a bin of its own. Nothing is spent on
  preprocessing. `--bins own` takes the package's bins instead: ten of equal width, a bin's middle for its values; it
  did far worse on skewed columns. Records are drawn from the fitted model independently. The package's own draw
  (`--draw shipped`) rounds counts, and in mbi 1.1.0 that hands out the values of every column in the order of the
  records: two columns that depend on a third come out sorted alike, with correlations near 1 that are neither in the
  data nor in the model. How records are drawn is after the privacy mechanism and costs no epsilon.

Both packages draw noise from a source that takes no seed: the seed fixes the rest (choices among candidates, sampling),
so two runs with one seed differ.
"""

from __future__ import annotations

import argparse
import importlib.metadata
import json
import math
import time
import warnings
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

Domain = dict[str, dict[str, Any]]  # column: {"kind": "numeric" or "nominal", "size": points or categories}

MODEL_SHARE = 1 / 1.1  # dpmm's pipelines default to epsilon=1 for the model and proc_epsilon=0.1 for the bins
AIM_MODEL_MB = 80
PUBLIC_BINS = 32


def public_edges(size: int, bins: int) -> np.ndarray:
    """First codes of public bins, and size: equal shares of a measure half linear, half logarithmic.

    Zero, which many attributes hold often, has a bin of its own. A bin without a code is left out, so a short grid has
    one bin per point near zero.
    """

    def measure(code: int) -> float:
        return 0.5 * code / (size - 1) + 0.5 * math.log1p(code) / math.log(size)

    if size <= bins:
        return np.arange(size + 1)
    edges = {0, 1, size}
    for share in range(1, bins):
        low, high = 0, size - 1  # measure(low) < share / bins <= measure(high)
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (middle, high) if measure(middle) < share / bins else (low, middle)
        edges.add(high)
    return np.array(sorted(edges))


def to_bins(codes: np.ndarray, edges: np.ndarray) -> np.ndarray:
    """The bin of each code."""
    return np.searchsorted(edges, codes, side="right") - 1


def from_bins(bins: np.ndarray, edges: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """A uniform code of each bin."""
    bins = bins.astype(np.int64)
    return rng.integers(edges[bins], edges[bins + 1])


def dpmm(
    table: pd.DataFrame, domain: Domain, epsilon: float, delta: float, seed: int, model: str, own_bins: bool
) -> pd.DataFrame:
    """A release by a pipeline of dpmm, bins and model, within the total epsilon."""
    from dpmm.pipelines import AIMPipeline, MSTPipeline

    share = MODEL_SHARE if own_bins and any(facts["kind"] == "numeric" for facts in domain.values()) else 1.0
    pipeline = {"mst": MSTPipeline, "aim": AIMPipeline}[model](
        epsilon=epsilon * share,
        delta=delta,
        proc_epsilon=epsilon * (1 - share) if share < 1 else None,
        binner_type="priv-tree",
        max_model_size=AIM_MODEL_MB if model == "aim" else None,
        n_jobs=1,
    )
    edges, given, declared = {}, {}, {}
    for name, facts in domain.items():
        if facts["kind"] == "numeric" and own_bins:
            given[name] = table[name].astype(float)
            declared[name] = {"lower": 0.0, "upper": float(facts["size"])}
            continue
        codes = table[name].to_numpy()
        if facts["kind"] == "numeric":
            edges[name] = public_edges(facts["size"], PUBLIC_BINS)
            codes = to_bins(codes, edges[name])
        categories = list(range(len(edges[name]) - 1 if name in edges else facts["size"]))
        given[name] = pd.Categorical(codes, categories=categories)
        declared[name] = {"categories": categories}
    pipeline.fit(pd.DataFrame(given), declared, random_state=seed)
    drawn = pipeline.generate(n_records=len(table), random_state=seed)
    rng = np.random.default_rng(seed)
    released = {name: np.floor(drawn[name].to_numpy(float)) for name in domain}
    return pd.DataFrame(released | {name: from_bins(released[name], edges[name], rng) for name in edges})


def smartnoise(
    table: pd.DataFrame,
    domain: Domain,
    epsilon: float,
    delta: float,
    seed: int,
    own_bins: bool,
    shipped_draw: bool,
) -> pd.DataFrame:
    """A release by smartnoise-synth's MST, which models categories: numeric columns go in as numbers of bins."""
    from snsynth import Synthesizer
    from snsynth.transform import BinTransformer
    from snsynth.transform.table import TableTransformer

    np.random.seed(seed)  # noqa: NPY002  the package draws from NumPy's global generator
    edges, given, transformers = {}, {}, []
    for name, facts in domain.items():
        size = facts["size"]
        if facts["kind"] == "numeric" and own_bins:
            given[name] = table[name].to_numpy()
            transformers.append(BinTransformer(lower=0, upper=size))
            continue
        if facts["kind"] == "numeric":
            edges[name] = public_edges(size, PUBLIC_BINS)
            given[name] = to_bins(table[name].to_numpy(), edges[name])
            size = len(edges[name]) - 1
        else:
            given[name] = table[name].to_numpy()
        # As many bins as codes: the code itself, with the public number of categories.
        transformers.append(BinTransformer(bins=size, lower=0, upper=size))
    synthesizer = Synthesizer.create("mst", epsilon=float(epsilon), delta=delta)
    transformer = TableTransformer(transformers)
    synthesizer.fit(pd.DataFrame(given), transformer=transformer)
    if shipped_draw:
        drawn = synthesizer.sample(len(table))
    else:  # what sample() does, but for the method of drawing
        coded = synthesizer.undo_compress_fn(synthesizer.synthesizer.synthetic_data(rows=len(table), method="sample"))
        records = list(coded.df.itertuples(index=False, name=None))
        drawn = pd.DataFrame(transformer.inverse_transform(records), columns=list(domain))
    rng = np.random.default_rng(seed)
    released = {name: np.floor(drawn[name].to_numpy(float)) for name in domain}
    return pd.DataFrame(released | {name: from_bins(released[name], edges[name], rng) for name in edges})


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("input", type=Path, help="folder with table.csv and domain.json")
    parser.add_argument("output", type=Path, help="folder that gets release.csv")
    parser.add_argument("--peer", choices=["dpmm-mst", "dpmm-aim", "smartnoise-mst"], required=True)
    parser.add_argument("--epsilon", type=float, required=True)
    parser.add_argument("--delta", type=float, default=1e-5)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--bins", choices=["own", "public"], help="dpmm's default is own, smartnoise-mst's is public")
    parser.add_argument("--draw", choices=["independent", "shipped"], default="independent", help="smartnoise-mst only")
    chosen = parser.parse_args()
    warnings.filterwarnings("ignore")
    domain: Domain = json.loads((chosen.input / "domain.json").read_text())
    table = pd.read_csv(chosen.input / "table.csv")[list(domain)]

    package, model = chosen.peer.split("-")
    if package == "dpmm":
        import_module("dpmm.pipelines")  # before the clocks start
        distribution = "dpmm"
    else:
        import_module("snsynth.mst.mst")
        distribution = "smartnoise-synth"
    own_bins = chosen.bins == "own" or (chosen.bins is None and package == "dpmm")
    clock, processor = time.perf_counter(), time.process_time()
    if package == "dpmm":
        released = dpmm(table, domain, chosen.epsilon, chosen.delta, chosen.seed, model, own_bins)
    else:
        released = smartnoise(
            table,
            domain,
            chosen.epsilon,
            chosen.delta,
            chosen.seed,
            own_bins,
            shipped_draw=chosen.draw == "shipped",
        )
    cpu, wall = time.process_time() - processor, time.perf_counter() - clock
    for name, facts in domain.items():  # a bound itself may be drawn
        released[name] = released[name].clip(0, facts["size"] - 1).astype(np.int64)
    chosen.output.mkdir(parents=True, exist_ok=True)
    released.to_csv(chosen.output / "release.csv", index=False)
    report = {
        "peer": chosen.peer,
        "version": importlib.metadata.version(distribution),
        "epsilon": chosen.epsilon,
        "delta": chosen.delta,
        "seed": chosen.seed,
        "cpu_seconds": round(cpu, 3),
        "wall_seconds": round(wall, 3),
    }
    print(json.dumps(report))


if __name__ == "__main__":
    main()
