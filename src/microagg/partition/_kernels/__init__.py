"""Compiled loops: contiguous arrays in, labels or numbers out. They know NumPy and Numba, nothing else."""
