"""Cells stretched along a discriminant: Figures 12 to 15 of the discriminant paper, and what honest choices leave.

The paper draws the best of seven alphas *on the test set*; beside it stands alpha chosen inside the training part.
``microagg reproduce discriminant`` runs it.
"""
