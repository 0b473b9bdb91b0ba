"""The catalogue of methods: each entry names the stages it is composed of."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib import import_module
from typing import Any

from microagg._validation import Constraint
from microagg.errors import RecipeError, did_you_mean
from microagg.methods.cross_moment import numbered_methods, with_moments
from microagg.methods.cross_moment_numbers import PAPER
from microagg.schema.attribute import Kind

__all__ = ["METHODS", "PAPERS", "Method", "find_method", "method_named"]


ANY_SPACE = "any (z-scores by default); numeric, ordinal and nominal attributes"
REPRESENTATIVES = "mean, median, medoid; mode or taxonomic centre"
PUBLIC_SPACE = "public bounds and categories; nothing may depend on the data"
K_ANONYMOUS = "k-anonymity on the quasi-identifiers (with blocks: on each block)"


@dataclass(frozen=True)
class Method:
    """A published way from a table to a release, as a composition of stages.

    Attributes
    ----------
    name : str
        What a recipe calls it.
    title, summary : str
    partitioner_path : str
        Where its partitioner lives, ``"module:Class"``; imported when used.
    preset : dict
        Parameters of the partitioner that make it this method.
    space, aggregate, noise, guarantee : str
        The other stages and the promise, in words.
    reference : str
    kinds : tuple of Kind
        Which quasi-identifiers it takes.
    data_free_space : bool
        True if the space must be declared whole: bounds, categories, and nothing settled from the data.
    private_path : str
        Of a differentially private method: where its :class:`microagg.private.base.PrivateMethod` lives,
        ``"module:Class"``; imported when used. A method without cells has no `partitioner_path`.
    number : str
        Its number in the paper it is from, if that numbers its methods.
    tables : dict of dict
        Keys of the recipe's tables that the method fixes.
    """

    name: str
    title: str
    summary: str
    partitioner_path: str
    reference: str
    preset: Mapping[str, Any] = field(default_factory=dict)
    space: str = ANY_SPACE
    aggregate: str = REPRESENTATIVES
    noise: str = "none"
    guarantee: str = K_ANONYMOUS
    kinds: tuple[Kind, ...] = tuple(Kind)
    data_free_space: bool = False
    private_path: str = ""
    number: str = ""
    tables: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)

    @property
    def has_cells(self) -> bool:
        """Whether records, or values, are put into cells at all."""
        return bool(self.partitioner_path)

    @property
    def labels(self) -> str:
        """What is put into cells: ``"records"``, ``"attributes"`` one by one, all ``"values"``, or ``"nothing"``."""
        return str(self.partitioner_class.labels) if self.has_cells else "nothing"

    @property
    def is_private(self) -> bool:
        """Whether it is differentially private, and a recipe needs ``[privacy]``."""
        return bool(self.private_path)

    @property
    def private(self) -> Any:
        """The :class:`microagg.private.base.PrivateMethod`; None if it is not differentially private."""
        return _named(self.private_path) if self.is_private else None

    @property
    def partitioner_class(self) -> Any:
        return _named(self.partitioner_path)

    @property
    def options(self) -> dict[str, Constraint]:
        """Parameters of the partitioner that a recipe may set; not a seed, since recipes are published."""
        if not self.has_cells:
            return {}
        fixed = {"k", "random_state", *self.preset}
        return {name: rule for name, rule in self.partitioner_class.constraints.items() if name not in fixed}

    @property
    def searches_by_chance(self) -> bool:
        """Whether its cells depend on chance, which the partitioner's `random_state` fixes."""
        return self.has_cells and getattr(self.partitioner_class, "searches_by_chance", False)

    def partitioner(self, k: int, **options: Any) -> Any:
        """The method's partitioner with a recipe's options."""
        return self.partitioner_class(k=k, **self.preset, **options)

    @property
    def stages(self) -> dict[str, str]:
        """Stage by stage, what the method does."""
        preset = ", ".join(f"{name}={value!r}" for name, value in self.preset.items())
        return {
            "space": self.space,
            "partition": (self.partitioner_path.rpartition(":")[2] or "none") + (f"({preset})" if preset else ""),
            "aggregate": self.aggregate,
            "noise": self.noise,
        }


def _named(path: str) -> Any:
    module, _, name = path.partition(":")
    return getattr(import_module(module), name)


