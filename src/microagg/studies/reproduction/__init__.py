"""Published tables and figures, run again by name: ``microagg reproduce``.

An :class:`~microagg.studies.reproduction.experiment.Experiment` is one table or figure of a paper: parts that can be
run apart and in any order, a comparison of what they found with what the paper prints, and the figure's form. Parts are
pure functions of their arguments, seeds among them, so two runs give identical tables; finished ones are kept as files.
"""
