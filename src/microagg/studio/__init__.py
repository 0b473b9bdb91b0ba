"""The studio: the whole way of a table in a browser, on one's own machine (``microagg studio``, the extra ``studio``).

It decides nothing and computes nothing: every click edits a recipe, and jobs in a process of their own hand recipe and
table to the rooms below, as the command line does.
"""
