"""The cross-moment paper's experiments: what noise costs when cells keep a mean, a covariance, a coskewness.

The paper measures SSE between each original record and "the corresponding" drawn one. Its figures can be reached only
if drawn values are matched to the originals by their ranks within the cell. That uses the original ranks: **a matched
file must never be released**. The matching lives here, works on arrays, and nothing in ``microagg.releases``
reaches it.

Run it with ::

    python -m microagg.studies.cross_moment --quick           # a minute
    python -m microagg.studies.cross_moment                   # the whole of docs/results/cross_moment.md
"""
