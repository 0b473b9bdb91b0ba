"""Stage 3: cells. A partition is a labelling of the records in which every label occurs at least k times."""

from microagg.partition.mdav import MDAV

__all__ = ["MDAV"]
