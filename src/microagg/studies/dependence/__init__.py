"""Cells that keep confidential attributes predictable: the seven figures of the dependence paper.

``microagg reproduce dependence`` runs it. The text that we have lost the digits of its figures' numbers; they are
counted from the captions, of which seven come before the first result.
"""
