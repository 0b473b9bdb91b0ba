"""The catalogue: every method by name. A new method is one line of a list here.

Methods that form cells are listed as entries. A differentially private method holds its entry beside its code, in
:mod:`microagg.private`; the list here says where. That module is imported when its method is first asked for, so
naming the methods loads no mathematics.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import Any

from microagg.errors import ParameterError, RecipeError, did_you_mean
from microagg.methods.cross_moment import moments_name, numbered_methods, with_moments
from microagg.methods.cross_moment_numbers import PAPER
from microagg.methods.method import Address, Method, load
from microagg.schema.attribute import Kind
from microagg.tables.words import Words

__all__ = [
    "METHODS",
    "PAPERS",
    "SHORT_NAMES",
    "Method",
    "find_method",
    "method_named",
    "register_method",
    "unregister_method",
]


_OF_CELLS = (
    Method(
        name="mdav",
        title="MDAV",
        summary="Maximum distance to average vector: cells of k records from the outside in.",
        cells_by="microagg.partition.mdav:MDAV",
        reference="Domingo-Ferrer & Torra (2005), doi:10.1007/s10618-005-0007-5",
        explained=Words(
            "It puts records that are alike into cells of k, from the outside of the table inwards, and a cell "
            "publishes one value for all its records. It is the workhorse of the field: nothing to tune, no chance.",
            "Cells of exactly k cut through natural groups. k-anonymity does not protect confidential values that a "
            "whole cell shares.",
            formula="while 3k records remain: r = farthest from the mean, s = farthest from r; each with its k - 1 "
            "nearest is a cell",
            more="docs/algorithms/mdav.md",
        ),
    ),
    Method(
        name="vmdav",
        title="V-MDAV",
        summary="MDAV whose cells may grow to 2k - 1 records where the next record is close.",
        cells_by="microagg.partition.vmdav:VMDAV",
        reference="Solanas & Martinez-Balleste (2006)",
        explained=Words(
            "It is MDAV with cells that may grow where the next record is close. It fits tables whose records come in "
            "natural groups larger than k.",
            "How eagerly cells grow (gamma) must fit the table. On scattered records it gains little over MDAV and "
            "takes longer.",
            formula="a cell grows to 2k - 1 while its distance to the nearest record < gamma x that record's distance "
            "to the nearest other one",
            more="docs/algorithms/partitions.md",
        ),
    ),
    Method(
        name="near_optimal",
        title="Near-optimal cells",
        summary="MDAV's cells rearranged by local search until nearly as little is lost as can be.",
        cells_by="microagg.partition.near_optimal:NearOptimal",
        reference="docs/algorithms/near_optimal.md",
        explained=Words(
            "It starts from MDAV and searches for cells that lose less, by moving and swapping records between "
            "neighbouring cells. On the field's benchmarks it loses 10 to 55 per cent less at the same k.",
            "The search depends on chance: two runs give different cells of nearly the same quality. A smaller loss "
            "is no better protection.",
            formula="min over partitions into cells of at least k of SSE = sum over records of |x - mean of its "
            "cell|^2",
            more="docs/algorithms/near_optimal.md",
        ),
    ),
    Method(
        name="pcp",
        title="Principal component projection",
        summary="Records sorted along the first principal component, cut where the SSE of all attributes is least.",
        cells_by="microagg.partition.projection:Projection",
        preset={"axis": "principal"},
        reference="Domingo-Ferrer & Mateo-Sanz (2002), doi:10.1109/69.979982",
        explained=Words(
            "It sorts records along the one direction in which they differ most, and cuts that line into cells. It is "
            "very fast.",
            "Records that are neighbours on the line may differ in all else: it loses far more than MDAV unless one "
            "direction tells nearly everything.",
            formula="sort by the first principal component; cut into runs of k to 2k - 1 records with the least SSE",
            more="docs/algorithms/partitions.md",
        ),
    ),
    Method(
        name="zscores",
        title="Sum of z-scores",
        summary="Records sorted by the sum of their z-scores, cut where the SSE of all attributes is least.",
        cells_by="microagg.partition.projection:Projection",
        preset={"axis": "zscores"},
        reference="Domingo-Ferrer & Mateo-Sanz (2002), doi:10.1109/69.979982",
        explained=Words(
            "It sorts records by the sum of their standardised values, and cuts that line into cells. It is very fast.",
            "A record that is high in one attribute and low in another looks average. It loses far more than MDAV "
            "unless attributes rise together.",
            formula="sort by sum over attributes of (x - mean) / s; cut into runs of k to 2k - 1 records with the "
            "least SSE",
            more="docs/algorithms/partitions.md",
        ),
    ),
    Method(
        name="insensitive_mdav",
        title="Insensitive MDAV",
        summary="MDAV along an order fixed by the domain: one changed record changes each cell by at most one record.",
        cells_by="microagg.partition.insensitive:InsensitiveMDAV",
        space="declared bounds and categories: nothing of the space may depend on the data",
        reference="Soria-Comas et al. (2014), doi:10.1007/s00778-014-0351-4",
        kinds=(Kind.NUMERIC, Kind.ORDINAL),
        data_free_space=True,
        explained=Words(
            "It forms cells along an order that is fixed before any record is seen. One changed record then changes "
            "each cell by one record at most, which differential privacy builds on.",
            "Without noise it is no better protected than MDAV, and it loses more. It alone is not differentially "
            "private.",
            formula="sort by distance to the lower corner of the declared bounds; cells of k from both ends",
            more="docs/algorithms/partitions.md",
        ),
    ),
    Method(
        name="optimal_univariate",
        title="Optimal univariate",
        summary="One attribute, the least possible SSE.",
        cells_by="microagg.partition.univariate:OptimalUnivariate",
        space="one numeric or ordinal attribute (per block)",
        reference="Hansen & Mukherjee (2003), doi:10.1109/TKDE.2003.1209020",
        kinds=(Kind.NUMERIC, Kind.ORDINAL),
        explained=Words(
            "It cuts one sorted attribute into cells of at least k so that the least possible is lost. No other cells "
            "of one attribute are better.",
            "It is for one attribute per block. With several blocks, values of different blocks together can single "
            "out a record.",
            formula="shortest path over the sorted values; an arc from i to j is the SSE of values i + 1 .. j, of "
            "which there are k to 2k - 1",
            more="docs/algorithms/partitions.md",
        ),
    ),
    Method(
        name="individual_ranking",
        title="Individual ranking",
        summary="Every attribute sorted and cut alone.",
        cells_by="microagg.partition.ranking:IndividualRanking",
        partitions="attributes",
        space="each numeric or ordinal attribute alone",
        guarantee="k-anonymity on each quasi-identifier alone; none on their combination",
        reference="Defays & Nanopoulos (1993)",
        kinds=(Kind.NUMERIC, Kind.ORDINAL),
        explained=Words(
            "It sorts every attribute alone, cuts it into runs of k and publishes the mean of each run. Very little "
            "is lost, because each attribute gets its own best cells.",
            "It is not k-anonymous: each attribute alone has k records alike, but combinations of attributes can be "
            "those of one person.",
            formula="for each attribute: sort, cut into runs of k, publish the mean of the run",
            more="docs/algorithms/partitions.md",
        ),
    ),
    Method(
        name="mic1d",
        title="Mic1D-k",
        summary="All values mixed into one vector, sorted, cut and scaled twice; k counts values, not records.",
        cells_by="microagg.partition.mic1d:Mic1D",
        partitions="values",
        space="all raw values of the numeric attributes in one vector",
        aggregate="mean of the scaled values of a partition, scaled back",
        guarantee="none: no k-anonymity of records follows",
        reference="Nin, One dimension microaggregation",
        kinds=(Kind.NUMERIC,),
        explained=Words(
            "It mixes the numbers of all attributes into one list, cuts the list into parts and averages within them, "
            "twice. No attribute is left as it was.",
            "It promises nothing about records: k counts values, and useful k are in the thousands. Two records are "
            "alike only by chance.",
            formula="sort all values, cut into parts of k, scale each part to [0, 1]; do it once more; publish means, "
            "scaled back",
            more="docs/algorithms/partitions.md",
        ),
    ),
)


_PRIVATE: dict[str, Address] = {
    "dp_individual_ranking": "microagg.private.ranking:ENTRY",
    "dp_insensitive_mdav": "microagg.private.insensitive:ENTRY",
    "dp_laplace": "microagg.private.laplace:ENTRY",
    "dp_ranked_graph": "microagg.private.strict.method:GRAPH",
    "dp_ranked_copula": "microagg.private.strict.method:COPULA",
}

SHORT_NAMES = {"strict": "dp_ranked_graph"}
"""Names that people say, and what a recipe calls the method."""


class _Catalogue(Mapping[str, Method]):
    """Methods by name; an entry that is kept elsewhere is loaded when it is first asked for."""

    def __init__(self) -> None:
        self._entries: dict[str, Method | Callable[[], Method]] = {}

    def __getitem__(self, name: str) -> Method:
        entry = self._entries[name]
        if not isinstance(entry, Method):
            entry = self._entries[name] = entry()
        return entry

    def __iter__(self) -> Iterator[str]:
        return iter(self._entries)

    def __len__(self) -> int:
        return len(self._entries)

    def put(self, name: str, entry: Method | Callable[[], Method]) -> None:
        self._entries[name] = entry

    def drop(self, name: str) -> None:
        self._entries.pop(name, None)


METHODS = _Catalogue()
for _method in _OF_CELLS:
    METHODS.put(_method.name, _method)
for _name, _address in _PRIVATE.items():
    METHODS.put(_name, partial(load, _address))
for _method in _OF_CELLS:
    if not _method.mixes_values:
        METHODS.put(moments_name(_method), partial(with_moments, _method))

PAPERS: dict[str, dict[str, Method]] = {PAPER: numbered_methods(METHODS["mdav"])}
"""Numbered methods by paper: ``PAPERS["cross_moment"]["6"]``; a recipe may also say ``"cross_moment:6"``."""

_NUMBERED = {method.name: method for paper in PAPERS.values() for method in paper.values()}


def register_method(method: Method) -> None:
    """Add a method of your own: from then on recipes, sweeps, reports and checks know it.

    Cells of records can also answer with moments under differential privacy, so a method that forms such cells brings
    ``dp_moments_<its name>`` with it.
    """
    entries: dict[str, Method | Callable[[], Method]] = {method.name: method}
    if method.has_cells and not method.is_private and not method.mixes_values:
        entries[moments_name(method)] = partial(with_moments, method)
    for name in entries:
        if name in METHODS or name in _NUMBERED or name in SHORT_NAMES:
            raise ParameterError(f"there is a method named {name!r} already")
    for name, entry in entries.items():
        METHODS.put(name, entry)


def unregister_method(name: str) -> None:
    """Take a method out again that :func:`register_method` added."""
    method = method_named(name)
    METHODS.drop(name)
    METHODS.drop(moments_name(method))


def find_method(name: Any) -> Method | None:
    """The entry of that name, or of that number of a paper (``"cross_moment:6"``); None if there is none."""
    if not isinstance(name, str):
        return None
    paper, _, number = name.partition(":")
    if number:
        return PAPERS.get(paper, {}).get(number)
    name = SHORT_NAMES.get(name, name)
    return _NUMBERED.get(name) or METHODS.get(name)


def method_named(name: str) -> Method:
    """The catalogue's entry of that name, or of that number of a paper (``"cross_moment:6"``)."""
    method = find_method(name)
    if method is None:
        known = [*METHODS, *_NUMBERED, *SHORT_NAMES]
        raise RecipeError(f"no method named {name!r}.{did_you_mean(name, known)} Known methods: {', '.join(METHODS)}")
    return method
