"""Run the study: ``python -m microagg.studies.individual_ranking``."""

from microagg.studies.individual_ranking.run import main

main()
