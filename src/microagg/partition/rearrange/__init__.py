"""Cells that also hide the confidential values: between partition and aggregate."""
