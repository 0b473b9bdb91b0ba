"""The partitioners' work in NumPy alone: the very same cells as the kernels', at once, while nothing is compiled.

Compiling takes seconds, a small table milliseconds. `choice` says which of the two answers; the other modules are the
NumPy twins of the kernels. They repeat every float64 operation of a kernel in its order, so that no rounding and no tie
can tell them apart: sums run over the columns one after the other, never by ``sum``, which adds in pairs.
"""
