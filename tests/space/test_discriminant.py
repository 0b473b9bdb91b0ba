"""The discriminant space: only the span of the directions matters, and alpha = 1 is the plain space."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial.distance import pdist

from microagg.partition.mdav import MDAV
from microagg.space.discriminant import Discriminant, discriminant_space


def two_classes(n=150, d=4, seed=0):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 2, n).astype(float)
    X = rng.normal(size=(n, d)) @ rng.normal(size=(d, d)) + y[:, None] * rng.normal(size=d)
    return (X - X.mean(0)) / X.std(0), y


def by_the_paper(X, y, alpha, signs=None, order=None):
    """Rotate to U = S_W^-1 (mu_1 - mu_0) extended to a basis by QR, and stretch the first axis."""
    groups = [X[y == label] for label in (0, 1)]
    within = sum((g - g.mean(0)).T @ (g - g.mean(0)) for g in groups) / len(X)
    direction = np.linalg.solve(within, groups[1].mean(0) - groups[0].mean(0))
    basis, _ = np.linalg.qr(np.column_stack([direction, np.eye(X.shape[1])[:, 1:]]))
    if signs is not None:
        basis = basis * signs
    if order is not None:
        basis = np.column_stack([basis[:, 0], basis[:, 1:][:, order]])
    return X @ basis @ np.diag([alpha] + [1.0] * (X.shape[1] - 1))


@pytest.mark.parametrize("alpha", [1.0, 2.0, 16.0])
def test_distances_are_those_of_the_paper_whatever_sign_and_order_the_basis_has(alpha):
    X, y = two_classes()
    ours = pdist(discriminant_space(X, y, alpha, classes=True))
    np.testing.assert_allclose(ours, pdist(by_the_paper(X, y, alpha)))
    np.testing.assert_allclose(ours, pdist(by_the_paper(X, y, alpha, signs=[-1, 1, -1, 1], order=[2, 0, 1])), rtol=1e-9)


def test_sign_and_order_of_the_basis_change_no_partition():
    X, y = two_classes()
    labels = [
        MDAV(k=5).fit(space).labels_
        for space in (
            discriminant_space(X, y, 4.0, classes=True),
            by_the_paper(X, y, 4.0),
            by_the_paper(X, y, 4.0, signs=[-1, -1, 1, -1], order=[1, 2, 0]),
        )
    ]
    np.testing.assert_array_equal(labels[0], labels[1])
    np.testing.assert_array_equal(labels[0], labels[2])


def test_names_of_classes_change_nothing():
    X, y = two_classes()
    np.testing.assert_allclose(
        discriminant_space(X, y, 4.0, classes=True), discriminant_space(X, 1 - y, 4.0, classes=True), atol=1e-12
    )


def test_alpha_1_is_mdavs_own_partition_even_with_ties():
    rng = np.random.default_rng(3)
    X = rng.integers(0, 3, (200, 3)).astype(float)
    y = rng.integers(0, 2, 200).astype(float)
    space = discriminant_space(X, y, 1.0, classes=True)
    np.testing.assert_array_equal(MDAV(k=4).fit(space).labels_, MDAV(k=4).fit(X).labels_)


def test_the_transform_is_one_matrix():
    X, y = two_classes()
    fitted = Discriminant.fit(X, y, 5.0, classes=True)
    np.testing.assert_allclose(X @ fitted.transform, fitted.apply(X))
    np.testing.assert_allclose(np.linalg.eigvalsh(fitted.transform), [1, 1, 1, 5])


def test_several_classes_have_as_many_directions_less_one():
    rng = np.random.default_rng(1)
    y = rng.integers(0, 3, 300).astype(float)
    X = rng.normal(size=(300, 5))
    X[:, 0] += 3 * (y == 1)
    X[:, 1] += 3 * (y == 2)
    fitted = Discriminant.fit(X, y, 3.0, classes=True)
    assert fitted.directions.shape == (5, 2)
    # The first two axes carry all the difference between the classes.
    assert np.linalg.norm(fitted.directions[:2]) > 0.95 * np.sqrt(2)
    np.testing.assert_allclose(fitted.directions.T @ fitted.directions, np.eye(2), atol=1e-12)
    # Classes on one line need one direction only.
    line = np.column_stack([y, rng.permutation(300) % 7])
    line[:, 0] += rng.normal(size=300)
    assert Discriminant.fit(line, y, 3.0, classes=True).directions.shape[1] <= 2


def test_a_number_has_the_direction_of_its_regression():
    rng = np.random.default_rng(2)
    X = rng.normal(size=(200, 3))
    y = X @ [1.0, -2.0, 0.5] + rng.normal(size=200)
    slope = np.linalg.lstsq(X - X.mean(0), y - y.mean(), rcond=None)[0]
    (direction,) = Discriminant.fit(X, y, 2.0, classes=False).directions.T
    assert abs(direction @ slope) == pytest.approx(np.linalg.norm(slope))


def test_a_singular_covariance_is_regularised_and_said():
    X, y = two_classes()
    doubled = np.hstack([X, X[:, :1]])
    fitted = Discriminant.fit(doubled, y, 2.0, classes=True)
    assert fitted.regularized
    assert not Discriminant.fit(X, y, 2.0, classes=True).regularized
    # A coordinate that is constant within classes and tells them apart is found, not lost.
    telling = np.column_stack([X[:, 0], y])
    (direction,) = Discriminant.fit(telling, y, 2.0, classes=True).directions.T
    assert abs(direction[1]) > 0.99


def test_records_without_a_label_are_mapped_but_have_no_say():
    X, y = two_classes()
    unknown = y.copy()
    unknown[:20] = np.nan
    np.testing.assert_allclose(
        Discriminant.fit(X, unknown, 2.0, classes=True).directions,
        Discriminant.fit(X[20:], y[20:], 2.0, classes=True).directions,
    )
    assert discriminant_space(X, unknown, 2.0, classes=True).shape == X.shape
