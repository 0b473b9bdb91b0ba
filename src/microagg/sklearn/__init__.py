"""Microaggregation as a step of a scikit-learn pipeline: a model that learns from cells instead of records."""

from microagg.sklearn.transformer import Microaggregate

__all__ = ["Microaggregate"]
