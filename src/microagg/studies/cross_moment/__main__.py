"""Run the study: ``python -m microagg.studies.cross_moment``."""

from microagg.studies.cross_moment.run import main

main()
