"""Differentially private individual ranking, as published and as it can be: the paper's tables, and what order gains.

Every figure comes from releases (`microagg.release` with a seed), but for two devices of the papers that exist here
only: the noise of the comparator MV, drawn per record and not divided over the attributes, which is not
differentially private; and plain Laplace noise that is not clamped. Run it with ::

    python -m microagg.studies.individual_ranking            # a few minutes
    python -m microagg.studies.individual_ranking --runs 3   # quicker, noisier
"""
