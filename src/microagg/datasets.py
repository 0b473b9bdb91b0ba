"""Public reference tables: ``from microagg.datasets import load_census``.

How they are found, fetched and checked is described in :mod:`microagg.tables.reference.datasets`. Beside them stand
tables that are drawn: a survey for demonstrations, and the synthetic data of two papers.
"""

from __future__ import annotations

from microagg.schema.taxonomy import Taxonomy
from microagg.tables.reference import datasets as _datasets
from microagg.tables.reference.datasets import *  # noqa: F403
from microagg.tables.reference.generated import generate_gaussian, generate_survey, generate_two_classes
from microagg.tables.reference.taxonomies import taxonomy_files

__all__ = [*_datasets.__all__, "generate_gaussian", "generate_survey", "generate_two_classes", "load_adult_taxonomies"]


def load_adult_taxonomies() -> dict[str, Taxonomy]:
    """Load trees of Adult's occupations (14) and countries (41), by the names of the columns.

    They come with the package: each label hangs in the place of a WordNet 3.0 synset, under its first hypernyms. Their
    files, with WordNet's licence, are what ``microagg datasets --taxonomies FOLDER`` writes, for recipes to name.

    Examples
    --------
    >>> sorted((name, len(tree.leaves)) for name, tree in load_adult_taxonomies().items())
    [('native-country', 41), ('occupation', 14)]
    """
    return {name: Taxonomy.load(path) for name, path in taxonomy_files().items()}
