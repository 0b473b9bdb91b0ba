"""Entries of the catalogue for cross-moment microaggregation, made from those of the cells they are over."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from microagg.methods.cross_moment_numbers import PAPER_METHODS, PaperMethod
from microagg.methods.method import Method
from microagg.schema.attribute import Kind
from microagg.tables.words import Words

__all__ = ["COEFFICIENTS_PROMISE", "SPECTRA_PROMISE", "moments_name", "numbered_methods", "with_moments"]

_PATH = "microagg.private.moments.method:CrossMoment"
_REFERENCE = "Cross-moment microaggregation, docs/algorithms/cross_moment.md"
COEFFICIENTS_PROMISE = "epsilon-DP of the microaggregated data set, given the partition; not of the original records"
SPECTRA_PROMISE = (
    "epsilon-individual-DP of the microaggregated data set, given the partition, as the paper defines it; not of the "
    "original records"
)
_PAGE = "docs/algorithms/cross_moment.md"
_MASKED = "statistic of a cell + Laplace noise of scale sensitivity / (share of epsilon)"
_GIVEN_THE_PARTITION = (
    "It protects the table of cells, taken as given, not the original records: who was put together with whom depends "
    "on the records. Noise on moments needs cells of some hundred records."
)
_DOMAIN_SPACE = "public bounds: every attribute scaled to [0, 1]"


def moments_name(base: Method) -> str:
    """What moments over the cells of another method are called."""
    return "dp_moments" if base.name == "mdav" else f"dp_moments_{base.name}"


def with_moments(base: Method) -> Method:
    """Moments under differential privacy over the cells of another method."""
    return replace(
        base,
        name=moments_name(base),
        title=f"Cross-moment microaggregation over {base.title}",
        summary=f"Mean and central moments of the cells of {base.title} with noise, and records drawn from them.",
        protected_by=_PATH,
        space=_DOMAIN_SPACE,
        aggregate="mean, covariance and coskewness: [privacy] m, statistics, content",
        noise="Laplace: [privacy] masking, strategy",
        guarantee=f"{COEFFICIENTS_PROMISE} (of spectra: epsilon-individual-DP)",
        reference=_REFERENCE,
        kinds=(Kind.NUMERIC,),
        data_free_space=False,
        explained=Words(
            f"It forms the cells of {base.name}, adds noise to the mean and the moments of each cell, and draws new "
            "records from these. So a release keeps how values spread within cells, not their means alone.",
            _GIVEN_THE_PARTITION,
            formula=_MASKED,
            more=_PAGE,
        ),
    )


def numbered_methods(mdav: Method) -> dict[str, Method]:
    """The methods of the paper by number; all of them are over the cells of `mdav`."""
    return {number: _entry(method, mdav) for number, method in PAPER_METHODS.items()}


def _entry(method: PaperMethod, mdav: Method) -> Method:
    plan = method.plan
    kept = ("mean", "mean and covariance", "mean, covariance and coskewness")[plan.m]
    drawn = "" if not plan.m else f", {plan.content}; {'skew-' if plan.m == 2 else ''}normal draws"
    entry = replace(
        mdav,
        name=method.name,
        title=f"Method {method.number} of the cross-moment paper",
        summary=method.summary,
        number=method.number,
        space=_DOMAIN_SPACE + (", each attribute alone" if method.each_alone else ""),
        aggregate=f"{kept}{', as spectra' if plan.spectra else drawn}",
        reference=_REFERENCE,
        kinds=(Kind.NUMERIC,),
        explained=Words(
            f"It is method {method.number} of the cross-moment paper. {method.summary}",
            _GIVEN_THE_PARTITION
            if method.noise
            else "It is a baseline without noise: no differential privacy follows.",
            formula=_MASKED if method.noise else "statistics of each cell of at least k records, without noise",
            more=_PAGE,
        ),
    )
    if method.noise:
        shares = "" if plan.shares is None else f" ({', '.join(f'{share:g}' for share in plan.shares)})"
        masked = "" if not plan.m else " jointly" if plan.shares is None else f" separately{shares}"
        promise = SPECTRA_PROMISE if plan.spectra else COEFFICIENTS_PROMISE
        return replace(entry, protected_by=_PATH, noise=f"Laplace{masked}", guarantee=promise)
    tables: dict[str, Mapping[str, Any]] = {"space": {"standardize": "bounds"}}
    if not plan.m:
        return replace(entry, tables=tables)
    tables["aggregate"] = {"form": "sampled", "moments": plan.m, "content": str(plan.content)}
    return replace(entry, tables=tables, guarantee="drawn from cells of at least k; no k-anonymity")
