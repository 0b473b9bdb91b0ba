"""Promises as values: what is protected, against whom, under which assumptions; and the noise some of them need."""

from microagg.privacy.budget import Budget, Expense
from microagg.privacy.guarantee import Guarantee, differential_privacy, k_anonymity
from microagg.privacy.promises.drawn import drawn_from_cells

__all__ = ["Budget", "Expense", "Guarantee", "differential_privacy", "drawn_from_cells", "k_anonymity"]
