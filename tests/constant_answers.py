"""Private releases whose mechanisms give constant answers: what still differs between tables was never protected.

Not value plus a constant but the whole answer is replaced: what a mechanism says is then the same for every table, so
two releases of neighbouring tables must be equal byte for byte. What a guarantee takes as given is held fixed, too:
which records share a cell, for those of the microaggregated data set, and for individual differential privacy the
scale of the noise.
"""

from __future__ import annotations

import secrets
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np

from microagg.partition.runs import run_sizes
from microagg.private import insensitive as private_insensitive
from microagg.private import ranking as private_ranking
from microagg.private.moments import masking
from microagg.private.moments import method as private_moments
from microagg.releases import pipeline, strategy


class ConstantAnswers:
    """Answers that depend on how much is asked and on nothing else."""

    def __init__(self, start: int = 0) -> None:
        self._start = start

    def laplace(self, counts, **asked):
        places = np.arange(self._start, self._start + len(counts), dtype=np.int64)
        return (places + 1) * 2_654_435_761 % 2**39

    def laplace_source(self, **asked):
        return self._few_high

    def _few_high(self, counts):
        """As many answers above 0 as let a tree grow a while and end."""
        places = np.arange(self._start, self._start + len(counts), dtype=np.int64)
        return places % 3 * 2_654_435_761 % 5_000 - 1_000

    def max_norm(self, counts, **asked):
        return np.arange(self._start, self._start + len(counts), dtype=np.int64) * 7 % 50

    def histograms(self, counts, **asked):
        return np.arange(self._start, self._start + len(counts), dtype=np.int64) * 11 % 60

    def noisy_max(self, scores, **asked):
        return (np.arange(len(scores)) + self._start) % scores.shape[1]

    def uniforms(self, count):
        return (np.arange(count) % 7 + 0.5) / 7


@contextmanager
def constant_answers(start: int = 0) -> Iterator[None]:
    """Replace every mechanism's answer, and what guarantees take as given, by constants."""
    spectral = masking._spectral_statistics

    def of_fixed_scale(*args: Any, **options: Any) -> Any:
        statistics, scales = spectral(*args, **options)
        return statistics, [np.ones_like(scale) for scale in scales]

    def by_place(order: Any, sizes: Any) -> Any:
        return np.repeat(np.arange(len(sizes)), sizes)

    def cells_by_place(values: Any, recipe: Any, noise: Any) -> Any:
        sizes = run_sizes(len(values), recipe.k, "middle")
        return by_place(None, sizes)

    with ExitStack() as patched:
        for where, name, instead in (
            (strategy, "noise_from", lambda seed: ConstantAnswers(start)),
            (pipeline, "_shuffled", lambda n_records, seed: np.arange(n_records)[::-1]),
            (secrets, "token_hex", lambda n_bytes: "0" * 2 * n_bytes),  # the release's id, which is chance alone
            (private_ranking, "run_labels", by_place),
            (private_insensitive, "run_labels", by_place),
            (private_moments, "_cells", cells_by_place),
            (masking, "_spectral_statistics", of_fixed_scale),
        ):
            patched.enter_context(patch.object(where, name, instead))
        yield


def published(folder: Path) -> dict[str, bytes]:
    """Every file of a release by name."""
    return {file.name: file.read_bytes() for file in sorted(folder.iterdir())}
