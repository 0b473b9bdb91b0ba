"""Errors found in the papers: every example contradicts its statement; docs/results/reproduction.md tells them."""

from __future__ import annotations

import numpy as np
import pytest

from microagg.partition.mdav import MDAV
from microagg.studies.errata.catalogue import ERRATA
from microagg.studies.errata.others import printed_mdav
from microagg.studies.reproduction.catalogue import PAPERS


@pytest.mark.parametrize("erratum", ERRATA, ids=lambda one: one.name)
def test_the_example_contradicts_the_paper(erratum):
    assert erratum.paper in PAPERS
    assert erratum.example().contradicts, erratum.example().text


def test_the_figures_of_the_examples():
    found = {one.name: one.example().found for one in ERRATA}
    assert found["coskewness at k = 3"] == pytest.approx(2 / 3)
    assert found["the printed MDAV"] == 2
    assert found["an aligned release is not differentially private"] >= 0.4
    assert found["m = 1 overtakes m = 0"] == pytest.approx(2, abs=0.1)


def test_mdav_as_it_is_released_keeps_k_where_the_printed_one_does_not():
    X = np.arange(8.0)[:, None]
    assert np.bincount(printed_mdav(X, 3)).min() == 2
    assert np.bincount(MDAV(k=3).fit(X).labels_).min() >= 3
