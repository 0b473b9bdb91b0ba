"""Tables in pieces that are released from counts: values and how often they occur, pairs of groups, and nothing else.

:mod:`~microagg.engines.counts.rules` says which recipes; :mod:`~microagg.engines.counts.ranking` and
:mod:`~microagg.engines.counts.private` say what is called in which order, and what is equal to what. Both see the table
through :class:`~microagg.engines.counts.passes.Passes` alone.
"""
