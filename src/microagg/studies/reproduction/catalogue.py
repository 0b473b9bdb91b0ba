"""Every published table and figure that can be run again, by name."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from importlib import import_module

from microagg.errors import ParameterError, did_you_mean
from microagg.studies.reproduction.experiment import Experiment

__all__ = ["PAPERS", "experiments", "named"]

PAPERS: dict[str, str] = {
    "mic1d": "Nin, J. One dimension microaggregation (Mic1D-k)",
    "individual_ranking": "Sanchez, D. et al. (2016). Utility-preserving differentially private data releases via "
    "individual ranking microaggregation. Information Fusion 30, 1-14",
    "cross_moment": "Parra-Arnau, J., Domingo-Ferrer, J. & Soria-Comas, J. (2020). Differentially private data "
    "publishing via cross-moment microaggregation. Information Fusion 53, 269-288",
    "discriminant": "Rodriguez-Hoyos, A. et al. (2020). Preserving empirical data utility in k-anonymous "
    "microaggregation via linear discriminant analysis. Engineering Applications of Artificial Intelligence 94, 103787",
    "dependence": "Rebollo-Monedero, D. et al. (2016). k-Anonymous microaggregation with preservation of statistical "
    "dependence. Information Sciences 342, 1-23",
}
"""The papers by the first word of their experiments; each has a module ``microagg.studies.<paper>.experiments``."""


@cache
def experiments() -> tuple[Experiment, ...]:
    """All experiments, paper by paper."""
    return tuple(
        experiment
        for paper in PAPERS
        for experiment in import_module(f"microagg.studies.{paper}.experiments").EXPERIMENTS
    )


def named(names: Sequence[str]) -> list[Experiment]:
    """The experiments of these names, in the order of the catalogue; a paper's name is short for all of its own."""
    known = [experiment.name for experiment in experiments()]
    for name in names:
        if name not in known and name not in PAPERS:
            raise ParameterError(
                f"no experiment is named {name!r}.{did_you_mean(name, [*PAPERS, *known])} "
                "'microagg reproduce' lists them all"
            )
    return [one for one in experiments() if one.name in names or one.paper in names]
