"""Renamed public attributes keep their old name for one version, and warn."""

from __future__ import annotations

import pytest

import microagg
from microagg.methods.catalogue import METHODS


@pytest.mark.parametrize(
    ("owner", "old", "new"),
    [
        (microagg.MDAV, "labels", "partitions"),
        (microagg.MDAV(k=3), "labels", "partitions"),
        (METHODS["mic1d"], "labels", "partitions"),
    ],
)
def test_an_old_name_gives_what_the_new_one_does_and_warns(owner, old, new):
    with pytest.warns(DeprecationWarning, match=rf"{old} is now called '{new}'; the old name goes with version 0\.3"):
        assert getattr(owner, old) == getattr(owner, new)


def test_a_notebook_shows_a_fitted_partitioner_without_a_warning():
    fitted = microagg.MDAV(k=2).fit([[1.0], [2.0], [8.0], [9.0]])
    assert "MDAV" in fitted._repr_html_()
    assert {"labels_", "fit", "partitions", "sse_"} <= set(dir(fitted))
    assert "labels" not in dir(fitted)


@pytest.mark.parametrize("name", list(METHODS))
def test_an_entry_partitions_what_its_partitioner_does(name):
    method = METHODS[name]
    if method.has_cells:
        assert method.partitions == method.partitioner_class.partitions
