"""Mic1D-k and multivariate microaggregation by blocks: Tables 4, 5 and 6 of the Mic1D paper.

``microagg reproduce mic1d`` runs it.
"""
