"""Kernels of cells that hold records of at least k units."""
