"""Promises as values: what is protected, against whom, under which assumptions."""

from microagg.privacy.guarantee import Guarantee, drawn_from_cells, k_anonymity

__all__ = ["Guarantee", "drawn_from_cells", "k_anonymity"]