_LISTED = (
    Method(
        name="mdav",
        title="MDAV",
        summary="Maximum distance to average vector: cells of k records from the outside in.",
        partitioner_path="microagg.partition.mdav:MDAV",
        reference="Domingo-Ferrer & Torra (2005), doi:10.1007/s10618-005-0007-5",
    ),
    Method(
        name="vmdav",
        title="V-MDAV",
        summary="MDAV whose cells may grow to 2k - 1 records where the next record is close.",
        partitioner_path="microagg.partition.vmdav:VMDAV",
        reference="Solanas & Martinez-Balleste (2006)",
    ),
    Method(
        name="near_optimal",
        title="Near-optimal cells",
        summary="MDAV's cells rearranged by local search until nearly as little is lost as can be.",
        partitioner_path="microagg.partition.near_optimal:NearOptimal",
        reference="docs/algorithms/near_optimal.md",
    ),
    Method(
        name="pcp",
        title="Principal component projection",
        summary="Records sorted along the first principal component, cut where the SSE of all attributes is least.",
        partitioner_path="microagg.partition.projection:Projection",
        preset={"axis": "principal"},
        reference="Domingo-Ferrer & Mateo-Sanz (2002), doi:10.1109/69.979982",
    ),
    Method(
        name="zscores",
        title="Sum of z-scores",
        summary="Records sorted by the sum of their z-scores, cut where the SSE of all attributes is least.",
        partitioner_path="microagg.partition.projection:Projection",
        preset={"axis": "zscores"},
        reference="Domingo-Ferrer & Mateo-Sanz (2002), doi:10.1109/69.979982",
    ),
    Method(
        name="insensitive_mdav",
        title="Insensitive MDAV",
        summary="MDAV along an order fixed by the domain: one changed record changes each cell by at most one record.",
        partitioner_path="microagg.partition.insensitive:InsensitiveMDAV",
        space="declared bounds and categories: nothing of the space may depend on the data",
        reference="Soria-Comas et al. (2014), doi:10.1007/s00778-014-0351-4",
        kinds=(Kind.NUMERIC, Kind.ORDINAL),
        data_free_space=True,
    ),
    Method(
        name="optimal_univariate",
        title="Optimal univariate",
        summary="One attribute, the least possible SSE.",
        partitioner_path="microagg.partition.univariate:OptimalUnivariate",
        space="one numeric or ordinal attribute (per block)",
        reference="Hansen & Mukherjee (2003), doi:10.1109/TKDE.2003.1209020",
        kinds=(Kind.NUMERIC, Kind.ORDINAL),
    ),
    Method(
        name="individual_ranking",
        title="Individual ranking",
        summary="Every attribute sorted and cut alone.",
        partitioner_path="microagg.partition.ranking:IndividualRanking",
        space="each numeric or ordinal attribute alone",
        guarantee="k-anonymity on each quasi-identifier alone; none on their combination",
        reference="Defays & Nanopoulos (1993)",
        kinds=(Kind.NUMERIC, Kind.ORDINAL),
    ),
    Method(
        name="mic1d",
        title="Mic1D-k",
        summary="All values mixed into one vector, sorted, cut and scaled twice; k counts values, not records.",
        partitioner_path="microagg.partition.mic1d:Mic1D",
        space="all raw values of the numeric attributes in one vector",
        aggregate="mean of the scaled values of a partition, scaled back",
        guarantee="none: no k-anonymity of records follows",
        reference="Nin, One dimension microaggregation",
        kinds=(Kind.NUMERIC,),
    ),
    Method(
        name="dp_individual_ranking",
        title="Differentially private individual ranking",
        summary="Every attribute sorted and cut alone; means of runs with k times less noise, put back into order.",
        partitioner_path="microagg.partition.ranking:IndividualRanking",
        preset={"cut": "fixed"},
        private_path="microagg.private.ranking:PrivateRanking",
        space=PUBLIC_SPACE,
        aggregate="mean of a run; for categories the marginality centroid",
        noise="Laplace, width x attributes / (k epsilon) on each mean; exponential mechanism over the taxonomy",
        guarantee=(
            "epsilon-differential privacy of the original records (form marginals), or of the microaggregated data set "
            "given the partition (form aligned)"
        ),
        reference="Sanchez et al. (2016), doi:10.1016/j.inffus.2015.11.002",
    ),
    Method(
        name="dp_insensitive_mdav",
        title="Insensitive MDAV with noise",
        summary="Cells along a public order of whole records; every cell may change, so noise grows with n / k.",
        partitioner_path="microagg.partition.insensitive:InsensitiveMDAV",
        private_path="microagg.private.insensitive:PrivateInsensitiveMDAV",
        space=PUBLIC_SPACE,
        aggregate="mean of a cell",
        noise="Laplace, (n / k) x width x attributes / (k epsilon) on each mean",
        guarantee=(
            "epsilon-differential privacy of the original records (form centroids), or of the microaggregated data set "
            "given the partition (form aligned)"
        ),
        reference="Soria-Comas et al. (2014), doi:10.1007/s00778-014-0351-4",
        kinds=(Kind.NUMERIC, Kind.ORDINAL),
    ),
    Method(
        name="dp_laplace",
        title="Plain Laplace noise",
        summary="Every value alone with Laplace noise: differentially private without a partition, and the most noise.",
        partitioner_path="",
        private_path="microagg.private.laplace:PlainLaplace",
        space=PUBLIC_SPACE,
        aggregate="none",
        noise="Laplace, width x attributes / epsilon on every value",
        guarantee="epsilon-differential privacy of the original records",
        reference="Dwork et al. (2006), doi:10.1007/11681878_14",
        kinds=(Kind.NUMERIC, Kind.ORDINAL),
    ),
)

METHODS: dict[str, Method] = {method.name: method for method in _LISTED}
METHODS |= {
    general.name: general
    for general in (with_moments(method) for method in _LISTED if not method.is_private and method.name != "mic1d")
}

PAPERS: dict[str, dict[str, Method]] = {PAPER: numbered_methods(METHODS["mdav"])}
"""Numbered methods by paper: ``PAPERS["cross_moment"]["6"]``; a recipe may also say ``"cross_moment:6"``."""

_BY_NAME = METHODS | {method.name: method for paper in PAPERS.values() for method in paper.values()}


def find_method(name: Any) -> Method | None:
    """The entry of that name, or of that number of a paper (``"cross_moment:6"``); None if there is none."""
    if not isinstance(name, str):
        return None
    paper, _, number = name.partition(":")
    return PAPERS.get(paper, {}).get(number) if number else _BY_NAME.get(name)


def method_named(name: str) -> Method:
    """The catalogue's entry of that name, or of that number of a paper (``"cross_moment:6"``)."""
    method = find_method(name)
    if method is None:
        raise RecipeError(
            f"no method named {name!r}.{did_you_mean(name, _BY_NAME)} Known methods: {', '.join(METHODS)}"
        )
    return method
