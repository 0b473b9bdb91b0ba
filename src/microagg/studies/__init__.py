"""Studies: experiments of papers that can be run again, one folder each, with ``python -m microagg.studies.<name>``.

``run.py`` makes the figures anew; ``published.py`` holds those that the paper prints, where it does.
"""
