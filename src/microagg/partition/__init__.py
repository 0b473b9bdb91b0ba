"""Stage 3: cells. A partition is a labelling of the records in which every label occurs at least k times."""

from microagg.partition.insensitive import InsensitiveMDAV
from microagg.partition.mdav import MDAV
from microagg.partition.mic1d import Mic1D
from microagg.partition.near_optimal import NearOptimal
from microagg.partition.projection import Projection
from microagg.partition.ranking import IndividualRanking
from microagg.partition.refine import refine
from microagg.partition.univariate import OptimalUnivariate
from microagg.partition.vmdav import VMDAV

__all__ = [
    "MDAV",
    "VMDAV",
    "IndividualRanking",
    "InsensitiveMDAV",
    "Mic1D",
    "NearOptimal",
    "OptimalUnivariate",
    "Projection",
    "refine",
]
