"""The dependence space: the paper's weight, its extremes, and what any partitioner makes of it."""

from __future__ import annotations

import numpy as np
import pytest

from microagg.partition.base import within_cell_sse
from microagg.partition.mdav import MDAV
from microagg.space.dependence import dependence_space, dependence_weight, total_distortion


@pytest.fixture
def standardized():
    rng = np.random.default_rng(5)
    X, Y = rng.normal(size=(200, 3)), rng.normal(size=(200, 2))
    return (X - X.mean(0)) / X.std(0), (Y - Y.mean(0)) / Y.std(0)


def test_the_extremes_are_one_side_alone(standardized):
    X, Y = standardized
    np.testing.assert_array_equal(dependence_space(X, Y, 0.0, m_x=3, m_y=2), X)
    np.testing.assert_array_equal(dependence_space(X, Y, 1.0, m_x=3, m_y=2), Y)


@pytest.mark.parametrize("lambda_", [0.1, 0.5, 0.9])
def test_the_loss_in_the_space_is_the_weighted_sum_of_both_distortions(standardized, lambda_):
    """m_X / (1 - lambda) * D = m_X D_X + beta^2 m_Y D_Y: what a partitioner lowers is D."""
    X, Y = standardized
    labels = np.arange(200) % 20
    space = dependence_space(X, Y, lambda_, m_x=3, m_y=2)
    d_x = within_cell_sse(X, labels, 20) / X.size
    d_y = within_cell_sse(Y, labels, 20) / Y.size
    lost = within_cell_sse(space, labels, 20) / 200
    assert lost == pytest.approx(3 / (1 - lambda_) * total_distortion(d_x, d_y, lambda_))
    assert lost == pytest.approx(3 * d_x + dependence_weight(lambda_, 3, 2) ** 2 * 2 * d_y)


def test_a_larger_lambda_trades_quasi_identifiers_for_dependence(standardized):
    X, Y = standardized
    found = []
    for lambda_ in (0.0, 0.5, 1.0):
        labels = MDAV(k=5).fit(dependence_space(X, Y, lambda_, m_x=3, m_y=2)).labels_
        n_cells = int(labels.max()) + 1
        found.append((within_cell_sse(X, labels, n_cells), within_cell_sse(Y, labels, n_cells)))
    assert found[0][0] < found[1][0] < found[2][0]
    assert found[0][1] > found[1][1] > found[2][1]
