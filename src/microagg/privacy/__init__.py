"""Promises as values: what is protected, against whom, under which assumptions."""

from microagg.privacy.guarantee import Guarantee, k_anonymity

__all__ = ["Guarantee", "k_anonymity"]
