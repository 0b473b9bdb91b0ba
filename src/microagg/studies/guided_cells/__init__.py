"""The honest gain of guided cells: accuracy of models trained on releases, tested on records that had no part in them.

Every method sees the training part only; nothing is chosen on the test part. Run it with ::

    python -m microagg.studies.guided_cells --quick                                # minutes
    python -m microagg.studies.guided_cells --data adult --results points          # hours; can be stopped and resumed

Every finished point is kept as a file of its own in the folder `--results`, and not computed again; ``--part 1/2`` and
``--part 2/2`` share the splits between two processes. Empty the folder when a method has changed.
"""
