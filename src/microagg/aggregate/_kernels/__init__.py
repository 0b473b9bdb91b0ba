"""Kernels of drawing: NumPy and Numba only."""
