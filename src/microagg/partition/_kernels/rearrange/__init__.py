"""Kernels that rearrange cells until each hides the confidential values of its records, and then lose little."""
