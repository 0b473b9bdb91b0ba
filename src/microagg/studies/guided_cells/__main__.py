"""Run the study: ``python -m microagg.studies.guided_cells``."""

from microagg.studies.guided_cells.run import main

main()
