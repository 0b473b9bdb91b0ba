"""Kernels of the search for near-optimal cells."""
